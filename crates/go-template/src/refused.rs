//! Refuses the functions of Helm whose results differ from run to run, or come from outside.

use super::function::{Call, Function, Type};
use super::{Error, ErrorClass, Value};

use Type::{Any, Int, List, Named, String};

/// The refused functions. They exist, so that a template that does not reach them can be parsed; a call is an error.
pub(super) const TABLE: &[Function] = &[
    Function::new("now", &[], clock),
    Function::new("ago", &[Any], clock),
    Function::new("randAlphaNum", &[Int], random),
    Function::new("randAlpha", &[Int], random),
    Function::new("randAscii", &[Int], random),
    Function::new("randNumeric", &[Int], random),
    Function::new("randBytes", &[Int], random),
    Function::new("randInt", &[Int, Int], random),
    Function::new("shuffle", &[String], shuffle),
    Function::new("uuidv4", &[], random),
    Function::new("bcrypt", &[String], random),
    Function::new("htpasswd", &[String, String], random),
    Function::new("encryptAES", &[String, String], random),
    Function::new("decryptAES", &[String, String], cryptography),
    Function::new(
        "derivePassword",
        &[Any, String, String, String, String],
        cryptography,
    ),
    Function::new("genPrivateKey", &[String], random),
    Function::new("genCA", &[String, Int], random),
    Function::new("genCAWithKey", &[String, Int, String], random),
    Function::new("genSelfSignedCert", &[String, List, List, Int], random),
    Function::new(
        "genSelfSignedCertWithKey",
        &[String, List, List, Int, String],
        random,
    ),
    Function::new(
        "genSignedCert",
        &[String, List, List, Int, CERTIFICATE],
        random,
    ),
    Function::new(
        "genSignedCertWithKey",
        &[String, List, List, Int, CERTIFICATE, String],
        random,
    ),
    Function::new("buildCustomCert", &[String, String], cryptography),
    Function::new("getHostByName", &[String], network),
    Function::new("date", &[String, Any], zone),
    Function::new("dateInZone", &[String, Any, String], zone),
    Function::new("date_in_zone", &[String, Any, String], zone),
    Function::new("dateModify", &[String, TIME], zone),
    Function::new("date_modify", &[String, TIME], zone),
    Function::new("mustDateModify", &[String, TIME], zone),
    Function::new("must_date_modify", &[String, TIME], zone),
    Function::new("htmlDate", &[Any], zone),
    Function::new("htmlDateInZone", &[Any, String], zone),
    Function::new("toDate", &[String, String], zone),
    Function::new("mustToDate", &[String, String], zone),
    Function::new("unixEpoch", &[TIME], zone),
];

const TIME: Type = Named("time.Time");

const CERTIFICATE: Type = Named("sprig.certificate");

fn clock(call: &mut Call<'_>) -> Result<Value, Error> {
    refuse(call, "depends on the time of the run")
}

fn zone(call: &mut Call<'_>) -> Result<Value, Error> {
    refuse(call, "depends on the machine's time zone")
}

/// A text of at most one character has a single order, and is returned.
fn shuffle(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(0)?;
    if text.chars().nth(1).is_some() {
        return random(call);
    }
    Ok(Value::String(text))
}

fn random(call: &mut Call<'_>) -> Result<Value, Error> {
    refuse(call, "gives a different result on every run")
}

fn cryptography(call: &mut Call<'_>) -> Result<Value, Error> {
    refuse(
        call,
        "creates or decrypts secrets, which this tool does not do",
    )
}

fn network(call: &mut Call<'_>) -> Result<Value, Error> {
    refuse(call, "queries the network")
}

fn refuse(call: &Call<'_>, reason: &str) -> Result<Value, Error> {
    let message = format!(
        "`{}` is refused: it {reason}; set the value in a values file",
        call.name
    );
    Err(Error::new(ErrorClass::Refused, message))
}

#[cfg(test)]
mod tests {
    use crate::{Budget, ErrorClass, Limits, NoHost, Value, execute, parse};

    #[test]
    fn a_random_function_is_refused_only_when_it_is_called() {
        let run = |text| {
            let template = parse("text", text)?;
            execute(
                &template,
                &Value::Nil,
                &NoHost,
                &Budget::new(Limits::default()),
            )
        };
        let skipped = run("{{ if false }}{{ uuidv4 }}{{ end }}ok");
        assert_eq!(skipped.ok().as_deref(), Some("ok"));
        let error = run("x {{ randAlphaNum 8 }}").err();
        let error = error.map(|error| (error.class, error.span, error.message));
        let (class, span, message) = error.expect("the call is refused");
        assert_eq!((class, span), (ErrorClass::Refused, 5..19));
        assert!(message.contains("`randAlphaNum` is refused"), "{message}");
    }
}

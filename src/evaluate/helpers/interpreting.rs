//! The helpers that evaluate their argument.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use go_template::{Error, Value, print};
use sha2::{Digest, Sha256};
use yaml_tree::opaque::labels;

use super::arguments::{excerpt, fail, fields, item, items, map, optional, string};
use super::typed::boolean;
use crate::evaluate::convert;
use crate::evaluate::session::Session;

/// `interpret`: evaluates the value at a path in place. In lazy evaluation it only checks the path, because values are evaluated
/// when they are read.
pub(super) fn interpret(session: &Session, argument: &Value) -> Result<String, Error> {
    let dot = item(argument, 0)?;
    let path = string(&item(argument, 1)?, "the path argument of `interpret`")?;
    if items(argument).len() > 2 {
        return fail("`interpret` takes a root and one path".to_owned());
    }
    let mut holder = map(&fields(&dot, &["Values"])?, "`.Values`")?;
    let keys: Vec<&str> = path.split('.').collect();
    for (index, key) in keys.iter().enumerate() {
        let Some(value) = holder.get(key)? else {
            return fail(format!(
                "`interpret` cannot find `{key}` of the path `{path}`"
            ));
        };
        if index + 1 == keys.len() {
            if session.is_exact() {
                let evaluated = session.interpret(&dot, &value, 0)?;
                holder.set(key, evaluated);
            }
        } else {
            holder = map(&value, &format!("`{key}`"))?;
        }
    }
    Ok(String::new())
}

/// `interpret-inner-gotpl`: the evaluated value as JSON, in `{"result": …}`.
pub(super) fn interpret_inner_gotpl(session: &Session, argument: &Value) -> Result<String, Error> {
    let value = session.interpret(&item(argument, 0)?, &item(argument, 1)?, 0)?;
    let result = Value::map([("result".into(), value)].into_iter().collect());
    convert::json(&result)
}

/// `interpret-as-string`: the result of a string, which must be a string.
pub(super) fn interpret_as_string(session: &Session, argument: &Value) -> Result<String, Error> {
    evaluate_string(session, &item(argument, 0)?, &item(argument, 1)?).map(|text| text.to_string())
}

/// Evaluates a string whose result must be a string.
pub(super) fn evaluate_string(
    session: &Session,
    dot: &Value,
    data: &Value,
) -> Result<Arc<str>, Error> {
    if !matches!(data, Value::String(_)) {
        return fail(format!(
            "`interpret-as-string` needs a string and got `{}` of type `{}`",
            excerpt(data),
            data.type_name()
        ));
    }
    match session.interpret(dot, data, 0)? {
        Value::String(text) => Ok(text),
        other => fail(format!(
            "`interpret-as-string` needs a string, and `{}` evaluates to `{}` of type `{}`",
            excerpt(data),
            excerpt(&other),
            other.type_name()
        )),
    }
}

/// `interpret-as-bool`: a boolean as a typed result.
pub(super) fn interpret_as_bool(session: &Session, argument: &Value) -> Result<String, Error> {
    let context = context(argument, 2);
    let flag = evaluate_boolean(session, &item(argument, 0)?, &item(argument, 1)?, &context)?;
    Ok(format!("{{\"encapsulated-result\":{flag}}}"))
}

/// Evaluates a boolean, or a string whose result must be a boolean.
pub(super) fn evaluate_boolean(
    session: &Session,
    dot: &Value,
    data: &Value,
    context: &str,
) -> Result<bool, Error> {
    match data {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if matches!(&**text, "true" | "false" | "") => boolean(data, ""),
        Value::String(_) => {
            let value = session.interpret(dot, data, 0)?;
            boolean(
                &value,
                &format!(": the result of `{}`{context}", excerpt(data)),
            )
        }
        other => fail(format!(
            "a boolean or a string is needed, and `{}` of type `{}` is given{context}",
            excerpt(other),
            other.type_name()
        )),
    }
}

/// `interpret-for-test`: `true` or an empty string.
pub(super) fn interpret_for_test(session: &Session, argument: &Value) -> Result<String, Error> {
    let context = context(argument, 2);
    let flag = evaluate_boolean(session, &item(argument, 0)?, &item(argument, 1)?, &context)?;
    Ok(truth(flag))
}

/// `interpret-ternary`: one of two values as text.
pub(super) fn interpret_ternary(session: &Session, argument: &Value) -> Result<String, Error> {
    let context = context(argument, 4);
    let (yes, no) = (item(argument, 2)?, item(argument, 3)?);
    let flag = evaluate_boolean(session, &item(argument, 0)?, &item(argument, 1)?, &context)?;
    match if flag { yes } else { no } {
        Value::Nil => Ok(String::new()),
        chosen => print::value(&chosen),
    }
}

/// `interpret-and-hash`: the SHA-256 of the evaluated value's JSON.
pub(super) fn interpret_and_hash(session: &Session, argument: &Value) -> Result<String, Error> {
    let value = session.interpret(&item(argument, 0)?, &item(argument, 1)?, 0)?;
    let text = convert::json(&value)?;
    if let Some(labels) = labels(&text) {
        return Ok(labels);
    }
    Ok(HEXLOWER.encode(&Sha256::digest(text)))
}

/// `true`, or an empty string for false.
pub(super) fn truth(flag: bool) -> String {
    if flag { "true" } else { "" }.to_owned()
}

/// The optional argument that describes the context of a call, for messages.
fn context(argument: &Value, index: usize) -> String {
    optional(argument, index).map_or_else(String::new, |text| format!(" ({})", excerpt(&text)))
}

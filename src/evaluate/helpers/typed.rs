//! The helpers that preserve a value's type in the output of a template, as a typed result.

use go_template::{Error, ErrorClass, Value};

use super::arguments::{excerpt, fail, item};
use crate::evaluate::convert;
use crate::evaluate::session::Session;
use crate::evaluate::text::SKIP;

/// `preserve-type`: the value.
pub(super) fn preserve_type(_: &Session, value: &Value) -> Result<String, Error> {
    encapsulate(value)
}

/// `set-only-if`: the first argument if the second one is true, else the skip text.
pub(super) fn set_only_if(_: &Session, argument: &Value) -> Result<String, Error> {
    if item(argument, 1)?.truth()? {
        encapsulate(&item(argument, 0)?)
    } else {
        Ok(SKIP.to_owned())
    }
}

/// `set-if-defined`: the value, or the skip text for nil.
pub(super) fn set_if_defined(_: &Session, value: &Value) -> Result<String, Error> {
    if matches!(value, Value::Nil) {
        Ok(SKIP.to_owned())
    } else {
        encapsulate(value)
    }
}

/// `as-bool`: a boolean, or a text for one.
pub(super) fn as_bool(_: &Session, value: &Value) -> Result<String, Error> {
    if matches!(value, Value::Nil) {
        let message = "`as-bool` of a missing value";
        return Err(Error::new(ErrorClass::WrongType, message));
    }
    let flag = boolean(value, "")?;
    encapsulate(&Value::Bool(flag))
}

/// The boolean in a value: a boolean, or one of the texts `true`, `false` and the empty string.
pub(super) fn boolean(value: &Value, context: &str) -> Result<bool, Error> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) => match &**text {
            "true" => Ok(true),
            "false" | "" => Ok(false),
            _ => fail(format!("`{text}` is not a boolean{context}")),
        },
        other => fail(format!(
            "`{}` of type `{}` is not a boolean{context}",
            excerpt(other),
            other.type_name()
        )),
    }
}

fn encapsulate(value: &Value) -> Result<String, Error> {
    let json = convert::json(value)?;
    Ok(format!("{{\"encapsulated-result\":{json}}}"))
}

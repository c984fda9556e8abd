//! Helpers that keep a value's type through the text of a template.

use super::arguments::{fail, item, shown};
use crate::evaluate::convert;
use crate::evaluate::session::Session;
use crate::evaluate::text::SKIP;
use crate::helm::{Error, ErrorClass, Value};

/// The value, whatever its type.
pub(super) fn preserve_type(session: &Session, value: &Value) -> Result<String, Error> {
    encapsulated(session, value)
}

/// The first argument if the second is true, else the skip text.
pub(super) fn set_only_if(session: &Session, argument: &Value) -> Result<String, Error> {
    if item(argument, 1)?.truth()? {
        encapsulated(session, &item(argument, 0)?)
    } else {
        Ok(SKIP.to_owned())
    }
}

/// The value, or the skip text for nil.
pub(super) fn set_if_defined(session: &Session, value: &Value) -> Result<String, Error> {
    if matches!(value, Value::Nil) {
        Ok(SKIP.to_owned())
    } else {
        encapsulated(session, value)
    }
}

/// A boolean, or a text that stands for one.
pub(super) fn as_bool(session: &Session, value: &Value) -> Result<String, Error> {
    if matches!(value, Value::Nil) {
        return Err(Error::new(
            ErrorClass::WrongType,
            "`as-bool` of a value that is not there",
        ));
    }
    let flag = boolean(value, "")?;
    encapsulated(session, &Value::Bool(flag))
}

/// What stands for a boolean: one, or `true`, `false` and the empty text.
pub(super) fn boolean(value: &Value, context: &str) -> Result<bool, Error> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) => match &**text {
            "true" => Ok(true),
            "false" | "" => Ok(false),
            _ => fail(format!("`{text}` does not stand for a boolean{context}")),
        },
        other => fail(format!(
            "`{}` of type `{}` does not stand for a boolean{context}",
            shown(other),
            other.type_name()
        )),
    }
}

fn encapsulated(session: &Session, value: &Value) -> Result<String, Error> {
    let json = convert::json(value, &session.budget)?;
    Ok(format!("{{\"encapsulated-result\":{json}}}"))
}

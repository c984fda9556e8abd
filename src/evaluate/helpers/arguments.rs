//! Reads the arguments of helpers, with Go's errors.

use std::rc::Rc;
use std::sync::Arc;

use go_template::value::Map;
use go_template::{Error, ErrorClass, Value, print};

/// The result of `index . N`.
pub(super) fn item(argument: &Value, index: usize) -> Result<Value, Error> {
    match argument {
        Value::List(list) => list.items.get(index).cloned().ok_or_else(|| {
            let (needed, given) = (index + 1, list.items.len());
            let message = format!("the helper needs {needed} arguments and got {given}");
            Error::new(ErrorClass::OutOfRange, message)
        }),
        Value::Nil => Err(Error::new(
            ErrorClass::WrongType,
            "the helper's argument is nil",
        )),
        other => Err(wrong_type("the helper's argument", "a tuple", other)),
    }
}

/// An optional argument.
pub(super) fn optional(argument: &Value, index: usize) -> Option<Value> {
    match argument {
        Value::List(list) => list.items.get(index).cloned(),
        _ => None,
    }
}

/// All arguments.
pub(super) fn items(argument: &Value) -> &[Value] {
    match argument {
        Value::List(list) => &list.items,
        _ => &[],
    }
}

/// A chain of fields, such as `.Values.proxies.http_proxy`. The last field may be missing; a field of nil is an error.
pub(super) fn fields(value: &Value, names: &[&str]) -> Result<Value, Error> {
    let mut value = value.clone();
    for name in names {
        value = match &value {
            Value::Map(map) => map.get(name)?.unwrap_or(Value::Nil),
            Value::Nil => {
                let message = format!("`{name}` of a missing value");
                return Err(Error::new(ErrorClass::NilPointer, message));
            }
            other => {
                let message = format!("`{name}` of a value of type `{}`", other.type_name());
                return Err(Error::new(ErrorClass::WrongType, message));
            }
        };
    }
    Ok(value)
}

/// The value as a map; the error names it `what`.
pub(super) fn map(value: &Value, what: &str) -> Result<Rc<Map>, Error> {
    match value {
        Value::Map(map) => Ok(Rc::clone(map)),
        other => Err(wrong_type(what, "a map", other)),
    }
}

/// The value as a string; the error names it `what`.
pub(super) fn string(value: &Value, what: &str) -> Result<Arc<str>, Error> {
    match value {
        Value::String(text) => Ok(Arc::clone(text)),
        other => Err(wrong_type(what, "a string", other)),
    }
}

/// The error for a value of the wrong type; it names the value `what`.
pub(super) fn wrong_type(what: &str, expected: &str, value: &Value) -> Error {
    let found = value.type_name();
    Error::new(
        ErrorClass::WrongType,
        format!("{what} must be {expected}, and it is `{found}`"),
    )
}

/// Fails as a call of `fail` in the template does.
pub(super) fn fail<T>(message: String) -> Result<T, Error> {
    Err(Error::new(ErrorClass::Fail, message))
}

/// The bytes of a printed value behind which a message quotes nothing.
const MOST_SHOWN: usize = 4 << 10;

/// The start of a value, for a message.
pub(super) fn excerpt(value: &Value) -> String {
    let mut text = String::new();
    match print::write(&mut text, value, MOST_SHOWN) {
        Ok(()) => print::excerpt(&text).into_owned(),
        Err(_) => print::short(value),
    }
}

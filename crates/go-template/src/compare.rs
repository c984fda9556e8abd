//! The comparisons of text/template (`eq`, `lt`): only basic kinds are comparable, and an integer never with a float.

use std::rc::Rc;

use super::{Error, ErrorClass, Value};

/// A value as one of Go's basic kinds.
#[derive(Clone, Copy, PartialEq)]
enum Basic<'a> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    String(&'a str),
    /// Not a basic kind: nil, lists, maps, objects.
    Other,
}

fn basic(value: &Value) -> Basic<'_> {
    match value {
        Value::Bool(flag) => Basic::Bool(*flag),
        Value::Int(number) | Value::Int64(number) => Basic::Int(*number),
        Value::Uint8(number) => Basic::Uint(u64::from(*number)),
        Value::Uint64(number) => Basic::Uint(*number),
        Value::Float(number) => Basic::Float(*number),
        Value::String(text) => Basic::String(text),
        Value::Nil | Value::List(_) | Value::Map(_) | Value::Object(_) => Basic::Other,
    }
}

/// `eq` of two values.
pub(super) fn equal(first: &Value, second: &Value) -> Result<bool, Error> {
    Ok(match (basic(first), basic(second)) {
        (Basic::Bool(first), Basic::Bool(second)) => first == second,
        (Basic::Int(first), Basic::Int(second)) => first == second,
        (Basic::Uint(first), Basic::Uint(second)) => first == second,
        (Basic::Int(int), Basic::Uint(uint)) | (Basic::Uint(uint), Basic::Int(int)) => {
            u64::try_from(int) == Ok(uint)
        }
        (Basic::Float(first), Basic::Float(second)) => first == second,
        (Basic::String(first), Basic::String(second)) => first == second,
        (Basic::Other, Basic::Other) => return equal_others(first, second),
        _ if matches!(first, Value::Nil) || matches!(second, Value::Nil) => false,
        _ => return Err(incompatible(first, second)),
    })
}

fn equal_others(first: &Value, second: &Value) -> Result<bool, Error> {
    match (first, second) {
        (Value::Nil, Value::Nil) => Ok(true),
        (Value::Nil, _) | (_, Value::Nil) => Ok(false),
        (Value::Object(first), Value::Object(second)) => Ok(Rc::ptr_eq(first, second)
            || first.complex().is_some() && first.complex() == second.complex()),
        _ if first.kind() == second.kind() => {
            let message = format!("values of type `{}` cannot be compared", second.type_name());
            Err(Error::new(ErrorClass::WrongType, message))
        }
        _ => Err(incompatible(first, second)),
    }
}

/// `lt` of two values.
pub(super) fn less(first: &Value, second: &Value) -> Result<bool, Error> {
    Ok(match (basic(first), basic(second)) {
        (Basic::Int(first), Basic::Int(second)) => first < second,
        (Basic::Uint(first), Basic::Uint(second)) => first < second,
        (Basic::Int(int), Basic::Uint(uint)) => {
            u64::try_from(int).is_ok_and(|int| int < uint) || int < 0
        }
        (Basic::Uint(uint), Basic::Int(int)) => u64::try_from(int).is_ok_and(|int| uint < int),
        (Basic::Float(first), Basic::Float(second)) => first < second,
        (Basic::String(first), Basic::String(second)) => first < second,
        (Basic::Other | Basic::Bool(_), _) | (_, Basic::Other) => {
            let message = format!(
                "values of type `{}` and `{}` have no order",
                first.type_name(),
                second.type_name()
            );
            return Err(Error::new(ErrorClass::WrongType, message));
        }
        _ => return Err(incompatible(first, second)),
    })
}

fn incompatible(first: &Value, second: &Value) -> Error {
    let message = format!(
        "a value of type `{}` cannot be compared with one of type `{}`",
        first.type_name(),
        second.type_name()
    );
    Error::new(ErrorClass::WrongType, message)
}

#[cfg(test)]
mod tests {
    use super::{equal, less};
    use crate::Value;

    #[test]
    fn integers_of_different_signedness_are_comparable() {
        assert_eq!(equal(&Value::Int(97), &Value::Uint8(97)).ok(), Some(true));
        assert_eq!(
            equal(&Value::Int(-1), &Value::Uint64(u64::MAX)).ok(),
            Some(false)
        );
        assert_eq!(less(&Value::Int(-1), &Value::Uint64(0)).ok(), Some(true));
        assert_eq!(less(&Value::Uint64(0), &Value::Int(-1)).ok(), Some(false));
    }

    #[test]
    fn an_integer_is_not_comparable_with_a_float() {
        assert!(equal(&Value::Int(1), &Value::Float(1.0)).is_err());
        assert!(less(&Value::Float(1.0), &Value::Int(2)).is_err());
    }

    #[test]
    fn nil_equals_nil_only() {
        assert_eq!(equal(&Value::Nil, &Value::Nil).ok(), Some(true));
        assert_eq!(equal(&Value::Nil, &"".into()).ok(), Some(false));
        assert_eq!(
            equal(&Value::list(Vec::new()), &Value::Nil).ok(),
            Some(false)
        );
        assert!(less(&Value::Nil, &Value::Int(1)).is_err());
    }
}

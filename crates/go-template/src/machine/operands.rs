//! The operands of the machine: values, with Go's distinction between nil and an interface that holds nil.

use super::super::function::Type;
use super::super::value::{Element, Object, Value};
use super::super::{Error, ErrorClass, secret};

/// A value on the machine's stack.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) value: Value,
    /// Whether the value comes from a map or list, where it is an `interface {}`. This matters for nil only: a field of a boxed
    /// nil is an error, and a field of a plain nil is nil.
    pub(super) boxed: bool,
}

impl Default for Operand {
    fn default() -> Self {
        Self::plain(Value::Nil)
    }
}

impl Operand {
    pub(super) fn plain(value: Value) -> Self {
        Self {
            value,
            boxed: false,
        }
    }

    pub(super) fn new_boxed(value: Value) -> Self {
        Self { value, boxed: true }
    }

    /// Whether it is a map without this key.
    pub(super) fn lacks(&self, name: &str) -> Result<bool, Error> {
        match &self.value {
            Value::Map(map) => Ok(map.get(name)?.is_none()),
            _ => Ok(false),
        }
    }

    /// A field of the operand, or the result of a method without arguments.
    pub(super) fn field(&self, name: &str) -> Result<Operand, Error> {
        match &self.value {
            Value::Nil if self.boxed => Err(nil_pointer(name)),
            Value::Nil => Ok(Self::default()),
            Value::Map(map) => Ok(match map.as_map().filter(|_| name == "AsMap") {
                Some(same) => Self::plain(same),
                None => Self::new_boxed(map.get(name)?.unwrap_or_else(|| map.zero())),
            }),
            Value::Object(object) => object_field(&**object, name).map(Self::plain),
            other => Err(no_field(other, name)),
        }
    }

    /// Checks the operand against the type of a parameter. Like Go's assignment, this does not convert values other than nil.
    pub(super) fn convert(self, parameter: Type) -> Result<Operand, Error> {
        let fits = match (parameter, &self.value) {
            (Type::Any, _)
            | (Type::Bool, Value::Bool(_))
            | (Type::Int, Value::Int(_))
            | (Type::Float, Value::Float(_))
            | (Type::String, Value::String(_)) => true,
            (Type::List, Value::List(list)) => matches!(list.element, Element::Any | Element::Nil),
            (Type::Map, Value::Map(map)) => map.holds_any(),
            (Type::Named(name), Value::Object(object)) => object.type_name() == name,
            _ => false,
        };
        if fits {
            return Ok(self);
        }
        let zero = match (parameter, &self.value) {
            (Type::List, Value::Nil) if !self.boxed => Value::list(Vec::new()),
            (Type::Map, Value::Nil) if !self.boxed => Value::map(Default::default()),
            (_, value) => {
                if let Value::String(text) = value
                    && let Some(error) = secret::error(text)
                {
                    return Err(error);
                }
                let message = format!("expected {}, got {}", parameter.phrase(), describe(value));
                return Err(Error::new(ErrorClass::WrongType, message));
            }
        };
        Ok(Self::plain(zero))
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Nil => "nil".to_owned(),
        other => format!("a value of type `{}`", other.type_name()),
    }
}

/// The error for a field of nil.
pub(super) fn nil_pointer(name: &str) -> Error {
    Error::new(
        ErrorClass::NilPointer,
        format!("cannot read `.{name}` of nil"),
    )
}

/// The error for a field that a value does not have.
pub(super) fn no_field(value: &Value, name: &str) -> Error {
    let label = match value {
        Value::String(text) => secret::error(text),
        _ => None,
    };
    label.unwrap_or_else(|| no_field_of_type(value.type_name(), name))
}

fn no_field_of_type(type_name: &str, name: &str) -> Error {
    let message = format!("a value of type `{type_name}` has no field `{name}`");
    Error::new(ErrorClass::WrongType, message)
}

fn object_field(object: &dyn Object, name: &str) -> Result<Value, Error> {
    if let Some(signature) = object.method(name) {
        if let Some(message) = signature.count_error(name, 0) {
            return Err(Error::new(ErrorClass::WrongArgCount, message));
        }
        return object.call(name, &[]);
    }
    object
        .field(name)?
        .ok_or_else(|| no_field_of_type(object.type_name(), name))
}

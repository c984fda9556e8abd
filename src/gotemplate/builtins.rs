//! The functions that text/template itself brings.

use super::function::{Body, Call, Function, Signature, Type};
use super::{Error, ErrorClass, Value};

const ONE_OR_MORE: Signature = Signature {
    parameters: &[Type::Any],
    rest: Some(Type::Any),
};

/// Go's table.
pub(super) const TABLE: &[Function] = &[
    Function {
        name: "and",
        signature: ONE_OR_MORE,
        body: Body::And,
    },
    Function {
        name: "or",
        signature: ONE_OR_MORE,
        body: Body::Or,
    },
    Function::new("not", &[Type::Any], not),
    Function::new("len", &[Type::Any], len),
];

fn not(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(!call.value(0).truth()?))
}

fn len(call: &mut Call<'_>) -> Result<Value, Error> {
    let length = match call.value(0) {
        Value::String(text) => text.len(),
        Value::List(list) => list.items.len(),
        Value::Map(map) => map.len()?,
        Value::Nil => return Err(call.error("`len` of nil")),
        other => {
            return Err(Error::new(
                ErrorClass::WrongType,
                format!("`len` of a value of type `{}`", other.type_name()),
            ));
        }
    };
    Ok(Value::Int(length as i64))
}

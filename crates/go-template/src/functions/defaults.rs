//! The functions for missing values: defaults, and the failures that an expression raises itself.

use super::super::function::{Call, Function, Type};
use super::super::{Error, ErrorClass, Value};

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::variadic("default", &[Type::Any], Type::Any, default).carries(),
    Function::new("empty", &[Type::Any], empty).carries(),
    Function::variadic("coalesce", &[], Type::Any, coalesce).carries(),
    Function::variadic("all", &[], Type::Any, all).carries(),
    Function::variadic("any", &[], Type::Any, any).carries(),
    Function::new("ternary", &[Type::Any, Type::Any, Type::Bool], ternary).carries(),
    Function::new("required", &[Type::String, Type::Any], required).carries(),
    Function::new("fail", &[Type::String], fail).carries(),
];

fn default(call: &mut Call<'_>) -> Result<Value, Error> {
    let given = call.value(1);
    Ok(if given.truth()? { given } else { call.value(0) })
}

fn empty(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(!call.value(0).truth()?))
}

fn coalesce(call: &mut Call<'_>) -> Result<Value, Error> {
    for value in call.rest(0) {
        if value.truth()? {
            return Ok(value.clone());
        }
    }
    Ok(Value::Nil)
}

fn all(call: &mut Call<'_>) -> Result<Value, Error> {
    for value in call.rest(0) {
        if !value.truth()? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn any(call: &mut Call<'_>) -> Result<Value, Error> {
    for value in call.rest(0) {
        if value.truth()? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn ternary(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(call.value(if call.bool(2)? { 0 } else { 1 }))
}

/// Nil and the empty string count as missing; zero, false and empty lists do not.
fn required(call: &mut Call<'_>) -> Result<Value, Error> {
    match call.value(1) {
        Value::Nil => Err(failure(call)?),
        Value::String(text) if text.is_empty() => Err(failure(call)?),
        value => Ok(value),
    }
}

fn fail(call: &mut Call<'_>) -> Result<Value, Error> {
    Err(failure(call)?)
}

/// The error with the message that the author of the expression wrote.
fn failure(call: &Call<'_>) -> Result<Error, Error> {
    Ok(Error::new(ErrorClass::Fail, &*call.string(0)?))
}

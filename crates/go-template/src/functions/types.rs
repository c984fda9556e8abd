//! The functions that query and convert types.

use yaml_tree::integer;

use super::super::function::{Call, Function, Type};
use super::super::{Error, Value, print};
use super::convert;

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("kindOf", &[Type::Any], kind_of).reads_structure(),
    Function::new("kindIs", &[Type::String, Type::Any], kind_is).reads_structure(),
    Function::new("typeOf", &[Type::Any], type_of).reads_structure(),
    Function::new("typeIs", &[Type::String, Type::Any], type_is).reads_structure(),
    Function::new("typeIsLike", &[Type::String, Type::Any], type_is_like).reads_structure(),
    Function::new("deepEqual", &[Type::Any, Type::Any], deep_equal),
    Function::new("toString", &[Type::Any], to_string).makes_text(),
    Function::new("toStrings", &[Type::Any], to_strings).carries(),
    Function::new("int", &[Type::Any], int).may_make_nothing(),
    Function::new("int64", &[Type::Any], int64).may_make_nothing(),
    Function::new("float64", &[Type::Any], float64).may_make_nothing(),
    Function::new("atoi", &[Type::String], atoi).may_make_nothing(),
    Function::new("toDecimal", &[Type::Any], to_decimal).may_make_nothing(),
];

fn kind_of(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(call.value(0).kind().into())
}

fn kind_is(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(*call.string(0)? == *call.value(1).kind()))
}

fn type_of(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(call.value(0).type_name().into())
}

fn type_is(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(*call.string(0)? == *call.value(1).type_name()))
}

/// Whether a value has a type, or is a pointer to it.
fn type_is_like(call: &mut Call<'_>) -> Result<Value, Error> {
    let value = call.value(1);
    let name = value.type_name();
    let bare = name.strip_prefix('*').unwrap_or(name);
    let expected = call.string(0)?;
    Ok(Value::Bool(*expected == *name || *expected == *bare))
}

fn deep_equal(call: &mut Call<'_>) -> Result<Value, Error> {
    let equal = convert::deep_equal(&call.value(0), &call.value(1))?;
    Ok(Value::Bool(equal))
}

fn to_string(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = convert::text(&call.value(0))?;
    Ok(Value::String(text))
}

fn to_strings(call: &mut Call<'_>) -> Result<Value, Error> {
    let texts = convert::texts(&call.value(0))?;
    Ok(Value::strings(texts))
}

fn int(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Int(convert::integer(&call.value(0))))
}

fn int64(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Int64(convert::integer(&call.value(0))))
}

fn float64(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Float(convert::float(&call.value(0))))
}

/// Accepts decimal digits only; an overflow gives the largest or smallest integer.
fn atoi(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(0)?;
    let number = integer::parse(&text, 10).unwrap_or_else(|| {
        let digits = text.trim_start_matches(['-', '+']);
        let signs = text.len() - digits.len();
        if digits.is_empty() || signs > 1 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            0
        } else if text.starts_with('-') {
            i64::MIN
        } else {
            i64::MAX
        }
    });
    Ok(Value::Int(number))
}

/// Parses an octal number.
fn to_decimal(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = print::value(&call.value(0))?;
    Ok(Value::Int64(integer::parse(&text, 8).unwrap_or(0)))
}

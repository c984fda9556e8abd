//! Converts arguments of any type to text, numbers and lists, with Sprig's conversions, which never fail.

use std::rc::Rc;
use std::sync::Arc;

use yaml_tree::integer;

use super::super::function::Call;
use super::super::value::{Element, List, Map};
use super::super::{Error, ErrorClass, Value, print};

/// A value as text (Sprig's `strval`): a string unchanged, anything else as `%v` prints it.
pub(super) fn text(value: &Value) -> Result<Arc<str>, Error> {
    match value {
        Value::String(text) => Ok(Arc::clone(text)),
        other => Ok(print::value(other)?.into()),
    }
}

/// The items of a list as texts, without nils; for any other value, its text alone (Sprig's `strslice`).
pub(super) fn texts(value: &Value) -> Result<Vec<Arc<str>>, Error> {
    match value {
        Value::Nil => Ok(Vec::new()),
        Value::List(list) => list
            .items
            .iter()
            .filter(|item| !matches!(item, Value::Nil))
            .map(text)
            .collect(),
        other => Ok(vec![text(other)?]),
    }
}

/// A value as an integer, or zero if it is not a number (`cast.ToInt64`).
pub(super) fn integer(value: &Value) -> i64 {
    match value {
        Value::Int(number) | Value::Int64(number) => *number,
        Value::Uint8(number) => (*number).into(),
        // Go's conversion wraps around.
        Value::Uint64(number) => *number as i64,
        Value::Float(number) => truncate(*number),
        Value::Bool(flag) => (*flag).into(),
        Value::String(text) => integer::cast(text),
        Value::Nil | Value::List(_) | Value::Map(_) | Value::Object(_) => 0,
    }
}

/// A value as a float, or zero if it is not a number (`cast.ToFloat64`).
pub(super) fn float(value: &Value) -> f64 {
    match value {
        Value::Int(number) | Value::Int64(number) => *number as f64,
        Value::Uint8(number) => (*number).into(),
        Value::Uint64(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::String(text) => parse_float(text).unwrap_or(0.0),
        Value::Nil | Value::List(_) | Value::Map(_) | Value::Object(_) => 0.0,
    }
}

/// Go's conversion of a `float64` to an integer on amd64: truncates, and out-of-range values become the smallest integer.
fn truncate(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

/// `strconv.ParseFloat` without hexadecimal floats: `_` is allowed between digits, and an overflow is an error.
fn parse_float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    let misplaced =
        |(index, _): (usize, &str)| index == 0 || !digit(index - 1) || !digit(index + 1);
    if text.match_indices('_').any(misplaced) {
        return None;
    }
    let number: f64 = text.replace('_', "").parse().ok()?;
    let is_named = bytes.iter().any(|byte| matches!(byte, b'n' | b'N'));
    (is_named || number.is_finite()).then_some(number)
}

/// An argument that must be a list.
pub(super) fn list(call: &Call<'_>, index: usize) -> Result<Rc<List>, Error> {
    match call.value(index) {
        Value::List(list) => Ok(list),
        // Sprig dereferences the type of a nil.
        Value::Nil => Err(Error::new(
            ErrorClass::NilPointer,
            format!("`{}` of nil", call.name),
        )),
        _ => Err(call.argument_error(index, "list")),
    }
}

/// A nil `[]interface {}`, which is `null` in JSON.
pub(super) fn nil_list() -> Value {
    Value::list_of(Element::Nil, Vec::new())
}

/// `unicode.ToUpper`: a character whose uppercase has several characters is unchanged.
pub(super) fn upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(upper), None) => upper,
        _ => c,
    }
}

/// `unicode.ToLower`
pub(super) fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// The depth one level below `depth`, or an error if values are nested too deeply.
pub(super) fn deeper(depth: usize) -> Result<usize, Error> {
    if depth < print::NESTING {
        Ok(depth + 1)
    } else {
        Err(print::too_deep())
    }
}

/// Whether two values are equal, including the types of all nested values (`reflect.DeepEqual`).
pub(super) fn deep_equal(left: &Value, right: &Value) -> Result<bool, Error> {
    equal(left, right, 0)
}

fn equal(left: &Value, right: &Value, depth: usize) -> Result<bool, Error> {
    let depth = deeper(depth)?;
    Ok(match (left, right) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left), Value::Int(right)) | (Value::Int64(left), Value::Int64(right)) => {
            left == right
        }
        (Value::Uint8(left), Value::Uint8(right)) => left == right,
        (Value::Uint64(left), Value::Uint64(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::List(left), Value::List(right)) => equal_lists(left, right, depth)?,
        (Value::Map(left), Value::Map(right)) => equal_maps(left, right, depth)?,
        (Value::Object(left), Value::Object(right)) => {
            left.type_name() == right.type_name() && left.text() == right.text()
        }
        _ => false,
    })
}

fn equal_lists(left: &Rc<List>, right: &Rc<List>, depth: usize) -> Result<bool, Error> {
    if Rc::ptr_eq(left, right) {
        return Ok(true);
    }
    if left.element != right.element || left.items.len() != right.items.len() {
        return Ok(false);
    }
    for (left, right) in left.items.iter().zip(&right.items) {
        if !equal(left, right, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_maps(left: &Rc<Map>, right: &Rc<Map>, depth: usize) -> Result<bool, Error> {
    if Rc::ptr_eq(left, right) {
        return Ok(true);
    }
    if left.type_name != right.type_name || left.len()? != right.len()? {
        return Ok(false);
    }
    for (key, item) in left.entries()? {
        match right.get(&key)? {
            Some(other) if equal(&item, &other, depth)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

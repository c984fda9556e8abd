//! Prints values as Go does, in actions and by `print`: the verb `%v`.

use std::borrow::Cow;
use std::fmt::Write;

use super::function::{MADE_LIMIT, ensure_size};
use super::{Error, ErrorClass, Value};

/// The maximum nesting of lists and maps that are printed, because a map may contain itself.
pub const NESTING: usize = 256;

/// The text that `%v` prints.
pub fn value(value: &Value) -> Result<String, Error> {
    let mut text = String::new();
    write(&mut text, value, MADE_LIMIT + 1)?;
    ensure_size("%v", text.len())?;
    Ok(text)
}

/// Writes what `%v` prints, until the text has that many bytes: for a message, whatever the value holds.
pub fn write(text: &mut String, value: &Value, most: usize) -> Result<(), Error> {
    write_value(text, value, most, 0)
}

/// A short form of a value for messages.
pub fn short(value: &Value) -> String {
    match value {
        Value::List(_) => "[…]".to_owned(),
        Value::Map(_) => "map[…]".to_owned(),
        Value::String(text) => excerpt(text).into_owned(),
        other => self::value(other).unwrap_or_default(),
    }
}

/// The maximum number of characters that a message quotes of a text.
const MAX_QUOTED: usize = 80;

/// The start of a text, for a message.
pub fn excerpt(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// The text that `%v` prints of a `float64`: the shortest digits that parse to the same number, with an exponent from 1e+06 on.
pub fn float(number: f64) -> String {
    super::format::shortest(number)
}

fn write_value(text: &mut String, value: &Value, most: usize, depth: usize) -> Result<(), Error> {
    if depth > NESTING {
        return Err(too_deep());
    }
    if text.len() >= most {
        return Ok(());
    }
    match value {
        Value::Nil => text.push_str("<nil>"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) | Value::Int64(number) => push(text, number),
        Value::Uint8(number) => push(text, number),
        Value::Uint64(number) => push(text, number),
        Value::Float(number) => text.push_str(&float(*number)),
        Value::String(string) => {
            text.push_str(string);
        }
        Value::Object(object) => text.push_str(&object.text()),
        Value::List(list) => {
            text.push('[');
            for (index, item) in list.items.iter().enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                write_value(text, item, most, depth + 1)?;
            }
            text.push(']');
        }
        Value::Map(map) => {
            text.push_str("map[");
            for (index, (key, item)) in map.entries()?.iter().enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                text.push_str(key);
                text.push(':');
                write_value(text, item, most, depth + 1)?;
            }
            text.push(']');
        }
    }
    Ok(())
}

/// The error for a value that is nested too deeply to be written.
pub(super) fn too_deep() -> Error {
    let message = format!("the value is nested more than {NESTING} deep, or holds itself");
    Error::new(ErrorClass::Depth, message)
}

fn push(text: &mut String, number: impl std::fmt::Display) {
    // Writing to a `String` cannot fail.
    let _ = write!(text, "{number}");
}

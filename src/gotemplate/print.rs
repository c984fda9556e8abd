//! How Go prints values: `%v` and what `print` and actions make of it.

use std::fmt::Write;

use super::{Error, ErrorClass, Value};

/// How deeply lists and maps may be nested where they are printed: a map may hold itself.
pub const NESTING: usize = 256;

/// How long the text of one value may be, in bytes.
const LONGEST: usize = 64 << 20;

/// What `%v` prints. A value whose text would be longer than 64 MiB is refused.
pub fn value(value: &Value) -> Result<String, Error> {
    let mut text = String::new();
    write_value(&mut text, value, 0)?;
    Ok(text)
}

/// A value in a message: its first characters.
pub(super) fn short(value: &Value) -> String {
    match value {
        Value::List(_) => "[…]".to_owned(),
        Value::Map(_) => "map[…]".to_owned(),
        other => self::value(other)
            .unwrap_or_default()
            .chars()
            .take(40)
            .collect(),
    }
}

/// What `%v` prints of a `float64`: the shortest digits that read back, with an exponent from 1e+06 on.
pub fn float(number: f64) -> String {
    super::format::shortest(number)
}

fn write_value(text: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
    if depth > NESTING {
        return Err(too_deep());
    }
    match value {
        Value::Nil => text.push_str("<nil>"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) | Value::Int64(number) => push(text, number),
        Value::Uint8(number) => push(text, number),
        Value::Uint64(number) => push(text, number),
        Value::Float(number) => text.push_str(&float(*number)),
        Value::String(string) => text.push_str(string),
        Value::Object(object) => text.push_str(&object.text()),
        Value::List(list) => {
            text.push('[');
            for (index, item) in list.items.iter().enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                write_value(text, item, depth + 1)?;
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
                write_value(text, item, depth + 1)?;
            }
            text.push(']');
        }
    }
    if text.len() > LONGEST {
        let message = format!("the value's text is longer than {LONGEST} bytes");
        return Err(Error::new(ErrorClass::Limit, message));
    }
    Ok(())
}

/// That a value is nested too deeply to be written out.
pub(super) fn too_deep() -> Error {
    let message = format!("the value is nested more than {NESTING} deep, or holds itself");
    Error::new(ErrorClass::Depth, message)
}

fn push(text: &mut String, number: impl std::fmt::Display) {
    // Writing to a `String` cannot fail.
    let _ = write!(text, "{number}");
}

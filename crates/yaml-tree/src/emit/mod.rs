//! Writes a tree as YAML that all parsers read alike: YAML 1.1 and 1.2, kubectl, Helm, PyYAML.
//!
//! The format is that of kubectl and Helm: sorted keys, an indentation of two spaces, lists in the column of their key, literal
//! blocks for multiline text. Lines are never folded, so a change of one word changes one line.

mod scalar;

use std::fmt::Write as _;

use serde::Serialize;

use crate::json::format_number;
use crate::value::{Map, Node, Number, Value};

pub use scalar::quote;
pub(super) use scalar::{Form, double_quoted, form, is_printable};
use scalar::{key, quote_as};

/// Formats a document, with a final line break.
pub fn emit(value: &Value) -> String {
    emit_at(value, 0)
}

/// Formats a document with every line indented, for use below a key of a template.
pub fn emit_at(value: &Value, indent: usize) -> String {
    let mut out = String::with_capacity(256);
    match value {
        Value::Map(map) if !map.is_empty() => {
            pad(&mut out, indent);
            write_map(&mut out, map, indent);
        }
        Value::List(items) if !items.is_empty() => {
            pad(&mut out, indent);
            write_list(&mut out, items, indent);
        }
        _ => {
            pad(&mut out, indent);
            write_flat(&mut out, value);
            out.push('\n');
        }
    }
    out
}

/// Formats data of any serializable type as a document.
///
/// # Errors
/// JSON cannot represent the data, for example a map whose keys are not strings.
pub fn emit_data<T: Serialize>(data: &T) -> Result<String, serde_json::Error> {
    let value = serde_json::to_value(data)?;
    Ok(emit(&Value::from(value)))
}

/// Writes a map whose first line is already indented.
fn write_map(out: &mut String, map: &Map, indent: usize) {
    for (index, entry) in map.iter().enumerate() {
        if index > 0 {
            pad(out, indent);
        }
        key(out, &entry.key, indent);
        match &entry.node.value {
            Value::Map(map) if !map.is_empty() => {
                out.push('\n');
                pad(out, indent + 2);
                write_map(out, map, indent + 2);
            }
            Value::List(items) if !items.is_empty() => {
                out.push('\n');
                pad(out, indent);
                write_list(out, items, indent);
            }
            value => write_scalar(out, value, indent + 2),
        }
    }
}

/// Writes a list whose first line is already indented.
fn write_list(out: &mut String, items: &[Node], indent: usize) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            pad(out, indent);
        }
        out.push('-');
        match &item.value {
            Value::Map(map) if !map.is_empty() => {
                out.push(' ');
                write_map(out, map, indent + 2);
            }
            Value::List(items) if !items.is_empty() => {
                out.push(' ');
                write_list(out, items, indent + 2);
            }
            value => write_scalar(out, value, indent + 2),
        }
    }
}

/// Writes a space, the value, and a line break. Multiline text becomes a literal block.
fn write_scalar(out: &mut String, value: &Value, indent: usize) {
    out.push(' ');
    let Some(text) = value.text_with_labels() else {
        write_flat(out, value);
        out.push('\n');
        return;
    };
    match form(text) {
        Form::Literal(header) => {
            out.push_str(header);
            out.push('\n');
            for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
                if !line.is_empty() {
                    pad(out, indent);
                    out.push_str(line);
                }
                out.push('\n');
            }
        }
        form => {
            out.push_str(&quote_as(form, text));
            out.push('\n');
        }
    }
}

/// Writes a value on one line.
pub(super) fn write_flat(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => write_number(out, *number),
        Value::String(text) => out.push_str(&quote(text)),
        Value::Opaque(opaque) => out.push_str(&quote(&opaque.text)),
        Value::List(_) => out.push_str("[]"),
        Value::Map(_) => out.push_str("{}"),
    }
}

/// Writes a number. YAML 1.1 requires a decimal point in a number with an exponent, and a sign in the exponent.
fn write_number(out: &mut String, number: Number) {
    let text = format_number(number);
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "{digits}.0e{exponent}");
        }
        _ if text == "-0" => out.push_str("-0.0"),
        _ => out.push_str(&text),
    }
}

fn pad(out: &mut String, indent: usize) {
    const SPACES: &str = "                                ";
    let mut left = indent;
    while left > 0 {
        let some = left.min(SPACES.len());
        out.push_str(&SPACES[..some]);
        left -= some;
    }
}

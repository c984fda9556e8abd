//! JSON as Go's encoding/json writes it, which is what values pass through on their way into every template.

use std::fmt::Write as _;
use std::sync::Arc;

use super::value::{Entry, Map, Node, Number, Value};

/// What becomes of `<`, `>` and `&` in strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Html {
    /// They are written as `\u003c` and so on: `json.Marshal`, Sprig's `toJson`.
    Escaped,
    /// They stay: an encoder with `SetEscapeHTML(false)`, Sprig's `toRawJson`.
    Plain,
}

/// A value as compact JSON, keys sorted. Numbers that JSON has no word for are written as `null`.
pub fn to_json(value: &Value, html: Html) -> String {
    let mut out = String::new();
    write_value(&mut out, value, html);
    out
}

/// A number as encoding/json writes it: the shortest digits that read back the same, with an exponent only below 1e-6
/// and from 1e21 on (<https://pkg.go.dev/encoding/json#Marshal>, floatEncoder).
pub fn format_float_go(number: f64) -> String {
    if !number.is_finite() {
        return "null".to_owned();
    }
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let text = format!("{number:e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                format!("{digits}e+{exponent}")
            }
            _ => text,
        };
    }
    format!("{number}")
}

/// A number as encoding/json writes it.
pub fn format_number(number: Number) -> String {
    match number {
        Number::Int(number) => number.to_string(),
        Number::Float(number) => format_float_go(number),
    }
}

/// A scalar as text; none for null, secrets, lists and maps.
pub fn scalar_text(value: &Value) -> Option<Arc<str>> {
    match value {
        Value::String(text) => Some(Arc::clone(text)),
        Value::Bool(flag) => Some(if *flag { "true" } else { "false" }.into()),
        Value::Number(number) => Some(format_number(*number).into()),
        Value::Null | Value::Opaque(_) | Value::List(_) | Value::Map(_) => None,
    }
}

/// Appends a string with its quotes.
pub fn write_string(out: &mut String, text: &str, html: Html) {
    out.push('"');
    let mut copied = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x8 => "\\b",
            0xc => "\\f",
            0xe2 if text[index..].starts_with('\u{2028}') => "\\u2028",
            0xe2 if text[index..].starts_with('\u{2029}') => "\\u2029",
            b'<' if html == Html::Escaped => "\\u003c",
            b'>' if html == Html::Escaped => "\\u003e",
            b'&' if html == Html::Escaped => "\\u0026",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[copied..index]);
        copied = index + if byte.is_ascii() { 1 } else { 3 };
        if escaped.is_empty() {
            // A string takes any text, so writing cannot go wrong.
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escaped);
        }
    }
    out.push_str(&text[copied..]);
    out.push('"');
}

/// JSON as a tree that is in no file.
impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(flag) => Self::Bool(flag),
            serde_json::Value::Number(number) => Self::Number(number.as_i64().map_or_else(
                || Number::Float(number.as_f64().unwrap_or(0.0)),
                Number::Int,
            )),
            serde_json::Value::String(text) => Self::from(text),
            serde_json::Value::Array(items) => {
                Self::from(items.into_iter().map(Node::from_value).collect::<Vec<_>>())
            }
            serde_json::Value::Object(map) => {
                let entries = map
                    .into_iter()
                    .map(|(key, json)| Entry::from_value(key, json));
                Self::from(entries.collect::<Map>())
            }
        }
    }
}

/// A tree as JSON data. A float without a fraction is an integer, as Go writes it; what JSON has no number for is null.
impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => {
                let number: Result<serde_json::Number, _> = format_number(*number).parse();
                number.map_or(Self::Null, Self::Number)
            }
            Value::String(text) => Self::String(text.to_string()),
            Value::Opaque(opaque) => Self::String(opaque.text.to_string()),
            Value::List(items) => items.iter().map(|item| Self::from(&item.value)).collect(),
            Value::Map(map) => { map.iter() }
                .map(|entry| (entry.key.to_string(), Self::from(&entry.node.value)))
                .collect(),
        }
    }
}

fn write_value(out: &mut String, value: &Value, html: Html) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&format_number(*number)),
        Value::String(text) => write_string(out, text, html),
        Value::Opaque(opaque) => write_string(out, &opaque.text, html),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, &item.value, html);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (index, entry) in map.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(out, &entry.key, html);
                out.push(':');
                write_value(out, &entry.node.value, html);
            }
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Html, format_float_go, to_json, write_string};
    use crate::value::{Entry, Map, Value};

    #[test]
    fn floats_are_written_as_go_writes_them() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.5, "1.5"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.25e-10, "1.25e-10"),
            (-1.7976931348623157e308, "-1.7976931348623157e+308"),
            (9_223_372_036_854_775_808.0, "9223372036854776000"),
        ] {
            assert_eq!(format_float_go(number), text);
        }
    }

    #[test]
    fn strings_are_escaped_as_go_escapes_them() {
        let mut out = String::new();
        write_string(&mut out, "<a>\u{1}\n\"\\\u{2028}…\u{2029}é", Html::Escaped);
        assert_eq!(out, r#""\u003ca\u003e\u0001\n\"\\\u2028…\u2029é""#);
        out.clear();
        write_string(&mut out, "<&>", Html::Plain);
        assert_eq!(out, r#""<&>""#);
    }

    #[test]
    fn maps_are_sorted() {
        let map: Map = [Entry::from_value("b", true), Entry::from_value("a", "x")]
            .into_iter()
            .collect();
        assert_eq!(
            to_json(&Value::from(map), Html::Plain),
            r#"{"a":"x","b":true}"#
        );
    }
}

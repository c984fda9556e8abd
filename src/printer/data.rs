//! Prints data as JSON and YAML: every string as it is shown, and without characters that a terminal or a CI runner interprets.
//! Programs read the original strings, because JSON has an escape for each character.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::text::{display, is_unsafe};

/// Writes data as JSON with indentation.
pub(super) fn json<T: Serialize + ?Sized>(data: &T, out: &mut dyn Write) -> io::Result<()> {
    let formatter = Showing::new(PrettyFormatter::new(), Markup::Kept);
    let mut serializer = serde_json::Serializer::with_formatter(out, formatter);
    data.serialize(&mut serializer)?;
    Ok(())
}

/// Writes data as JSON in one line that can be in an element of an HTML page: no text ends the element, or begins another one.
pub(super) fn embed<T: Serialize + ?Sized>(data: &T, out: &mut dyn Write) -> io::Result<()> {
    let formatter = Showing::new(CompactFormatter, Markup::Escaped);
    // In memory first: a large document has millions of small parts.
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    data.serialize(&mut serializer)?;
    out.write_all(&bytes)
}

/// A value as YAML. If a block would contain a command of a CI runner, the whole value is JSON, which is valid YAML.
pub(super) fn yaml(value: &Value) -> io::Result<String> {
    let text = yaml_tree::emit(&display_value(value));
    let is_command = |line: &str| line.trim_start().starts_with("::") || line.contains("##[");
    if !text.lines().any(is_command) {
        return Ok(text);
    }
    let mut bytes = Vec::new();
    json(&serde_json::Value::from(value), &mut bytes)?;
    bytes.push(b'\n');
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// A value as it is shown, for an answer that contains other output.
pub fn display_value(value: &Value) -> Value {
    let text = |text: &str| -> std::sync::Arc<str> { display(text).into() };
    match value {
        Value::String(string) => Value::String(text(string)),
        Value::Opaque(opaque) => Value::String(text(&opaque.text)),
        Value::List(items) => items.iter().map(self::node).collect::<Vec<_>>().into(),
        Value::Map(map) => {
            let entries = map.iter().map(|entry| Entry {
                key: text(&entry.key),
                key_place: entry.key_place,
                node: self::node(&entry.node),
            });
            entries.collect::<Map>().into()
        }
        other => other.clone(),
    }
}

fn node(node: &Node) -> Node {
    Node {
        value: display_value(&node.value),
        place: node.place,
    }
}

/// What becomes of the characters that HTML interprets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Markup {
    Kept,
    Escaped,
}

/// Collects each string or key, as it is shown, and escapes it. The inner formatter lays out everything else.
struct Showing<F> {
    inner: F,
    markup: Markup,
    string: String,
}

impl<F> Showing<F> {
    fn new(inner: F, markup: Markup) -> Self {
        Self {
            inner,
            markup,
            string: String::new(),
        }
    }
}

impl<F: Formatter> Formatter for Showing<F> {
    fn begin_string<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.string.clear();
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.string += fragment;
        Ok(())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        self.string.push(match escape {
            CharEscape::Quote => '"',
            CharEscape::ReverseSolidus => '\\',
            CharEscape::Solidus => '/',
            CharEscape::Backspace => '\u{8}',
            CharEscape::FormFeed => '\u{c}',
            CharEscape::LineFeed => '\n',
            CharEscape::CarriageReturn => '\r',
            CharEscape::Tab => '\t',
            CharEscape::AsciiControl(byte) => char::from(byte),
        });
        Ok(())
    }

    fn end_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let quoted = quote(&display(&self.string));
        if self.markup == Markup::Kept || !quoted.contains(['<', '>', '&']) {
            return out.write_all(quoted.as_bytes());
        }
        let escaped = quoted
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026");
        out.write_all(escaped.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.inner.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.inner.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.inner.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.inner.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.inner.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.inner.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.inner.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.inner.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.inner.end_object_value(out)
    }
}

fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            letter if is_unsafe(letter) => quoted += &format!("\\u{:04x}", u32::from(letter)),
            '#' if text[at..].starts_with("##[") => quoted += "\\u0023",
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{embed, json, quote, yaml};

    #[test]
    fn json_is_what_serde_json_writes() {
        let data = serde_json::json!({"a": [1, "x\n\"\\\u{8}é", {}], "b": {"c": null, "d": []}});
        let mut bytes = Vec::new();
        json(&data, &mut bytes).expect("memory takes it");
        let expected = serde_json::to_string_pretty(&data).expect("it is JSON");
        let written = String::from_utf8(bytes).expect("it is text");
        assert_eq!(written, expected.replace("\\b", "\\u0008"));
    }

    #[test]
    fn embedded_json_has_no_markup_and_reads_the_same() {
        let data = serde_json::json!({"a": [1, "</script><script>&", {}], "<": null});
        let mut bytes = Vec::new();
        embed(&data, &mut bytes).expect("memory takes it");
        let written = String::from_utf8(bytes).expect("it is text");
        assert!(!written.contains(['<', '>', '&', '\n']), "{written}");
        let read: serde_json::Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!(read, data);
    }

    #[test]
    fn characters_that_a_runner_or_terminal_interprets_are_escaped() {
        assert_eq!(
            quote("##[a] \u{202e}\u{9b}\u{7f}"),
            "\"\\u0023#[a] \\u202e\\u009b\\u007f\""
        );
    }

    #[test]
    fn yaml_with_a_command_in_a_block_is_json() {
        let value = |text: &str| serde_json::json!({"a": text}).into();
        assert_eq!(
            yaml(&value("x\n::error::y")).expect("memory takes it"),
            "{\n  \"a\": \"x\\n::error::y\"\n}\n"
        );
        assert_eq!(
            yaml(&value("x\ny")).expect("memory takes it"),
            "a: |-\n  x\n  y\n"
        );
    }
}

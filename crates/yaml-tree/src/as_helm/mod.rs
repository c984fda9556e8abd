//! Writes YAML as Helm's `toYaml` does (sigs.k8s.io/yaml over go-yaml v2), byte for byte, because templates see the text.
//!
//! Keys are in natural order, and every text that a YAML 1.1 parser could read as something else than a string is quoted.
//! `toYaml` writes lists at the indent of their key and wraps long lines; `toYamlPretty` (yaml.v3) does neither.

mod order;
mod style;

use order::sort_entries;
use style::{Context, Style, is_break, is_printable, style};

use crate::json::format_float_go;
use crate::value::{Map, Node, Number, Value};

/// The value as a YAML document that ends with a newline.
pub fn as_helm(value: &Value, lists: Lists) -> String {
    let mut writer = Writer {
        out: String::new(),
        lists,
    };
    writer.node(value, -STEP, Prefix::None);
    if !writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    writer.out
}

/// The indent of the items of a list below a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// The indent of the key, as by `toYaml`.
    AtKey,
    /// One step more than the key, as by `toYamlPretty`.
    Indented,
}

const STEP: isize = 2;

/// The column from which on `toYaml` breaks a line at the next blank.
const WIDTH: usize = 80;

/// The maximum length of a key that is written without a `?`, in bytes.
const SIMPLE_KEY: usize = 128;

/// What precedes a value on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefix {
    None,
    Key,
    Dash,
}

struct Writer {
    out: String,
    lists: Lists,
}

impl Writer {
    /// Writes a value in a block of this indent.
    fn node(&mut self, value: &Value, indent: isize, prefix: Prefix) {
        match value {
            Value::Map(map) if !map.is_empty() => self.map(map, indent, prefix),
            Value::List(items) if !items.is_empty() => self.list(items, indent, prefix),
            scalar => {
                if prefix == Prefix::Key {
                    self.out.push(' ');
                }
                self.scalar(scalar, indent);
            }
        }
    }

    fn scalar(&mut self, value: &Value, indent: isize) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Number(Number::Float(number)) if self.lists == Lists::Indented => {
                self.out.push_str(&shortest(*number));
            }
            Value::Number(number) => self.out.push_str(&number_text(*number)),
            Value::String(text) => self.text(text, indent, Context::Value),
            Value::Opaque(opaque) => self.text(&opaque.text, indent, Context::Value),
            Value::List(_) => self.out.push_str("[]"),
            Value::Map(_) => self.out.push_str("{}"),
        }
    }

    fn map(&mut self, map: &Map, indent: isize, prefix: Prefix) {
        let indent = indent + STEP;
        for (index, entry) in sort_entries(map).into_iter().enumerate() {
            if index > 0 || prefix == Prefix::Key {
                self.line(indent);
            }
            if entry.key.len() <= SIMPLE_KEY && !entry.key.contains(is_break) {
                self.text(&entry.key, indent, Context::Key);
                self.out.push(':');
                self.node(&entry.node.value, indent, Prefix::Key);
            } else {
                self.out.push_str("? ");
                self.text(&entry.key, indent, Context::Value);
                self.line(indent);
                self.out.push_str(": ");
                self.node(&entry.node.value, indent, Prefix::Dash);
            }
        }
    }

    fn list(&mut self, items: &[Node], indent: isize, prefix: Prefix) {
        let at_key = prefix == Prefix::Key && self.lists == Lists::AtKey;
        let indent = if at_key { indent } else { indent + STEP };
        for (index, item) in items.iter().enumerate() {
            if index > 0 || prefix == Prefix::Key {
                self.line(indent);
            }
            self.out.push_str("- ");
            self.node(&item.value, indent, Prefix::Dash);
        }
    }

    /// Starts a new line, unless a literal text has just ended one.
    fn line(&mut self, indent: isize) {
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.pad(indent);
    }

    fn pad(&mut self, indent: isize) {
        self.out.extend((0..indent).map(|_| ' '));
    }

    fn text(&mut self, text: &str, indent: isize, context: Context) {
        let indent = (indent + STEP).max(STEP);
        let breaks_lines = context == Context::Value && self.lists == Lists::AtKey;
        match style(text, context) {
            Style::Literal => self.literal(text, indent),
            Style::Plain => self.words(text, indent, breaks_lines, Style::Plain),
            style @ (Style::Single | Style::Double) => {
                let quote = if style == Style::Single { '\'' } else { '"' };
                self.out.push(quote);
                self.words(text, indent, breaks_lines, style);
                self.out.push(quote);
            }
        }
    }

    /// Writes the characters of a text. With `breaks_lines`, a blank beyond column [`WIDTH`] becomes a line break, as in go-yaml
    /// v2 (`yaml_emitter_write_plain_scalar` and similar functions).
    fn words(&mut self, text: &str, indent: isize, breaks_lines: bool, style: Style) {
        let line = self.out.rsplit(is_break).next().unwrap_or_default();
        let mut column = line.chars().count();
        let (mut is_after_blank, mut is_after_break) = (false, false);
        for (at, c) in text.char_indices() {
            let start = self.out.len();
            if c == ' ' {
                let is_inside = at > 0 && at + 1 < text.len();
                let is_followed = text[at + 1..].starts_with(' ');
                let is_broken = breaks_lines && is_inside && !is_after_blank && column > WIDTH;
                if is_broken && (!is_followed || style == Style::Double) {
                    self.line(indent);
                    column = indent.cast_unsigned();
                    if is_followed {
                        self.out.push('\\');
                        column += 1;
                    }
                } else {
                    self.out.push(' ');
                    column += 1;
                }
                is_after_blank = true;
                continue;
            }
            is_after_blank = false;
            match style {
                Style::Double if !is_readable(c) => self.out.push_str(&escape(c)),
                Style::Single if is_break(c) => {
                    self.out.push(c);
                    (column, is_after_break) = (0, true);
                    continue;
                }
                _ => {
                    if std::mem::take(&mut is_after_break) {
                        self.pad(indent);
                    }
                    if style == Style::Single && c == '\'' {
                        self.out.push('\'');
                    }
                    self.out.push(c);
                }
            }
            column += self.out[start..].chars().count();
        }
    }

    fn literal(&mut self, text: &str, indent: isize) {
        self.out.push('|');
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.out.push('2');
        }
        let body = text.strip_suffix(is_break);
        match body {
            None => self.out.push('-'),
            Some(body) if body.is_empty() || body.ends_with(is_break) => self.out.push('+'),
            Some(_) => {}
        }
        self.out.push('\n');
        let mut at_line_start = true;
        for c in text.chars() {
            if is_break(c) {
                at_line_start = true;
            } else if std::mem::take(&mut at_line_start) {
                self.pad(indent);
            }
            self.out.push(c);
        }
    }
}

/// Formats a number. A float without a fraction is written as an integer if it fits into 64 bits.
fn number_text(number: Number) -> String {
    let number = match number {
        Number::Int(number) => return number.to_string(),
        Number::Float(number) => number,
    };
    let json = format_float_go(number);
    if let Ok(whole) = json.parse::<i64>() {
        return whole.to_string();
    }
    if json.parse::<u64>().is_ok() {
        return json;
    }
    shortest(number)
}

/// Go's `%g`: with an exponent of at least two digits below 1e-4 and from 1e6 on.
fn shortest(number: f64) -> String {
    if !number.is_finite() {
        return "null".to_owned();
    }
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Whether a character needs no escape between double quotes.
fn is_readable(c: char) -> bool {
    is_printable(c) && !is_break(c) && !matches!(c, '"' | '\\' | '\u{feff}')
}

fn escape(c: char) -> String {
    let short = match c {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '"' | '\\' => c,
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let code = u32::from(c);
            return match code {
                0..0x100 => format!("\\x{code:02X}"),
                0x100..0x1_0000 => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{short}")
}

#[cfg(test)]
mod tests {
    use super::{Lists, as_helm};
    use crate::value::{Entry, Map, Node, Value};

    fn one(key: &str, value: impl Into<Value>) -> Value {
        [Entry::from_value(key, value)]
            .into_iter()
            .collect::<Map>()
            .into()
    }

    fn written(value: impl Into<Value>) -> String {
        as_helm(&value.into(), Lists::AtKey)
    }

    #[test]
    fn a_text_is_quoted_only_if_a_parser_could_misread_it() {
        assert_eq!(written("it's"), "it's\n");
        assert_eq!(written("'t"), "'''t'\n");
        assert_eq!(written("y"), "\"y\"\n");
        assert_eq!(written("a\u{1F600}"), "\"a\\U0001F600\"\n");
        assert_eq!(written("a\u{2028}b"), "'a\u{2028}  b'\n");
    }

    #[test]
    fn a_long_key_is_written_after_a_question_mark() {
        let key = "k".repeat(129);
        let items = vec![Node::from_value(1)];
        assert_eq!(written(one(&key, items)), format!("? {key}\n: - 1\n"));
    }

    #[test]
    fn a_multiline_text_ends_before_the_next_key() {
        let map: Map = [Entry::from_value("a", "x\n\n"), Entry::from_value("b", 1)]
            .into_iter()
            .collect();
        assert_eq!(written(map), "a: |+\n  x\n\nb: 1\n");
    }
}

//! YAML as Helm's `toYaml` writes it (sigs.k8s.io/yaml over go-yaml v2): what templates must see, byte for byte.
//!
//! Keys are in natural order, and whatever a YAML 1.1 reader could take for something else than a string is quoted. `toYaml` writes
//! lists at the indent of their key and breaks long lines between words; `toYamlPretty` (yaml.v3) does neither.

mod order;
mod style;

use order::sorted;
use style::{Context, Style, is_break, is_printable, style};

use crate::model::json::format_float_go;
use crate::model::value::{Map, Node, Number, Value};

/// The value as a YAML document, which ends in a newline.
pub fn as_helm(value: &Value, lists: Lists) -> String {
    let mut writer = Writer {
        out: String::new(),
        lists,
    };
    writer.node(value, -STEP, Before::Nothing);
    if !writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    writer.out
}

/// Where the items of a list below a key begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// At the indent of the key: `toYaml`.
    AtKey,
    /// Further right: `toYamlPretty`.
    Indented,
}

const STEP: isize = 2;

/// The column behind which `toYaml` breaks a line at the next blank.
const WIDTH: usize = 80;

/// The longest text, in bytes, that a key may be without a `?`.
const SIMPLE_KEY: usize = 128;

/// What stands on the line in front of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Key,
    Dash,
}

struct Writer {
    out: String,
    lists: Lists,
}

impl Writer {
    /// Writes a value inside a block of that indent.
    fn node(&mut self, value: &Value, indent: isize, before: Before) {
        match value {
            Value::Map(map) if !map.is_empty() => self.map(map, indent, before),
            Value::List(items) if !items.is_empty() => self.list(items, indent, before),
            scalar => {
                if before == Before::Key {
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
            Value::List(_) => self.out.push_str("[]"),
            Value::Map(_) => self.out.push_str("{}"),
        }
    }

    fn map(&mut self, map: &Map, indent: isize, before: Before) {
        let indent = indent + STEP;
        for (index, entry) in sorted(map).into_iter().enumerate() {
            if index > 0 || before == Before::Key {
                self.line(indent);
            }
            if entry.key.len() <= SIMPLE_KEY && !entry.key.contains(is_break) {
                self.text(&entry.key, indent, Context::Key);
                self.out.push(':');
                self.node(&entry.node.value, indent, Before::Key);
            } else {
                self.out.push_str("? ");
                self.text(&entry.key, indent, Context::Value);
                self.line(indent);
                self.out.push_str(": ");
                self.node(&entry.node.value, indent, Before::Dash);
            }
        }
    }

    fn list(&mut self, items: &[Node], indent: isize, before: Before) {
        let at_key = before == Before::Key && self.lists == Lists::AtKey;
        let indent = if at_key { indent } else { indent + STEP };
        for (index, item) in items.iter().enumerate() {
            if index > 0 || before == Before::Key {
                self.line(indent);
            }
            self.out.push_str("- ");
            self.node(&item.value, indent, Before::Dash);
        }
    }

    /// Begins a line, unless a literal text has ended one already.
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

    /// The characters of a text. A blank beyond column [`WIDTH`] becomes a line break (`yaml_emitter_write_plain_scalar` and its
    /// siblings in go-yaml v2).
    fn words(&mut self, text: &str, indent: isize, breaks_lines: bool, style: Style) {
        let line = self.out.rsplit(is_break).next().unwrap_or_default();
        let mut column = line.chars().count();
        let (mut is_behind_blank, mut is_behind_break) = (false, false);
        for (at, c) in text.char_indices() {
            let start = self.out.len();
            if c == ' ' {
                let is_inside = at > 0 && at + 1 < text.len();
                let is_followed = text[at + 1..].starts_with(' ');
                let is_broken = breaks_lines && is_inside && !is_behind_blank && column > WIDTH;
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
                is_behind_blank = true;
                continue;
            }
            is_behind_blank = false;
            match style {
                Style::Double if !is_readable(c) => self.out.push_str(&escaped(c)),
                Style::Single if is_break(c) => {
                    self.out.push(c);
                    (column, is_behind_break) = (0, true);
                    continue;
                }
                _ => {
                    if std::mem::take(&mut is_behind_break) {
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
        let mut broken = true;
        for c in text.chars() {
            if is_break(c) {
                broken = true;
            } else if std::mem::take(&mut broken) {
                self.pad(indent);
            }
            self.out.push(c);
        }
    }
}

/// JSON numbers become integers where they have no fraction and fit into 64 bits.
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

/// Go's `%g`: an exponent of two digits at least, below 1e-4 and from 1e6 on.
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

/// Whether a character is written as it is between double quotes.
fn is_readable(c: char) -> bool {
    is_printable(c) && !is_break(c) && !matches!(c, '"' | '\\' | '\u{feff}')
}

fn escaped(c: char) -> String {
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
    use crate::model::value::{Entry, Map, Node, Value};

    fn one(key: &str, value: impl Into<Value>) -> Value {
        [Entry::computed(key, value)]
            .into_iter()
            .collect::<Map>()
            .into()
    }

    fn written(value: impl Into<Value>) -> String {
        as_helm(&value.into(), Lists::AtKey)
    }

    #[test]
    fn a_text_is_quoted_only_where_a_reader_would_mistake_it() {
        assert_eq!(written("it's"), "it's\n");
        assert_eq!(written("'t"), "'''t'\n");
        assert_eq!(written("y"), "\"y\"\n");
        assert_eq!(written("a\u{1F600}"), "\"a\\U0001F600\"\n");
        assert_eq!(written("a\u{2028}b"), "'a\u{2028}  b'\n");
    }

    #[test]
    fn a_long_key_stands_behind_a_question_mark() {
        let key = "k".repeat(129);
        let items = vec![Node::computed(1)];
        assert_eq!(written(one(&key, items)), format!("? {key}\n: - 1\n"));
    }

    #[test]
    fn a_text_of_lines_ends_before_the_next_key() {
        let map: Map = [Entry::computed("a", "x\n\n"), Entry::computed("b", 1)]
            .into_iter()
            .collect();
        assert_eq!(written(map), "a: |+\n  x\n\nb: 1\n");
    }
}

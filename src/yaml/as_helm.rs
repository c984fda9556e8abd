//! YAML as Helm's `toYaml` writes it (sigs.k8s.io/yaml over go-yaml v2): what templates must see, byte for byte.
//!
//! Lists stand at the indent of their key, keys are in natural order, no line is broken, and whatever a YAML 1.1 reader could
//! take for something else than a string is quoted.

use std::cmp::Ordering;

use super::resolve::{self, Resolved};
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
            Value::Number(number) => self.out.push_str(&number_text(*number)),
            Value::String(text) => self.text(text, indent, Context::Value),
            Value::List(_) => self.out.push_str("[]"),
            Value::Map(_) => self.out.push_str("{}"),
        }
    }

    fn map(&mut self, map: &Map, indent: isize, before: Before) {
        let indent = indent + STEP;
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_by(|a, b| natural(&a.key, &b.key));
        for (index, entry) in entries.into_iter().enumerate() {
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
        match style(text, context) {
            Style::Plain => self.out.push_str(text),
            Style::Single => self.single(text, indent + STEP),
            Style::Double => self.double(text),
            Style::Literal => self.literal(text, indent + STEP),
        }
    }

    fn single(&mut self, text: &str, indent: isize) {
        self.out.push('\'');
        let mut broken = false;
        for c in text.chars() {
            if !is_break(c) && std::mem::take(&mut broken) {
                self.pad(indent);
            }
            broken |= is_break(c);
            if c == '\'' {
                self.out.push('\'');
            }
            self.out.push(c);
        }
        self.out.push('\'');
    }

    fn double(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            if is_printable(c) && !is_break(c) && !matches!(c, '"' | '\\' | '\u{feff}') {
                self.out.push(c);
            } else {
                self.out.push_str(&escaped(c));
            }
        }
        self.out.push('"');
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

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// In front of a `:` on one line.
    Key,
    Value,
}

enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

fn style(text: &str, context: Context) -> Style {
    let shape = Shape::of(text);
    if text.contains('\n') {
        let literal = context == Context::Value && !shape.unprintable && !shape.blank_at_end;
        return if literal {
            Style::Literal
        } else {
            Style::Double
        };
    }
    let taken = resolve::plain(text) != Resolved::Text || resolve::is_timestamp(text);
    if taken || is_sexagesimal(text) {
        return Style::Double;
    }
    if shape.unprintable {
        Style::Double
    } else if shape.blank_at_start || shape.blank_at_end || shape.breaks || shape.indicators {
        Style::Single
    } else {
        Style::Plain
    }
}

/// What there is in a text that decides how it can be written.
#[derive(Default)]
struct Shape {
    /// Also a blank in front of a line end, which every style but double quotes would lose.
    unprintable: bool,
    blank_at_start: bool,
    blank_at_end: bool,
    breaks: bool,
    /// Characters that mean something in YAML where they stand.
    indicators: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape = Self {
            blank_at_start: text.starts_with(' '),
            blank_at_end: text.ends_with(' '),
            indicators: text.starts_with("---") || text.starts_with("..."),
            ..Self::default()
        };
        let mut before = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let blank_follows = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            shape.indicators |= match before {
                None => ",[]{}&*!|>'\"%@`#".contains(c) || ("?:-".contains(c) && blank_follows),
                Some(before) => {
                    (c == ':' && blank_follows) || (c == '#' && is_blank_or_break(before))
                }
            };
            shape.breaks |= is_break(c);
            shape.unprintable |= !is_printable(c) || (is_break(c) && before == Some(' '));
            before = Some(c);
        }
        shape
    }
}

fn is_blank_or_break(c: char) -> bool {
    matches!(c, ' ' | '\t') || is_break(c)
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What go-yaml writes as it is; four-byte characters are not among it.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && c != '\u{feff}'
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

/// `12:30`, which a YAML 1.1 reader may take for 750.
fn is_sexagesimal(text: &str) -> bool {
    let mut parts = text.strip_prefix(['-', '+']).unwrap_or(text).split(':');
    let digits = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    };
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else {
        return false;
    };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    let sixty = |text: &&str| matches!(text.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    first.starts_with(|c: char| c.is_ascii_digit())
        && digits(first)
        && digits(fraction)
        && sixty(&last)
        && middle.iter().all(sixty)
}

/// The order of keys: numbers inside by value, so that `a2` stands before `a10`; letters after everything else.
fn natural(left: &str, right: &str) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let Some(at) = (0..left.len().min(right.len())).find(|&at| left[at] != right[at]) else {
        return left.len().cmp(&right.len());
    };
    let (a, b) = (left[at], right[at]);
    match (a.is_alphabetic(), b.is_alphabetic()) {
        (true, true) => return a.cmp(&b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero behind other digits of the same number is a digit like another one.
    let inside = (a == '0' || b == '0')
        && left[..at]
            .iter()
            .rev()
            .take_while(|c| c.is_ascii_digit())
            .any(|c| *c != '0');
    let number = |text: &[char]| {
        let digits = text[at..].iter().take_while(|c| c.is_ascii_digit());
        digits.fold((i64::from(inside), at), |(number, end), c| {
            let digit = i64::from(u32::from(*c) - u32::from('0'));
            (number.wrapping_mul(10).wrapping_add(digit), end + 1)
        })
    };
    number(&left).cmp(&number(&right)).then(a.cmp(&b))
}

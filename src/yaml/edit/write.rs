//! New keys and values as text, in the hand of those that stand beside them.

use crate::model::value::{Map, Node, Value};

use super::super::emit::{Form, double_quoted, form, is_printable, quoted, write_flat};
use super::super::resolve::{self, Resolved};
use super::super::scan::Style;
use super::layout::Layout;
use super::outline::{Collection, Member, Shape};

/// What a value stands behind, with the column of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parent {
    /// The key of a block map.
    Key(usize),
    /// The `-` of a block list.
    Dash(usize),
    /// Nothing: it is the document.
    Root,
}

/// How the members of a collection are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hand {
    /// The quotes of strings.
    pub(super) quotes: Option<Style>,
    /// The quotes of keys.
    key_quotes: Option<Style>,
    /// Maps and lists stand in braces and brackets.
    flow: bool,
    /// With a space inside of braces.
    spaced: bool,
}

impl Hand {
    /// The hand of those who stand in a collection already.
    pub(super) fn of(layout: &Layout<'_>, collection: Option<&Collection<'_>>) -> Self {
        let mut hand = Self::default();
        let members = collection.map_or(&[][..], |collection| &collection.members);
        for member in members {
            hand.learn(layout, member);
        }
        hand
    }

    /// What the last member does counts, but strings that are never quoted are quoted only where they must be.
    fn learn(&mut self, layout: &Layout<'_>, member: &Member<'_>) {
        if member.key.is_some() {
            self.key_quotes = Some(member.key_style);
        }
        match &member.value.shape {
            Shape::Scalar(style) => self.quotes = Some(*style),
            Shape::Collection(below) => {
                self.flow = below.is_flow && !below.members.is_empty();
                let second = layout.text.as_bytes().get(member.value.range.start + 1);
                self.spaced = below.is_flow && second == Some(&b' ');
                if self.flow {
                    for inner in &below.members {
                        if let Shape::Scalar(style) = inner.value.shape {
                            self.quotes = Some(style);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// A member of a block collection whose key or `-` stands at a column: without its first indentation and last line break.
pub(super) fn block_member(
    layout: &Layout<'_>,
    hand: Hand,
    column: usize,
    key: Option<&str>,
    value: &Value,
) -> String {
    match key {
        Some(name) => {
            let name = key_text(layout, hand, name);
            let behind = block_value(layout, hand, Parent::Key(column), value);
            format!("{name}:{behind}")
        }
        None => format!(
            "-{}",
            block_value(layout, hand, Parent::Dash(column), value)
        ),
    }
}

/// What is written behind a `:` or `-`, with the space or line break before it.
pub(super) fn block_value(
    layout: &Layout<'_>,
    hand: Hand,
    parent: Parent,
    value: &Value,
) -> String {
    let is_list = matches!(value, Value::List(_));
    if hand.flow || is_flat(value) {
        return format!(
            " {}",
            scalar(layout, hand.quotes, Some(parent), value, hand)
        );
    }
    match parent {
        Parent::Root => block_lines(layout, 0, value),
        Parent::Dash(column) => format!(" {}", block_lines(layout, column + 2, value)),
        Parent::Key(column) => {
            let step = if is_list {
                layout.list_step
            } else {
                layout.step
            };
            let column = column + step;
            let lines = block_lines(layout, column, value);
            format!("{}{:column$}{lines}", layout.eol, "")
        }
    }
}

/// The members of a map or list that is not empty, one below the other at a column.
pub(super) fn block_lines(layout: &Layout<'_>, column: usize, value: &Value) -> String {
    let hand = Hand::default();
    let members: Vec<String> = match value {
        Value::Map(map) => map
            .iter()
            .map(|entry| block_member(layout, hand, column, Some(&entry.key), &entry.node.value))
            .collect(),
        Value::List(items) => items
            .iter()
            .map(|item| block_member(layout, hand, column, None, &item.value))
            .collect(),
        other => vec![scalar(layout, None, Some(Parent::Root), other, hand)],
    };
    members.join(&line_break(layout, column))
}

/// A line break and the indentation of the next line.
pub(super) fn line_break(layout: &Layout<'_>, column: usize) -> String {
    format!("{}{:column$}", layout.eol, "")
}

/// A member of a flow collection.
pub(super) fn flow_member(
    layout: &Layout<'_>,
    hand: Hand,
    key: Option<&str>,
    value: &Value,
) -> String {
    let text = scalar(layout, hand.quotes, None, value, hand);
    match key {
        Some(name) => format!("{}: {text}", key_text(layout, hand, name)),
        None => text,
    }
}

/// Whether a value takes one line wherever it stands.
pub(super) fn is_flat(value: &Value) -> bool {
    match value {
        Value::Map(map) => map.is_empty(),
        Value::List(items) => items.is_empty(),
        _ => true,
    }
}

/// A value without line breaks, but for text of several lines that may stand as a block below its parent.
pub(super) fn scalar(
    layout: &Layout<'_>,
    like: Option<Style>,
    block: Option<Parent>,
    value: &Value,
    hand: Hand,
) -> String {
    match value {
        Value::String(text) => string(layout, like, block, text),
        Value::Map(map) if !map.is_empty() => flow_map(layout, map, like, hand),
        Value::List(items) if !items.is_empty() => flow_list(layout, items, like, hand),
        _ => {
            let mut out = String::new();
            write_flat(&mut out, value);
            out
        }
    }
}

fn flow_map(layout: &Layout<'_>, map: &Map, like: Option<Style>, hand: Hand) -> String {
    let keyed = Hand {
        key_quotes: hand.key_quotes.filter(|_| layout.is_json),
        ..hand
    };
    let entries = map.iter().map(|entry| {
        let text = scalar(layout, like, None, &entry.node.value, hand);
        format!("{}: {text}", key_text(layout, keyed, &entry.key))
    });
    let entries = entries.collect::<Vec<_>>().join(", ");
    if hand.spaced {
        format!("{{ {entries} }}")
    } else {
        format!("{{{entries}}}")
    }
}

fn flow_list(layout: &Layout<'_>, items: &[Node], like: Option<Style>, hand: Hand) -> String {
    let items = items
        .iter()
        .map(|item| scalar(layout, like, None, &item.value, hand));
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A key, quoted as the others are.
pub(super) fn key_text(layout: &Layout<'_>, hand: Hand, key: &str) -> String {
    string(layout, hand.key_quotes, None, key)
}

/// A string in the quotes of another one where it may stand in them.
pub(super) fn string(
    layout: &Layout<'_>,
    like: Option<Style>,
    block: Option<Parent>,
    text: &str,
) -> String {
    if layout.is_json {
        return double_quoted(text);
    }
    let printable = text.chars().all(is_printable);
    match like {
        Some(Style::SingleQuoted) if printable => format!("'{}'", text.replace('\'', "''")),
        Some(Style::SingleQuoted | Style::DoubleQuoted) => double_quoted(text),
        Some(Style::Plain) if reads_as_text(text) => text.to_owned(),
        _ => match (form(text), block) {
            (Form::Literal(header), Some(parent)) if !layout.is_unended || header == "|-" => {
                literal(layout, header, parent, text)
            }
            _ => quoted(text).into_owned(),
        },
    }
}

fn literal(layout: &Layout<'_>, header: &str, parent: Parent, text: &str) -> String {
    let column = match parent {
        Parent::Key(column) => column + layout.step,
        Parent::Dash(column) => column + 2,
        Parent::Root => layout.step,
    };
    let mut out = header.to_owned();
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if line.is_empty() {
            out.push_str(layout.eol);
        } else {
            out.push_str(&line_break(layout, column));
            out.push_str(line);
        }
    }
    out
}

/// Version numbers such as `0.12.1` and `1.31.8+rke2r1`, digests and UUIDs, which no YAML reader takes for anything but text: they
/// stay without quotes beside others without, so that what is changed back is as it was.
fn reads_as_text(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".+-_".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_digit());
    let is_version = starts && text.matches('.').count() >= 2;
    text.chars().all(plain)
        && (is_version || is_digest(text) || is_uuid(text))
        && resolve::plain(text) == Resolved::Text
}

/// Hex digits of which one at least is no digit and no exponent's sign.
fn is_digest(text: &str) -> bool {
    let is_hex = text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex
        && text
            .bytes()
            .any(|byte| !byte.is_ascii_digit() && !byte.eq_ignore_ascii_case(&b'e'))
}

/// Five groups of hex digits. (<https://www.rfc-editor.org/rfc/rfc9562#name-uuid-format>)
fn is_uuid(text: &str) -> bool {
    let is_hex = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.into_iter().all(is_hex)
}

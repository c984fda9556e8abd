//! Formats new keys and values in the style of their siblings.

use crate::value::{Map, Node, Value};

use super::super::emit::{Form, double_quoted, form, is_printable, quote, write_flat};
use super::super::resolve::{self, Resolved};
use super::super::scan::Style;
use super::layout::Layout;
use super::outline::{Collection, Member, Shape};
use super::plan::New;

/// What precedes a value, with its column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parent {
    /// The key of a block map.
    Key(usize),
    /// The `-` of a block list.
    Dash(usize),
    /// Nothing: the value is a document.
    Root,
}

/// The style of the members of a collection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MemberStyle {
    /// The quotes of strings.
    pub(super) quotes: Option<Style>,
    /// The quotes of keys.
    key_quotes: Option<Style>,
    /// Whether maps and lists are in braces and brackets.
    flow: bool,
    /// Whether a space follows the opening brace.
    spaced: bool,
}

impl MemberStyle {
    /// The style of the existing members.
    pub(super) fn new(layout: &Layout<'_>, collection: Option<&Collection<'_>>) -> Self {
        let mut member_style = Self::default();
        let members = collection.map_or(&[][..], |collection| &collection.members);
        for member in members {
            member_style.learn(layout, member);
        }
        member_style
    }

    /// Takes over the style of a member. The last member wins.
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

/// Formats a member of a block collection at a column, without its first indentation and last line break.
pub(super) fn block_member(
    layout: &Layout<'_>,
    member_style: MemberStyle,
    column: usize,
    key: Option<&str>,
    new: New<'_>,
) -> String {
    match key {
        Some(name) => {
            let name = key_text(layout, member_style, name);
            let after_name = block_value(layout, member_style, Parent::Key(column), new);
            format!("{name}:{after_name}")
        }
        None => format!(
            "-{}",
            block_value(layout, member_style, Parent::Dash(column), new)
        ),
    }
}

/// Formats the text after a `:` or `-`, starting with the space or line break.
pub(super) fn block_value(
    layout: &Layout<'_>,
    member_style: MemberStyle,
    parent: Parent,
    new: New<'_>,
) -> String {
    let value = new.value;
    let is_list = matches!(value, Value::List(_));
    if is_flat(value) || member_style.flow && verbatim(layout, new).is_none() {
        return format!(
            " {}",
            scalar(
                layout,
                member_style.quotes,
                Some(parent),
                value,
                member_style
            )
        );
    }
    match parent {
        Parent::Root => block_lines(layout, 0, new),
        Parent::Dash(column) => format!(" {}", block_lines(layout, column + 2, new)),
        Parent::Key(column) => {
            let step = if is_list {
                layout.list_step
            } else {
                layout.step
            };
            let column = column + step;
            let lines = block_lines(layout, column, new);
            format!("{}{:column$}{lines}", layout.eol, "")
        }
    }
}

/// The text that a new value is written as. Without a final line break, a block scalar at its end would be another one.
fn verbatim<'e>(layout: &Layout<'_>, new: New<'e>) -> Option<&'e str> {
    new.text.filter(|_| !layout.lacks_final_newline)
}

/// Formats the members of a non-empty map or list, one per line at a column.
pub(super) fn block_lines(layout: &Layout<'_>, column: usize, new: New<'_>) -> String {
    if let Some(text) = verbatim(layout, new) {
        return indent(layout, column, text);
    }
    let member_style = MemberStyle::default();
    let members: Vec<String> = match new.value {
        Value::Map(map) => map
            .iter()
            .map(|entry| {
                block_member(
                    layout,
                    member_style,
                    column,
                    Some(&entry.key),
                    New::from(&entry.node.value),
                )
            })
            .collect(),
        Value::List(items) => items
            .iter()
            .map(|item| block_member(layout, member_style, column, None, New::from(&item.value)))
            .collect(),
        other => vec![scalar(
            layout,
            None,
            Some(Parent::Root),
            other,
            member_style,
        )],
    };
    members.join(&line_break(layout, column))
}

/// Puts all lines but the first at a column.
fn indent(layout: &Layout<'_>, column: usize, text: &str) -> String {
    let line_break = line_break(layout, column);
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push_str(if line.is_empty() {
            layout.eol
        } else {
            &line_break
        });
        out.push_str(line);
    }
    out
}

/// A line break and the indentation of the next line.
pub(super) fn line_break(layout: &Layout<'_>, column: usize) -> String {
    format!("{}{:column$}", layout.eol, "")
}

/// A member of a flow collection.
pub(super) fn flow_member(
    layout: &Layout<'_>,
    member_style: MemberStyle,
    key: Option<&str>,
    value: &Value,
) -> String {
    let text = scalar(layout, member_style.quotes, None, value, member_style);
    match key {
        Some(name) => format!("{}: {text}", key_text(layout, member_style, name)),
        None => text,
    }
}

/// Whether a value is always written on a single line.
pub(super) fn is_flat(value: &Value) -> bool {
    match value {
        Value::Map(map) => map.is_empty(),
        Value::List(items) => items.is_empty(),
        _ => true,
    }
}

/// Formats a value on one line. Multiline text becomes a block scalar if it may be one below its parent.
pub(super) fn scalar(
    layout: &Layout<'_>,
    like: Option<Style>,
    block: Option<Parent>,
    value: &Value,
    member_style: MemberStyle,
) -> String {
    match value {
        Value::String(text) => string(layout, like, block, text),
        Value::Map(map) if !map.is_empty() => flow_map(layout, map, like, member_style),
        Value::List(items) => flow_list(layout, items, like, member_style),
        _ => {
            let mut out = String::new();
            write_flat(&mut out, value);
            out
        }
    }
}

fn flow_map(
    layout: &Layout<'_>,
    map: &Map,
    like: Option<Style>,
    member_style: MemberStyle,
) -> String {
    let keyed = MemberStyle {
        key_quotes: member_style.key_quotes.filter(|_| layout.is_json),
        ..member_style
    };
    let entries = map.iter().map(|entry| {
        let text = scalar(layout, like, None, &entry.node.value, member_style);
        format!("{}: {text}", key_text(layout, keyed, &entry.key))
    });
    let entries = entries.collect::<Vec<_>>().join(", ");
    if member_style.spaced {
        format!("{{ {entries} }}")
    } else {
        format!("{{{entries}}}")
    }
}

fn flow_list(
    layout: &Layout<'_>,
    items: &[Node],
    like: Option<Style>,
    member_style: MemberStyle,
) -> String {
    let items = items
        .iter()
        .map(|item| scalar(layout, like, None, &item.value, member_style));
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// Formats a key with the quotes of the other keys.
pub(super) fn key_text(layout: &Layout<'_>, member_style: MemberStyle, key: &str) -> String {
    string(layout, member_style.key_quotes, None, key)
}

/// Formats a string with the quotes of another one, if possible.
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
        Some(Style::Plain) if is_safe_plain(text) => text.to_owned(),
        _ => match (form(text), block) {
            (Form::Literal(header), Some(parent))
                if !layout.lacks_final_newline || header == "|-" =>
            {
                literal(layout, header, parent, text)
            }
            _ => quote(text).into_owned(),
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

/// Whether a text needs no quotes beside unquoted siblings, because every YAML parser reads it as a string: versions such as
/// `0.12.1` and `1.31.8+rke2r1`, digests and UUIDs. Without this rule, changing a version and back would add quotes.
fn is_safe_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".+-_".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_digit());
    let is_version = starts && text.matches('.').count() >= 2;
    text.chars().all(plain)
        && (is_version || is_digest(text) || is_uuid(text))
        && resolve::plain(text) == Resolved::Text
}

/// Whether the text is a long hexadecimal number that cannot be read as a decimal number or a float.
fn is_digest(text: &str) -> bool {
    let is_hex = text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex
        && text
            .bytes()
            .any(|byte| !byte.is_ascii_digit() && !byte.eq_ignore_ascii_case(&b'e'))
}

/// Whether the text is a UUID: five groups of hexadecimal digits (<https://www.rfc-editor.org/rfc/rfc9562#name-uuid-format>).
fn is_uuid(text: &str) -> bool {
    let is_hex = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.into_iter().all(is_hex)
}

//! Selects the YAML style of a text: the simplest one that a parser cannot misread.

use crate::resolve::{self, Resolved};

/// The position of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// A key, before a `:` on the same line.
    Key,
    Value,
}

/// A YAML style.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// The style in which go-yaml writes a text.
pub(super) fn style(text: &str, context: Context) -> Style {
    let shape = Analysis::new(text);
    if text.contains('\n') {
        let literal = context == Context::Value && !shape.unprintable && !shape.blank_at_end;
        return if literal {
            Style::Literal
        } else {
            Style::Double
        };
    }
    let is_other_type = resolve::plain(text) != Resolved::Text || resolve::is_timestamp(text);
    if is_other_type || is_sexagesimal(text) {
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

/// The properties of a text that restrict its style.
#[derive(Default)]
struct Analysis {
    /// Whether a character is not printable, or a blank precedes a line break, which only double quotes preserve.
    unprintable: bool,
    blank_at_start: bool,
    blank_at_end: bool,
    breaks: bool,
    /// Whether characters have a meaning in YAML at their position.
    indicators: bool,
}

impl Analysis {
    fn new(text: &str) -> Self {
        let mut shape = Self {
            blank_at_start: text.starts_with(' '),
            blank_at_end: text.ends_with(' '),
            indicators: text.starts_with("---") || text.starts_with("..."),
            ..Self::default()
        };
        let mut previous = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let blank_follows = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            shape.indicators |= match previous {
                None => ",[]{}&*!|>'\"%@`#".contains(c) || ("?:-".contains(c) && blank_follows),
                Some(previous) => {
                    (c == ':' && blank_follows) || (c == '#' && is_blank_or_break(previous))
                }
            };
            shape.breaks |= is_break(c);
            shape.unprintable |= !is_printable(c) || (is_break(c) && previous == Some(' '));
            previous = Some(c);
        }
        shape
    }
}

fn is_blank_or_break(c: char) -> bool {
    matches!(c, ' ' | '\t') || is_break(c)
}

/// Whether the character is a line break in YAML 1.1.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether go-yaml writes the character without an escape, which excludes characters of four bytes.
pub(super) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && c != '\u{feff}'
}

/// Whether the text looks like `12:30`, which YAML 1.1 allows to be read as the number 750.
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

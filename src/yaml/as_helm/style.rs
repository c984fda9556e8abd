//! Which of YAML's styles a text is written in: the plainest that a reader cannot mistake.

use crate::yaml::resolve::{self, Resolved};

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// In front of a `:` on one line.
    Key,
    Value,
}

/// How a text is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// How go-yaml would write a text there.
pub(super) fn style(text: &str, context: Context) -> Style {
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

/// Every line break of YAML 1.1.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What go-yaml writes as it is; four-byte characters are not among it.
pub(super) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && c != '\u{feff}'
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

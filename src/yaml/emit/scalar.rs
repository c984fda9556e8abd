//! How a string is written: plain where no reader takes it for anything else, in quotes, or as a literal block.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The longest key that is written without `?`, in characters: readers look no further than 1,024.
const KEY_LENGTH: usize = 800;

/// The forms that a string can take.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Form {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// With the header that keeps its last line breaks.
    Literal(&'static str),
}

/// The form of a string where a block may stand.
pub(in super::super) fn form(text: &str) -> Form {
    if text.contains('\n') && is_literal(text) {
        let body = text.trim_end_matches('\n');
        return Form::Literal(match text.len() - body.len() {
            0 => "|-",
            1 => "|",
            _ => "|+",
        });
    }
    if is_plain(text) {
        return Form::Plain;
    }
    let printable = text.chars().all(is_printable);
    if printable && text.contains(['"', '\\']) {
        Form::SingleQuoted
    } else {
        Form::DoubleQuoted
    }
}

/// A string on one line: as it is, or in the quotes that it needs. For keys and values alike.
pub fn quoted(text: &str) -> Cow<'_, str> {
    match form(text) {
        Form::Plain => Cow::Borrowed(text),
        Form::SingleQuoted => Cow::Owned(format!("'{}'", text.replace('\'', "''"))),
        Form::DoubleQuoted | Form::Literal(_) => Cow::Owned(double_quoted(text)),
    }
}

/// A key and its colon; a very long one behind a `?`, on a line of its own.
pub(super) fn key(out: &mut String, text: &str, indent: usize) {
    let written = quoted(text);
    if written.len() > KEY_LENGTH {
        out.push_str("? ");
        out.push_str(&written);
        out.push('\n');
        super::pad(out, indent);
    } else {
        out.push_str(&written);
    }
    out.push(':');
}

/// Text of lines that any reader gives back as they are: no line starts the block with white space, none ends with it
/// (tools strip that), and nothing needs an escape.
fn is_literal(text: &str) -> bool {
    let body = text.trim_start_matches('\n');
    !body.is_empty()
        && !body.starts_with([' ', '\t'])
        && text
            .chars()
            .all(|c| c == '\n' || c == '\t' || is_printable(c))
        && text.split('\n').all(|line| !line.ends_with([' ', '\t']))
}

/// What may stand in YAML as itself, without the line breaks of YAML 1.1, tabs, and marks that no one sees.
pub(in super::super) fn is_printable(character: char) -> bool {
    matches!(character, ' '..='~' | '\u{a1}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
        && !matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{3000}' | '\u{feff}')
}

/// Strings that need no quotes anywhere, flow collections included: words of letters, digits and a few marks that start
/// with a letter or a slash and are no word of any YAML version.
fn is_plain(text: &str) -> bool {
    let mut bytes = text.bytes();
    let starts = bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'_'));
    starts && !is_word(text) && has_plain_body(text.as_bytes())
}

fn has_plain_body(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(index, byte)| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => true,
        b'/' | b'_' | b'-' | b'.' | b'+' | b'@' | b'~' | b'=' | b'(' | b')' | b';' | b'$' => true,
        b'%' | b'*' | b'&' | b'!' | b'|' | b'<' | b'>' | b'^' => true,
        b':' | b' ' => {
            let next = bytes.get(index + 1);
            next.is_some_and(|next| {
                next.is_ascii_alphanumeric() || matches!(next, b'/' | b'_' | b'(')
            })
        }
        _ => false,
    })
}

/// The words that some reader takes for a boolean or null.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    text.len() <= 5 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// In double quotes, with YAML's escapes (<https://yaml.org/spec/1.1/#escaping>). Those of JSON alone, so that it is
/// JSON too.
pub(in super::super) fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if is_printable(character) => out.push(character),
            // Never beyond U+FFFF: those are printable. A string takes any text, so writing cannot go wrong.
            _ => {
                let _ = write!(out, "\\u{:04X}", u32::from(character));
            }
        }
    }
    out.push('"');
    out
}

//! Selects the style of a string: plain if no parser reads it as anything else, otherwise quoted or a literal block.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The maximum length of a key without `?`, in characters. Parsers search for the `:` in the first 1,024 characters only.
const KEY_LENGTH: usize = 800;

/// The styles of strings.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Form {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// A literal block, with the header that preserves the final line breaks.
    Literal(&'static str),
}

/// The style of a string at a position where a block is allowed.
pub(in super::super) fn form(text: &str) -> Form {
    // Most texts are plain.
    if is_plain(text) {
        return Form::Plain;
    }
    if text.contains('\n') && is_literal(text) {
        let body = text.trim_end_matches('\n');
        return Form::Literal(match text.len() - body.len() {
            0 => "|-",
            1 => "|",
            _ => "|+",
        });
    }
    let printable = text.chars().all(is_printable);
    if printable && text.contains(['"', '\\']) {
        Form::SingleQuoted
    } else {
        Form::DoubleQuoted
    }
}

/// A string on one line, quoted if necessary, as a key or value.
pub fn quote(text: &str) -> Cow<'_, str> {
    quote_as(form(text), text)
}

/// A string on one line, in its style.
pub(super) fn quote_as(form: Form, text: &str) -> Cow<'_, str> {
    match form {
        Form::Plain => Cow::Borrowed(text),
        Form::SingleQuoted => Cow::Owned(format!("'{}'", text.replace('\'', "''"))),
        Form::DoubleQuoted | Form::Literal(_) => Cow::Owned(double_quoted(text)),
    }
}

/// Writes a key with its colon; a very long one after a `?`, on a line of its own.
pub(super) fn key(out: &mut String, text: &str, indent: usize) {
    let written = quote(text);
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

/// Whether every parser reads a literal block of the text back unchanged: it does not start with white space, no line ends with
/// it (tools strip that), and nothing needs an escape.
fn is_literal(text: &str) -> bool {
    let body = text.trim_start_matches('\n');
    !body.is_empty()
        && !body.starts_with([' ', '\t'])
        && text
            .chars()
            .all(|c| c == '\n' || c == '\t' || is_printable(c))
        && text.split('\n').all(|line| !line.ends_with([' ', '\t']))
}

/// Whether a character can be written without an escape. Excludes the line breaks of YAML 1.1, tabs, and invisible characters.
pub(in super::super) fn is_printable(character: char) -> bool {
    matches!(character, ' '..='~' | '\u{a1}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
        && !matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{3000}' | '\u{feff}')
}

/// Whether a string needs no quotes anywhere, including flow collections: it starts with a letter or slash, has only letters,
/// digits and some punctuation, and is not a reserved word of any YAML version.
fn is_plain(text: &str) -> bool {
    let mut bytes = text.bytes();
    let starts = bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'_'));
    starts && !is_word(text) && has_plain_body(text.as_bytes())
}

/// What a byte of a plain string may be.
#[derive(Clone, Copy, PartialEq)]
enum Body {
    /// Anywhere.
    Plain,
    /// Before a letter, a digit and the like.
    Inner,
    Other,
}

/// By byte: it is looked up for every letter that is written.
static BODY: [Body; 256] = {
    let mut table = [Body::Other; 256];
    let plain = b"/_-.+@~=();$%*&!|<>^";
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_alphanumeric() {
            table[byte] = Body::Plain;
        }
        byte += 1;
    }
    let mut index = 0;
    while index < plain.len() {
        table[plain[index] as usize] = Body::Plain;
        index += 1;
    }
    table[b':' as usize] = Body::Inner;
    table[b' ' as usize] = Body::Inner;
    table
};

fn has_plain_body(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .enumerate()
        .all(|(index, byte)| match BODY[usize::from(*byte)] {
            Body::Plain => true,
            Body::Inner => {
                let next = bytes.get(index + 1);
                next.is_some_and(|next| {
                    next.is_ascii_alphanumeric() || matches!(next, b'/' | b'_' | b'(')
                })
            }
            Body::Other => false,
        })
}

/// Whether some parser reads the text as a boolean or null.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    text.len() <= 5 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The text in double quotes, with YAML's escapes (<https://yaml.org/spec/1.1/#escaping>). Uses only escapes of JSON, so the
/// result is also valid JSON.
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
            // The code is at most U+FFFF, because all higher characters are printable. Writing to a `String` cannot fail.
            _ => {
                let _ = write!(out, "\\u{:04X}", u32::from(character));
            }
        }
    }
    out.push('"');
    out
}

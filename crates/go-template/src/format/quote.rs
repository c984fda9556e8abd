//! Go's quoted strings: `%q` and `strconv.Quote`.

use yaml_tree::opaque::{CLOSE, OPEN};

use crate::regexp::CharClass;

use super::Spec;

/// `strconv.Quote`
pub fn quote(text: &str) -> String {
    double_quote(text, false)
}

/// `%q` of a text. The flag `#` prefers backquotes, if the text allows them; `+` escapes all non-ASCII characters.
pub(super) fn format(text: &str, spec: &Spec) -> String {
    let is_plain = |c: char| c == '\t' || !c.is_control() && c != '`' && c != '\u{feff}';
    if spec.sharp && text.chars().all(is_plain) {
        return format!("`{text}`");
    }
    double_quote(text, spec.plus)
}

/// `%q` of a character.
pub(super) fn character(character: char, spec: &Spec) -> String {
    let mut text = String::from("'");
    escape(&mut text, character, '\'', spec.plus);
    text.push('\'');
    text
}

fn double_quote(text: &str, ascii: bool) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    result.push('"');
    for character in text.chars() {
        escape(&mut result, character, '"', ascii);
    }
    result.push('"');
    result
}

fn escape(text: &mut String, character: char, quote: char, ascii: bool) {
    match character {
        '\\' => text.push_str("\\\\"),
        other if other == quote => {
            text.push('\\');
            text.push(quote);
        }
        '\x07' => text.push_str("\\a"),
        '\x08' => text.push_str("\\b"),
        '\x0c' => text.push_str("\\f"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\x0b' => text.push_str("\\v"),
        plain if is_printable(plain) && (plain.is_ascii() || !ascii) => text.push(plain),
        control if control < ' ' || control == '\x7f' => {
            text.push_str(&format!("\\x{:02x}", u32::from(control)));
        }
        wide if u32::from(wide) > 0xffff => {
            text.push_str(&format!("\\U{:08x}", u32::from(wide)));
        }
        other => text.push_str(&format!("\\u{:04x}", u32::from(other))),
    }
}

/// Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub(super) fn is_printable(character: char) -> bool {
    static PRINTABLE: CharClass = CharClass::new(r"\p{L}\p{M}\p{N}\p{P}\p{S}");
    if matches!(character, OPEN | CLOSE) {
        // A label of a secret stays one.
        return true;
    }
    if character.is_ascii() {
        return (' '..='~').contains(&character);
    }
    PRINTABLE.contains(character)
}

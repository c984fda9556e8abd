//! The functions that work on words: letter case, initials, wrapping and abbreviating.

use super::super::function::{Call, Function, Type};
use super::super::{Error, Value};
use super::convert::{lower, upper};
use super::letter_case;

const TEXT: &[Type] = &[Type::String];

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("snakecase", TEXT, |call| {
        Ok(letter_case::join_words(&call.string(0)?, '_').into())
    })
    .may_make_nothing(),
    Function::new("kebabcase", TEXT, |call| {
        Ok(letter_case::join_words(&call.string(0)?, '-').into())
    })
    .may_make_nothing(),
    Function::new("camelcase", TEXT, |call| {
        Ok(letter_case::pascal(&call.string(0)?).into())
    })
    .may_make_nothing(),
    Function::new("title", TEXT, title).makes_text(),
    Function::new("untitle", TEXT, untitle).makes_text(),
    Function::new("swapcase", TEXT, swapcase).makes_text(),
    Function::new("initials", TEXT, initials).may_make_nothing(),
    Function::new("wrap", &[Type::Int, Type::String], |call| {
        wrap(call, "\n", &call.string(1)?, LongWords::Keep)
    })
    .makes_text(),
    Function::new(
        "wrapWith",
        &[Type::Int, Type::String, Type::String],
        wrap_with,
    )
    .makes_text(),
    Function::new("abbrev", &[Type::Int, Type::String], |call| {
        call.text(abbreviate(call.string(1)?.as_bytes(), 0, call.int(0)?))
    })
    .may_make_nothing(),
    Function::new(
        "abbrevboth",
        &[Type::Int, Type::Int, Type::String],
        abbrevboth,
    )
    .may_make_nothing(),
];

/// `strings.Title`: the first character of each word in title case.
fn title(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut in_word = false;
    let to_title = |c: char| {
        let mapped = if in_word { c } else { title_case(c) };
        in_word = if c.is_ascii() {
            c.is_ascii_alphanumeric() || c == '_'
        } else {
            !c.is_whitespace()
        };
        mapped
    };
    Ok(call
        .string(0)?
        .chars()
        .map(to_title)
        .collect::<String>()
        .into())
}

/// `unicode.ToTitle`: for a letter such as `ǆ`, which is two letters, only the first one is uppercase.
fn title_case(c: char) -> char {
    match c {
        'Ǆ'..='ǆ' => 'ǅ',
        'Ǉ'..='ǉ' => 'ǈ',
        'Ǌ'..='ǌ' => 'ǋ',
        'Ǳ'..='ǳ' => 'ǲ',
        _ => upper(c),
    }
}

fn untitle(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut first = true;
    let to_lower = |c: char| {
        let mapped = if first && !c.is_whitespace() {
            lower(c)
        } else {
            c
        };
        first = c.is_whitespace();
        mapped
    };
    Ok(call
        .string(0)?
        .chars()
        .map(to_lower)
        .collect::<String>()
        .into())
}

/// Swaps the case of each letter; a lowercase letter becomes title case.
fn swapcase(call: &mut Call<'_>) -> Result<Value, Error> {
    let swap = |c: char| {
        if c.is_lowercase() {
            title_case(c)
        } else {
            lower(c)
        }
    };
    Ok(call.string(0)?.chars().map(swap).collect::<String>().into())
}

/// The first character of each word. Sprig's library decodes the text as Latin-1 here.
fn initials(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut at_start = true;
    let mut out = String::new();
    for c in call.string(0)?.bytes().map(char::from) {
        if c.is_whitespace() {
            at_start = true;
        } else if std::mem::take(&mut at_start) {
            out.push(c);
        }
    }
    Ok(out.into())
}

/// What to do with a word that is longer than a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LongWords {
    /// Keep it whole on a line of its own.
    Keep,
    /// Break it at the width.
    Break,
}

fn wrap_with(call: &mut Call<'_>) -> Result<Value, Error> {
    let separator = call.string(1)?;
    let separator = if separator.is_empty() {
        "\n"
    } else {
        &separator
    };
    wrap(call, separator, &call.string(2)?, LongWords::Break)
}

fn wrap(call: &Call<'_>, newline: &str, text: &str, long: LongWords) -> Result<Value, Error> {
    let width = usize::try_from(call.int(0)?).unwrap_or(0).max(1);
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while bytes.len() - at > width {
        if bytes[at] == b' ' {
            at += 1;
            continue;
        }
        let is_blank = |byte: &u8| *byte == b' ';
        let (end, next) = if let Some(index) = bytes[at..=at + width].iter().rposition(is_blank) {
            (at + index, at + index + 1)
        } else if long == LongWords::Break {
            (at + width, at + width)
        } else if let Some(index) = bytes[at + width..].iter().position(is_blank) {
            (at + width + index, at + width + index + 1)
        } else {
            break;
        };
        out.extend_from_slice(&bytes[at..end]);
        out.extend_from_slice(newline.as_bytes());
        call.ensure_size(out.len())?;
        at = next;
    }
    out.extend_from_slice(&bytes[at..]);
    call.text(out)
}

fn abbrevboth(call: &mut Call<'_>) -> Result<Value, Error> {
    let (left, width, text) = (call.int(0)?, call.int(1)?, call.string(2)?);
    if left > 0 && width < 7 {
        return Ok(Value::String(text));
    }
    call.text(abbreviate(text.as_bytes(), left, width))
}

/// At most `width` bytes from an offset on, with `...` where text is omitted.
fn abbreviate(text: &[u8], offset: i64, width: i64) -> Vec<u8> {
    const ELLIPSIS: &[u8] = b"...";
    let length = text.len() as i64;
    if width < 4 || length <= width {
        return text.to_owned();
    }
    let index = |position: i64| usize::try_from(position.clamp(0, length)).unwrap_or(0);
    let kept = width - 3;
    let offset = offset.min(length).min(length - kept);
    if offset <= 4 {
        return [&text[..index(kept)], ELLIPSIS].concat();
    }
    if offset + kept < length {
        return [ELLIPSIS, &abbreviate(&text[index(offset)..], 0, kept)].concat();
    }
    [ELLIPSIS, &text[index(length - kept)..]].concat()
}

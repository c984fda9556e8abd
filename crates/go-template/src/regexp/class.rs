//! Parses character classes: `[…]`, `\d`, `[[:alpha:]]`, `\p{…}`, which are ASCII classes and fold case as in Go.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::Error;
use super::token::{Cursor, error, escape};
use super::unicode;

/// Whether letters also match their other case (`(?i)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Exact,
    Folded,
}

/// Parses a class in brackets. The cursor is after the `[`.
pub(super) fn bracketed(cursor: &mut Cursor, case: Case) -> Result<ClassUnicode, Error> {
    let whole = cursor.rest;
    let negated = cursor.take("^");
    let mut class = ClassUnicode::empty();
    let mut first = true;
    while first || !cursor.take("]") {
        first = false;
        if cursor.rest.is_empty() {
            return Err(error(format!("missing closing `]` after `[{whole}`")));
        }
        if let Some(named) = posix(cursor, case)? {
            class.union(&named);
        } else if let Some(escaped) = escaped(cursor, case)? {
            class.union(&escaped);
        } else {
            class.union(&fold(range(cursor)?, case));
        }
    }
    if negated {
        class.negate();
    }
    Ok(class)
}

/// Parses a class that starts with a backslash: `\d`, `\W`, `\pL`, `\P{Greek}`. None if the cursor is at anything else.
pub(super) fn escaped(cursor: &mut Cursor, case: Case) -> Result<Option<ClassUnicode>, Error> {
    let start = cursor.rest;
    let mut chars = start.chars();
    if chars.next() != Some('\\') {
        return Ok(None);
    }
    let letter = chars.next().unwrap_or('\0');
    let (class, negated) = match letter {
        'd' | 'D' => (ascii("09"), letter == 'D'),
        's' | 'S' => (ascii("\t\n\x0c\r  "), letter == 'S'),
        'w' | 'W' => (ascii("09AZaz__"), letter == 'W'),
        'p' | 'P' => {
            cursor.skip(2);
            let name = property_name(cursor).ok_or_else(|| unknown(start, cursor))?;
            let bare = name.strip_prefix('^').unwrap_or(name);
            let class = unicode::property(bare).ok_or_else(|| unknown(start, cursor))?;
            (class, (letter == 'P') != (bare.len() != name.len()))
        }
        _ => return Ok(None),
    };
    if !matches!(letter, 'p' | 'P') {
        cursor.skip(2);
    }
    let mut class = fold(class, case);
    if negated {
        class.negate();
    }
    Ok(Some(class))
}

/// The name after `\p`: one character, or a text in braces.
fn property_name<'p>(cursor: &mut Cursor<'p>) -> Option<&'p str> {
    if cursor.take("{") {
        let (name, rest) = cursor.rest.split_once('}')?;
        cursor.rest = rest;
        return Some(name);
    }
    let length = cursor.rest.chars().next()?.len_utf8();
    let (name, rest) = cursor.rest.split_at(length);
    cursor.rest = rest;
    Some(name)
}

fn unknown(start: &str, cursor: &Cursor) -> Error {
    let written = &start[..start.len() - cursor.rest.len()];
    error(format!("no such class of characters: `{written}`"))
}

/// Parses a class such as `[:alpha:]`. Without a closing `:]`, the bracket is an ordinary character.
fn posix(cursor: &mut Cursor, case: Case) -> Result<Option<ClassUnicode>, Error> {
    let Some((name, rest)) = cursor
        .rest
        .strip_prefix("[:")
        .and_then(|inside| inside.split_once(":]"))
    else {
        return Ok(None);
    };
    let bare = name.strip_prefix('^').unwrap_or(name);
    let ranges = match bare {
        "alnum" => "09AZaz",
        "alpha" => "AZaz",
        "ascii" => "\0\x7f",
        "blank" => "\t\t  ",
        "cntrl" => "\0\x1f\x7f\x7f",
        "digit" => "09",
        "graph" => "!~",
        "lower" => "az",
        "print" => " ~",
        "punct" => "!/:@[`{~",
        "space" => "\t\r  ",
        "upper" => "AZ",
        "word" => "09AZaz__",
        "xdigit" => "09AFaf",
        _ => {
            return Err(error(format!("no such class of characters: `[:{name}:]`")));
        }
    };
    cursor.rest = rest;
    let mut class = fold(ascii(ranges), case);
    if bare.len() != name.len() {
        class.negate();
    }
    Ok(Some(class))
}

/// Parses a character or a range. A `-` before `]` is a character.
fn range(cursor: &mut Cursor) -> Result<ClassUnicode, Error> {
    let start = cursor.rest;
    let low = member(cursor)?;
    let mut high = low;
    if cursor.rest.starts_with('-') && !cursor.rest.starts_with("-]") && cursor.rest.len() > 1 {
        cursor.skip(1);
        high = member(cursor)?;
    }
    if high < low {
        let written = &start[..start.len() - cursor.rest.len()];
        return Err(error(format!("range runs backwards: `{written}`")));
    }
    Ok(code_points(low, high))
}

fn member(cursor: &mut Cursor) -> Result<u32, Error> {
    match cursor.rest.chars().next() {
        None => Err(error("missing closing `]`")),
        Some('\\') => escape(cursor),
        Some(c) => {
            cursor.skip(c.len_utf8());
            Ok(c.into())
        }
    }
}

/// The characters in a range of code points, without surrogates, which Go allows in patterns but which match nothing.
pub(super) fn code_points(low: u32, high: u32) -> ClassUnicode {
    let low = if (0xd800..0xe000).contains(&low) {
        0xe000
    } else {
        low
    };
    let high = if (0xd800..0xe000).contains(&high) {
        0xd7ff
    } else {
        high
    };
    match (char::from_u32(low), char::from_u32(high)) {
        (Some(low), Some(high)) if low <= high => {
            ClassUnicode::new([ClassUnicodeRange::new(low, high)])
        }
        _ => ClassUnicode::empty(),
    }
}

/// Adds the other cases of the letters, if case is ignored.
pub(super) fn fold(mut class: ClassUnicode, case: Case) -> ClassUnicode {
    if case == Case::Folded {
        class.case_fold_simple();
    }
    class
}

/// The class of ASCII ranges, each given as a pair of characters.
fn ascii(pairs: &str) -> ClassUnicode {
    let bytes = pairs.as_bytes().chunks_exact(2);
    ClassUnicode::new(bytes.map(|pair| ClassUnicodeRange::new(pair[0].into(), pair[1].into())))
}

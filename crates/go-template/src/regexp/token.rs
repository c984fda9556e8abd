//! Parses the smallest elements of a pattern: escapes and the bounds of repetitions.

use super::Error;

/// The rest of the pattern.
pub(super) struct Cursor<'p> {
    pub(super) rest: &'p str,
}

impl Cursor<'_> {
    /// Consumes a text if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Consumes a number of bytes, which must exist.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.skip(c.len_utf8());
        Some(c)
    }
}

/// The bounds of a repetition; without `max` it is unbounded.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

/// Go's limit on the number of repetitions, with nested repetitions multiplied.
pub(super) const REPEAT_LIMIT: u32 = 1000;

/// The bounds of a repetition and the text after it. None for a `{` that is a literal.
pub(super) fn repetition(text: &str) -> Result<Option<(Bounds, &str)>, Error> {
    let rest = &text[1..];
    match text.as_bytes()[0] {
        b'*' => return Ok(Some((Bounds { min: 0, max: None }, rest))),
        b'+' => return Ok(Some((Bounds { min: 1, max: None }, rest))),
        b'?' => {
            return Ok(Some((
                Bounds {
                    min: 0,
                    max: Some(1),
                },
                rest,
            )));
        }
        _ => {}
    }
    let Some((bounds, rest)) = rest.split_once('}') else {
        return Ok(None);
    };
    let (min, max) = match bounds.split_once(',') {
        None => (bounds, Some(bounds)),
        Some((min, "")) => (min, None),
        Some((min, max)) => (min, Some(max)),
    };
    if !is_count(min) || !max.is_none_or(is_count) {
        return Ok(None);
    }
    let within = |text: &str| text.parse().ok().filter(|count| *count <= REPEAT_LIMIT);
    let min = within(min).ok_or_else(too_often)?;
    let max = max.map(|max| within(max).filter(|max| *max >= min).ok_or_else(too_often));
    let max = max.transpose()?;
    Ok(Some((Bounds { min, max }, rest)))
}

/// Whether the text is a decimal number without a leading zero.
fn is_count(text: &str) -> bool {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits && (text == "0" || !text.starts_with('0'))
}

/// The code point of an escape. The cursor is at the backslash.
pub(super) fn escape(cursor: &mut Cursor) -> Result<u32, Error> {
    let start = cursor.rest;
    cursor.skip(1);
    let Some(c) = cursor.next() else {
        return Err(error("pattern ends in a backslash"));
    };
    let code = match c {
        'a' => Some(0x07),
        'f' => Some(0x0c),
        'n' => Some(0x0a),
        'r' => Some(0x0d),
        't' => Some(0x09),
        'v' => Some(0x0b),
        'x' => hexadecimal(cursor),
        '0'..='7' => octal(c, cursor),
        _ if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(c.into()),
        _ => None,
    };
    code.ok_or_else(|| {
        let written = &start[..start.len() - cursor.rest.len()];
        error(format!("not an escape in Go: `{written}`"))
    })
}

/// Parses up to three octal digits. A single digit other than zero would be a back-reference.
fn octal(first: char, cursor: &mut Cursor) -> Option<u32> {
    let mut code = first.to_digit(8)?;
    let mut digits = 1;
    while digits < 3
        && let Some(digit) = cursor.rest.chars().next().and_then(|c| c.to_digit(8))
    {
        cursor.skip(1);
        code = code * 8 + digit;
        digits += 1;
    }
    (digits > 1 || first == '0').then_some(code)
}

/// Parses two digits, as in `\x7F`, or any number of digits in braces.
fn hexadecimal(cursor: &mut Cursor) -> Option<u32> {
    if !cursor.take("{") {
        return Some(cursor.next()?.to_digit(16)? * 16 + cursor.next()?.to_digit(16)?);
    }
    let (digits, rest) = cursor.rest.split_once('}')?;
    let code = digits.chars().try_fold(0, |code: u32, c| {
        let code = code * 16 + c.to_digit(16)?;
        (code <= char::MAX.into()).then_some(code)
    })?;
    cursor.rest = rest;
    (!digits.is_empty()).then_some(code)
}

pub(super) fn too_often() -> Error {
    error(format!(
        "repetition of more than {REPEAT_LIMIT} times, or backwards"
    ))
}

pub(super) fn error(message: impl Into<String>) -> Error {
    Error {
        message: message.into(),
    }
}

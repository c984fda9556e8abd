//! Parses a text that starts with `{` as kubectl does: as a sequence of JSON values, without any other YAML.

use std::ops::Range;
use std::sync::Arc;

use crate::place::{FileId, Place};
use crate::value::{Entry, Node, Number, Value};

use super::compose::Values;
use super::mapping::{Pair, unique};
use super::notice::Notices;
use super::scan::{DEPTH, too_deep};
use super::{Documents, SyntaxError};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Parses JSON as Go's encoding/json does, with the span of every value.
pub(super) fn read(text: &str, file: FileId) -> Result<Documents> {
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        file,
        at: 0,
        depth: 0,
        notices: Notices::default(),
        values: Values::default(),
    };
    let mut documents = Vec::new();
    while reader.skip_space().is_some() {
        documents.push(reader.value()?);
    }
    Ok(Documents {
        documents,
        notices: reader.notices.finish(),
    })
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    file: FileId,
    at: usize,
    depth: usize,
    notices: Notices,
    values: Values,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Node> {
        let start = self.at;
        self.count()?;
        let value = match self.bytes.get(start) {
            Some(b'{') => self.nested(Self::map)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => Value::from(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node {
            value,
            place: self.place(start..self.at),
        })
    }

    fn count(&mut self) -> Result<()> {
        match self.values.count(1) {
            true => Ok(()),
            false => Err(self.error(self.at..self.at + 1, Values::too_many())),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value>) -> Result<Value> {
        if self.depth >= DEPTH {
            return Err(self.error(self.at..self.at + 1, too_deep()));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn map(&mut self) -> Result<Value> {
        let mut entries = Vec::new();
        if self.skip_space() == Some(b'}') {
            self.at += 1;
            return Ok(Value::empty_map());
        }
        loop {
            let start = self.at;
            if self.skip_space() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let start = start.max(self.at);
            self.count()?;
            let key: Arc<str> = self.string()?.into();
            let key_place = self.place(start..self.at);
            if self.skip_space() != Some(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.at += 1;
            self.skip_space();
            let node = self.value()?;
            entries.push(Pair {
                entry: Entry {
                    key,
                    key_place,
                    node,
                },
                is_merged: false,
            });
            if !self.has_next(b'}', "`,` or `}`")? {
                let map = unique(&mut entries, 0, &mut self.notices);
                return Ok(Value::from(map));
            }
            self.skip_space();
        }
    }

    fn list(&mut self) -> Result<Value> {
        let mut items = Vec::new();
        if self.skip_space() == Some(b']') {
            self.at += 1;
            return Ok(Value::from(items));
        }
        loop {
            self.skip_space();
            items.push(self.value()?);
            if !self.has_next(b']', "`,` or `]`")? {
                items.shrink_to_fit();
                return Ok(Value::from(items));
            }
        }
    }

    /// Reads a comma or the closing bracket. Returns whether another item follows.
    fn has_next(&mut self, close: u8, expected: &str) -> Result<bool> {
        let found = self.skip_space();
        if found != Some(b',') && found != Some(close) {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        Ok(found == Some(b','))
    }

    fn string(&mut self) -> Result<String> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut run = self.at;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    text.push_str(&self.text[run..self.at]);
                    text.push(self.escape()?);
                    run = self.at;
                }
                Some(0x20..) => self.at += 1,
                _ => {
                    let message = "this quote is not closed on its line".to_owned();
                    return Err(self.error(start..start + 1, message));
                }
            }
        }
        text.push_str(&self.text[run..self.at]);
        self.at += 1;
        Ok(text)
    }

    fn escape(&mut self) -> Result<char> {
        let letter = self.bytes.get(self.at + 1).copied();
        let character = match letter {
            Some(b'"' | b'\\' | b'/') => char::from(self.bytes[self.at + 1]),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => {
                let message = "JSON has no such escape".to_owned();
                return Err(self.error(self.at..self.at + 1, message));
            }
        };
        self.at += 2;
        Ok(character)
    }

    /// Reads `\uXXXX`, or two of them for a surrogate pair. As in Go, an unpaired surrogate becomes U+FFFD.
    fn code_point(&mut self) -> Result<char> {
        let Some(first) = self.unit(self.at) else {
            let message = "`\\u` must be followed by four hexadecimal digits".to_owned();
            return Err(self.error(self.at..self.at + 2, message));
        };
        self.at += 6;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let pair = self.unit(self.at).and_then(|second| {
            let units = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
            char::decode_utf16(units).next()?.ok()
        });
        if pair.is_some() {
            self.at += 6;
        }
        Ok(pair.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn unit(&self, at: usize) -> Option<u32> {
        let code = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
        let digits = code.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits.then(|| u32::from_str_radix(code, 16).ok())?
    }

    fn number(&mut self) -> Result<Value> {
        let start = self.at;
        let text =
            self.take_while(|byte| matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E' | b'0'..=b'9'));
        let is_json = serde_json::from_str::<serde_json::Number>(text).is_ok();
        let number = match (text.parse(), text.parse::<f64>()) {
            (Ok(number), _) if is_json => Number::Int(number),
            (_, Ok(number)) if is_json && number.is_finite() => Number::Float(number),
            _ => {
                let message = format!("`{text}` is not a JSON number");
                return Err(self.error(start..self.at, message));
            }
        };
        Ok(Value::Number(number))
    }

    fn word(&mut self) -> Result<Value> {
        let start = self.at;
        Ok(match self.take_while(|byte| byte.is_ascii_alphanumeric()) {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => {
                self.at = start;
                return Err(self.unexpected("a value"));
            }
        })
    }

    fn take_while(&mut self, matches: fn(u8) -> bool) -> &str {
        let start = self.at;
        while self.bytes.get(self.at).copied().is_some_and(matches) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// The next byte after white space; none at the end.
    fn skip_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn unexpected(&self, expected: &str) -> SyntaxError {
        let found = match self.text[self.at..].chars().next() {
            Some(character) => format!("`{character}`"),
            None => "the end of the file".to_owned(),
        };
        let message = format!(
            "a text that starts with `{{` is read as JSON: expected {expected}, found {found}"
        );
        self.error(self.at..self.at + 1, message)
    }

    fn error(&self, range: Range<usize>, message: String) -> SyntaxError {
        SyntaxError::within(self.text, self.file, range, message)
    }

    fn place(&self, range: Range<usize>) -> Place {
        Place {
            file: self.file,
            start: range.start as u32,
            end: range.end as u32,
        }
    }
}

//! Parses JSON as Go's `encoding/json` does, with Go's error messages, because Helm returns them to templates as values.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::limits::{MAP, TEXT};
use super::super::{Budget, Error, Value, format};

/// Go's message for an invalid text.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) message: String,
    /// What Go reads all the same, where only a number is out of range: that number is nil.
    pub(super) read: Option<Value>,
}

impl SyntaxError {
    fn new(message: String) -> Self {
        Self {
            message,
            read: None,
        }
    }
}

/// The maximum nesting of arrays and objects.
const DEPTH: usize = 256;

/// Parses a text that holds one value. All numbers become `float64`; the last of several equal keys wins.
///
/// # Errors
/// The budget has no room for the value. A syntax error is part of the result instead.
pub(super) fn read(text: &str, budget: &Budget) -> Result<Result<Value, SyntaxError>, Error> {
    budget.charge_read(4 * text.len())?;
    let mut reader = Reader {
        text,
        budget,
        at: 0,
        depth: 0,
        bytes: 0,
        range_error: None,
        budget_error: None,
    };
    let read = reader.document();
    match (reader.budget_error, reader.range_error) {
        (Some(error), _) => Err(error),
        (None, Some(error)) => Ok(read.and_then(|value| {
            let read = Some(value);
            Err(SyntaxError { read, ..error })
        })),
        (None, None) => Ok(read),
    }
}

/// Parts of the message contexts in which Go reports the end of the text as a blank.
const END_IS_BLANK: &[&str] = &["numeric literal", "in literal", "escape"];

struct Reader<'t> {
    text: &'t str,
    budget: &'t Budget,
    at: usize,
    depth: usize,
    /// The estimated size of the values so far, in bytes.
    bytes: usize,
    /// The first number that no float holds. Go reports it only where the whole text is JSON.
    range_error: Option<SyntaxError>,
    /// The error of the budget. It ends the parsing as if it were a syntax error.
    budget_error: Option<Error>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The syntax error at the next byte, or at the end of the text.
    fn invalid(&self, context: &str) -> SyntaxError {
        let message = match self.peek() {
            // Inside a word or number, Go treats the end as a blank.
            None if END_IS_BLANK.iter().any(|part| context.contains(part)) => {
                format!("invalid character ' ' {context}")
            }
            None => "unexpected end of JSON input".to_owned(),
            Some(b'\'') => format!(r"invalid character '\'' {context}"),
            Some(b'"') => format!("invalid character '\"' {context}"),
            Some(byte) => {
                let quoted = format::quote(&char::from(byte).to_string());
                format!("invalid character '{}' {context}", quoted.trim_matches('"'))
            }
        };
        SyntaxError::new(message)
    }

    fn document(&mut self) -> Result<Value, SyntaxError> {
        let value = self.value()?;
        self.skip_blanks();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.invalid("after top-level value")),
        }
    }

    /// Checks that the budget has room for more bytes.
    fn ensure_room(&mut self, bytes: usize) -> Result<(), SyntaxError> {
        self.bytes += bytes;
        self.budget.ensure_room(self.bytes).map_err(|error| {
            let message = error.message.clone();
            self.budget_error = Some(error);
            SyntaxError::new(message)
        })
    }

    fn value(&mut self) -> Result<Value, SyntaxError> {
        self.ensure_room(2 * size_of::<Value>())?;
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Nil),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.invalid("looking for beginning of value")),
        }
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Value, SyntaxError>,
    ) -> Result<Value, SyntaxError> {
        if self.depth == DEPTH {
            let message = "exceeded max depth".to_owned();
            return Err(SyntaxError::new(message));
        }
        self.depth += 1;
        self.at += 1;
        self.ensure_room(MAP)?;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, SyntaxError> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::list(items));
                }
                _ => return Err(self.invalid("after array element")),
            }
        }
    }

    fn object(&mut self) -> Result<Value, SyntaxError> {
        let mut entries = BTreeMap::new();
        self.skip_blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::map(entries));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Err(self.invalid("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.skip_blanks();
            if self.peek() != Some(b':') {
                return Err(self.invalid("after object key"));
            }
            self.at += 1;
            entries.insert(key, self.value()?);
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::map(entries));
                }
                _ => return Err(self.invalid("after object key:value pair")),
            }
        }
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value, SyntaxError> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(self.invalid(&context));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, SyntaxError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.invalid("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.required_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.required_digits("in exponent of numeric literal")?;
        }
        let text = &self.text[start..self.at];
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => {
                let message =
                    format!("json: cannot unmarshal number {text} into Go value of type float64");
                self.range_error.get_or_insert(SyntaxError::new(message));
                Ok(Value::Nil)
            }
        }
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn required_digits(&mut self, context: &str) -> Result<(), SyntaxError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.invalid(context));
        }
        self.digits();
        Ok(())
    }

    fn string(&mut self) -> Result<Arc<str>, SyntaxError> {
        self.at += 1;
        let mut out = String::new();
        let mut copied = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    out.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    self.ensure_room(TEXT + out.len())?;
                    return Ok(out.into());
                }
                Some(b'\\') => {
                    out.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    out.push(self.escape()?);
                    copied = self.at;
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(self.invalid("in string literal")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        let plain = match self.peek() {
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => return self.unicode(),
            _ => return Err(self.invalid("in string escape code")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// Parses `\u` and four digits. A surrogate pair is one character; an unpaired surrogate becomes U+FFFD.
    fn unicode(&mut self) -> Result<char, SyntaxError> {
        let high = self.hexadecimal()?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        let after_high = self.at;
        if high < 0xdc00 && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            let low = self.hexadecimal()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = after_high;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// Parses the `u` of an escape and the four hexadecimal digits after it.
    fn hexadecimal(&mut self) -> Result<u32, SyntaxError> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.invalid(r"in \u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

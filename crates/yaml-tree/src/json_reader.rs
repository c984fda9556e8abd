//! Reads JSON as Go's encoding/json does. What its values become, and how a fault is worded, is the caller's: kubectl's files become
//! nodes with places ([`super::read`]), and what templates read becomes Go's values.

use std::ops::Range;

/// The maximum nesting of maps and lists.
const DEPTH: usize = 256;

/// Makes values of JSON. Spans are byte ranges of the text.
pub trait Builder {
    /// A key of a map.
    type Key;
    /// A value.
    type Value;
    /// Why the reading ends.
    type Error;

    /// The value of a text, number or word.
    ///
    /// # Errors
    /// The value is refused.
    fn scalar(
        &mut self,
        scalar: Scalar<'_>,
        span: Range<usize>,
    ) -> Result<Self::Value, Self::Error>;

    /// Called at the bracket of a map or list, before what is in it is read.
    ///
    /// # Errors
    /// The collection is refused.
    fn open(&mut self, at: usize) -> Result<(), Self::Error>;

    /// The key of an entry, whose value is read next.
    ///
    /// # Errors
    /// The key is refused.
    fn key(&mut self, key: String, span: Range<usize>) -> Result<Self::Key, Self::Error>;

    /// The value of a list.
    fn list(&mut self, items: Vec<Self::Value>, span: Range<usize>) -> Self::Value;

    /// The value of a map. Keys may be equal.
    fn map(&mut self, entries: Vec<(Self::Key, Self::Value)>, span: Range<usize>) -> Self::Value;

    /// The error for a text that is not JSON.
    fn error(&self, fault: Fault) -> Self::Error;
}

/// A value that is neither a map nor a list.
pub enum Scalar<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it is written.
    Number(&'t str),
    /// A string, its escapes replaced.
    Text(String),
}

/// Where and why a text is not JSON.
pub struct Fault {
    /// The first byte that does not fit; the length of the text if it ends too early.
    pub at: usize,
    /// What would fit.
    pub kind: FaultKind,
}

/// What does not fit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Not the start of a value.
    Value,
    /// Not the quote of a key.
    Key,
    /// Not the colon after a key.
    Colon,
    /// Neither a comma nor the end after an entry of a map.
    AfterEntry,
    /// Neither a comma nor the end after an item of a list.
    AfterItem,
    /// Something after the document.
    AfterDocument,
    /// A line break or another control character in a string.
    Text,
    /// Not an escape.
    Escape,
    /// Not one of the four digits of `\u`.
    Hexadecimal,
    /// Not the next letter of `null`, `true` or `false`.
    Word {
        /// The word.
        word: &'static str,
        /// The letter.
        letter: char,
    },
    /// Not the first digit of a number.
    Number,
    /// Not a digit after the decimal point.
    Fraction,
    /// Not a digit of the exponent.
    Exponent,
    /// A map or list that is nested too deeply.
    Depth,
}

/// Reads the values of a text one after the other.
pub struct JsonReader<'t, B> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// What makes the values.
    pub builder: B,
}

impl<'t, B: Builder> JsonReader<'t, B> {
    /// Starts at the beginning of the text.
    pub fn new(text: &'t str, builder: B) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            builder,
        }
    }

    /// Whether only blanks are left.
    pub fn is_at_end(&mut self) -> bool {
        self.next_byte().is_none()
    }

    /// Reads the next value.
    ///
    /// # Errors
    /// The text is not JSON, or the builder refuses something.
    pub fn value(&mut self) -> Result<B::Value, B::Error> {
        let first = self.next_byte();
        let start = self.at;
        let scalar = match first {
            Some(b'{') => return self.collection(Self::map),
            Some(b'[') => return self.collection(Self::list),
            Some(b'"') => Scalar::Text(self.string()?),
            Some(b't') => self.word("true", Scalar::Bool(true))?,
            Some(b'f') => self.word("false", Scalar::Bool(false))?,
            Some(b'n') => self.word("null", Scalar::Null)?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return Err(self.fault(FaultKind::Value)),
        };
        self.builder.scalar(scalar, start..self.at)
    }

    /// Checks that only blanks are left.
    ///
    /// # Errors
    /// Something else is left.
    pub fn end(&mut self) -> Result<(), B::Error> {
        if self.is_at_end() {
            Ok(())
        } else {
            Err(self.fault(FaultKind::AfterDocument))
        }
    }

    fn collection(
        &mut self,
        read: fn(&mut Self) -> Result<B::Value, B::Error>,
    ) -> Result<B::Value, B::Error> {
        if self.depth == DEPTH {
            return Err(self.fault(FaultKind::Depth));
        }
        self.builder.open(self.at)?;
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn map(&mut self) -> Result<B::Value, B::Error> {
        let start = self.at;
        let mut entries = Vec::new();
        self.at += 1;
        if self.next_byte() == Some(b'}') {
            self.at += 1;
            return Ok(self.builder.map(entries, start..self.at));
        }
        loop {
            if self.next_byte() != Some(b'"') {
                return Err(self.fault(FaultKind::Key));
            }
            let key_start = self.at;
            let key = self.string()?;
            let key = self.builder.key(key, key_start..self.at)?;
            if self.next_byte() != Some(b':') {
                return Err(self.fault(FaultKind::Colon));
            }
            self.at += 1;
            entries.push((key, self.value()?));
            if !self.has_next(b'}', FaultKind::AfterEntry)? {
                return Ok(self.builder.map(entries, start..self.at));
            }
        }
    }

    fn list(&mut self) -> Result<B::Value, B::Error> {
        let start = self.at;
        let mut items = Vec::new();
        self.at += 1;
        if self.next_byte() == Some(b']') {
            self.at += 1;
            return Ok(self.builder.list(items, start..self.at));
        }
        loop {
            items.push(self.value()?);
            if !self.has_next(b']', FaultKind::AfterItem)? {
                return Ok(self.builder.list(items, start..self.at));
            }
        }
    }

    /// Reads a comma or the closing bracket. Returns whether another member follows.
    fn has_next(&mut self, close: u8, otherwise: FaultKind) -> Result<bool, B::Error> {
        let found = self.next_byte();
        if found != Some(b',') && found != Some(close) {
            return Err(self.fault(otherwise));
        }
        self.at += 1;
        Ok(found == Some(b','))
    }

    fn string(&mut self) -> Result<String, B::Error> {
        self.at += 1;
        let mut out = String::new();
        let mut run = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    out.push_str(&self.text[run..self.at]);
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    out.push_str(&self.text[run..self.at]);
                    out.push(self.escape()?);
                    run = self.at;
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(self.fault(FaultKind::Text)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, B::Error> {
        self.at += 1;
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => return Err(self.fault(FaultKind::Escape)),
        };
        self.at += 1;
        Ok(character)
    }

    /// Reads `\uXXXX` from its `u` on, or two of them for a surrogate pair. As in Go, an unpaired surrogate becomes U+FFFD.
    fn code_point(&mut self) -> Result<char, B::Error> {
        let first = self.code_unit()?;
        let after_first = self.at;
        let is_high = (0xd800..0xdc00).contains(&first);
        if is_high && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            let pair = [first, self.code_unit()?];
            if let Some(Ok(character)) = char::decode_utf16(pair).next() {
                return Ok(character);
            }
            self.at = after_first;
        }
        Ok(char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Reads the `u` of an escape and the four hexadecimal digits after it.
    fn code_unit(&mut self) -> Result<u16, B::Error> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let digit = digit.and_then(|digit| u16::try_from(digit).ok());
            let Some(digit) = digit else {
                return Err(self.fault(FaultKind::Hexadecimal));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn word(&mut self, word: &'static str, scalar: Scalar<'t>) -> Result<Scalar<'t>, B::Error> {
        for letter in word.chars() {
            if self.peek().map(char::from) != Some(letter) {
                return Err(self.fault(FaultKind::Word { word, letter }));
            }
            self.at += 1;
        }
        Ok(scalar)
    }

    fn number(&mut self) -> Result<Scalar<'t>, B::Error> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits(FaultKind::Number)?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits(FaultKind::Fraction)?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits(FaultKind::Exponent)?;
        }
        Ok(Scalar::Number(&self.text[start..self.at]))
    }

    fn digits(&mut self, otherwise: FaultKind) -> Result<(), B::Error> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.fault(otherwise));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte after blanks; none at the end.
    fn next_byte(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.peek()
    }

    fn fault(&self, kind: FaultKind) -> B::Error {
        self.builder.error(Fault { at: self.at, kind })
    }
}

//! Splits a YAML text into tokens as go-yaml v2, the parser of Helm and kubectl, does (YAML 1.1).
//!
//! That parser decides which texts are valid, not the specification: a `#` starts a comment after a quote, NEL is a line break, a
//! key may have 1,024 characters. The scanner does not recurse.

mod block;
mod chars;
mod fetch;
mod plain;
mod properties;
mod quoted;
mod text;
mod token;

use std::collections::VecDeque;
use std::ops::Range;

use crate::place::FileId;

use super::SyntaxError;
use super::message::Message;
use chars::Bytes;
use text::Text;

pub(crate) use text::Segment;
pub(crate) use token::{Style, Token, TokenKind};

/// The maximum nesting of flow collections and of indentation.
pub(crate) const DEPTH: usize = 256;

/// The maximum distance of a `:` from the start of its key, in characters.
const KEY_REACH: usize = 1024;

type Result<T> = std::result::Result<T, SyntaxError>;

/// Scans a document on demand.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    bytes: Bytes<'t>,
    file: FileId,
    at: usize,
    line: u32,
    line_start: usize,
    /// The column of the innermost block collection; -1 outside of any.
    indent: isize,
    indents: Vec<isize>,
    /// For each flow level, the token that becomes a key if a `:` follows.
    keys: Vec<SimpleKey>,
    key_allowed: bool,
    queue: VecDeque<Token<'t>>,
    /// Whether the first token of the queue is final, and cannot become a key anymore.
    settled: bool,
    taken: usize,
    /// Whether the text is scanned as if a line break followed the last line, which has none.
    adds_final_newline: bool,
    record: bool,
    segments: Option<Vec<Segment>>,
}

/// A token that becomes a key if a `:` follows on the same line and near enough.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// Whether the position allows nothing but a key.
    required: bool,
    number: usize,
    at: usize,
    line: u32,
    column: isize,
}

impl<'t> Scanner<'t> {
    /// Creates a scanner for a part of a file. Skips a byte order mark.
    pub(crate) fn new(text: &'t str, window: Range<usize>, file: FileId) -> Self {
        let text = &text[..window.end];
        let mark = if text[window.start..].starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self {
            text,
            bytes: Bytes(text.as_bytes()),
            file,
            at: window.start + mark,
            line: 0,
            line_start: window.start + mark,
            indent: -1,
            indents: Vec::new(),
            keys: vec![SimpleKey::default()],
            key_allowed: true,
            queue: VecDeque::new(),
            settled: false,
            taken: 0,
            adds_final_newline: false,
            record: false,
            segments: None,
        }
    }

    /// Creates a scanner for a scalar that was scanned before, which records its segments. `indent` is that of the parent
    /// collection.
    pub(crate) fn rescan(text: &'t str, window: Range<usize>, file: FileId, indent: isize) -> Self {
        let mut scanner = Self::new(text, window.clone(), file);
        scanner.at = window.start;
        let before = &text.as_bytes()[..window.start];
        scanner.line_start = before
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b'\r'))
            .map_or(0, |line_break| line_break + 1);
        scanner.indent = indent;
        scanner.record = true;
        scanner
    }

    /// Scans as Helm 4 and kubectl do, which add a line break to the last line before they parse any YAML.
    pub(crate) fn adding_final_newline(mut self) -> Self {
        self.adds_final_newline = !self.text.ends_with('\n');
        self
    }

    /// The segments of the scalar that [`Self::peek`] returned.
    pub(crate) fn segments(&mut self) -> Option<Vec<Segment>> {
        self.segments.take()
    }

    /// The next token, without removing it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<&Token<'t>> {
        if !self.settled {
            self.settle()?;
        }
        Ok(&self.queue[0])
    }

    /// Scans as far as it takes to know the next token.
    fn settle(&mut self) -> Result<()> {
        while self.must_fetch()? {
            self.fetch()?;
        }
        self.settled = true;
        Ok(())
    }

    /// Removes the token that [`Self::peek`] returned. The end of the stream is not removed.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Token<'t>> {
        if let Some(Token {
            kind: TokenKind::StreamEnd,
            ..
        }) = self.queue.front()
        {
            return None;
        }
        self.taken += 1;
        self.settled = false;
        self.queue.pop_front()
    }

    /// Whether the first token may still become a key, so that more tokens must be scanned first.
    fn must_fetch(&mut self) -> Result<bool> {
        if self.queue.is_empty() {
            return Ok(true);
        }
        let number = self.taken;
        let is_head = |key: &SimpleKey| key.possible && key.number == number;
        match self.keys.iter().position(is_head) {
            Some(level) => self.is_key_possible(level),
            None => Ok(false),
        }
    }

    /// Whether the possible key of a flow level can still become one: it is on this line and near enough.
    fn is_key_possible(&mut self, level: usize) -> Result<bool> {
        let key = self.keys[level];
        if !key.possible {
            return Ok(false);
        }
        if key.line == self.line && !self.is_too_far(key.at) {
            return Ok(true);
        }
        if key.required {
            return Err(self.missing_colon(key));
        }
        self.keys[level].possible = false;
        Ok(false)
    }

    fn is_too_far(&self, start: usize) -> bool {
        self.at - start > KEY_REACH && self.text[start..self.at].chars().nth(KEY_REACH).is_some()
    }

    /// Records that a key may start here.
    fn save_key(&mut self) -> Result<()> {
        if self.key_allowed {
            self.drop_key()?;
            let key = SimpleKey {
                possible: true,
                required: self.flow_level() == 0 && self.indent == self.column(),
                number: self.taken + self.queue.len(),
                at: self.at,
                line: self.line,
                column: self.column(),
            };
            *self.key() = key;
        }
        Ok(())
    }

    /// Discards the possible key of this flow level.
    fn drop_key(&mut self) -> Result<()> {
        let key = *self.key();
        if key.possible && key.required {
            return Err(self.missing_colon(key));
        }
        self.key().possible = false;
        Ok(())
    }

    fn key(&mut self) -> &mut SimpleKey {
        self.keys
            .last_mut()
            .expect("there is one key more than flow levels")
    }

    fn flow_level(&self) -> usize {
        self.keys.len() - 1
    }

    /// The column in bytes. Only white space and indicators of one byte precede a token whose column matters.
    #[inline]
    fn column(&self) -> isize {
        (self.at - self.line_start).cast_signed()
    }

    #[inline]
    fn byte(&self) -> u8 {
        self.bytes.get(self.at)
    }

    /// Moves past a line break and returns its span.
    fn cross_line(&mut self) -> Range<usize> {
        let start = self.at;
        self.at += self.bytes.break_width(start);
        self.line += 1;
        self.line_start = self.at;
        start..self.at
    }

    /// The byte of the document marker (`---` or `...`) at the current position.
    fn document_marker(&self) -> Option<u8> {
        (self.at == self.line_start)
            .then(|| self.bytes.document_marker(self.at))
            .flatten()
    }

    /// Opens a block collection if the column is deeper than the current one. `number` is that of the token before which it
    /// starts.
    fn roll_indent(
        &mut self,
        column: isize,
        number: Option<usize>,
        kind: TokenKind<'t>,
        at: usize,
    ) -> Result<()> {
        if self.flow_level() > 0 || self.indent >= column {
            return Ok(());
        }
        if self.indents.len() >= DEPTH {
            return Err(self.error(at..at + 1, too_deep()));
        }
        self.indents.push(self.indent);
        self.indent = column;
        let index = number.map_or(self.queue.len(), |number| number - self.taken);
        self.insert(index, kind, at);
        Ok(())
    }

    /// Closes the block collections that are deeper than this column.
    fn unroll_indent(&mut self, column: isize) {
        if self.flow_level() > 0 {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, self.at);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Appends a token that ends at the current position.
    fn push(&mut self, kind: TokenKind<'t>, start: usize) {
        self.queue.push_back(Token {
            kind,
            start,
            end: self.at,
        });
    }

    /// Appends a scalar.
    fn push_scalar(&mut self, text: Text<'t>, style: Style, range: Range<usize>) {
        let (text, segments) = text.finish();
        self.segments = segments;
        self.queue.push_back(Token {
            kind: TokenKind::Scalar { text, style },
            start: range.start,
            end: range.end,
        });
    }

    /// Inserts a token without text.
    fn insert(&mut self, index: usize, kind: TokenKind<'t>, at: usize) {
        self.queue.insert(index, Token::empty(kind, at));
    }

    fn missing_colon(&self, key: SimpleKey) -> SyntaxError {
        let line = &self.text[key.at..];
        let end = line.find(['\n', '\r']).unwrap_or(line.len());
        self.error(
            key.at..key.at + line[..end].trim_end().len(),
            "a `:` is missing after this key".to_owned(),
        )
    }

    fn tab_error(&self) -> SyntaxError {
        let message = "a tab cannot indent; use spaces".to_owned();
        self.error(self.at..self.at + 1, message)
    }

    fn error(&self, range: Range<usize>, message: impl Into<Message>) -> SyntaxError {
        SyntaxError::from_range(self.text, self.file, range, message)
    }
}

/// The message for nesting beyond [`DEPTH`].
pub(crate) fn too_deep() -> String {
    format!("nested more than {DEPTH} levels deep")
}

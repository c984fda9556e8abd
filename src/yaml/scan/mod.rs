//! Cuts a YAML text into tokens, as the reader that Helm and kubectl share does (YAML 1.1, go-yaml v2).
//!
//! Which texts are YAML and which are not is that reader's opinion here, not the specification's: a `#` starts a comment
//! after a quote, NEL breaks a line, a key may be 1,024 characters long. Nothing here recurses.

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

use crate::model::place::FileId;

use super::SyntaxError;
use chars::Bytes;
use text::Text;

pub(crate) use text::Segment;
pub(crate) use token::{Kind, Style, Token};

/// How deep flow collections and indentation may go.
pub(crate) const DEPTH: usize = 256;

/// How far, in characters, a `:` may stand behind the start of its key.
const KEY_REACH: usize = 1024;

type Result<T> = std::result::Result<T, SyntaxError>;

/// Cuts one document, on demand.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    bytes: Bytes<'t>,
    file: FileId,
    at: usize,
    line: u32,
    line_start: usize,
    /// Column of the innermost block collection; -1 outside of any.
    indent: isize,
    indents: Vec<isize>,
    /// The token at each flow level that may turn out to be a key.
    keys: Vec<SimpleKey>,
    key_allowed: bool,
    queue: VecDeque<Token<'t>>,
    /// Whether the first token of the queue can no longer become a key.
    settled: bool,
    taken: usize,
    /// A last line without a line break counts as if it had one.
    ends_line: bool,
    record: bool,
    segments: Option<Vec<Segment>>,
}

/// A token that becomes a key if a `:` follows soon enough.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// Nothing but a key may stand there.
    required: bool,
    number: usize,
    at: usize,
    line: u32,
    column: isize,
}

impl<'t> Scanner<'t> {
    /// A scanner of a part of a file; a byte order mark at its start is skipped.
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
            ends_line: false,
            record: false,
            segments: None,
        }
    }

    /// A scanner of one scalar that was read before: it keeps the spelling. `indent` is that of the collection around it.
    pub(crate) fn again(text: &'t str, window: Range<usize>, file: FileId, indent: isize) -> Self {
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

    /// The same, as Helm 4 and kubectl read: they end the last line before they read any YAML.
    pub(crate) fn ending_the_last_line(mut self) -> Self {
        self.ends_line = !self.text.ends_with('\n');
        self
    }

    /// How the scalar that [`Self::peek`] showed is spelled.
    pub(crate) fn segments(&mut self) -> Option<Vec<Segment>> {
        self.segments.take()
    }

    /// The next token, which stays.
    pub(crate) fn peek(&mut self) -> Result<&Token<'t>> {
        while !self.settled {
            if self.must_fetch()? {
                self.fetch()?;
            } else {
                self.settled = true;
            }
        }
        Ok(&self.queue[0])
    }

    /// Takes the token that [`Self::peek`] showed. The end of the stream is never used up.
    pub(crate) fn take(&mut self) -> Option<Token<'t>> {
        if let Some(Token {
            kind: Kind::StreamEnd,
            ..
        }) = self.queue.front()
        {
            return None;
        }
        self.taken += 1;
        self.settled = false;
        self.queue.pop_front()
    }

    /// The first token cannot be given out while it may yet become a key.
    fn must_fetch(&mut self) -> Result<bool> {
        if self.queue.is_empty() {
            return Ok(true);
        }
        let head = self
            .keys
            .iter()
            .position(|key| key.possible && key.number == self.taken);
        head.map_or(Ok(false), |level| self.key_stands(level))
    }

    /// Whether the key of a flow level is still one: on this line and near enough.
    fn key_stands(&mut self, level: usize) -> Result<bool> {
        let key = self.keys[level];
        if !key.possible {
            return Ok(false);
        }
        if key.line == self.line && !self.is_beyond_reach(key.at) {
            return Ok(true);
        }
        if key.required {
            return Err(self.missing_colon(key));
        }
        self.keys[level].possible = false;
        Ok(false)
    }

    fn is_beyond_reach(&self, start: usize) -> bool {
        self.at - start > KEY_REACH && self.text[start..self.at].chars().nth(KEY_REACH).is_some()
    }

    /// Notes that a key may start here.
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

    /// Gives up the key of this flow level.
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

    /// In bytes: only white space and indicators, each one byte, stand before a token whose column matters.
    fn column(&self) -> isize {
        (self.at - self.line_start).cast_signed()
    }

    fn byte(&self) -> u8 {
        self.bytes.at(self.at)
    }

    /// Steps over a line break and returns where it stood.
    fn cross_line(&mut self) -> Range<usize> {
        let start = self.at;
        self.at += self.bytes.break_width(start);
        self.line += 1;
        self.line_start = self.at;
        start..self.at
    }

    /// `---` or `...` at the start of a line.
    fn at_document_marker(&self) -> Option<u8> {
        (self.at == self.line_start)
            .then(|| self.bytes.document_marker(self.at))
            .flatten()
    }

    /// Opens a block collection if this column is deeper than the current one; `number` is the token it starts before.
    fn roll_indent(
        &mut self,
        column: isize,
        number: Option<usize>,
        kind: Kind<'t>,
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
            self.push(Kind::BlockEnd, self.at);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Appends a token that ends at the current position.
    fn push(&mut self, kind: Kind<'t>, start: usize) {
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
            kind: Kind::Scalar { text, style },
            start: range.start,
            end: range.end,
        });
    }

    /// Inserts a token without text.
    fn insert(&mut self, index: usize, kind: Kind<'t>, at: usize) {
        self.queue.insert(
            index,
            Token {
                kind,
                start: at,
                end: at,
            },
        );
    }

    fn missing_colon(&self, key: SimpleKey) -> SyntaxError {
        let line = &self.text[key.at..];
        let end = line.find(['\n', '\r']).unwrap_or(line.len());
        self.error(
            key.at..key.at + line[..end].trim_end().len(),
            "a `:` is missing behind this key".to_owned(),
        )
    }

    fn error(&self, range: Range<usize>, message: String) -> SyntaxError {
        SyntaxError::within(self.text, self.file, range, message)
    }
}

/// What is said of anything nested beyond [`DEPTH`].
pub(crate) fn too_deep() -> String {
    format!("nested more than {DEPTH} levels deep")
}

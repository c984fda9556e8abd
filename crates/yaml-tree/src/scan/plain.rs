//! Scans plain scalars, which have no quotes.

use std::borrow::Cow;
use std::ops::Range;

use super::text::{Fold, Text};
use super::{Result, Scanner, SimpleKey, Style, Token, TokenKind};

impl<'t> Scanner<'t> {
    /// Scans a plain scalar, which continues on lines that are indented deeply enough.
    pub(super) fn plain_scalar(&mut self) -> Result<()> {
        let may_be_key = self.key_allowed && self.flow_level() == 0;
        self.save_key()?;
        self.key_allowed = false;
        let start = self.at;
        if !self.record && self.plain_word(may_be_key)? {
            return Ok(());
        }
        self.at = start;
        let mut end = start;
        let mut text = Text::new(self.text, self.record);
        let mut fold = Fold::default();
        let mut blanks = start..start;
        while self.document_marker().is_none() && self.byte() != b'#' {
            let run = self.at;
            self.skip_plain_run();
            if self.at > run {
                if fold.has_break() {
                    fold.join(&mut text);
                } else {
                    text.copy(blanks);
                }
                text.copy(run..self.at);
                end = self.at;
            }
            if !self.bytes.is_blank(self.at) && !self.bytes.is_break(self.at) {
                break;
            }
            let gap = self.at;
            self.skip_plain_gap(&mut fold)?;
            blanks = gap..self.at;
            if self.flow_level() == 0 && self.column() <= self.indent {
                break;
            }
        }
        if fold.has_break() {
            self.key_allowed = true;
        } else if may_be_key
            && self.byte() == b':'
            && self.key().line == self.line
            && !self.is_too_far(start)
        {
            self.open_plain_key()?;
            self.push_scalar(text, Style::Plain, start..end);
            self.close_plain_key();
            return Ok(());
        }
        self.push_scalar(text, Style::Plain, start..end);
        Ok(())
    }

    /// Scans a word that is a key in a block map, or that ends both its line and the scalar, as nearly all plain scalars do.
    /// False if the scalar may be another one; then nothing but the position has changed.
    fn plain_word(&mut self, may_be_key: bool) -> Result<bool> {
        let start = self.at;
        self.skip_plain_run();
        let end = self.at;
        match self.byte() {
            b':' if may_be_key && !self.is_too_far(start) => {
                self.open_plain_key()?;
                self.push_word(start..end);
                self.close_plain_key();
            }
            b'\n' if self.flow_level() == 0 => {
                let line = end + 1;
                let rest = self.bytes.0.get(line..).unwrap_or_default();
                let spaces = rest.iter().take_while(|byte| **byte == b' ').count();
                let goes_on = spaces.cast_signed() > self.indent;
                // A tab or a line break may follow: both are more than their bytes say.
                if goes_on || matches!(rest.get(spaces), Some(b'\t' | b'\n' | b'\r' | 0x80..)) {
                    return Ok(false);
                }
                self.line += 1;
                self.line_start = line;
                self.at = line + spaces;
                self.key_allowed = true;
                self.push_word(start..end);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn push_word(&mut self, range: Range<usize>) {
        self.queue.push_back(Token {
            kind: TokenKind::Scalar {
                text: Cow::Borrowed(&self.text[range.clone()]),
                style: Style::Plain,
            },
            start: range.start,
            end: range.end,
        });
    }

    /// Adds the tokens before a key in a block map. Most scalars are such keys, and here nothing is inserted before tokens of the
    /// queue: the scalar itself is not in it yet.
    fn open_plain_key(&mut self) -> Result<()> {
        let SimpleKey { column, at, .. } = *self.key();
        self.roll_indent(column, None, TokenKind::BlockMappingStart, at)?;
        self.queue.push_back(Token::empty(TokenKind::Key, at));
        Ok(())
    }

    /// Adds the `:` after a key in a block map.
    fn close_plain_key(&mut self) {
        self.key().possible = false;
        self.push_indicator(TokenKind::Value, 1);
    }

    /// Moves to the next white space, or to the end of the scalar.
    fn skip_plain_run(&mut self) {
        let in_flow = self.flow_level() > 0;
        loop {
            self.at += self.bytes.count_to_plain_stop(self.at);
            match self.byte() {
                b' ' | b'\t' | b'\n' | b'\r' | 0 => return,
                b':' if self.bytes.is_gap(self.at + 1) => return,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if in_flow => return,
                0xC2 | 0xE2 if self.bytes.is_break(self.at) => return,
                _ => self.at += 1,
            }
        }
    }

    fn skip_plain_gap(&mut self, fold: &mut Fold) -> Result<()> {
        loop {
            match self.byte() {
                b' ' => self.at += 1,
                b'\t' if fold.has_break() && self.column() <= self.indent => {
                    return Err(self.tab_error());
                }
                b'\t' => self.at += 1,
                _ if self.bytes.is_break(self.at) => {
                    let line_break = self.cross_line();
                    fold.cross(line_break);
                }
                _ => return Ok(()),
            }
        }
    }
}

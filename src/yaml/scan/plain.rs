//! Scans plain scalars, which have no quotes.

use std::ops::Range;

use super::text::{Fold, Text};
use super::{Kind, Result, Scanner, SimpleKey, Style, Token};

impl<'t> Scanner<'t> {
    /// Scans a plain scalar, which continues on lines that are indented deeply enough.
    pub(super) fn plain_scalar(&mut self) -> Result<()> {
        let may_be_key = self.key_allowed && self.flow_level() == 0;
        self.save_key()?;
        self.key_allowed = false;
        let start = self.at;
        let mut end = start;
        let mut text = Text::new(self.text, self.record);
        let mut fold = Fold::default();
        let mut blanks = start..start;
        while self.at_document_marker().is_none() && self.byte() != b'#' {
            let run = self.at;
            self.skip_plain_run();
            if self.at > run {
                if fold.crossed() {
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
        if fold.crossed() {
            self.key_allowed = true;
        } else if may_be_key
            && self.byte() == b':'
            && self.key().line == self.line
            && !self.is_too_far(start)
        {
            return self.plain_key(text, start..end);
        }
        self.push_scalar(text, Style::Plain, start..end);
        Ok(())
    }

    /// Adds the tokens of a key in a block map, up to its `:`. Most scalars are such keys, and here nothing is inserted before
    /// tokens of the queue: the scalar itself is not in it yet.
    fn plain_key(&mut self, text: Text<'t>, range: Range<usize>) -> Result<()> {
        let SimpleKey { column, at, .. } = *self.key();
        self.roll_indent(column, None, Kind::BlockMappingStart, at)?;
        self.queue.push_back(Token::empty(Kind::Key, at));
        self.push_scalar(text, Style::Plain, range);
        self.key().possible = false;
        self.push_indicator(Kind::Value, 1);
        Ok(())
    }

    /// Moves to the next white space, or to the end of the scalar.
    fn skip_plain_run(&mut self) {
        let in_flow = self.flow_level() > 0;
        loop {
            self.at += self.bytes.before_plain_stop(self.at);
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
                b'\t' if fold.crossed() && self.column() <= self.indent => {
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

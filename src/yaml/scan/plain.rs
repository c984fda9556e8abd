//! Scans plain scalars, which have no quotes.

use super::text::{Fold, Text};
use super::{Result, Scanner, Style};

impl<'t> Scanner<'t> {
    /// Scans a plain scalar, which continues on lines that are indented deeply enough.
    pub(super) fn plain_scalar(&mut self) -> Result<()> {
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
        }
        self.push_scalar(text, Style::Plain, start..end);
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
            if self.bytes.is_blank(self.at) {
                if fold.crossed() && self.byte() == b'\t' && self.column() <= self.indent {
                    return Err(self.tab_error());
                }
                self.at += 1;
            } else if self.bytes.is_break(self.at) {
                let line_break = self.cross_line();
                fold.cross(line_break);
            } else {
                return Ok(());
            }
        }
    }
}

//! Scans block scalars: literal (`|`) and folded (`>`).

use std::ops::Range;

use super::text::{Breaks, Text, line_break, put_break};
use super::{Result, Scanner, Style};

/// How the line breaks at the end of a block scalar are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

impl<'t> Scanner<'t> {
    /// Scans a block scalar. Its span is from the indicator to the end of the last line of content.
    pub(super) fn block_scalar(&mut self, literal: bool) -> Result<()> {
        self.drop_key()?;
        self.key_allowed = true;
        let start = self.at;
        self.at += 1;
        let (chomping, increment) = self.block_header(start)?;
        let header_end = self.at;
        self.finish_line("a block scalar")?;
        let indent = increment.map_or(0, |increment| self.indent.max(0) + increment);
        let mut text = Text::new(self.text, self.record);
        let end = self.block_lines(&mut text, literal, chomping, indent)?;
        let style = if literal {
            Style::Literal
        } else {
            Style::Folded
        };
        self.push_scalar(text, style, start..end.unwrap_or(header_end));
        Ok(())
    }

    /// Scans the lines of content with their line breaks. Returns the end of the last line.
    fn block_lines(
        &mut self,
        text: &mut Text<'_>,
        literal: bool,
        chomping: Chomping,
        mut indent: isize,
    ) -> Result<Option<usize>> {
        let mut end = None;
        let mut breaks = Breaks::default();
        let mut last_break: Option<Range<usize>> = None;
        let mut after_blank = false;
        self.block_gap(&mut indent, &mut breaks)?;
        while self.column() == indent && !self.bytes.is_end(self.at) {
            let blank = self.bytes.is_blank(self.at);
            if let Some(line_end) = last_break.take() {
                let in_line = literal || after_blank || blank;
                if in_line || line_break(self.text, &line_end) != "\n" {
                    put_break(text, line_end);
                } else if breaks.is_empty() {
                    text.put(" ", line_end);
                }
            }
            breaks.put(text);
            after_blank = blank;
            let line = self.at;
            self.skip_to_line_end();
            text.copy(line..self.at);
            end = Some(self.at);
            last_break = self.end_of_line();
            self.block_gap(&mut indent, &mut breaks)?;
        }
        if let (Some(line_end), true) = (last_break, chomping != Chomping::Strip) {
            put_break(text, line_end);
        }
        if chomping == Chomping::Keep {
            breaks.put(text);
        }
        Ok(end)
    }

    /// Moves past the line break after a line of content, which may be missing at the end of the text.
    fn end_of_line(&mut self) -> Option<Range<usize>> {
        if !self.bytes.is_end(self.at) {
            return Some(self.cross_line());
        }
        // At the end of the text, the position counts as the start of another line.
        self.line_start = self.at;
        self.adds_final_newline.then_some(self.at..self.at)
    }

    /// Scans the chomping and indentation indicators, in either order.
    fn block_header(&mut self, start: usize) -> Result<(Chomping, Option<isize>)> {
        let mut chomping = None;
        let mut increment = None;
        loop {
            match self.byte() {
                b'+' if chomping.is_none() => chomping = Some(Chomping::Keep),
                b'-' if chomping.is_none() => chomping = Some(Chomping::Strip),
                b'0' if increment.is_none() => {
                    let message = "a block scalar cannot be indented by 0".to_owned();
                    return Err(self.error(start..self.at + 1, message));
                }
                digit @ b'1'..=b'9' if increment.is_none() => {
                    increment = Some(isize::from(digit - b'0'));
                }
                _ => return Ok((chomping.unwrap_or(Chomping::Clip), increment)),
            }
            self.at += 1;
        }
    }

    /// Skips white space and a comment, up to and including the end of the line. Anything else is an error.
    pub(super) fn finish_line(&mut self, what: &str) -> Result<()> {
        while self.bytes.is_blank(self.at) {
            self.at += 1;
        }
        if self.byte() == b'#' {
            self.skip_to_line_end();
        }
        if !self.bytes.is_break_or_end(self.at) {
            let message = format!("only a comment may follow the indicator of {what}");
            return Err(self.error(self.at..self.at + 1, message));
        }
        self.end_of_line();
        Ok(())
    }

    /// Skips indentation and empty lines. Determines the indentation if it is not known yet (0).
    fn block_gap(&mut self, indent: &mut isize, breaks: &mut Breaks) -> Result<()> {
        let mut deepest = 0;
        loop {
            while (*indent == 0 || self.column() < *indent) && self.byte() == b' ' {
                self.at += 1;
            }
            deepest = deepest.max(self.column());
            if (*indent == 0 || self.column() < *indent) && self.byte() == b'\t' {
                return Err(self.tab_error());
            }
            if self.bytes.is_break(self.at) {
                breaks.push(self.cross_line());
                continue;
            }
            if self.adds_final_newline && self.bytes.is_end(self.at) && self.column() > 0 {
                breaks.push(self.at..self.at);
            }
            break;
        }
        if *indent == 0 {
            *indent = deepest.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}

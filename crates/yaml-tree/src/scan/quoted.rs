//! Scans scalars in single or double quotes.

use super::super::message::Message;
use super::text::{Fold, Text};
use super::{Result, Scanner, Style};

impl<'t> Scanner<'t> {
    /// Scans a quoted scalar, and folds its line breaks.
    pub(super) fn scan_quoted_scalar(&mut self, single: bool) -> Result<()> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.at;
        let quote = self.byte();
        self.at += 1;
        let mut text = Text::new(self.text, self.record);
        loop {
            if self.document_marker().is_some() || self.bytes.is_end(self.at) {
                let message = "this quote is never closed".to_owned();
                return Err(self.error(start..start + 1, message));
            }
            let mut fold = Fold::default();
            self.scan_quoted_run(quote, &mut text, &mut fold, start)?;
            if self.byte() == quote {
                break;
            }
            let gap = self.at;
            self.skip_quoted_gap(&mut fold);
            if fold.has_break() {
                fold.join(&mut text);
            } else {
                text.copy(gap..self.at);
            }
        }
        self.at += 1;
        let style = if single {
            Style::SingleQuoted
        } else {
            Style::DoubleQuoted
        };
        self.push_scalar(text, style, start..self.at);
        Ok(())
    }

    fn skip_quoted_gap(&mut self, fold: &mut Fold) {
        while self.bytes.is_blank(self.at) || self.bytes.is_break(self.at) {
            if self.bytes.is_break(self.at) {
                let line_break = self.cross_line();
                fold.cross(line_break);
            } else {
                self.at += 1;
            }
        }
    }

    /// Scans up to white space, the closing quote or an escaped line break.
    fn scan_quoted_run(
        &mut self,
        quote: u8,
        text: &mut Text<'_>,
        fold: &mut Fold,
        start: usize,
    ) -> Result<()> {
        let mut run = self.at;
        while !self.bytes.is_gap(self.at) {
            match self.byte() {
                b'\'' if quote == b'\'' && self.bytes.get(self.at + 1) == b'\'' => {
                    text.copy(run..self.at);
                    text.put("'", self.at..self.at + 2);
                    self.at += 2;
                    run = self.at;
                }
                byte if byte == quote => break,
                b'\\' if quote == b'"' => {
                    text.copy(run..self.at);
                    if self.bytes.is_break(self.at + 1) {
                        self.at += 1;
                        self.cross_line();
                        fold.escape();
                        return Ok(());
                    }
                    self.escape(text, start)?;
                    run = self.at;
                }
                _ => self.at += 1,
            }
        }
        text.copy(run..self.at);
        Ok(())
    }

    /// Scans an escape.
    fn escape(&mut self, text: &mut Text<'_>, start: usize) -> Result<()> {
        let from = self.at;
        let letter = self.bytes.get(from + 1);
        let digits = match letter {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => 0,
        };
        let character = if digits > 0 {
            self.code_point(from + 2, digits)
        } else {
            escape_character(letter)
        };
        let Some(character) = character else {
            let width = self.text[from + 1..]
                .chars()
                .next()
                .map_or(0, char::len_utf8);
            let end = (from + 1 + width + digits).min(self.text.len());
            let message = if self.bytes.is_end(from + 1) {
                return Err(self.error(start..start + 1, "this quote is never closed".to_owned()));
            } else {
                let spelling: String = self.text[from..].chars().take(2 + digits).collect();
                Message::quoting(&spelling, |spelling| {
                    format!("`{spelling}` is not a YAML escape")
                })
            };
            return Err(self.error(from..end, message));
        };
        self.at = from + 2 + digits;
        text.put(character.encode_utf8(&mut [0; 4]), from..self.at);
        Ok(())
    }

    fn code_point(&self, from: usize, digits: usize) -> Option<char> {
        let code = self.text.get(from..from + digits)?;
        if !code.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        char::from_u32(u32::from_str_radix(code, 16).ok()?)
    }
}

/// The escapes of one character (<https://yaml.org/spec/1.1/#escaping>). As in go-yaml, `\'` is one, and `\/` is not.
fn escape_character(letter: u8) -> Option<char> {
    Some(match letter {
        b'0' => '\0',
        b'a' => '\x07',
        b'b' => '\x08',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\x0b',
        b'f' => '\x0c',
        b'r' => '\r',
        b'e' => '\x1b',
        b' ' | b'"' | b'\'' | b'\\' => char::from(letter),
        b'N' => '\u{85}',
        b'_' => '\u{a0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        _ => return None,
    })
}

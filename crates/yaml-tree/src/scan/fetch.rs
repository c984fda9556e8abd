//! Scans the next token, and updates the state that decides which tokens may follow.

use super::{DEPTH, Result, Scanner, SimpleKey, TokenKind, too_deep};

impl<'t> Scanner<'t> {
    /// Adds the next token to the queue, and the tokens that its column or a `:` imply.
    pub(super) fn fetch(&mut self) -> Result<()> {
        self.skip_to_token();
        self.unroll_indent(self.column());
        if self.bytes.is_end(self.at) {
            return self.fetch_end();
        }
        if self.at == self.line_start && self.byte() == b'%' {
            self.leave_document()?;
            return self.directive();
        }
        if let Some(marker) = self.document_marker() {
            self.leave_document()?;
            let kind = if marker == b'-' {
                TokenKind::DocumentStart
            } else {
                TokenKind::DocumentEnd
            };
            self.push_indicator(kind, 3);
            return Ok(());
        }
        self.fetch_indicator()
    }

    fn fetch_indicator(&mut self) -> Result<()> {
        let in_flow = self.flow_level() > 0;
        let before_gap = || self.bytes.is_gap(self.at + 1);
        match self.byte() {
            b'[' => self.open_flow(TokenKind::FlowSequenceStart),
            b'{' => self.open_flow(TokenKind::FlowMappingStart),
            b']' => self.close_flow(TokenKind::FlowSequenceEnd),
            b'}' => self.close_flow(TokenKind::FlowMappingEnd),
            b',' => self.flow_entry(),
            b'-' if before_gap() => self.block_entry(),
            b'?' if in_flow || before_gap() => self.explicit_key(),
            b':' if in_flow || before_gap() => self.value(),
            b'*' => self.word(TokenKind::Alias),
            b'&' => self.word(TokenKind::Anchor),
            b'!' => self.tag(),
            b'|' if !in_flow => self.block_scalar(true),
            b'>' if !in_flow => self.block_scalar(false),
            b'\'' => self.scan_quoted_scalar(true),
            b'"' => self.scan_quoted_scalar(false),
            b'-' => self.plain_scalar(),
            b'?' | b':' if !in_flow => self.plain_scalar(),
            b'?' | b':' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' => Err(self.stray()),
            _ => self.plain_scalar(),
        }
    }

    /// Skips white space, comments and line breaks. A tab is not white space where a key may start, because it cannot indent.
    fn skip_to_token(&mut self) {
        loop {
            let tabs = self.flow_level() > 0 || !self.key_allowed;
            while self.byte() == b' ' || (tabs && self.byte() == b'\t') {
                self.at += 1;
            }
            if self.byte() == b'#' {
                self.skip_to_line_end();
            }
            if !self.bytes.is_break(self.at) {
                return;
            }
            self.cross_line();
            if self.flow_level() == 0 {
                self.key_allowed = true;
            }
        }
    }

    pub(super) fn skip_to_line_end(&mut self) {
        while !self.bytes.is_break_or_end(self.at) {
            self.at += 1 + self.bytes.count_to_break(self.at + 1);
        }
    }

    fn fetch_end(&mut self) -> Result<()> {
        // No key can continue after the end, at any flow level.
        self.line += 1;
        self.leave_document()?;
        self.push(TokenKind::StreamEnd, self.at);
        Ok(())
    }

    fn leave_document(&mut self) -> Result<()> {
        self.unroll_indent(-1);
        self.drop_key()?;
        self.key_allowed = false;
        Ok(())
    }

    pub(super) fn push_indicator(&mut self, kind: TokenKind<'t>, width: usize) {
        let start = self.at;
        self.at += width;
        self.push(kind, start);
    }

    fn open_flow(&mut self, kind: TokenKind<'t>) -> Result<()> {
        self.save_key()?;
        if self.flow_level() >= DEPTH {
            return Err(self.error(self.at..self.at + 1, too_deep()));
        }
        self.keys.push(SimpleKey::default());
        self.key_allowed = true;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn close_flow(&mut self, kind: TokenKind<'t>) -> Result<()> {
        self.drop_key()?;
        if self.flow_level() > 0 {
            self.keys.pop();
        }
        self.key_allowed = false;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn flow_entry(&mut self) -> Result<()> {
        self.drop_key()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry, 1);
        Ok(())
    }

    /// Scans a `-`. In a flow collection, the composer handles it, which knows the context.
    fn block_entry(&mut self) -> Result<()> {
        if self.flow_level() == 0 {
            self.require_line_start("a list item")?;
            self.roll_indent(self.column(), None, TokenKind::BlockSequenceStart, self.at)?;
        }
        self.drop_key()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry, 1);
        Ok(())
    }

    fn explicit_key(&mut self) -> Result<()> {
        if self.flow_level() == 0 {
            self.require_line_start("a key")?;
            self.roll_indent(self.column(), None, TokenKind::BlockMappingStart, self.at)?;
        }
        self.drop_key()?;
        self.key_allowed = self.flow_level() == 0;
        self.push_indicator(TokenKind::Key, 1);
        Ok(())
    }

    fn value(&mut self) -> Result<()> {
        if self.is_key_possible(self.flow_level())? {
            let key = *self.key();
            self.insert(key.number - self.taken, TokenKind::Key, key.at);
            self.roll_indent(
                key.column,
                Some(key.number),
                TokenKind::BlockMappingStart,
                key.at,
            )?;
            self.key().possible = false;
            self.key_allowed = false;
        } else {
            if self.flow_level() == 0 {
                self.require_line_start("a second `:`")?;
                self.roll_indent(self.column(), None, TokenKind::BlockMappingStart, self.at)?;
            }
            self.key_allowed = self.flow_level() == 0;
        }
        self.push_indicator(TokenKind::Value, 1);
        Ok(())
    }

    fn require_line_start(&self, what: &str) -> Result<()> {
        if self.key_allowed {
            return Ok(());
        }
        let message = format!("{what} is not allowed here, on the same line");
        Err(self.error(self.at..self.at + 1, message))
    }

    fn stray(&self) -> super::SyntaxError {
        let byte = self.byte();
        if byte == b'\t' {
            return self.tab_error();
        }
        let message = format!(
            "no value can start with `{}` unless it is quoted",
            char::from(byte)
        );
        self.error(self.at..self.at + 1, message)
    }
}

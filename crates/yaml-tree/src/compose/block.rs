//! Parses block collections: lists and maps by indentation.

use super::super::mapping::Pairs;
use super::super::scan::TokenKind;
use super::items::Items;
use super::{Composed, Composer, Context, Result};

impl Composer<'_> {
    pub(super) fn block_list(&mut self) -> Result<Composed> {
        self.scanner.take();
        let mut items = Items::default();
        loop {
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            match token.kind {
                TokenKind::BlockEntry => items.open(start),
                TokenKind::BlockEnd => break,
                _ => return Err(self.syntax_error("`-`, another list item")),
            }
            self.scanner.take();
            let item = match self.scanner.peek()?.kind {
                TokenKind::BlockEntry | TokenKind::BlockEnd => self.empty_value(end)?,
                _ => self.node(Context::Block)?,
            };
            self.add(&mut items, item, end)?;
        }
        self.scanner.take();
        Ok(self.list(items))
    }

    /// Parses a list whose `-` are in the column of the key above.
    pub(super) fn indentless_list(&mut self) -> Result<Composed> {
        let mut items = Items::default();
        loop {
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            if !matches!(token.kind, TokenKind::BlockEntry) {
                return Ok(self.list(items));
            }
            items.open(start);
            self.scanner.take();
            let item = match self.scanner.peek()?.kind {
                TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                    self.empty_value(end)?
                }
                _ => self.node(Context::Block)?,
            };
            self.add(&mut items, item, end)?;
        }
    }

    pub(super) fn block_map(&mut self) -> Result<Composed> {
        let start = self.scanner.peek()?.start;
        let mut pairs = Pairs::new(self, start);
        self.scanner.take();
        loop {
            let token = self.scanner.peek()?;
            let end = token.end;
            match token.kind {
                TokenKind::Key => {}
                TokenKind::BlockEnd => break,
                _ => return Err(self.syntax_error("a key")),
            }
            self.scanner.take();
            let key = match self.scanner.peek()?.kind {
                TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => self.empty_value(end)?,
                _ => self.node(Context::Value)?,
            };
            let value = self.block_value(key.used_at.end as usize)?;
            pairs.add(self, key, value)?;
        }
        self.scanner.take();
        Ok(pairs.finish(self, None))
    }

    fn block_value(&mut self, key_end: usize) -> Result<Composed> {
        let token = self.scanner.peek()?;
        let end = token.end;
        if !matches!(token.kind, TokenKind::Value) {
            return self.empty_value(key_end);
        }
        self.scanner.take();
        match self.scanner.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => self.empty_value(end),
            _ => self.node(Context::Value),
        }
    }
}

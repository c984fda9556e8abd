//! Parses flow collections: lists and maps in brackets and braces.

use super::super::mapping::Pairs;
use super::super::scan::TokenKind;
use super::items::Items;
use super::{Composed, Composer, Context, Result};

impl Composer<'_> {
    pub(super) fn flow_list(&mut self) -> Result<Composed> {
        let mut items = Items::default();
        items.open(self.scanner.peek()?.start);
        self.scanner.take();
        loop {
            if !matches!(self.scanner.peek()?.kind, TokenKind::FlowSequenceEnd) {
                self.flow_separator(items.nodes.is_empty(), "`,` or `]`")?;
            }
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            let item = match token.kind {
                TokenKind::FlowSequenceEnd => {
                    items.end = end;
                    self.scanner.take();
                    return Ok(self.list(items));
                }
                TokenKind::Key => {
                    self.scanner.take();
                    self.read_nested_pair(start)?
                }
                _ => self.node(Context::Flow)?,
            };
            self.add(&mut items, item, end)?;
        }
    }

    fn read_nested_pair(&mut self, start: usize) -> Result<Composed> {
        self.depth += 1;
        self.check_height(0)?;
        self.value()?;
        let composed = self.flow_pair(start)?;
        self.depth -= 1;
        Ok(composed)
    }

    /// Parses `key: value` in a list, which is a map with one entry.
    fn flow_pair(&mut self, start: usize) -> Result<Composed> {
        let token = self.scanner.peek()?;
        let end = token.end;
        let key = if matches!(
            token.kind,
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
        ) {
            // go-yaml skips the token here, whatever it is.
            self.scanner.take();
            self.empty_value(end)?
        } else {
            self.node(Context::Flow)?
        };
        let token = self.scanner.peek()?;
        let mut at = token.start;
        let mut value = None;
        if matches!(token.kind, TokenKind::Value) {
            at = token.end;
            self.scanner.take();
            if !matches!(
                self.scanner.peek()?.kind,
                TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
            ) {
                value = Some(self.node(Context::Flow)?);
            }
        }
        let value = match value {
            Some(value) => value,
            None => self.empty_value(at)?,
        };
        let mut pairs = Pairs::new(self, start);
        pairs.add(self, key, value)?;
        Ok(pairs.finish(self, None))
    }

    fn flow_separator(&mut self, first: bool, expected: &str) -> Result<()> {
        if first {
            return Ok(());
        }
        if !matches!(self.scanner.peek()?.kind, TokenKind::FlowEntry) {
            return Err(self.syntax_error(expected));
        }
        self.scanner.take();
        Ok(())
    }

    pub(super) fn flow_map(&mut self) -> Result<Composed> {
        let start = self.scanner.peek()?.start;
        let mut pairs = Pairs::new(self, start);
        self.scanner.take();
        let mut first = true;
        loop {
            if !matches!(self.scanner.peek()?.kind, TokenKind::FlowMappingEnd) {
                self.flow_separator(first, "`,` or `}`")?;
            }
            first = false;
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            let key = match token.kind {
                TokenKind::FlowMappingEnd => {
                    self.scanner.take();
                    return Ok(pairs.finish(self, Some(end)));
                }
                TokenKind::Key => {
                    self.scanner.take();
                    match self.scanner.peek()?.kind {
                        TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                            self.empty_value(start)?
                        }
                        _ => self.node(Context::Flow)?,
                    }
                }
                _ => {
                    let key = self.node(Context::Flow)?;
                    let value = self.empty_value(key.used_at.end as usize)?;
                    pairs.add(self, key, value)?;
                    continue;
                }
            };
            let value = self.flow_value()?;
            pairs.add(self, key, value)?;
        }
    }

    fn flow_value(&mut self) -> Result<Composed> {
        let token = self.scanner.peek()?;
        let mut at = token.start;
        if matches!(token.kind, TokenKind::Value) {
            at = token.end;
            self.scanner.take();
            if !matches!(
                self.scanner.peek()?.kind,
                TokenKind::FlowEntry | TokenKind::FlowMappingEnd
            ) {
                return self.node(Context::Flow);
            }
        }
        self.empty_value(at)
    }
}

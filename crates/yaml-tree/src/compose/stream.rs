//! Parses documents and the directives before them.

use std::ops::Range;

use crate::value::Node;

use super::super::SyntaxError;
use super::super::message::Message;
use super::super::notice::{Notice, NoticeKind};
use super::super::scan::TokenKind;
use super::{Composer, Context, Result};

impl Composer<'_> {
    /// Parses the first document; null if there is none.
    pub(in super::super) fn document(&mut self) -> Result<Node> {
        self.weight.all += 1;
        let token = self.scanner.peek()?;
        let start = token.start;
        let explicit = match token.kind {
            TokenKind::StreamEnd => return Ok(self.empty(start).node),
            TokenKind::Version { .. } | TokenKind::TagPrefix { .. } | TokenKind::DocumentStart => {
                true
            }
            _ => false,
        };
        let mut is_empty = false;
        if explicit {
            self.directives()?;
            is_empty = matches!(
                self.scanner.peek()?.kind,
                TokenKind::Version { .. }
                    | TokenKind::TagPrefix { .. }
                    | TokenKind::DocumentStart
                    | TokenKind::DocumentEnd
                    | TokenKind::StreamEnd
            );
        }
        let root = if is_empty {
            let at = self.scanner.peek()?.start;
            self.empty(at)
        } else {
            self.node(Context::Block)?
        };
        if matches!(self.scanner.peek()?.kind, TokenKind::DocumentEnd) {
            self.scanner.take();
        } else {
            self.note_further_document()?;
        }
        self.check_value(&root)?;
        Ok(root.node)
    }

    fn note_further_document(&mut self) -> Result<()> {
        let token = self.scanner.peek()?;
        if self.engine.is_helm3() && matches!(token.kind, TokenKind::DocumentStart) {
            let (start, end) = (token.start, token.end);
            let place = self.place(start, end);
            let kind = NoticeKind::IgnoredDocuments;
            self.notices.push(Notice { kind, place });
        }
        Ok(())
    }

    /// Parses `%YAML` and `%TAG` lines, and the `---` after them.
    fn directives(&mut self) -> Result<()> {
        let mut versions = 0;
        loop {
            self.scanner.peek()?;
            let Some(token) = self.scanner.take() else {
                return Err(self.syntax_error("`---` after the directives"));
            };
            let place = self.place(token.start, token.end);
            match token.kind {
                TokenKind::DocumentStart => return Ok(()),
                TokenKind::Version { major: 1, minor: 1 } if versions == 0 => versions += 1,
                TokenKind::Version { .. } => {
                    let message = "values are read as YAML 1.1, and one `%YAML 1.1` is enough";
                    return Err(SyntaxError::new(message.to_owned(), place));
                }
                TokenKind::TagPrefix { handle, prefix } => {
                    if self.prefixes.iter().any(|(known, _)| *known == handle) {
                        let say =
                            |handle: &str| format!("the tag handle `{handle}` is declared twice");
                        return Err(SyntaxError::new(Message::quoting(handle, say), place));
                    }
                    self.prefixes.push((handle, prefix));
                }
                _ => {
                    let message = "`---` must follow the directives".to_owned();
                    return Err(SyntaxError::new(message, place));
                }
            }
        }
    }

    pub(super) fn full_tag(
        &self,
        handle: &str,
        suffix: String,
        range: Range<usize>,
    ) -> Result<String> {
        let declared = self.prefixes.iter().find(|(known, _)| *known == handle);
        let prefix = match (handle, declared) {
            ("", _) => return Ok(suffix),
            (_, Some((_, prefix))) => prefix.as_str(),
            ("!", None) => "!",
            ("!!", None) => "tag:yaml.org,2002:",
            _ => {
                let say = |handle: &str| format!("the tag handle `{handle}` is declared nowhere");
                return Err(SyntaxError::new(
                    Message::quoting(handle, say),
                    self.place(range.start, range.end),
                ));
            }
        };
        Ok(format!("{prefix}{suffix}"))
    }
}

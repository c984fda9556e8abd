//! The outline of a document: the span of every key, value, indicator and comma, in the order of the file.
//!
//! The tree of [`super::super::read`] has the meaning of a file; the outline has the positions at which it can be edited. It is
//! built only for texts that were parsed without an error, so it has no error messages of its own: an unsupported form gives
//! none.

use std::ops::Range;

use crate::engine::Engine;
use crate::place::FileId;
use crate::value::Value;

use super::super::resolve;
use super::super::scan::{DEPTH, Scanner, Style, TokenKind};

/// A node as it is written.
#[derive(Debug)]
pub(super) struct Piece<'t> {
    /// The span of the content, without anchor and tag. Empty if the node is not written.
    pub(super) range: Range<usize>,
    /// The end of the anchor and tag.
    pub(super) properties_end: Option<usize>,
    /// The name after `&`.
    pub(super) anchor: Option<&'t str>,
    /// The kind of node.
    pub(super) shape: Shape<'t>,
}

/// The kinds of nodes in the text.
#[derive(Debug)]
pub(super) enum Shape<'t> {
    /// Null that is not written.
    Empty,
    Scalar(Style),
    Alias(&'t str),
    Collection(Collection<'t>),
}

/// A map or a list.
#[derive(Debug)]
pub(super) struct Collection<'t> {
    /// Whether the collection is a map, not a list.
    pub(super) is_map: bool,
    /// Whether it is in braces or brackets.
    pub(super) is_flow: bool,
    pub(super) members: Vec<Member<'t>>,
}

/// An entry of a map or an item of a list.
#[derive(Debug)]
pub(super) struct Member<'t> {
    /// The first byte: of the key, of its `?`, or of the `-`.
    pub(super) start: usize,
    /// The key as in the tree; none for list items and for keys that are not scalars.
    pub(super) key: Option<String>,
    /// The span of the key.
    pub(super) key_range: Range<usize>,
    pub(super) key_style: Style,
    /// The end of the `:` or `-`, or of the key if there is no `:`.
    pub(super) indicator_end: usize,
    pub(super) value: Piece<'t>,
    /// The end of the comma after the member, in flow collections.
    pub(super) comma_end: Option<usize>,
}

impl Piece<'_> {
    /// The position at which a new value may start: after the anchor and tag, else after the indicator.
    pub(super) fn slot(&self, indicator_end: usize) -> usize {
        self.properties_end.unwrap_or(indicator_end)
    }

    /// The end of the node.
    pub(super) fn end(&self) -> usize {
        self.range.end.max(self.properties_end.unwrap_or(0))
    }
}

impl Member<'_> {
    /// The end of the value, or of the indicator if the value is not written.
    pub(super) fn end(&self) -> usize {
        match self.value.shape {
            Shape::Empty => self.value.slot(self.indicator_end),
            _ => self.value.end(),
        }
    }
}

/// The outline of a document.
#[derive(Debug)]
pub(super) struct Outline<'t> {
    pub(super) root: Piece<'t>,
    /// The names of the aliases in it.
    pub(super) aliases: Vec<&'t str>,
}

/// The outline of the document in a range of a text; none for a form that is not supported.
pub(super) fn outline(text: &str, part: Range<usize>, engine: Engine) -> Option<Outline<'_>> {
    let mut reader = OutlineReader {
        text,
        scanner: Scanner::new(&text[..part.end], part, FileId(0)),
        engine,
        depth: 0,
        aliases: Vec::new(),
    };
    let root = reader.document()?;
    Some(Outline {
        root,
        aliases: reader.aliases,
    })
}

struct OutlineReader<'t> {
    text: &'t str,
    scanner: Scanner<'t>,
    engine: Engine,
    depth: usize,
    aliases: Vec<&'t str>,
}

/// The key of an entry.
struct Key<'t> {
    /// As in the tree; none for keys that are not scalars.
    text: Option<String>,
    written: Piece<'t>,
    style: Style,
}

/// The kind of the next token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Key,
    Value,
    Entry,
    Comma,
    BlockEnd,
    FlowEnd,
    Other,
}

impl<'t> OutlineReader<'t> {
    fn document(&mut self) -> Option<Piece<'t>> {
        loop {
            match self.scanner.peek().ok()?.kind {
                TokenKind::Version { .. }
                | TokenKind::TagPrefix { .. }
                | TokenKind::DocumentStart => {
                    self.scanner.take();
                }
                TokenKind::StreamEnd | TokenKind::DocumentEnd => {
                    let at = self.scanner.peek().ok()?.start;
                    return Some(empty(at));
                }
                _ => return self.piece(),
            }
        }
    }

    fn piece(&mut self) -> Option<Piece<'t>> {
        self.depth += 1;
        // A block list in the column of its key is one more level, which the scanner does not count.
        let piece = (self.depth <= 3 * DEPTH).then(|| self.properties_and_content())?;
        self.depth -= 1;
        piece
    }

    fn properties_and_content(&mut self) -> Option<Piece<'t>> {
        let mut anchor = None;
        let mut properties_end = None;
        while let TokenKind::Anchor(_) | TokenKind::Tag { .. } = self.scanner.peek().ok()?.kind {
            let token = self.scanner.take()?;
            properties_end = Some(token.end);
            if let TokenKind::Anchor(name) = token.kind {
                anchor = Some(name);
            }
        }
        let mut piece = self.content(properties_end)?;
        piece.anchor = anchor;
        piece.properties_end = properties_end;
        Some(piece)
    }

    fn content(&mut self, properties_end: Option<usize>) -> Option<Piece<'t>> {
        let token = self.scanner.peek().ok()?;
        let range = token.start..token.end;
        let shape = match token.kind {
            TokenKind::Alias(name) => {
                self.aliases.push(name);
                Shape::Alias(name)
            }
            TokenKind::Scalar { style, .. } => Shape::Scalar(style),
            TokenKind::FlowSequenceStart => return self.flow(false, range.start),
            TokenKind::FlowMappingStart => return self.flow(true, range.start),
            TokenKind::BlockSequenceStart => return self.block(false, true),
            TokenKind::BlockMappingStart => return self.block(true, true),
            TokenKind::BlockEntry => return self.block(false, false),
            _ => return properties_end.map(empty),
        };
        self.scanner.take();
        let range = match shape {
            Shape::Scalar(Style::Literal | Style::Folded) => self.with_kept_lines(range),
            _ => range,
        };
        Some(piece(range, shape))
    }

    /// Extends the span of a block scalar with `+` by the blank lines that belong to it.
    fn with_kept_lines(&self, range: Range<usize>) -> Range<usize> {
        let header = self.text[range.clone()].lines().next().unwrap_or_default();
        let header = header.split('#').next().unwrap_or_default();
        if !header.contains('+') {
            return range;
        }
        let rest = &self.text[range.end..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\r', '\n']).len();
        let end = rest[..blank].rfind('\n').map_or(0, |newline| newline);
        range.start..range.end + end
    }

    fn next(&mut self) -> Option<Next> {
        Some(match self.scanner.peek().ok()?.kind {
            TokenKind::Key => Next::Key,
            TokenKind::Value => Next::Value,
            TokenKind::BlockEntry => Next::Entry,
            TokenKind::FlowEntry => Next::Comma,
            TokenKind::BlockEnd => Next::BlockEnd,
            TokenKind::FlowSequenceEnd | TokenKind::FlowMappingEnd => Next::FlowEnd,
            _ => Next::Other,
        })
    }

    /// Reads a block collection. `opened` means that it has start and end tokens of its own.
    fn block(&mut self, is_map: bool, opened: bool) -> Option<Piece<'t>> {
        if opened {
            self.scanner.take();
        }
        let mut members = Vec::new();
        loop {
            match self.next()? {
                Next::Key if is_map => members.push(self.entry()?),
                Next::Entry if !is_map => members.push(self.item()?),
                Next::BlockEnd if opened => break,
                _ if !opened => break,
                _ => return None,
            }
        }
        if opened {
            self.scanner.take();
        }
        let start = members.first().map(|member: &Member<'_>| member.start)?;
        let end = members.last().map(Member::end)?;
        Some(collection(start..end, is_map, false, members))
    }

    fn item(&mut self) -> Option<Member<'t>> {
        let token = self.scanner.take()?;
        let value = match self.next()? {
            Next::Entry | Next::BlockEnd | Next::Key | Next::Value => empty(token.end),
            _ => self.piece()?,
        };
        Some(member(token.start, token.end, value))
    }

    /// An entry of a block map, or one of a flow map that has a key token.
    fn entry(&mut self) -> Option<Member<'t>> {
        let start = self.scanner.peek().ok()?.start;
        self.scanner.take();
        let at = self.scanner.peek().ok()?.start;
        let key = match self.next()? {
            Next::Key | Next::Value | Next::BlockEnd | Next::Comma | Next::FlowEnd => Key {
                text: None,
                written: empty(at),
                style: Style::Plain,
            },
            _ => self.key()?,
        };
        self.complete_entry(start, key)
    }

    /// Reads a key. Its text is taken from the token first.
    fn key(&mut self) -> Option<Key<'t>> {
        let (text, style) = match &self.scanner.peek().ok()?.kind {
            TokenKind::Scalar { text, style } => {
                (Some(key_text(text, *style, self.engine)?), *style)
            }
            _ => (None, Style::Plain),
        };
        Some(Key {
            text,
            written: self.piece()?,
            style,
        })
    }

    fn complete_entry(&mut self, start: usize, key: Key<'t>) -> Option<Member<'t>> {
        let mut indicator_end = key.written.end();
        let mut value = empty(indicator_end);
        if self.next()? == Next::Value {
            indicator_end = self.scanner.take()?.end;
            value = match self.next()? {
                Next::Key | Next::Value | Next::BlockEnd | Next::Comma | Next::FlowEnd => {
                    empty(indicator_end)
                }
                _ => self.piece()?,
            };
        }
        Some(Member {
            key: key.text,
            key_range: key.written.range,
            key_style: key.style,
            ..member(start, indicator_end, value)
        })
    }

    /// Reads `key: value` in a flow list, which is a map of one entry without braces.
    fn pair(&mut self) -> Option<Member<'t>> {
        let entry = self.entry()?;
        let range = entry.start..entry.end();
        let pair = collection(range.clone(), true, true, vec![entry]);
        Some(member(range.start, range.start, pair))
    }

    /// Reads a key without a `:` in braces.
    fn bare_key(&mut self) -> Option<Member<'t>> {
        let at = self.scanner.peek().ok()?.start;
        let key = self.key()?;
        let end = key.written.end();
        Some(Member {
            key: key.text,
            key_range: key.written.range,
            key_style: key.style,
            ..member(at, end, empty(end))
        })
    }

    fn flow(&mut self, is_map: bool, start: usize) -> Option<Piece<'t>> {
        self.scanner.take();
        let mut members: Vec<Member<'t>> = Vec::new();
        loop {
            match self.next()? {
                Next::FlowEnd => {
                    let end = self.scanner.take()?.end;
                    return Some(collection(start..end, is_map, true, members));
                }
                Next::Comma => {
                    let end = self.scanner.take()?.end;
                    members.last_mut()?.comma_end = Some(end);
                }
                Next::Key if is_map => members.push(self.entry()?),
                Next::Key => members.push(self.pair()?),
                _ if is_map => members.push(self.bare_key()?),
                _ => {
                    let at = self.scanner.peek().ok()?.start;
                    let value = self.piece()?;
                    members.push(member(at, at, value));
                }
            }
        }
    }
}

/// The text of a key as in the tree.
fn key_text(text: &str, style: Style, engine: Engine) -> Option<String> {
    if style != Style::Plain {
        return Some(text.to_owned());
    }
    let resolved = resolve::plain(text);
    let value = resolve::value(resolved, text, engine).unwrap_or_else(|| Value::from(text));
    resolve::key_text(resolved, &value)
        .ok()
        .map(|key| key.to_string())
}

fn piece(range: Range<usize>, shape: Shape<'_>) -> Piece<'_> {
    Piece {
        range,
        properties_end: None,
        anchor: None,
        shape,
    }
}

fn empty<'t>(at: usize) -> Piece<'t> {
    piece(at..at, Shape::Empty)
}

fn member(start: usize, indicator_end: usize, value: Piece<'_>) -> Member<'_> {
    Member {
        start,
        key: None,
        key_range: start..start,
        key_style: Style::Plain,
        indicator_end,
        value,
        comma_end: None,
    }
}

fn collection(
    range: Range<usize>,
    is_map: bool,
    is_flow: bool,
    members: Vec<Member<'_>>,
) -> Piece<'_> {
    piece(
        range,
        Shape::Collection(Collection {
            is_map,
            is_flow,
            members,
        }),
    )
}

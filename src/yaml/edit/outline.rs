//! How a document is written: every key, value, indicator and comma with its bytes, in the order of the file.
//!
//! The tree that [`super::super::read`] makes says what a file means; this one says where it may be cut. It is built only of
//! texts that were read without error, so what it does not understand it refuses without a word of its own.

use std::ops::Range;

use crate::model::engine::Engine;
use crate::model::place::FileId;
use crate::model::value::Value;

use super::super::resolve;
use super::super::scan::{DEPTH, Kind, Scanner, Style};

/// One node as it is written.
#[derive(Debug)]
pub(super) struct Piece<'t> {
    /// Its content: without anchor and tag. Empty where nothing is written.
    pub(super) range: Range<usize>,
    /// Behind its anchor and tag, if it has any.
    pub(super) properties_end: Option<usize>,
    /// The name after `&`.
    pub(super) anchor: Option<&'t str>,
    /// What it is.
    pub(super) shape: Shape<'t>,
}

/// The kinds of node, as they are written.
#[derive(Debug)]
pub(super) enum Shape<'t> {
    /// Nothing is written: null.
    Empty,
    Scalar(Style),
    Alias(&'t str),
    Collection(Collection<'t>),
}

/// A map or a list.
#[derive(Debug)]
pub(super) struct Collection<'t> {
    /// A map, else a list.
    pub(super) is_map: bool,
    /// In braces or brackets, else by indentation.
    pub(super) is_flow: bool,
    pub(super) members: Vec<Member<'t>>,
}

/// An entry of a map or an item of a list.
#[derive(Debug)]
pub(super) struct Member<'t> {
    /// The first byte: of the key (or its `?`), or the `-`.
    pub(super) start: usize,
    /// The key as the tree has it; none for list items and for keys that are no text.
    pub(super) key: Option<String>,
    /// The bytes of the key.
    pub(super) key_range: Range<usize>,
    pub(super) key_style: Style,
    /// Behind the `:` or `-`, if there is one; else behind the key.
    pub(super) indicator_end: usize,
    pub(super) value: Piece<'t>,
    /// Behind the comma that follows, in flow collections.
    pub(super) comma_end: Option<usize>,
}

impl Piece<'_> {
    /// Where a value that replaces this one may begin: behind the anchor and tag, else behind the indicator.
    pub(super) fn slot(&self, indicator_end: usize) -> usize {
        self.properties_end.unwrap_or(indicator_end)
    }

    /// Behind its last byte.
    pub(super) fn end(&self) -> usize {
        self.range.end.max(self.properties_end.unwrap_or(0))
    }
}

impl Member<'_> {
    /// Behind the last byte of the value, or of the indicator where no value is written.
    pub(super) fn end(&self) -> usize {
        match self.value.shape {
            Shape::Empty => self.value.slot(self.indicator_end),
            _ => self.value.end(),
        }
    }
}

/// A document as it is written.
#[derive(Debug)]
pub(super) struct Outline<'t> {
    pub(super) root: Piece<'t>,
    /// The names that its aliases use.
    pub(super) aliases: Vec<&'t str>,
}

/// The outline of the document in a part of a text; none where it is written in a way that is not followed here.
pub(super) fn outline(text: &str, part: Range<usize>, engine: Engine) -> Option<Outline<'_>> {
    let mut reader = Reader {
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

struct Reader<'t> {
    text: &'t str,
    scanner: Scanner<'t>,
    engine: Engine,
    depth: usize,
    aliases: Vec<&'t str>,
}

/// A token without its content.
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

impl<'t> Reader<'t> {
    fn document(&mut self) -> Option<Piece<'t>> {
        loop {
            match self.scanner.peek().ok()?.kind {
                Kind::Version { .. } | Kind::TagPrefix { .. } | Kind::DocumentStart => {
                    self.scanner.take();
                }
                Kind::StreamEnd | Kind::DocumentEnd => {
                    let at = self.scanner.peek().ok()?.start;
                    return Some(empty(at));
                }
                _ => return self.piece(),
            }
        }
    }

    fn piece(&mut self) -> Option<Piece<'t>> {
        self.depth += 1;
        // A block list in its key's own column is a level that the scanner does not count.
        let piece = (self.depth <= 3 * DEPTH).then(|| self.properties_and_content())?;
        self.depth -= 1;
        piece
    }

    fn properties_and_content(&mut self) -> Option<Piece<'t>> {
        let mut anchor = None;
        let mut properties_end = None;
        while let Kind::Anchor(_) | Kind::Tag { .. } = self.scanner.peek().ok()?.kind {
            let token = self.scanner.take()?;
            properties_end = Some(token.end);
            if let Kind::Anchor(name) = token.kind {
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
            Kind::Alias(name) => {
                self.aliases.push(name);
                Shape::Alias(name)
            }
            Kind::Scalar { style, .. } => Shape::Scalar(style),
            Kind::FlowSequenceStart => return self.flow(false, range.start),
            Kind::FlowMappingStart => return self.flow(true, range.start),
            Kind::BlockSequenceStart => return self.block(false, true),
            Kind::BlockMappingStart => return self.block(true, true),
            Kind::BlockEntry => return self.block(false, false),
            _ => return properties_end.map(empty),
        };
        self.scanner.take();
        let range = match shape {
            Shape::Scalar(Style::Literal | Style::Folded) => self.with_kept_lines(range),
            _ => range,
        };
        Some(piece(range, shape))
    }

    /// A block scalar that keeps its last line breaks, with the blank lines that they are.
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
            Kind::Key => Next::Key,
            Kind::Value => Next::Value,
            Kind::BlockEntry => Next::Entry,
            Kind::FlowEntry => Next::Comma,
            Kind::BlockEnd => Next::BlockEnd,
            Kind::FlowSequenceEnd | Kind::FlowMappingEnd => Next::FlowEnd,
            _ => Next::Other,
        })
    }

    /// A collection by indentation; `opened` where a token of its own starts and ends it.
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
        let (key, style) = match self.next()? {
            Next::Key | Next::Value | Next::BlockEnd | Next::Comma | Next::FlowEnd => {
                (None, (empty(at), Style::Plain))
            }
            _ => self.key()?,
        };
        self.entry_behind(start, key, style)
    }

    /// The text of a key, which is looked at before it is taken.
    fn key(&mut self) -> Option<(Option<String>, (Piece<'t>, Style))> {
        let (text, style) = match &self.scanner.peek().ok()?.kind {
            Kind::Scalar { text, style } => (Some(key_text(text, *style, self.engine)?), *style),
            _ => (None, Style::Plain),
        };
        Some((text, (self.piece()?, style)))
    }

    fn entry_behind(
        &mut self,
        start: usize,
        key: Option<String>,
        (written, style): (Piece<'t>, Style),
    ) -> Option<Member<'t>> {
        let mut indicator_end = written.end();
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
            key,
            key_range: written.range,
            key_style: style,
            ..member(start, indicator_end, value)
        })
    }

    /// `[key: value]` is a map of one entry without braces of its own.
    fn pair(&mut self) -> Option<Member<'t>> {
        let entry = self.entry()?;
        let range = entry.start..entry.end();
        let pair = collection(range.clone(), true, true, vec![entry]);
        Some(member(range.start, range.start, pair))
    }

    /// A key in braces without a `:`.
    fn bare_key(&mut self) -> Option<Member<'t>> {
        let at = self.scanner.peek().ok()?.start;
        let (key, written) = self.key()?;
        let end = written.0.end();
        Some(Member {
            key,
            key_range: written.0.range,
            key_style: written.1,
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

/// A key as the tree has it.
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

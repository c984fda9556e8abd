//! Builds a tree of nodes from tokens: the grammar of YAML with anchors and aliases, and the span of every node.
//!
//! [`DEPTH`] bounds the recursion. An alias shares the nodes of its anchor. The expanded size is counted as in go-yaml, so that a
//! small file cannot expand to a huge tree.

mod block;
mod flow;
mod items;
mod stream;
mod weight;

use std::collections::HashMap;

use crate::bytes::{self, BASE64};
use crate::engine::Engine;
use crate::place::{FileId, Place};
use crate::value::{Node, Value};

use super::SyntaxError;
use super::mapping::Pair;
use super::message::Message;
use super::notice::Notices;
use super::opaque::{Opaque, OpaqueKind, is_opaque};
use super::resolve::{self, Resolved};
use super::scan::{DEPTH, Scanner, Style, Token, TokenKind, too_deep};
pub(super) use weight::Values;
use weight::Weight;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Parses one document.
pub(super) struct Composer<'t> {
    pub(super) text: &'t str,
    scanner: Scanner<'t>,
    pub(super) file: FileId,
    pub(super) engine: Engine,
    /// Whether the text holds labels of secrets.
    pub(super) has_labels: bool,
    pub(super) notices: Notices,
    /// The values counted so far, including those of the documents before this one.
    pub(super) values: Values,
    /// The entries of the maps that are not complete.
    pub(super) pairs: Vec<Pair>,
    anchors: HashMap<&'t str, Option<Anchored>>,
    prefixes: Vec<(&'t str, String)>,
    depth: usize,
    weight: Weight,
}

/// A node, with what the parser of its parent needs to know about it.
#[derive(Clone)]
pub(super) struct Composed {
    pub(super) node: Node,
    /// The resolved scalar, if the node is one.
    pub(super) scalar: Option<Resolved>,
    /// The span at which the node is used: that of the alias, or that of the node itself.
    pub(super) used_at: Place,
    /// Whether the node is a `<<` that merges.
    pub(super) is_merge: bool,
    pub(super) is_alias: bool,
    /// The number of nested levels in the node.
    pub(super) height: usize,
}

#[derive(Clone)]
struct Anchored {
    composed: Composed,
    weight: u64,
}

/// The count of an anchor in [`Values`], which is about its size in memory.
const ANCHOR: usize = 4;

/// The anchor and tag of a node.
#[derive(Default)]
struct Properties<'t> {
    anchor: Option<&'t str>,
    tag: Option<String>,
    start: Option<usize>,
    end: usize,
}

/// The position of a node, which decides what kinds of block collections may start there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// A document or a list item.
    Block,
    /// A key or a value of a block map. The `-` of a list may be in the column of the key.
    Value,
    /// Inside `[]` or `{}`.
    Flow,
}

impl<'t> Composer<'t> {
    pub(super) fn new(text: &'t str, start: usize, file: FileId, engine: Engine) -> Self {
        let scanner = Scanner::new(text, start..text.len(), file);
        let scanner = match engine {
            Engine::Helm3 | Engine::Helm3_18 => scanner,
            Engine::Helm4 | Engine::Kubectl => scanner.adding_final_newline(),
        };
        Self {
            text,
            scanner,
            file,
            engine,
            has_labels: false,
            notices: Notices::default(),
            values: Values::default(),
            pairs: Vec::new(),
            anchors: HashMap::new(),
            prefixes: Vec::new(),
            depth: 0,
            weight: Weight::default(),
        }
    }

    /// Parses a node of any kind.
    fn node(&mut self, context: Context) -> Result<Composed> {
        // Most nodes are scalars without properties.
        if let TokenKind::Scalar { .. } = self.scanner.peek()?.kind {
            return self.scalar(&Properties::default());
        }
        let properties = self.properties()?;
        if let Some(name) = properties.anchor {
            self.values(ANCHOR)?;
            self.anchors.insert(name, None);
        }
        let before = self.weight.all;
        let composed = self.content(context, &properties)?;
        if let Some(name) = properties.anchor {
            let anchored = Anchored {
                composed: composed.clone(),
                weight: self.weight.all - before,
            };
            // One of that name inside it is the later one.
            if let Some(own @ None) = self.anchors.get_mut(name) {
                *own = Some(anchored);
            }
        }
        Ok(composed)
    }

    fn properties(&mut self) -> Result<Properties<'t>> {
        let mut properties = Properties::default();
        loop {
            match &self.scanner.peek()?.kind {
                TokenKind::Anchor(_) if properties.anchor.is_none() => {}
                TokenKind::Tag { .. } if properties.tag.is_none() => {}
                _ => return Ok(properties),
            }
            let Some(Token { kind, start, end }) = self.scanner.take() else {
                return Ok(properties);
            };
            properties.start.get_or_insert(start);
            properties.end = end;
            match kind {
                TokenKind::Anchor(name) => properties.anchor = Some(name),
                TokenKind::Tag { handle, suffix } => {
                    properties.tag = Some(self.full_tag(handle, suffix, start..end)?);
                }
                _ => {}
            }
        }
    }

    fn content(&mut self, context: Context, properties: &Properties<'t>) -> Result<Composed> {
        let bare = properties.start.is_none();
        match &self.scanner.peek()?.kind {
            TokenKind::Alias(_) if bare => self.alias(),
            TokenKind::BlockEntry if context == Context::Value => {
                self.read_nested(Self::indentless_list)
            }
            TokenKind::Scalar { .. } => self.scalar(properties),
            TokenKind::FlowSequenceStart => self.read_nested(Self::flow_list),
            TokenKind::FlowMappingStart => self.read_nested(Self::flow_map),
            TokenKind::BlockSequenceStart if context != Context::Flow => {
                self.read_nested(Self::block_list)
            }
            TokenKind::BlockMappingStart if context != Context::Flow => {
                self.read_nested(Self::block_map)
            }
            _ if !bare => {
                self.resolve_scalar("", Style::Plain, properties, properties.end, properties.end)
            }
            _ => Err(self.syntax_error("a value")),
        }
    }

    fn read_nested(&mut self, read: fn(&mut Self) -> Result<Composed>) -> Result<Composed> {
        self.depth += 1;
        self.check_height(0)?;
        self.value()?;
        let composed = read(self)?;
        self.depth -= 1;
        Ok(composed)
    }

    /// Checks that a node of this height does not exceed the maximum depth here.
    fn check_height(&mut self, height: usize) -> Result<()> {
        if self.depth + height <= DEPTH {
            return Ok(());
        }
        let token = self.scanner.peek()?;
        let (start, end) = (token.start, token.end);
        Err(SyntaxError::new(too_deep(), self.place(start, end)))
    }

    fn scalar(&mut self, properties: &Properties<'t>) -> Result<Composed> {
        let Some(Token {
            kind: TokenKind::Scalar { text, style },
            start,
            end,
        }) = self.scanner.take()
        else {
            return Err(self.syntax_error("a scalar"));
        };
        self.resolve_scalar(&text, style, properties, start, end)
    }

    fn resolve_scalar(
        &mut self,
        text: &str,
        style: Style,
        properties: &Properties<'t>,
        start: usize,
        end: usize,
    ) -> Result<Composed> {
        self.value()?;
        let place = self.place(start, end);
        let tag = properties.tag.as_deref();
        let resolved = match tag {
            None if style == Style::Plain => resolve::plain(text),
            None => Resolved::Text,
            Some(tag) => resolve::with_tag(tag, text).map_err(|what| {
                let message = Message::quoting(text, |text| {
                    format!("the tag requires {what}, and `{text}` is not")
                });
                SyntaxError::new(message, place)
            })?,
        };
        let is_plain = (style == Style::Plain && tag.is_none()) || tag == Some("!");
        let is_merge = text == "<<" && (is_plain || tag == Some(resolve::MERGE));
        let decoded;
        let text = match resolved {
            Resolved::Binary => {
                decoded = binary(text, place)?;
                &decoded
            }
            _ => text,
        };
        // JSON cannot represent some numbers. They are refused as values, but allowed as keys.
        let value =
            resolve::value(resolved, text, self.engine).unwrap_or_else(|| Value::from(text));
        let value = if self.has_labels && is_opaque(text) {
            let kind = if is_plain {
                OpaqueKind::Scalar
            } else {
                OpaqueKind::String
            };
            let text = text.into();
            Opaque { text, kind }.into()
        } else {
            value
        };
        Ok(Composed {
            is_merge,
            ..Composed::new(Node { value, place }, Some(resolved), 0)
        })
    }

    fn alias(&mut self) -> Result<Composed> {
        let Some(Token {
            kind: TokenKind::Alias(name),
            start,
            end,
        }) = self.scanner.take()
        else {
            return Err(self.syntax_error("an alias"));
        };
        let place = self.place(start, end);
        let Anchored { composed, weight } = match self.anchors.get(name) {
            Some(Some(anchored)) => anchored.clone(),
            Some(None) => {
                let say = |name: &str| format!("the anchor `&{name}` contains itself");
                return Err(SyntaxError::new(Message::quoting(name, say), place));
            }
            None => {
                let say = |name: &str| format!("there is no anchor `&{name}` before this alias");
                return Err(SyntaxError::new(Message::quoting(name, say), place));
            }
        };
        self.check_height(composed.height)?;
        self.value()?;
        self.weight.by_alias = self.weight.by_alias.saturating_add(weight);
        self.count(weight)?;
        Ok(Composed {
            used_at: place,
            is_alias: true,
            ..composed
        })
    }

    /// A missing value: null, at the position where it would be.
    fn empty_value(&mut self, at: usize) -> Result<Composed> {
        self.value()?;
        Ok(self.empty(at))
    }

    fn empty(&self, at: usize) -> Composed {
        let node = Node {
            value: Value::Null,
            place: self.place(at, at),
        };
        Composed::new(node, Some(Resolved::Null), 0)
    }

    /// Refuses a value that JSON cannot represent.
    pub(super) fn check_value(&self, composed: &Composed) -> Result<()> {
        if let Some(Resolved::Float(number)) = composed.scalar
            && !number.is_finite()
        {
            let message = "values pass through JSON, which has no infinity and no NaN".to_owned();
            return Err(SyntaxError::new(message, composed.used_at));
        }
        Ok(())
    }

    fn syntax_error(&mut self, expected: &str) -> SyntaxError {
        let (start, end, found) = match self.scanner.peek() {
            Ok(token) => (token.start, token.end, describe(&token.kind)),
            Err(error) => return error,
        };
        let message = match found {
            Some(found) => format!("expected {expected}, found {found}"),
            None => "the indentation of this line matches no line above".to_owned(),
        };
        SyntaxError::from_range(self.text, self.file, start..end.max(start + 1), message)
    }

    pub(super) fn place(&self, start: usize, end: usize) -> Place {
        Place {
            file: self.file,
            start: start as u32,
            end: end as u32,
        }
    }
}

impl Composed {
    fn new(node: Node, scalar: Option<Resolved>, height: usize) -> Self {
        Self {
            used_at: node.place,
            node,
            scalar,
            is_merge: false,
            is_alias: false,
            height,
        }
    }

    /// A list or map. `height` is that of its highest child.
    pub(super) fn collection(value: Value, place: Place, height: usize) -> Self {
        Self::new(Node { value, place }, None, height + 1)
    }
}

/// Decodes base64.
fn binary(text: &str, place: Place) -> Result<String> {
    let decoded = BASE64.decode(text.as_bytes());
    let bytes = decoded.map_err(|_| SyntaxError::new("this is not base64".to_owned(), place))?;
    Ok(bytes::text(&bytes))
}

/// The name of a token for messages; none for tokens that come from indentation alone.
fn describe(kind: &TokenKind<'_>) -> Option<&'static str> {
    Some(match kind {
        TokenKind::BlockSequenceStart | TokenKind::BlockMappingStart => return None,
        TokenKind::StreamEnd => "the end of the file",
        TokenKind::Version { .. } | TokenKind::TagPrefix { .. } => "a directive",
        TokenKind::DocumentStart => "`---`",
        TokenKind::DocumentEnd => "`...`",
        TokenKind::BlockEntry => "a list item",
        TokenKind::Key => "a key",
        TokenKind::BlockEnd => "less indentation",
        TokenKind::FlowSequenceStart => "`[`",
        TokenKind::FlowSequenceEnd => "`]`",
        TokenKind::FlowMappingStart => "`{`",
        TokenKind::FlowMappingEnd => "`}`",
        TokenKind::FlowEntry => "`,`",
        TokenKind::Value => "`:`",
        TokenKind::Alias(_) => "an alias",
        TokenKind::Anchor(_) => "an anchor",
        TokenKind::Tag { .. } => "a tag",
        TokenKind::Scalar { .. } => "another value",
    })
}

//! Tokens to a tree: the grammar of YAML, anchors and aliases, with the place of every node.
//!
//! Recursion is bounded by [`DEPTH`]. What an alias stands for is shared, not copied; what it would weigh is counted as
//! go-yaml counts it, so that a small file cannot stand for a huge tree.

mod block;
mod flow;
mod items;
mod stream;
mod weight;

use std::collections::HashMap;

use crate::model::bytes::{self, BASE64};
use crate::model::engine::Engine;
use crate::model::place::{FileId, Place};
use crate::model::value::{Node, Value};

use super::SyntaxError;
use super::notice::Notices;
use super::resolve::{self, Resolved};
use super::scan::{DEPTH, Kind, Scanner, Style, Token, too_deep};
pub(super) use weight::Values;
use weight::Weight;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads one document out of a scanner.
pub(super) struct Composer<'t> {
    pub(super) text: &'t str,
    scanner: Scanner<'t>,
    pub(super) file: FileId,
    pub(super) engine: Engine,
    pub(super) notices: Notices,
    /// Those of the documents before this one included.
    pub(super) values: Values,
    anchors: HashMap<&'t str, Option<Anchored>>,
    prefixes: Vec<(&'t str, String)>,
    depth: usize,
    weight: Weight,
}

/// A node and what its parent has to know of it.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) node: Node,
    /// What it is as a key; none for maps and lists.
    pub(super) scalar: Option<Resolved>,
    /// Where it is used: an alias's own place, else the node's.
    pub(super) used_at: Place,
    /// `<<` that asks for merging.
    pub(super) is_merge: bool,
    pub(super) is_alias: bool,
    /// How many levels it holds.
    height: usize,
}

#[derive(Clone)]
struct Anchored {
    made: Made,
    weight: u64,
}

/// What an anchor takes, in keys and values.
const ANCHOR: usize = 4;

/// Anchor and tag of a node.
#[derive(Default)]
struct Properties<'t> {
    anchor: Option<&'t str>,
    tag: Option<String>,
    start: Option<usize>,
    end: usize,
}

/// Where a node stands, which decides what block collections may start there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// A document or a list item.
    Block,
    /// A key or a value of a block map: the `-` of a list may stand in the key's own column.
    Value,
    /// Within `[]` or `{}`.
    Flow,
}

impl<'t> Composer<'t> {
    pub(super) fn new(text: &'t str, start: usize, file: FileId, engine: Engine) -> Self {
        let scanner = Scanner::new(text, start..text.len(), file);
        let scanner = match engine {
            Engine::Helm3 | Engine::Helm3_18 => scanner,
            Engine::Helm4 | Engine::Kubectl => scanner.ending_the_last_line(),
        };
        Self {
            text,
            scanner,
            file,
            engine,
            notices: Notices::default(),
            values: Values::default(),
            anchors: HashMap::new(),
            prefixes: Vec::new(),
            depth: 0,
            weight: Weight::default(),
        }
    }

    /// One node of any kind.
    fn node(&mut self, context: Context) -> Result<Made> {
        let properties = self.properties()?;
        if let Some(name) = properties.anchor {
            self.values(ANCHOR)?;
            self.anchors.insert(name, None);
        }
        let before = self.weight.all;
        let made = self.content(context, &properties)?;
        if let Some(name) = properties.anchor {
            let anchored = Anchored {
                made: made.clone(),
                weight: self.weight.all - before,
            };
            self.anchors.insert(name, Some(anchored));
        }
        Ok(made)
    }

    fn properties(&mut self) -> Result<Properties<'t>> {
        let mut properties = Properties::default();
        loop {
            match &self.scanner.peek()?.kind {
                Kind::Anchor(_) if properties.anchor.is_none() => {}
                Kind::Tag { .. } if properties.tag.is_none() => {}
                _ => return Ok(properties),
            }
            let Some(Token { kind, start, end }) = self.scanner.take() else {
                return Ok(properties);
            };
            properties.start.get_or_insert(start);
            properties.end = end;
            match kind {
                Kind::Anchor(name) => properties.anchor = Some(name),
                Kind::Tag { handle, suffix } => {
                    properties.tag = Some(self.whole_tag(handle, suffix, start..end)?);
                }
                _ => {}
            }
        }
    }

    fn content(&mut self, context: Context, properties: &Properties<'t>) -> Result<Made> {
        let bare = properties.start.is_none();
        match &self.scanner.peek()?.kind {
            Kind::Alias(_) if bare => self.alias(),
            Kind::BlockEntry if context == Context::Value => self.nested(Self::indentless_list),
            Kind::Scalar { .. } => self.scalar(properties),
            Kind::FlowSequenceStart => self.nested(Self::flow_list),
            Kind::FlowMappingStart => self.nested(Self::flow_map),
            Kind::BlockSequenceStart if context != Context::Flow => self.nested(Self::block_list),
            Kind::BlockMappingStart if context != Context::Flow => self.nested(Self::block_map),
            _ if !bare => {
                self.resolved("", Style::Plain, properties, properties.end, properties.end)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Made>) -> Result<Made> {
        self.depth += 1;
        self.check_height(0)?;
        self.value()?;
        let made = read(self)?;
        self.depth -= 1;
        Ok(made)
    }

    /// Whether something of this height may stand at the current depth.
    fn check_height(&mut self, height: usize) -> Result<()> {
        if self.depth + height <= DEPTH {
            return Ok(());
        }
        let token = self.scanner.peek()?;
        let (start, end) = (token.start, token.end);
        Err(SyntaxError::new(too_deep(), self.place(start, end)))
    }

    fn scalar(&mut self, properties: &Properties<'t>) -> Result<Made> {
        let Some(Token {
            kind: Kind::Scalar { text, style },
            start,
            end,
        }) = self.scanner.take()
        else {
            return Err(self.unexpected("a scalar"));
        };
        self.resolved(&text, style, properties, start, end)
    }

    fn resolved(
        &mut self,
        text: &str,
        style: Style,
        properties: &Properties<'t>,
        start: usize,
        end: usize,
    ) -> Result<Made> {
        self.value()?;
        let place = self.place(start, end);
        let tag = properties.tag.as_deref();
        let resolved = match tag {
            None if style == Style::Plain => resolve::plain(text),
            None => Resolved::Text,
            Some(tag) => resolve::tagged(tag, text).map_err(|what| {
                let message = format!("the tag says that `{text}` is {what}, and it is not");
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
        // A number that JSON has no word for is refused where it is used as a value; as a key it may stand.
        let value =
            resolve::value(resolved, text, self.engine).unwrap_or_else(|| Value::from(text));
        Ok(Made {
            node: Node { value, place },
            scalar: Some(resolved),
            used_at: place,
            is_merge,
            is_alias: false,
            height: 0,
        })
    }

    fn alias(&mut self) -> Result<Made> {
        let Some(Token {
            kind: Kind::Alias(name),
            start,
            end,
        }) = self.scanner.take()
        else {
            return Err(self.unexpected("an alias"));
        };
        let place = self.place(start, end);
        let Anchored { made, weight } = match self.anchors.get(name) {
            Some(Some(anchored)) => anchored.clone(),
            Some(None) => {
                let message = format!("what the anchor `&{name}` names contains itself");
                return Err(SyntaxError::new(message, place));
            }
            None => {
                let message = format!("no anchor `&{name}` stands further up");
                return Err(SyntaxError::new(message, place));
            }
        };
        self.check_height(made.height)?;
        self.value()?;
        self.weight.by_alias = self.weight.by_alias.saturating_add(weight);
        self.count(weight)?;
        Ok(Made {
            used_at: place,
            is_alias: true,
            ..made
        })
    }

    /// A value that is not written: null, at the place where it would stand.
    fn empty_value(&mut self, at: usize) -> Result<Made> {
        self.value()?;
        Ok(self.empty(at))
    }

    fn empty(&self, at: usize) -> Made {
        let place = self.place(at, at);
        Made {
            node: Node {
                value: Value::Null,
                place,
            },
            scalar: Some(Resolved::Null),
            used_at: place,
            is_merge: false,
            is_alias: false,
            height: 0,
        }
    }

    pub(super) fn collection(&self, value: Value, place: Place, height: usize) -> Made {
        Made {
            node: Node { value, place },
            scalar: None,
            used_at: place,
            is_merge: false,
            is_alias: false,
            height: height + 1,
        }
    }

    /// Refuses what JSON has no word for, and tells of what will surprise.
    pub(super) fn check_value(&self, made: &Made) -> Result<()> {
        if let Some(Resolved::Float(number)) = made.scalar
            && !number.is_finite()
        {
            let message = "values pass through JSON, which has no infinity and no NaN".to_owned();
            return Err(SyntaxError::new(message, made.used_at));
        }
        Ok(())
    }

    fn unexpected(&mut self, wanted: &str) -> SyntaxError {
        let (start, end, found) = match self.scanner.peek() {
            Ok(token) => (token.start, token.end, describe(&token.kind)),
            Err(error) => return error,
        };
        let message = match found {
            Some(found) => format!("expected {wanted}, found {found}"),
            None => "the indentation of this line fits none further up".to_owned(),
        };
        SyntaxError::within(self.text, self.file, start..end.max(start + 1), message)
    }

    pub(super) fn place(&self, start: usize, end: usize) -> Place {
        Place {
            file: self.file,
            start: start as u32,
            end: end as u32,
        }
    }
}

impl Made {
    pub(super) fn height(&self) -> usize {
        self.height
    }
}

/// The text that base64 stands for.
fn binary(text: &str, place: Place) -> Result<String> {
    let decoded = BASE64.decode(text.as_bytes());
    let bytes = decoded.map_err(|_| SyntaxError::new("this is no base64".to_owned(), place))?;
    Ok(bytes::text(&bytes))
}

/// A token in words; none for those that indentation alone makes.
fn describe(kind: &Kind<'_>) -> Option<&'static str> {
    Some(match kind {
        Kind::BlockSequenceStart | Kind::BlockMappingStart => return None,
        Kind::StreamEnd => "the end of the file",
        Kind::Version { .. } | Kind::TagPrefix { .. } => "a directive",
        Kind::DocumentStart => "`---`",
        Kind::DocumentEnd => "`...`",
        Kind::BlockEntry => "a list item",
        Kind::Key => "a key",
        Kind::BlockEnd => "less indentation",
        Kind::FlowSequenceStart => "`[`",
        Kind::FlowSequenceEnd => "`]`",
        Kind::FlowMappingStart => "`{`",
        Kind::FlowMappingEnd => "`}`",
        Kind::FlowEntry => "`,`",
        Kind::Value => "`:`",
        Kind::Alias(_) => "an alias",
        Kind::Anchor(_) => "an anchor",
        Kind::Tag { .. } => "a tag",
        Kind::Scalar { .. } => "another value",
    })
}

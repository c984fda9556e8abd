//! Tokens to a tree: the grammar of YAML, anchors and aliases, with the place of every node.
//!
//! Recursion is bounded by [`DEPTH`]. What an alias stands for is shared, not copied; what it would weigh is counted as
//! go-yaml counts it, so that a small file cannot stand for a huge tree.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::engine::Engine;
use crate::model::place::{FileId, Place};
use crate::model::value::{Node, Value};

use super::SyntaxError;
use super::mapping::Pairs;
use super::notice::{Notice, NoticeKind};
use super::resolve::{self, Resolved};
use super::scan::{DEPTH, Kind, Scanner, Style, Token, too_deep};

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads one document out of a scanner.
pub(super) struct Composer<'t> {
    pub(super) text: &'t str,
    scanner: Scanner<'t>,
    pub(super) file: FileId,
    pub(super) engine: Engine,
    pub(super) notices: Vec<Notice>,
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

/// How many nodes have been read, aliases counted as what they stand for.
#[derive(Clone, Copy, Default)]
struct Weight {
    all: u64,
    by_alias: u64,
}

/// Anchor and tag of a node.
#[derive(Default)]
struct Properties<'t> {
    anchor: Option<&'t str>,
    tag: Option<String>,
    start: Option<usize>,
    end: usize,
}

impl<'t> Composer<'t> {
    pub(super) fn new(text: &'t str, start: usize, file: FileId, engine: Engine) -> Self {
        let scanner = Scanner::new(text, start..text.len(), file);
        let scanner = match engine {
            Engine::Helm3 => scanner,
            Engine::Helm4 | Engine::Kubectl => scanner.ending_the_last_line(),
        };
        Self {
            text,
            scanner,
            file,
            engine,
            notices: Vec::new(),
            anchors: HashMap::new(),
            prefixes: Vec::new(),
            depth: 0,
            weight: Weight::default(),
        }
    }

    /// The first document; null if there is none.
    pub(super) fn document(&mut self) -> Result<Node> {
        self.weight.all += 1;
        let token = self.scanner.peek()?;
        let start = token.start;
        let explicit = match token.kind {
            Kind::StreamEnd => return Ok(self.empty(start).node),
            Kind::Version { .. } | Kind::TagPrefix { .. } | Kind::DocumentStart => true,
            _ => false,
        };
        let mut is_empty = false;
        if explicit {
            self.directives()?;
            is_empty = matches!(
                self.scanner.peek()?.kind,
                Kind::Version { .. }
                    | Kind::TagPrefix { .. }
                    | Kind::DocumentStart
                    | Kind::DocumentEnd
                    | Kind::StreamEnd
            );
        }
        let root = if is_empty {
            let at = self.scanner.peek()?.start;
            self.empty(at)
        } else {
            self.node(Context::Block)?
        };
        if matches!(self.scanner.peek()?.kind, Kind::DocumentEnd) {
            self.scanner.take();
        } else {
            self.note_further_document()?;
        }
        self.check_value(&root)?;
        Ok(root.node)
    }

    fn note_further_document(&mut self) -> Result<()> {
        let token = self.scanner.peek()?;
        if self.engine == Engine::Helm3 && matches!(token.kind, Kind::DocumentStart) {
            let (start, end) = (token.start, token.end);
            let place = self.place(start, end);
            let kind = NoticeKind::IgnoredDocuments;
            self.notices.push(Notice { kind, place });
        }
        Ok(())
    }

    /// `%YAML` and `%TAG` lines, then `---`.
    fn directives(&mut self) -> Result<()> {
        let mut versions = 0;
        loop {
            self.scanner.peek()?;
            let Some(token) = self.scanner.take() else {
                return Err(self.unexpected("`---` after the directives"));
            };
            let place = self.place(token.start, token.end);
            match token.kind {
                Kind::DocumentStart => return Ok(()),
                Kind::Version { major: 1, minor: 1 } if versions == 0 => versions += 1,
                Kind::Version { .. } => {
                    let message = "values are read as YAML 1.1, and one `%YAML 1.1` is enough";
                    return Err(SyntaxError::new(message.to_owned(), place));
                }
                Kind::TagPrefix { handle, prefix } => {
                    if self.prefixes.iter().any(|(known, _)| *known == handle) {
                        let message = format!("the tag handle `{handle}` is declared twice");
                        return Err(SyntaxError::new(message, place));
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

    /// One node of any kind.
    fn node(&mut self, context: Context) -> Result<Made> {
        let properties = self.properties()?;
        if let Some(name) = properties.anchor {
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

    fn whole_tag(
        &self,
        handle: &str,
        suffix: String,
        range: std::ops::Range<usize>,
    ) -> Result<String> {
        let declared = self.prefixes.iter().find(|(known, _)| *known == handle);
        let prefix = match (handle, declared) {
            ("", _) => return Ok(suffix),
            (_, Some((_, prefix))) => prefix.as_str(),
            ("!", None) => "!",
            ("!!", None) => "tag:yaml.org,2002:",
            _ => {
                let message = format!("the tag handle `{handle}` is declared nowhere");
                return Err(SyntaxError::new(
                    message,
                    self.place(range.start, range.end),
                ));
            }
        };
        Ok(format!("{prefix}{suffix}"))
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
        self.count(1)?;
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
        self.count(1)?;
        let place = self.place(start, end);
        let tag = properties.tag.as_deref();
        let resolved = match tag {
            None if style == Style::Plain => resolve::plain(text),
            None => Resolved::Text,
            Some(tag) => resolve::tagged(tag, text).map_err(|what| {
                SyntaxError::new(
                    format!("the tag says that `{text}` is {what}, and it is not"),
                    place,
                )
            })?,
        };
        let is_plain = (style == Style::Plain && tag.is_none()) || tag == Some("!");
        let is_merge = text == "<<" && (is_plain || tag == Some(resolve::MERGE));
        let decoded;
        let text = if resolved == Resolved::Binary {
            decoded = super::decode::base64(text)
                .ok_or_else(|| SyntaxError::new("this is no base64".to_owned(), place))?;
            &decoded
        } else {
            text
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
        self.count(1)?;
        self.weight.by_alias = self.weight.by_alias.saturating_add(weight);
        self.count(weight)?;
        Ok(Made {
            used_at: place,
            is_alias: true,
            ..made
        })
    }

    /// Counts nodes; refuses a document that is all aliases, as go-yaml does (decode.go, allowedAliasRatio).
    fn count(&mut self, nodes: u64) -> Result<()> {
        self.weight.all = self.weight.all.saturating_add(nodes);
        let Weight { all, by_alias } = self.weight;
        if by_alias <= 100 || all <= 1000 || (by_alias as f64 / all as f64) <= alias_share(all) {
            return Ok(());
        }
        let token = self.scanner.peek()?;
        let (start, end) = (token.start, token.end);
        let message =
            format!("the aliases up to here stand for {by_alias} values, which is too many");
        Err(SyntaxError::new(message, self.place(start, end)))
    }

    fn block_list(&mut self) -> Result<Made> {
        self.scanner.take();
        let mut items = Items::default();
        loop {
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            match token.kind {
                Kind::BlockEntry => items.open(start),
                Kind::BlockEnd => break,
                _ => return Err(self.unexpected("`-`, another list item")),
            }
            self.scanner.take();
            let item = match self.scanner.peek()?.kind {
                Kind::BlockEntry | Kind::BlockEnd => self.empty_value(end)?,
                _ => self.node(Context::Block)?,
            };
            self.add(&mut items, item, end)?;
        }
        self.scanner.take();
        Ok(self.list(items))
    }

    /// A list whose `-` stand in the column of the key above.
    fn indentless_list(&mut self) -> Result<Made> {
        let mut items = Items::default();
        loop {
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            if !matches!(token.kind, Kind::BlockEntry) {
                return Ok(self.list(items));
            }
            items.open(start);
            self.scanner.take();
            let item = match self.scanner.peek()?.kind {
                Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd => {
                    self.empty_value(end)?
                }
                _ => self.node(Context::Block)?,
            };
            self.add(&mut items, item, end)?;
        }
    }

    fn flow_list(&mut self) -> Result<Made> {
        let mut items = Items::default();
        items.open(self.scanner.peek()?.start);
        self.scanner.take();
        loop {
            if !matches!(self.scanner.peek()?.kind, Kind::FlowSequenceEnd) {
                self.flow_separator(items.nodes.is_empty(), "`,` or `]`")?;
            }
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            let item = match token.kind {
                Kind::FlowSequenceEnd => {
                    items.end = end;
                    self.scanner.take();
                    return Ok(self.list(items));
                }
                Kind::Key => {
                    self.scanner.take();
                    self.nested_pair(start)?
                }
                _ => self.node(Context::Flow)?,
            };
            self.add(&mut items, item, end)?;
        }
    }

    fn nested_pair(&mut self, start: usize) -> Result<Made> {
        self.depth += 1;
        self.check_height(0)?;
        self.count(1)?;
        let made = self.flow_pair(start)?;
        self.depth -= 1;
        Ok(made)
    }

    /// `key: value` within a list: a map of one entry.
    fn flow_pair(&mut self, start: usize) -> Result<Made> {
        let token = self.scanner.peek()?;
        let end = token.end;
        let key = if matches!(
            token.kind,
            Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd
        ) {
            // go-yaml skips the token here, whichever it is.
            self.scanner.take();
            self.empty_value(end)?
        } else {
            self.node(Context::Flow)?
        };
        let token = self.scanner.peek()?;
        let mut at = token.start;
        let mut value = None;
        if matches!(token.kind, Kind::Value) {
            at = token.end;
            self.scanner.take();
            if !matches!(
                self.scanner.peek()?.kind,
                Kind::FlowEntry | Kind::FlowSequenceEnd
            ) {
                value = Some(self.node(Context::Flow)?);
            }
        }
        let value = match value {
            Some(value) => value,
            None => self.empty_value(at)?,
        };
        let mut pairs = Pairs::new(start);
        pairs.add(self, key, value)?;
        Ok(pairs.finish(self, None))
    }

    fn flow_separator(&mut self, first: bool, wanted: &str) -> Result<()> {
        if first {
            return Ok(());
        }
        if !matches!(self.scanner.peek()?.kind, Kind::FlowEntry) {
            return Err(self.unexpected(wanted));
        }
        self.scanner.take();
        Ok(())
    }

    fn flow_map(&mut self) -> Result<Made> {
        let mut pairs = Pairs::new(self.scanner.peek()?.start);
        self.scanner.take();
        let mut first = true;
        loop {
            if !matches!(self.scanner.peek()?.kind, Kind::FlowMappingEnd) {
                self.flow_separator(first, "`,` or `}`")?;
            }
            first = false;
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            let key = match token.kind {
                Kind::FlowMappingEnd => {
                    self.scanner.take();
                    return Ok(pairs.finish(self, Some(end)));
                }
                Kind::Key => {
                    self.scanner.take();
                    match self.scanner.peek()?.kind {
                        Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd => {
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

    fn flow_value(&mut self) -> Result<Made> {
        let token = self.scanner.peek()?;
        let mut at = token.start;
        if matches!(token.kind, Kind::Value) {
            at = token.end;
            self.scanner.take();
            if !matches!(
                self.scanner.peek()?.kind,
                Kind::FlowEntry | Kind::FlowMappingEnd
            ) {
                return self.node(Context::Flow);
            }
        }
        self.empty_value(at)
    }

    fn block_map(&mut self) -> Result<Made> {
        let mut pairs = Pairs::new(self.scanner.peek()?.start);
        self.scanner.take();
        loop {
            let token = self.scanner.peek()?;
            let end = token.end;
            match token.kind {
                Kind::Key => {}
                Kind::BlockEnd => break,
                _ => return Err(self.unexpected("a key")),
            }
            self.scanner.take();
            let key = match self.scanner.peek()?.kind {
                Kind::Key | Kind::Value | Kind::BlockEnd => self.empty_value(end)?,
                _ => self.node(Context::Value)?,
            };
            let value = self.block_value(key.used_at.end as usize)?;
            pairs.add(self, key, value)?;
        }
        self.scanner.take();
        Ok(pairs.finish(self, None))
    }

    fn block_value(&mut self, key_end: usize) -> Result<Made> {
        let token = self.scanner.peek()?;
        let end = token.end;
        if !matches!(token.kind, Kind::Value) {
            return self.empty_value(key_end);
        }
        self.scanner.take();
        match self.scanner.peek()?.kind {
            Kind::Key | Kind::Value | Kind::BlockEnd => self.empty_value(end),
            _ => self.node(Context::Value),
        }
    }

    /// A value that is not written: null, at the place where it would stand.
    fn empty_value(&mut self, at: usize) -> Result<Made> {
        self.count(1)?;
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

    fn add(&mut self, items: &mut Items, item: Made, end: usize) -> Result<()> {
        self.check_value(&item)?;
        self.note_misreading(&item, None);
        items.height = items.height.max(item.height);
        items.end = end.max(item.used_at.end as usize);
        items.nodes.push(item.node);
        Ok(())
    }

    fn list(&self, items: Items) -> Made {
        let place = self.place(items.start.unwrap_or(items.end), items.end);
        self.collection(Value::List(Arc::new(items.nodes)), place, items.height)
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

#[derive(Default)]
struct Items {
    nodes: Vec<Node>,
    start: Option<usize>,
    end: usize,
    height: usize,
}

impl Items {
    fn open(&mut self, start: usize) {
        self.start.get_or_insert(start);
    }
}

/// The share of a document that aliases may make up: nearly all of a small one, a tenth of a huge one.
fn alias_share(all: u64) -> f64 {
    const SMALL: f64 = 400_000.0;
    const HUGE: f64 = 4_000_000.0;
    let position = ((all as f64 - SMALL) / (HUGE - SMALL)).clamp(0.0, 1.0);
    0.99 - 0.89 * position
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

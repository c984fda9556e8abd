//! The tokens of YAML, with their spans.

use std::borrow::Cow;

/// A token and its span.
#[derive(Debug)]
pub(crate) struct Token<'t> {
    /// The kind of token.
    pub(crate) kind: TokenKind<'t>,
    /// The offset of the first byte.
    pub(crate) start: usize,
    /// The offset after the last byte.
    pub(crate) end: usize,
}

impl<'t> Token<'t> {
    /// A token without text.
    pub(super) fn empty(kind: TokenKind<'t>, at: usize) -> Self {
        let (start, end) = (at, at);
        Self { kind, start, end }
    }
}

/// The kinds of tokens. The starts and ends of block collections have no text.
#[derive(Debug)]
pub(crate) enum TokenKind<'t> {
    StreamEnd,
    Version { major: u32, minor: u32 },
    TagPrefix { handle: &'t str, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'t str),
    Anchor(&'t str),
    Tag { handle: &'t str, suffix: String },
    Scalar { text: Cow<'t, str>, style: Style },
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

//! The tokens of YAML, each with the bytes it stands at.

use std::borrow::Cow;

/// A token and its place.
#[derive(Debug)]
pub(crate) struct Token<'t> {
    /// What it is.
    pub(crate) kind: Kind<'t>,
    /// Byte offset of the first byte.
    pub(crate) start: usize,
    /// Byte offset behind the last byte.
    pub(crate) end: usize,
}

/// The kinds of token; starts and ends of block collections have no text of their own.
#[derive(Debug)]
pub(crate) enum Kind<'t> {
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

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

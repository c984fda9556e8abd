//! YAML as the engines read it: a values file becomes a tree in which every node has its place.
//!
//! Helm and kubectl read values with go-yaml v2, then pass them through JSON. What that reader takes for YAML, which words
//! it takes for booleans and which digits for octal decides what a cluster becomes, so its rules are followed here, quirks
//! included; what would surprise the author of a file is told in [`Notice`]s.

mod as_helm;
mod compose;
mod decode;
mod documents;
pub mod edit;
mod emit;
mod inside;
mod json_text;
mod mapping;
mod misread;
mod notice;
mod resolve;
mod scan;
mod secrets;

use std::ops::Range;

use crate::model::engine::Engine;
use crate::model::merge;
use crate::model::place::{FileId, Place};
use crate::model::value::{Node, Value};

pub use as_helm::{Lists, as_helm};
pub use decode::{EncodingError, decode};
pub use documents::read;
pub use emit::{emit, emit_at, emit_data, quoted};
pub use inside::{Spelling, inside};
pub use notice::{Misreading, Notice, NoticeKind};
pub use secrets::{is_named_secret, learn, scalars, secrets, source};

/// Why a text is not readable as YAML by the engine that counts. All of its values are refused then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong, in one clause.
    pub message: String,
    /// Where.
    pub place: Place,
    /// What to do about it.
    pub help: Option<String>,
}

impl SyntaxError {
    fn new(message: String, place: Place) -> Self {
        Self {
            message,
            place,
            help: None,
        }
    }

    /// An error at a range of bytes, which is cut to the text and widened to whole characters.
    fn within(text: &str, file: FileId, range: Range<usize>, message: String) -> Self {
        let end = (range.end.min(text.len())..=text.len())
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(text.len());
        let start = (0..=range.start.min(end))
            .rev()
            .find(|start| text.is_char_boundary(*start))
            .unwrap_or(0);
        let place = Place {
            file,
            start: start as u32,
            end: end as u32,
        };
        Self::new(message, place)
    }
}

/// What a text holds.
#[derive(Clone, Debug)]
pub struct Documents {
    /// The documents that the engine reads, in order: for Helm 3 the first one only.
    pub documents: Vec<Node>,
    /// What is worth telling, by place.
    pub notices: Vec<Notice>,
}

impl Documents {
    /// The values of a values file: its documents merged, later over earlier. No document, and null, is the empty map.
    ///
    /// # Errors
    /// A document that is neither a map nor null.
    pub fn values(&self) -> Result<Node, SyntaxError> {
        let mut merged: Option<Node> = None;
        for document in &self.documents {
            match &document.value {
                Value::Map(_) => {}
                Value::Null => continue,
                other => {
                    let message = format!("values are a map, and this is {}", other.kind());
                    return Err(SyntaxError::new(message, document.place));
                }
            }
            merged = Some(match merged {
                Some(earlier) => merge::merge(&earlier, document),
                None => document.clone(),
            });
        }
        Ok(merged.unwrap_or_else(|| Node {
            value: Value::empty_map(),
            place: self
                .documents
                .first()
                .map_or(Place::NONE, |node| node.place),
        }))
    }
}

/// Where each document that [`read`] gives stands in a text, without the lines that part them.
///
/// # Errors
/// The text cannot be parted as kubectl does it.
pub fn parts(text: &str) -> Result<Vec<Range<usize>>, SyntaxError> {
    documents::part(text, FileId(0), Engine::Kubectl)
}

/// The values of a text in one call, for readers that need no notices.
///
/// # Errors
/// As [`read`] and [`Documents::values`].
pub fn values(text: &str, file: FileId, engine: Engine) -> Result<Node, SyntaxError> {
    read(text, file, engine)?.values()
}

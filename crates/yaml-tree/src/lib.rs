#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod as_helm;
pub mod bytes;
mod compose;
mod decode;
mod documents;
pub mod edit;
mod emit;
pub mod engine;
mod inside;
pub mod integer;
pub mod json;
pub mod json_reader;
mod json_text;
mod mapping;
pub mod merge;
pub mod message;
mod misread;
mod notice;
pub mod opaque;
mod path;
pub mod place;
mod resolve;
mod scan;
pub mod suggest;
pub mod value;

use std::ops::Range;

use crate::engine::Engine;
use crate::message::Message;
use crate::place::{FileId, Place};
use crate::value::{Node, Value};

pub use as_helm::{Lists, as_helm};
pub use decode::{EncodingError, decode};
pub use documents::read;
pub use emit::{emit, emit_at, emit_data, quote};
pub use inside::{Spelling, locate};
pub use notice::{Misreading, Notice, NoticeKind};
pub use path::{Part, Path, Step, children, node_at};

/// Why an engine cannot parse a text as YAML. None of the text's values are used then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong, in one clause.
    pub message: Message,
    /// The span of the error.
    pub place: Place,
    /// How to fix the error.
    pub help: Option<String>,
}

impl SyntaxError {
    fn new(message: impl Into<Message>, place: Place) -> Self {
        Self {
            message: message.into(),
            place,
            help: None,
        }
    }

    /// An error at a byte range, which is limited to the text and extended to whole characters.
    fn from_range(
        text: &str,
        file: FileId,
        range: Range<usize>,
        message: impl Into<Message>,
    ) -> Self {
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

/// The content of a text.
#[derive(Clone, Debug)]
pub struct Documents {
    /// The documents that the engine reads, in order. Helm 3 reads the first one only.
    pub documents: Vec<Node>,
    /// Facts that may surprise the author, by position.
    pub notices: Vec<Notice>,
}

impl Documents {
    /// The values of a values file: its documents merged, with the later ones taking precedence. Without a document, or with null
    /// documents only, this is the empty map.
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
                    let message = format!("values must be a map, and this is {}", other.kind());
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

/// The range of each document in the result of [`read`], without the separator lines.
///
/// # Errors
/// The text cannot be split as kubectl does.
pub fn parts(text: &str) -> Result<Vec<Range<usize>>, SyntaxError> {
    documents::split(text, FileId(0), Engine::Kubectl)
}

/// What a scalar without quotes means to kubectl.
pub fn plain(text: &str) -> Value {
    let value = resolve::value(resolve::plain(text), text, Engine::Kubectl);
    value.unwrap_or_else(|| text.into())
}

/// Parses the values of a text, without notices.
///
/// # Errors
/// Those of [`read`] and [`Documents::values`].
pub fn values(text: &str, file: FileId, engine: Engine) -> Result<Node, SyntaxError> {
    read(text, file, engine)?.values()
}

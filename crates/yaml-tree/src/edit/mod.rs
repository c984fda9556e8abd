//! Edits YAML in place: everything outside of the edited nodes keeps its bytes, including comments and line ends.
//!
//! An edit becomes splices of the text, located by the spans of the tokens. The result is verified: the edited text is parsed
//! again, and unless it is the old tree with exactly the requested change, the edit is refused. An edit of a node that aliases or
//! `<<` share is refused.
//!
//! YAML inside a string can be edited if the string is a literal block (`|`), line by line. In quotes and folded blocks it
//! cannot, because their lines are not those of the text.

mod block;
mod document;
mod error;
mod expected;
mod flow;
mod layout;
mod outline;
mod piece;
mod plan;
mod splice;
mod within;
mod write;

use crate::engine::Engine;
use crate::place::FileId;
use crate::value::Value;

use super::documents;

use layout::Layout;
use outline::Outline;
use piece::Editor;
use splice::Splices;

pub use super::path::{Step, node_at};
pub use error::EditError;

/// Identifies a node of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The node at a path in a document. Documents are counted from 0, as in the result of [`super::read`].
    Path(usize, Vec<Step>),
    /// The scalar or key with exactly this span, as in a [`crate::place::Place`] of the same text.
    Place(std::ops::Range<usize>),
}

impl Edit {
    /// The same edit, its value written as this text.
    pub fn verbatim(self, text: impl Into<String>) -> Self {
        Self::Verbatim {
            edit: Box::new(self),
            text: text.into(),
        }
    }
}

impl Target {
    /// A path of keys below the first document.
    pub fn keys(path: &[&str]) -> Self {
        Self::Path(0, path.iter().map(|key| Step::from(*key)).collect())
    }
}

/// The position of a new entry or item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Before all others.
    First,
    /// After all others.
    Last,
    /// After this entry or item.
    After(Step),
}

/// A change. All changes of a batch refer to nodes of the unedited text.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Replaces the value of a node. A string keeps the style of quotes of the old value, if possible.
    Set {
        /// The node.
        at: Target,
        /// Its new value.
        value: Value,
    },
    /// Adds an entry to a map, in the style of the other entries.
    Insert {
        /// The map; or null or `{}`, which becomes one.
        map: Target,
        /// The new key.
        key: String,
        /// The new value.
        value: Value,
        /// The position of the entry.
        position: Position,
    },
    /// Adds an item to a list, in the style of the other items.
    InsertItem {
        /// The list; or null or `[]`, which becomes one.
        list: Target,
        /// The new item.
        value: Value,
        /// The position of the item.
        position: Position,
    },
    /// Sets or inserts a value as it is written in a document of its own, where lines of its own have room: with its comments and
    /// quotes. Elsewhere, as in braces, it is written as other values are.
    Verbatim {
        /// [`Edit::Set`], [`Edit::Insert`] or [`Edit::InsertItem`].
        edit: Box<Edit>,
        /// The document, in block style.
        text: String,
    },
    /// Removes an entry or item, with the comment lines above that belong to it.
    Remove {
        /// The value of the entry, or the item.
        at: Target,
    },
    /// Replaces each occurrence of a text in a string, in the bytes of the file. Quotes and folded lines stay. Used for a version
    /// in an expression.
    Replace {
        /// The string.
        at: Target,
        /// The text to replace.
        from: String,
        /// The replacement.
        to: String,
        /// Which occurrence alone, counted from 0; none for each.
        only: Option<usize>,
    },
    /// Renames the key of an entry.
    Rename {
        /// The value of the entry, or the span of the key.
        at: Target,
        /// The new key.
        key: String,
    },
    /// Edits the YAML text in a literal block scalar.
    Within {
        /// The string.
        at: Target,
        /// The edits of the inner text, which is parsed as by kubectl.
        edits: Vec<Edit>,
    },
    /// Adds a document after another one, separated by `---`.
    InsertDocument {
        /// The preceding document.
        after: usize,
        /// The text of the new document.
        text: String,
    },
    /// Removes a document, with the `---` above it.
    RemoveDocument {
        /// The document to remove.
        document: usize,
    },
}

/// Applies all edits, or none.
///
/// # Errors
/// The text is not valid YAML, a node does not exist, two edits conflict, or the result would have other changes.
pub fn edit<'e>(
    text: &str,
    engine: Engine,
    edits: impl IntoIterator<Item = &'e Edit>,
) -> Result<String, EditError> {
    let edits: Vec<&Edit> = edits.into_iter().collect();
    let (splices, expected) = splices(text, engine, &edits)?;
    let edited = splices.apply(text)?;
    check(&edited, engine, &expected)?;
    Ok(edited)
}

/// The splices of all edits, and the documents that the edited text must have.
fn splices(
    text: &str,
    engine: Engine,
    edits: &[&Edit],
) -> Result<(Splices, Vec<Value>), EditError> {
    let before = documents::read(text, FileId(0), engine)?.documents;
    let parts = documents::split(text, FileId(0), engine)?;
    let outlines: Vec<Outline<'_>> = parts
        .iter()
        .map(|part| outline::outline(text, part.clone(), engine).ok_or(EditError::Unsupported))
        .collect::<Result<_, _>>()?;
    if outlines.len() != before.len() {
        return Err(EditError::Unsupported);
    }
    let plans = plan::plans(&outlines, edits)?;
    let layout = Layout::new(text, engine, &outlines);
    let mut splices = Splices::default();
    let mut expected = Vec::with_capacity(outlines.len());
    for ((document, outline), plan) in before.iter().zip(&outlines).zip(&plans) {
        let value = &document.value;
        let mut editor = Editor {
            layout: &layout,
            outline,
            splices: &mut splices,
        };
        editor.edit_document(value, plan)?;
        expected.push(expected::tree(value, &outline.root, plan, engine)?);
    }
    let expected = document::edit_documents(&layout, &parts, edits, expected, &mut splices)?;
    Ok((splices, expected))
}

/// Verifies that the edited text has exactly the expected documents.
fn check(edited: &str, engine: Engine, expected: &[Value]) -> Result<(), EditError> {
    let after =
        documents::read(edited, FileId(0), engine).map_err(|error| EditError::WouldBreak {
            message: error.message.into(),
        })?;
    let same = after.documents.len() == expected.len()
        && after
            .documents
            .iter()
            .zip(expected)
            .all(|(document, expected)| document.value.same(expected));
    if same {
        Ok(())
    } else {
        Err(EditError::WouldChangeMore)
    }
}

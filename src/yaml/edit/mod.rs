//! Changes a YAML text where it stands: what is not asked for keeps its bytes, comments and line ends included.
//!
//! An edit is a splice of the text, found over the places of the reader's own tokens. Nothing is believed of it: the edited
//! text is read again, and unless it is the old tree with exactly the change that was asked for, the edit is refused and the
//! text stays as it was. A node that other places share by alias or `<<` is refused by name.
//!
//! A text inside a string is edited where the string is a literal block (`|`), line by line; never inside quotes or a folded
//! block, whose lines are not those of the text.

mod block;
mod document;
mod error;
mod expected;
mod flow;
mod layout;
mod outline;
mod plan;
mod splice;
mod within;
mod write;

use crate::model::engine::Engine;
use crate::model::place::FileId;
use crate::model::value::Value;

use super::documents;

use layout::Layout;
use outline::Outline;
use splice::Splices;

pub use error::EditError;

/// One step from a node to one below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The entry of a map with this key, as text.
    Key(String),
    /// The item of a list, from 0.
    Item(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Item(index)
    }
}

/// Which node of a text is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The node below a document, by keys and indexes. Documents count from 0, as [`super::read`] gives them.
    Path(usize, Vec<Step>),
    /// The scalar, or the key, that stands at exactly these bytes, as a [`crate::model::place::Place`] of the same text says.
    Place(std::ops::Range<usize>),
}

impl Target {
    /// A path of keys below the first document.
    pub fn keys(path: &[&str]) -> Self {
        Self::Path(0, path.iter().map(|key| Step::from(*key)).collect())
    }
}

/// Where a new entry of a map, or a new item of a list, goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Before all others.
    First,
    /// Behind all others.
    Last,
    /// Behind the one that this step names.
    After(Step),
}

/// One change. All changes of a batch name nodes of the text as it was before any of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Gives a node another value. A string keeps the quotes of the old one where it may.
    Set {
        /// The node.
        at: Target,
        /// Its new value.
        value: Value,
    },
    /// Adds an entry to a map, written as its siblings are.
    Insert {
        /// The map. Null and `{}` become one.
        map: Target,
        /// The new key.
        key: String,
        /// Its value.
        value: Value,
        /// Where it goes.
        position: Position,
    },
    /// Adds an item to a list, written as its siblings are.
    InsertItem {
        /// The list. Null and `[]` become one.
        list: Target,
        /// The new item.
        value: Value,
        /// Where it goes.
        position: Position,
    },
    /// Takes out an entry or an item, with the comment lines above it that are its own.
    Remove {
        /// The value of the entry, or the item.
        at: Target,
    },
    /// Puts another text in the place of each occurrence of one within a string, as the file spells it: for a version
    /// inside an expression, whose quotes and folded lines stay.
    Replace {
        /// The string.
        at: Target,
        /// What it holds.
        from: String,
        /// What it is to hold instead.
        to: String,
    },
    /// Gives an entry another key.
    Rename {
        /// The value of the entry, or the key's own place.
        at: Target,
        /// The new key.
        key: String,
    },
    /// Edits of the YAML text that a literal block scalar holds.
    Within {
        /// The string.
        at: Target,
        /// What happens to the text in it, as kubectl reads it.
        edits: Vec<Edit>,
    },
    /// Adds a document behind one, parted from it by `---`.
    InsertDocument {
        /// The document that it follows.
        after: usize,
        /// The new one's text.
        text: String,
    },
    /// Takes out a document, with the `---` above it.
    RemoveDocument {
        /// Which one.
        document: usize,
    },
}

/// The text with all of the edits made, or none of them.
///
/// # Errors
/// A text that is no YAML, a node that is not there, two edits of one node, and whatever would change more than was asked.
pub fn edit(text: &str, engine: Engine, edits: &[Edit]) -> Result<String, EditError> {
    let (splices, wanted) = splices(text, engine, edits)?;
    let edited = splices.applied(text)?;
    check(&edited, engine, &wanted)?;
    Ok(edited)
}

/// What is put in the place of what, and the documents that the edited text must have.
fn splices(text: &str, engine: Engine, edits: &[Edit]) -> Result<(Splices, Vec<Value>), EditError> {
    let before = documents::read(text, FileId(0), engine)?.documents;
    let parts = documents::part(text, FileId(0), engine)?;
    let outlines: Vec<Outline<'_>> = parts
        .iter()
        .map(|part| outline::outline(text, part.clone(), engine).ok_or(EditError::NotFollowed))
        .collect::<Result<_, _>>()?;
    if outlines.len() != before.len() {
        return Err(EditError::NotFollowed);
    }
    let plans = plan::plans(&outlines, edits)?;
    let layout = Layout::of(text, engine, &outlines);
    let mut splices = Splices::default();
    let mut wanted = Vec::with_capacity(outlines.len());
    for ((document, outline), plan) in before.iter().zip(&outlines).zip(&plans) {
        let value = &document.value;
        splice::document(&layout, (outline, value), plan, &mut splices)?;
        wanted.push(expected::tree(value, &outline.root, plan, engine)?);
    }
    let wanted = document::whole(&layout, &parts, edits, wanted, &mut splices)?;
    Ok((splices, wanted))
}

/// The law: the edited text says what was wanted, and nothing else.
fn check(edited: &str, engine: Engine, wanted: &[Value]) -> Result<(), EditError> {
    let after =
        documents::read(edited, FileId(0), engine).map_err(|error| EditError::WouldBreak {
            message: error.message,
        })?;
    let same = after.documents.len() == wanted.len()
        && after
            .documents
            .iter()
            .zip(wanted)
            .all(|(document, wanted)| document.value.same(wanted));
    if same {
        Ok(())
    } else {
        Err(EditError::WouldChangeMore)
    }
}

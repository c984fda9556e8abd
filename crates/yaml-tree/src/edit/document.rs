//! Inserts and removes whole documents.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::engine::Engine;
use crate::place::FileId;
use crate::value::Value;

use super::super::documents;
use super::layout::Layout;
use super::splice::Splices;
use super::{Edit, EditError};

/// Adds the splices for whole documents. Returns the documents that the edited text must have.
pub(super) fn edit_documents(
    layout: &Layout<'_>,
    parts: &[Range<usize>],
    edits: &[&Edit],
    expected: Vec<Value>,
    splices: &mut Splices,
) -> Result<Vec<Value>, EditError> {
    let (mut added, mut removed) = (BTreeMap::<usize, Vec<&str>>::new(), BTreeSet::new());
    for edit in edits {
        match edit {
            Edit::InsertDocument { after, text } => added.entry(*after).or_default().push(text),
            Edit::RemoveDocument { document } => drop(removed.insert(*document)),
            _ => {}
        }
    }
    let last = added.keys().chain(&removed).max();
    if last.is_some_and(|last| *last >= parts.len()) {
        let path = last.map_or_else(String::new, |last| format!("document {last}"));
        return Err(EditError::Missing { path });
    }
    let mut after = Vec::with_capacity(expected.len() + added.len());
    for (index, (value, part)) in expected.into_iter().zip(parts).enumerate() {
        if removed.contains(&index) {
            splices.put(with_its_line(layout, part), "");
        } else {
            after.push(value);
        }
        for text in added.get(&index).into_iter().flatten() {
            let read = documents::read(text, FileId(0), Engine::Kubectl)?.documents;
            after.extend(read.into_iter().map(|document| document.value));
            splices.put(part.end..part.end, document_text(layout, part, text));
        }
    }
    Ok(after)
}

/// The range of a document including the `---` line above it.
fn with_its_line(layout: &Layout<'_>, part: &Range<usize>) -> Range<usize> {
    let line = layout.text[..part.start].trim_end_matches(['\r', '\n']);
    let start = layout.line_start(line.len());
    if layout.text[start..].starts_with("---") {
        start..part.end
    } else {
        part.clone()
    }
}

/// The text of a document as it is inserted after another one, with `---` and line breaks.
fn document_text(layout: &Layout<'_>, part: &Range<usize>, text: &str) -> String {
    let eol = layout.eol;
    let is_last = part.end == layout.text.len();
    let open = if layout.text[..part.end].ends_with('\n') {
        ""
    } else {
        eol
    };
    let text = if is_last && layout.lacks_final_newline {
        text.trim_end()
    } else {
        text
    };
    let close = if !is_last && !text.ends_with('\n') {
        eol
    } else {
        ""
    };
    format!("{open}---{eol}{text}{close}")
}

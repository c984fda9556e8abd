//! Whole documents that come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::model::engine::Engine;
use crate::model::place::FileId;
use crate::model::value::Value;

use super::super::documents;
use super::layout::Layout;
use super::splice::Splices;
use super::{Edit, EditError};

/// Puts the splices of whole documents, and gives the documents that the edited text must have.
pub(super) fn whole(
    layout: &Layout<'_>,
    parts: &[Range<usize>],
    edits: &[Edit],
    wanted: Vec<Value>,
    splices: &mut Splices,
) -> Result<Vec<Value>, EditError> {
    let (mut behind, mut gone) = (BTreeMap::<usize, Vec<&str>>::new(), BTreeSet::new());
    for edit in edits {
        match edit {
            Edit::InsertDocument { after, text } => behind.entry(*after).or_default().push(text),
            Edit::RemoveDocument { document } => drop(gone.insert(*document)),
            _ => {}
        }
    }
    let last = behind.keys().chain(&gone).max();
    if last.is_some_and(|last| *last >= parts.len()) {
        let path = last.map_or_else(String::new, |last| format!("document {last}"));
        return Err(EditError::Missing { path });
    }
    let mut after = Vec::with_capacity(wanted.len() + behind.len());
    for (index, (value, part)) in wanted.into_iter().zip(parts).enumerate() {
        if gone.contains(&index) {
            splices.put(with_its_line(layout, part), "");
        } else {
            after.push(value);
        }
        for text in behind.get(&index).into_iter().flatten() {
            let read = documents::read(text, FileId(0), Engine::Kubectl)?.documents;
            after.extend(read.into_iter().map(|document| document.value));
            splices.put(part.end..part.end, parted(layout, part, text));
        }
    }
    Ok(after)
}

/// A document with the `---` above it.
fn with_its_line(layout: &Layout<'_>, part: &Range<usize>) -> Range<usize> {
    let line = layout.text[..part.start].trim_end_matches(['\r', '\n']);
    let start = layout.line_start(line.len());
    match layout.text[start..].starts_with("---") {
        true => start..part.end,
        false => part.clone(),
    }
}

/// A document's text as it is added behind another one.
fn parted(layout: &Layout<'_>, part: &Range<usize>, text: &str) -> String {
    let eol = layout.eol;
    let is_last = part.end == layout.text.len();
    let open = match layout.text[..part.end].ends_with('\n') {
        true => "",
        false => eol,
    };
    let text = match is_last && layout.is_unended {
        true => text.trim_end(),
        false => text,
    };
    let close = match !is_last && !text.ends_with('\n') {
        true => eol,
        false => "",
    };
    format!("{open}---{eol}{text}{close}")
}

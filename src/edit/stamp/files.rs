//! Applies the edits of objects, and returns the new texts of their files.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::edit::texts::EditedFile;
use capi::objects::ManifestObject;
use yaml_tree::edit::{Edit, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::Source;

use super::plan::ObjectResult;

/// The texts of the files that change, and whether none is left out. A file that cannot be edited as a whole stays; the objects to
/// blame are reported.
pub(super) fn apply(
    objects: &[ManifestObject],
    edits: &BTreeMap<usize, Vec<Edit>>,
    results: &mut [ObjectResult],
) -> (Vec<EditedFile>, bool) {
    let (mut changed, mut is_whole) = (Vec::new(), true);
    let mut start = 0;
    for file in objects.chunk_by(|a, b| Arc::ptr_eq(a.file(), b.file())) {
        let range = start..start + file.len();
        start = range.end;
        let own = edits.range(range).filter(|(_, edits)| !edits.is_empty());
        let mut outward = BTreeMap::new();
        for (&index, edits) in own {
            match objects[index].text.read_only_reason() {
                Some(why) => {
                    is_whole = false;
                    results[index].problems.push(why.to_owned());
                }
                None => drop(outward.insert(index, objects[index].text.outward(edits.clone()))),
            }
        }
        if outward.is_empty() {
            continue;
        }
        let source = file[0].file();
        let all: Vec<Edit> = outward.values().flatten().cloned().collect();
        match edit(&source.text, Engine::Kubectl, &all) {
            Ok(text) => changed.push(EditedFile {
                source: Arc::clone(source),
                text,
            }),
            Err(error) => {
                is_whole = false;
                blame(source, &outward, &error.to_string(), results);
            }
        }
    }
    (changed, is_whole)
}

/// Reports the objects whose own edits cannot be made; where all can, the first one.
fn blame(
    source: &Source,
    edits: &BTreeMap<usize, Vec<Edit>>,
    error: &str,
    results: &mut [ObjectResult],
) {
    let mut blamed = 0;
    for (index, own) in edits {
        if let Err(error) = edit(&source.text, Engine::Kubectl, own) {
            results[*index].problems.push(error.to_string());
            blamed += 1;
        }
    }
    if let (0, Some(first)) = (blamed, edits.keys().next()) {
        results[*first].problems.push(error.to_owned());
    }
}

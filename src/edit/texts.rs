//! The user's files that a command edits, written all together.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::Error;
use crate::model::manifest::{Change, ChangeKind, ChangeSet, Origin};
use crate::model::place::Source;
use crate::output::{self, Held, Replacement};
use crate::read::Workspace;

/// The changes of files; `read` is the number of files that were read.
pub(crate) fn changes(
    workspace: &Workspace,
    files: &[(Arc<Source>, String)],
    read: usize,
) -> ChangeSet {
    let changes = files.iter().map(|(source, text)| Change {
        path: source.path.to_string(),
        kind: ChangeKind::Updated,
        old: Some(source.text.clone()),
        new: Some(text.clone()),
        origin: Origin::Run,
        seen: None,
    });
    ChangeSet {
        root: workspace.settings.root.clone(),
        changes: changes.collect(),
        rendered: read,
        ..ChangeSet::default()
    }
}

/// Replaces the texts that were read from files; of none where one of them has changed meanwhile.
///
/// # Errors
/// A file cannot be written, or has changed.
pub(crate) fn replace(
    workspace: &Workspace,
    files: &[(Arc<Source>, String)],
    held: &mut Held,
) -> Result<(), Error> {
    let root = &workspace.settings.root;
    let paths: Vec<PathBuf> = files
        .iter()
        .map(|(source, _)| root.join(&*source.path))
        .collect();
    let replacements: Vec<Replacement<'_>> = files
        .iter()
        .zip(&paths)
        .map(|((source, text), path)| Replacement {
            path,
            before: &source.text,
            after: text,
        })
        .collect();
    output::replace_all(held, &replacements)
}

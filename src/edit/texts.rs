//! The user's files that a command edits. All are written, or none.

use std::path::PathBuf;
use std::sync::Arc;

use yaml_tree::place::Source;

use crate::error::Error;
use crate::files::Overlay;
use crate::model::manifest::{ChangeKind, ChangeSet, FileChange};
use crate::output::{self, Held, Replacement};
use crate::pipeline::fleet::Fleet;
use crate::read::{self, Request, Workspace};

/// A file of the user's, and its text after edits.
#[derive(Clone, Debug)]
pub struct EditedFile {
    /// As it was read.
    pub source: Arc<Source>,
    /// As it is to be.
    pub text: String,
}

/// The changes of files; `read` is the number of files that were read.
pub(crate) fn changes(workspace: &Workspace, files: &[EditedFile], read: usize) -> ChangeSet {
    let changes = files.iter().map(|file| FileChange {
        path: file.source.path.to_string(),
        kind: ChangeKind::Updated,
        old: Some(file.source.text.clone()),
        new: Some(file.text.clone()),
        is_adopted: false,
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
    files: &[EditedFile],
    held: &mut Held,
) -> Result<(), Error> {
    let root = &workspace.settings.root;
    let paths: Vec<PathBuf> = files
        .iter()
        .map(|file| root.join(&*file.source.path))
        .collect();
    let replacements: Vec<Replacement<'_>> = files
        .iter()
        .zip(&paths)
        .map(|(file, path)| Replacement {
            path,
            before: &file.source.text,
            after: &file.text,
        })
        .collect();
    output::replace_all(held, &replacements)
}

/// The project as it is with other texts in some of its files; nothing is written.
///
/// # Errors
/// The project with these texts cannot be read.
pub(crate) fn read_with(
    request: &Request,
    fleet: &Fleet,
    files: &[EditedFile],
) -> Result<Fleet, Error> {
    let added = files.iter().map(|file| {
        let path = PathBuf::from(&*file.source.path);
        (path, file.text.clone().into_bytes())
    });
    let files = Overlay::new(Arc::clone(&fleet.workspace.files), added);
    let location = read::location(request)?;
    let workspace = read::workspace_in(request, &location, Arc::new(files))?;
    Fleet::open(workspace, fleet.today)
}

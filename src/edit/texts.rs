//! The user's files that a command edits. All are written, or none.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::Error;
use crate::files::Overlay;
use crate::model::manifest::{Change, ChangeKind, ChangeSet, Origin};
use crate::model::place::Source;
use crate::output::{self, Held, Replacement};
use crate::pipeline::fleet::Fleet;
use crate::read::{self, Request, Workspace};

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

/// The project as it is with other texts in some of its files; nothing is written.
///
/// # Errors
/// The project with these texts cannot be read.
pub(crate) fn read_with(
    request: &Request,
    fleet: &Fleet,
    texts: &[(Arc<Source>, String)],
) -> Result<Fleet, Error> {
    let added = texts.iter().map(|(source, text)| {
        let path = PathBuf::from(&*source.path);
        (path, text.clone().into_bytes())
    });
    let files = Overlay::new(Arc::clone(&fleet.workspace.files), added);
    let location = read::location(request)?;
    let workspace = read::workspace_in(request, &location, Arc::new(files))?;
    Fleet::open(workspace, fleet.today)
}

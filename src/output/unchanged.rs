//! Checks that files on disk are still as a plan saw them, so that changes of other programs are not overwritten.

use std::io;

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::plan::{LONGEST, walk};
use crate::error::Error;
use crate::files::{Folder, PathState, Walk};
use crate::model::manifest::{ChangeKind, ChangeSet, FileChange};
use crate::model::ownership::{self, Sum};

/// Checks every file of a change set, before the first one is changed.
pub(super) fn all(changes: &ChangeSet, folder: &Folder) -> Result<(), Error> {
    walk(folder, &changes.root)?;
    let changed = changes.changes.par_iter().with_min_len(32);
    changed.try_for_each_init(
        || folder.walk(),
        |walk, change| {
            let path = changes.root.join(&change.path);
            let is_as_seen = match walk {
                Ok(walk) => check_early(walk, change).map_err(Error::reading(&path))?,
                Err(_) => false,
            };
            if is_as_seen {
                Ok(())
            } else {
                Err(Error::Changed { path })
            }
        },
    )
}

/// Whether one file is unchanged, right before it is replaced or deleted.
pub(super) fn one(walk: &mut Walk<'_>, change: &FileChange) -> io::Result<bool> {
    Ok(match (change.kind, content(walk, &change.path)?) {
        // A file to delete may be gone already.
        (ChangeKind::Created | ChangeKind::Deleted, Content::Nothing) => true,
        (ChangeKind::Updated | ChangeKind::Deleted, Content::File(sum)) => sum == change.seen,
        _ => false,
    })
}

/// The check before deletions made room: a folder may still exist at the path of a file, and a file at that of its folder.
fn check_early(walk: &mut Walk<'_>, change: &FileChange) -> io::Result<bool> {
    match change.kind {
        ChangeKind::Created => {
            let state = walk.inspect(&change.path)?;
            Ok(matches!(
                state,
                PathState::Nothing | PathState::Folder | PathState::BelowFile(_)
            ))
        }
        ChangeKind::Updated | ChangeKind::Deleted => one(walk, change),
    }
}

/// The content of a path.
enum Content {
    Nothing,
    /// A file with its digest, or without one if it is very long.
    File(Option<Sum>),
    Other,
}

fn content(walk: &mut Walk<'_>, path: &str) -> io::Result<Content> {
    Ok(match walk.inspect(path)? {
        PathState::Nothing | PathState::BelowFile(_) => Content::Nothing,
        PathState::File(_) => {
            let bytes = walk.read(path, LONGEST)?;
            Content::File(bytes.as_deref().map(ownership::sum))
        }
        _ => Content::Other,
    })
}

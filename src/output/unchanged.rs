//! Whether what is on disk is still what a plan saw there: what another program changed meanwhile is not written over.

use std::io;

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::plan::{LONGEST, unreadable, walk};
use crate::error::Error;
use crate::files::{Folder, Standing, Walk};
use crate::model::manifest::{Change, ChangeKind, ChangeSet};
use crate::model::ownership::{self, Sum};

/// Every file of a change set, before the first is touched.
pub(super) fn all(changes: &ChangeSet, folder: &Folder) -> Result<(), Error> {
    walk(folder, &changes.root)?;
    let changed = changes.changes.par_iter().with_min_len(32);
    changed.try_for_each_init(
        || folder.walk(),
        |walk, change| {
            let path = changes.root.join(&change.path);
            let is_as_seen = match walk {
                Ok(walk) => early(walk, change).map_err(unreadable(&path))?,
                Err(_) => false,
            };
            match is_as_seen {
                true => Ok(()),
                false => Err(Error::Changed { path }),
            }
        },
    )
}

/// Whether one file is as seen, right before it is renamed upon or deleted.
pub(super) fn one(walk: &mut Walk<'_>, change: &Change) -> io::Result<bool> {
    Ok(match (change.kind, look(walk, &change.path)?) {
        // What is to be deleted may be gone.
        (ChangeKind::Created | ChangeKind::Deleted, Look::Nothing) => true,
        (ChangeKind::Updated | ChangeKind::Deleted, Look::File(sum)) => sum == change.seen,
        _ => false,
    })
}

/// The paths of new files where others' files are.
pub(super) fn foreign<'c>(changes: &'c ChangeSet, folder: &Folder) -> Vec<&'c str> {
    let Ok(mut walk) = walk(folder, &changes.root) else {
        return Vec::new();
    };
    let is_foreign = |change: &&Change| {
        let new = change.new.as_deref();
        let new = new.map(|text| ownership::sum(text.as_bytes()));
        change.kind == ChangeKind::Created
            && match look(&mut walk, &change.path) {
                Ok(Look::Nothing) => false,
                Ok(Look::File(sum)) => sum != new,
                _ => true,
            }
    };
    let found = changes.changes.iter().filter(is_foreign);
    found.map(|change| &*change.path).collect()
}

/// Before deletions made room: a folder may still be at the path of a file, and a file at that of its folder.
fn early(walk: &mut Walk<'_>, change: &Change) -> io::Result<bool> {
    match change.kind {
        ChangeKind::Created => {
            let standing = walk.look(&change.path)?;
            Ok(matches!(
                standing,
                Standing::Nothing | Standing::Folder | Standing::Behind(_)
            ))
        }
        ChangeKind::Updated | ChangeKind::Deleted => one(walk, change),
    }
}

/// What is at a path.
enum Look {
    Nothing,
    /// A file with that sum, or a very long one.
    File(Option<Sum>),
    Other,
}

fn look(walk: &mut Walk<'_>, path: &str) -> io::Result<Look> {
    Ok(match walk.look(path)? {
        Standing::Nothing | Standing::Behind(_) => Look::Nothing,
        Standing::File(_) => {
            let bytes = walk.read(path, LONGEST)?;
            Look::File(bytes.as_deref().map(ownership::sum))
        }
        _ => Look::Other,
    })
}

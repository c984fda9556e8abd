//! Whether what stands on disk is still what a plan saw there: what another program changed meanwhile is not written over.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::plan::bytes;
use crate::error::Error;
use crate::model::manifest::{Change, ChangeKind, ChangeSet};
use crate::model::ownership::{self, Sum};

/// Every file of a change set, before the first is touched.
pub(super) fn all(changes: &ChangeSet) -> Result<(), Error> {
    let changed = changes.changes.par_iter().with_min_len(32);
    changed.try_for_each(|change| match early(&changes.root, change)? {
        true => Ok(()),
        false => Err(changed_file(&changes.root, change)),
    })
}

/// One file, right before it is renamed upon or deleted.
pub(super) fn one(root: &Path, change: &Change) -> Result<(), Error> {
    match is_as_seen(root, change)? {
        true => Ok(()),
        false => Err(changed_file(root, change)),
    }
}

/// The places of new files where others' files stand.
pub(super) fn foreign(changes: &ChangeSet) -> Vec<&str> {
    let is_foreign = |change: &&Change| {
        let new = change
            .new
            .as_deref()
            .map(|text| ownership::sum(text.as_bytes()));
        change.kind == ChangeKind::Created
            && !matches!(look(&changes.root.join(&change.path)), Ok(Look::Nothing))
            && !matches!(look(&changes.root.join(&change.path)), Ok(Look::File(sum)) if sum == new)
    };
    let found = changes.changes.iter().filter(is_foreign);
    found.map(|change| &*change.path).collect()
}

/// Before deletions made room: a folder may still stand in the place of a file, and a file in that of its folder.
fn early(root: &Path, change: &Change) -> Result<bool, Error> {
    match change.kind {
        ChangeKind::Created => match fs::symlink_metadata(root.join(&change.path)) {
            Ok(standing) => Ok(standing.is_dir()),
            Err(_) => Ok(true),
        },
        ChangeKind::Updated | ChangeKind::Deleted => is_as_seen(root, change),
    }
}

fn is_as_seen(root: &Path, change: &Change) -> Result<bool, Error> {
    let path = root.join(&change.path);
    let looked = look(&path).map_err(|cause| Error::Read { path, cause })?;
    Ok(match (change.kind, looked) {
        // What is to be deleted may be gone.
        (ChangeKind::Created | ChangeKind::Deleted, Look::Nothing) => true,
        (ChangeKind::Updated | ChangeKind::Deleted, Look::File(sum)) => sum == change.seen,
        _ => false,
    })
}

/// What stands at a path.
enum Look {
    Nothing,
    /// A file with that sum, or a very long one.
    File(Option<Sum>),
    Other,
}

fn look(path: &Path) -> std::io::Result<Look> {
    match fs::symlink_metadata(path) {
        Ok(standing) if standing.is_file() => {
            let bytes = bytes(path, standing.len())?;
            Ok(Look::File(bytes.as_deref().map(ownership::sum)))
        }
        Ok(_) => Ok(Look::Other),
        Err(cause) if is_absent(cause.kind()) => Ok(Look::Nothing),
        Err(cause) => Err(cause),
    }
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn changed_file(root: &Path, change: &Change) -> Error {
    Error::Changed {
        path: root.join(&change.path),
    }
}

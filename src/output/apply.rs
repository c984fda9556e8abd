//! Applies a change set to disk, in an order in which a killed run leaves only complete files.

use std::collections::{BTreeSet, HashSet};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use oci_artifacts::portable_path;
use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::plan::walk;
use super::unchanged;
use crate::budget;
use crate::error::Error;
use crate::files::{Folder, Walk};
use crate::model::manifest::{ChangeSet, FileChange, STAGED};
use crate::model::old_list::OLD_LIST;

/// Writes and deletes the files of a plan. Does nothing if there are none.
///
/// The folder is locked meanwhile, and nothing is written if a file has changed since the plan was made. The lock is the
/// operating system's, on the folder itself, so a killed run leaves none behind. On file systems without locks only the check
/// protects.
pub fn apply(changes: &ChangeSet) -> Result<(), Error> {
    let phases = phases(changes);
    if phases.is_empty() {
        return Ok(());
    }
    let _work = budget::enter("the writing of rendered files")?;
    let _locked = lock_folder(changes)?;
    run(changes, &phases)
}

/// Whether all files are still as the plan saw them.
///
/// # Errors
/// One of them cannot be read.
pub fn is_as_planned(changes: &ChangeSet) -> Result<bool, Error> {
    match unchanged::all(changes, &folder(changes)) {
        Err(Error::Changed { .. }) => Ok(false),
        answer => answer.map(|()| true),
    }
}

/// Locks the folder, and verifies that it is in the state that the plan was made for.
fn lock_folder(changes: &ChangeSet) -> Result<Locked, Error> {
    let (root, folder) = (&changes.root, folder(changes));
    folder.make().map_err(Error::writing(root))?;
    let locked = lock(&folder, root)?;
    unchanged::all(changes, &folder)?;
    Ok(locked)
}

fn folder(changes: &ChangeSet) -> Folder {
    Folder::new(&changes.root, changes.base.as_deref())
}

fn run(changes: &ChangeSet, phases: &[Vec<ApplyStep<'_>>]) -> Result<(), Error> {
    let folder = folder(changes);
    for phase in phases {
        let done = phase.par_iter().with_min_len(32).try_for_each_init(
            || walk(&folder, &changes.root),
            |walk, step| match walk {
                Ok(walk) => step.run_in(walk),
                Err(_) => step.run(),
            },
        );
        if done.is_err() {
            let mut walk = walk(&folder, &changes.root)?;
            let steps = phases.iter().flatten();
            steps.for_each(|step| step.clean_up(&mut walk));
        }
        done?;
    }
    Ok(())
}

pub(super) fn busy(root: &Path) -> Error {
    let (path, by) = (root.to_owned(), String::new());
    Error::Busy { path, by }
}

/// The steps of a change set, in phases. The steps of one phase can run in any order and in parallel.
pub fn phases(changes: &ChangeSet) -> Vec<Vec<ApplyStep<'_>>> {
    let mut phases = Vec::new();
    if !changes.litter.is_empty() {
        phases.push(
            changes
                .litter
                .iter()
                .map(|path| Action::Sweep(path))
                .collect(),
        );
    }
    if !changes.changes.is_empty() {
        phases.extend(file_phases(changes));
    }
    if !changes.folders.is_empty() {
        phases.push(vec![Action::RemoveFolders(&changes.folders)]);
    }
    let step = |action| ApplyStep { changes, action };
    phases
        .into_iter()
        .map(|actions: Vec<_>| actions.into_iter().map(step).collect())
        .collect()
}

/// Everything is staged before anything is renamed, so that a full disk is detected before any file changes. A list of an earlier
/// version goes last, for until then it says whose files are.
fn file_phases(changes: &ChangeSet) -> [Vec<Action<'_>>; 7] {
    let (early, late) = deletions(&changes.changes);
    let (lists, late): (Vec<_>, Vec<_>) = late
        .into_iter()
        .partition(|change| change.path.ends_with(OLD_LIST));
    let stage = |(number, change)| Action::Stage(change, number);
    let rename = |(number, change)| Action::Rename(change, number);
    [
        early.into_iter().map(Action::Delete).collect(),
        vec![Action::RemoveFolders(&changes.folders)],
        folders_to_make(changes).map(Action::MakeFolder).collect(),
        writes(changes).map(stage).collect(),
        writes(changes).map(rename).collect(),
        late.into_iter().map(Action::Delete).collect(),
        lists.into_iter().map(Action::Delete).collect(),
    ]
}

fn writes(changes: &ChangeSet) -> impl Iterator<Item = (usize, &FileChange)> {
    let numbered = changes.changes.iter().enumerate();
    numbered.filter(|(_, change)| change.new.is_some())
}

/// One step, which is executed completely or not at all.
pub struct ApplyStep<'a> {
    changes: &'a ChangeSet,
    action: Action<'a>,
}

enum Action<'a> {
    Sweep(&'a str),
    Delete(&'a FileChange),
    RemoveFolders(&'a [String]),
    MakeFolder(&'a str),
    Stage(&'a FileChange, usize),
    Rename(&'a FileChange, usize),
}

impl ApplyStep<'_> {
    /// Executes the step. Repeating it does no harm.
    pub fn run(&self) -> Result<(), Error> {
        let folder = folder(self.changes);
        self.run_in(&mut walk(&folder, &self.changes.root)?)
    }

    fn run_in(&self, walk: &mut Walk<'_>) -> Result<(), Error> {
        let failed = |path: &str| Error::writing(self.changes.root.join(path));
        match &self.action {
            Action::Sweep(path) => remove(walk, path).map_err(failed(path)),
            Action::Delete(change) => {
                self.check_unchanged(walk, change)?;
                remove(walk, &change.path).map_err(failed(&change.path))
            }
            Action::RemoveFolders(folders) => {
                // A folder that is not empty, or no longer exists, is left alone.
                for folder in *folders {
                    let _ = walk.remove_folder(folder);
                }
                Ok(())
            }
            Action::MakeFolder(folder) => walk.make_folder(folder).map_err(failed(folder)),
            Action::Stage(change, number) => {
                let text = change.new.as_deref().unwrap_or_default();
                let staged = staging_path(&change.path, *number);
                write_new(walk, &staged, text).map_err(failed(&change.path))
            }
            Action::Rename(change, number) => {
                self.check_unchanged(walk, change)?;
                let staged = staging_path(&change.path, *number);
                walk.rename(&staged, &change.path)
                    .map_err(failed(&change.path))
            }
        }
    }

    fn check_unchanged(&self, walk: &mut Walk<'_>, change: &FileChange) -> Result<(), Error> {
        let path = self.changes.root.join(&change.path);
        if unchanged::one(walk, change).map_err(Error::reading(&path))? {
            Ok(())
        } else {
            Err(Error::Changed { path })
        }
    }

    /// Removes the staged file of this step, after another step failed.
    fn clean_up(&self, walk: &mut Walk<'_>) {
        if let Action::Stage(change, number) = &self.action {
            let _ = walk.remove(&staging_path(&change.path, *number));
        }
    }
}

/// The path where a file is written before it is renamed: in the same folder, under a name that the run owns.
pub(super) fn staging_path(path: &str, number: usize) -> String {
    match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{STAGED}{number}"),
        None => format!("{STAGED}{number}"),
    }
}

/// Deletions before the writes, and deletions after them. A file is deleted first if it exists where a folder is needed, in a
/// folder where a file is needed, or under a name that differs only in letter case. All others come last, so that a killed run
/// leaves too many files rather than too few.
fn deletions(changes: &[FileChange]) -> (Vec<&FileChange>, Vec<&FileChange>) {
    let (written, deleted): (Vec<&FileChange>, Vec<&FileChange>) = changes
        .iter()
        .partition(|change: &&FileChange| change.new.is_some());
    let lower = |changes: &[&FileChange]| -> Vec<String> {
        let paths = changes
            .iter()
            .map(|change| portable_path::fold(&change.path));
        paths.collect()
    };
    let (written, deleted_lower) = (lower(&written), lower(&deleted));
    let files: HashSet<&str> = written.iter().map(String::as_str).collect();
    let folders: HashSet<&str> = written
        .iter()
        .flat_map(|path| portable_path::folders_above(path))
        .collect();
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for (change, lower) in deleted.into_iter().zip(&deleted_lower) {
        let blocks = files.contains(&**lower)
            || folders.contains(&**lower)
            || portable_path::folders_above(lower).any(|folder| files.contains(folder));
        if blocks { &mut early } else { &mut late }.push(change);
    }
    (early, late)
}

/// The folders of the files to write, without the root, which exists.
fn folders_to_make(changes: &ChangeSet) -> impl Iterator<Item = &str> {
    let folders: BTreeSet<&str> = writes(changes)
        .filter_map(|(_, change)| change.path.rsplit_once('/'))
        .map(|(folder, _)| folder)
        .collect();
    folders.into_iter()
}

/// A folder that is locked until this is dropped; none if it cannot be locked.
pub(super) struct Locked(Option<File>);

impl Drop for Locked {
    /// Unlocks explicitly: closing is not enough while a child process, started by another thread, shares the open folder.
    fn drop(&mut self) {
        let _ = self.0.as_ref().map(File::unlock);
    }
}

/// Locks the folder.
pub(super) fn lock(folder: &Folder, root: &Path) -> Result<Locked, Error> {
    let Ok(folder) = folder.open() else {
        return Ok(Locked(None));
    };
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => Err(busy(root)),
        _ => Ok(Locked(Some(folder))),
    }
}

/// Creates a file. A leftover or a link at the path is removed first.
pub(super) fn create(walk: &mut Walk<'_>, path: &str) -> io::Result<File> {
    match walk.create(path) {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
            remove(walk, path)?;
            walk.create(path)
        }
        created => created,
    }
}

fn write_new(walk: &mut Walk<'_>, path: &str, text: &str) -> io::Result<()> {
    let written = create(walk, path).and_then(|mut file| file.write_all(text.as_bytes()));
    if written.is_err() {
        // Best effort: an incomplete file under a staged name does no harm.
        let _ = walk.remove(path);
    }
    written
}

pub(super) fn remove(walk: &mut Walk<'_>, path: &str) -> io::Result<()> {
    match walk.remove(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::Locked;

    #[test]
    fn a_folder_is_free_again_although_somebody_else_has_it_open() {
        let root = tempfile::tempdir().expect("a scratch folder");
        let open = || File::open(root.path()).expect("opened");
        let folder = open();
        folder.try_lock().expect("free");
        // A child process shares the open folder in the same way.
        let shared = folder.try_clone().expect("shared");
        assert!(open().try_lock().is_err());
        drop(Locked(Some(folder)));
        open().try_lock().expect("free again");
        drop(shared);
    }
}

//! A change set onto disk, in an order in which a killed run leaves whole files and loses track of none.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::join::folders_above;
use super::plan::ownership;
use super::standing::{Inspector, Standing};
use super::unchanged;
use crate::error::Error;
use crate::model::manifest::{Change, ChangeSet, OWNERSHIP_FILE, STAGED};
use crate::model::ownership::Record;

/// The ownership file while it is being written.
pub(super) const TORN_RECORD: &str = ".metalmark-tmp-owned";

/// Writes, deletes and records what a plan says. Nothing happens where nothing changes.
///
/// Holds the output folder against other runs while it does so, and refuses to write where another run has written since
/// the plan was made. The lock is the system's, on the folder itself: a killed run leaves none behind. On file systems
/// without locks only the second check holds.
pub fn apply(changes: &ChangeSet) -> Result<(), Error> {
    apply_all(std::slice::from_ref(changes))
}

/// Applies several plans. Where one folder is not what its plan saw, none is written to.
pub fn apply_all(plans: &[ChangeSet]) -> Result<(), Error> {
    let mut ready = Vec::new();
    for changes in plans {
        let phases = phases(changes);
        if !phases.is_empty() {
            ready.push((changes, phases, locked(changes)?));
        }
    }
    ready
        .iter()
        .try_for_each(|(changes, phases, _)| run(changes, phases))
}

/// The folder held against other runs, and found as the plan saw it.
fn locked(changes: &ChangeSet) -> Result<Locked, Error> {
    let root = &changes.root;
    fs::create_dir_all(root).map_err(unwritable(root))?;
    let locked = lock(root)?;
    if ownership(root)? != changes.ownership.before {
        return Err(busy(root));
    }
    unchanged::all(changes)?;
    Ok(locked)
}

fn run(changes: &ChangeSet, phases: &[Vec<Step<'_>>]) -> Result<(), Error> {
    for phase in phases {
        let done = phase
            .par_iter()
            .with_min_len(32)
            .try_for_each(|step| step.run());
        if done.is_err() {
            phases.iter().flatten().for_each(Step::clean_up);
            disown(changes);
        }
        done?;
    }
    Ok(())
}

/// After a step could not be done: a file that came to stand in the place of a new one is nobody's of ours, and the
/// ownership file has named it already.
fn disown(changes: &ChangeSet) {
    let foreign = unchanged::foreign(changes);
    if foreign.is_empty() {
        return;
    }
    let text = Record::without(&changes.ownership.during, &foreign);
    let (root, action) = (&*changes.root, Action::Record(Some(&text)));
    // The disk that refused the step may refuse this too; then the next run calls the file edited by hand.
    let _ = Step { root, action }.run();
}

pub(super) fn busy(root: &Path) -> Error {
    let (path, by) = (root.to_owned(), String::new());
    Error::Busy { path, by }
}

/// The steps of a change set: phase after phase; within one, in any order or at once.
pub fn phases(changes: &ChangeSet) -> Vec<Vec<Step<'_>>> {
    let mut phases = Vec::new();
    if changes.ownership.unfinished {
        phases.push(
            leftovers(&changes.root, changes.ownership.before.as_deref())
                .map(Action::Sweep)
                .collect(),
        );
    }
    if !changes.changes.is_empty() {
        phases.extend(file_phases(changes));
    }
    if !changes.folders.is_empty() {
        phases.push(vec![Action::RemoveFolders(&changes.folders)]);
    }
    if !changes.changes.is_empty() || changes.ownership_drift() {
        phases.push(vec![Action::Record(changes.ownership.after.as_deref())]);
    }
    let step = |action| Step {
        root: &changes.root,
        action,
    };
    phases
        .into_iter()
        .map(|actions: Vec<_>| actions.into_iter().map(step).collect())
        .collect()
}

/// Nothing is renamed before everything is staged: a full disk is met before any file has changed.
fn file_phases(changes: &ChangeSet) -> [Vec<Action<'_>>; 7] {
    let (early, late) = deletions(&changes.changes);
    let stage = |(number, change)| Action::Stage(change, number);
    let rename = |(number, change)| Action::Rename(change, number);
    [
        vec![Action::Record(Some(&changes.ownership.during))],
        early.into_iter().map(Action::Delete).collect(),
        vec![Action::RemoveFolders(&changes.folders)],
        needed_folders(changes).map(Action::MakeFolder).collect(),
        written(changes).map(stage).collect(),
        written(changes).map(rename).collect(),
        late.into_iter().map(Action::Delete).collect(),
    ]
}

fn written(changes: &ChangeSet) -> impl Iterator<Item = (usize, &Change)> {
    let numbered = changes.changes.iter().enumerate();
    numbered.filter(|(_, change)| change.new.is_some())
}

/// One step: done whole or not at all.
pub struct Step<'a> {
    root: &'a Path,
    action: Action<'a>,
}

enum Action<'a> {
    Record(Option<&'a str>),
    Sweep(String),
    Delete(&'a Change),
    RemoveFolders(&'a [String]),
    MakeFolder(&'a str),
    Stage(&'a Change, usize),
    Rename(&'a Change, usize),
}

impl Step<'_> {
    /// Does it. Doing it again does no harm.
    pub fn run(&self) -> Result<(), Error> {
        match &self.action {
            Action::Record(text) => record(self.root, *text),
            Action::Sweep(folder) => sweep(self.root, folder),
            Action::Delete(change) => {
                unchanged::one(self.root, change)?;
                remove(&self.root.join(&change.path))
            }
            Action::RemoveFolders(folders) => {
                // One that is not empty, or already gone, stays as it is.
                for folder in *folders {
                    let _ = fs::remove_dir(self.root.join(folder));
                }
                Ok(())
            }
            Action::MakeFolder(folder) => self.make_folder(folder),
            Action::Stage(change, number) => {
                let text = change.new.as_deref().unwrap_or_default();
                write_new(&self.staged(change, *number), text)
            }
            Action::Rename(change, number) => {
                let path = self.root.join(&change.path);
                unchanged::one(self.root, change)?;
                fs::rename(self.staged(change, *number), &path).map_err(unwritable(&path))
            }
        }
    }

    /// After another step could not be done: takes away what would be litter.
    fn clean_up(&self) {
        if let Action::Stage(change, number) = &self.action {
            let _ = fs::remove_file(self.staged(change, *number));
        }
    }

    /// Makes a folder and those above it, unless a link has come to stand there since the plan was made.
    fn make_folder(&self, folder: &str) -> Result<(), Error> {
        let path = self.root.join(folder);
        match Inspector::new(self.root).look(folder)? {
            Standing::Nothing => fs::create_dir_all(&path).map_err(unwritable(&path)),
            Standing::Folder => Ok(()),
            _ => Err(unwritable(&path)(std::io::Error::other(
                "something else came to stand there",
            ))),
        }
    }

    fn staged(&self, change: &Change, number: usize) -> PathBuf {
        let path = self.root.join(&change.path);
        path.with_file_name(format!("{STAGED}{number}"))
    }
}

/// Takes away what a killed run was writing in a folder.
pub(super) fn sweep(root: &Path, folder: &str) -> Result<(), Error> {
    let Ok(inside) = fs::read_dir(root.join(folder)) else {
        return Ok(());
    };
    for item in inside.flatten() {
        if item.file_name().to_string_lossy().starts_with(STAGED) {
            remove(&item.path())?;
        }
    }
    Ok(())
}

/// Puts the ownership file of a folder in its place whole, or takes it away.
pub(super) fn record(root: &Path, text: Option<&str>) -> Result<(), Error> {
    let path = root.join(OWNERSHIP_FILE);
    let Some(text) = text else {
        return remove(&path);
    };
    let torn = root.join(TORN_RECORD);
    write_new(&torn, text)?;
    fs::rename(&torn, &path).map_err(unwritable(&path))
}

/// Deletions that must come before the writing, because the file stands where a folder is needed, inside a folder where
/// a file is needed, or is the same file where letter case counts nothing; then those that come behind it, so that a
/// killed run leaves too much rather than too little.
fn deletions(changes: &[Change]) -> (Vec<&Change>, Vec<&Change>) {
    let (written, deleted): (Vec<&Change>, Vec<&Change>) = changes
        .iter()
        .partition(|change: &&Change| change.new.is_some());
    let lower = |changes: &[&Change]| -> Vec<String> {
        let paths = changes.iter().map(|change| change.path.to_lowercase());
        paths.collect()
    };
    let (written, deleted_lower) = (lower(&written), lower(&deleted));
    let files: HashSet<&str> = written.iter().map(String::as_str).collect();
    let folders: HashSet<&str> = written
        .iter()
        .flat_map(|path| folders_above(path))
        .collect();
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for (change, lower) in deleted.into_iter().zip(&deleted_lower) {
        let blocks = files.contains(&**lower)
            || folders.contains(&**lower)
            || folders_above(lower).any(|folder| files.contains(folder));
        if blocks { &mut early } else { &mut late }.push(change);
    }
    (early, late)
}

/// The folders of the files to be written; not the root, which exists.
fn needed_folders(changes: &ChangeSet) -> impl Iterator<Item = &str> {
    let folders: BTreeSet<&str> = written(changes)
        .filter_map(|(_, change)| change.path.rsplit_once('/'))
        .map(|(folder, _)| folder)
        .collect();
    folders.into_iter()
}

/// The folders where a killed run may have left staged files: of everything that its ownership file names. Links are not
/// followed.
pub(super) fn leftovers(root: &Path, before: Option<&str>) -> impl Iterator<Item = String> {
    let (record, _) = Record::parse(before.unwrap_or_default());
    let mut inspector = Inspector::new(root);
    let mut folders: BTreeSet<String> = BTreeSet::from([String::new()]);
    for path in record.files.keys() {
        if let Some((folder, _)) = path.rsplit_once('/')
            && !folders.contains(folder)
            && matches!(inspector.look(folder), Ok(Standing::Folder))
        {
            folders.insert(folder.to_owned());
        }
    }
    folders.into_iter()
}

/// A folder that is locked until this is dropped; none where it cannot be.
pub(super) struct Locked(Option<File>);

impl Drop for Locked {
    /// Closing alone does not unlock while a child process, started meanwhile by another thread, shares the open folder.
    fn drop(&mut self) {
        let _ = self.0.as_ref().map(File::unlock);
    }
}

/// Locks the folder.
pub(super) fn lock(root: &Path) -> Result<Locked, Error> {
    let Ok(folder) = File::open(root) else {
        return Ok(Locked(None));
    };
    match folder.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(busy(root)),
        _ => Ok(Locked(Some(folder))),
    }
}

/// Writes a file that must not exist; a leftover, or a link that leads elsewhere, is taken away first.
fn write_new(path: &Path, text: &str) -> Result<(), Error> {
    let created = match File::create_new(path) {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
            remove(path)?;
            File::create_new(path)
        }
        created => created,
    };
    let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
    if written.is_err() {
        // Half a file is in nobody's way.
        let _ = fs::remove_file(path);
    }
    written.map_err(unwritable(path))
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(unwritable(path)(cause)),
        _ => Ok(()),
    }
}

pub(super) fn unwritable(path: &Path) -> impl Fn(std::io::Error) -> Error {
    let path = path.to_owned();
    move |cause| Error::Write {
        path: path.clone(),
        cause,
    }
}

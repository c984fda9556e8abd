//! Copies files of any length into a folder: planned first, then copied, with the same rules as for rendered files, and
//! without holding a file in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oci_artifacts::Body;
use oci_artifacts::portable_path;
use sha2::{Digest as _, Sha256};

use super::apply::{busy, create, leftovers, lock, record, staging_path, sweep, unwritable};
use super::plan::{Foreign, Options, Plan, ownership, unreadable, walk};
use super::refusal::{self, Side};
use crate::error::Error;
use crate::files::{Folder, PathState, Walk};
use crate::model::finding::{Finding, Subject};
use crate::model::manifest::OWNERSHIP_FILE;
use crate::model::output_path;
use crate::model::ownership::{Owned, Record, Sum};

/// A file to copy.
pub struct Incoming {
    /// The path below the folder, `/` between names.
    pub path: String,
    /// Whether it is executable.
    pub is_executable: bool,
    /// Its bytes.
    pub content: Arc<dyn Body>,
}

/// The changes that copying would make.
pub struct CopyPlan {
    root: PathBuf,
    folder: Folder,
    owner: Arc<str>,
    writes: Vec<Writing>,
    /// Files of this owner that are no longer among the files to copy.
    deletes: Vec<String>,
    before: Option<String>,
    /// Whether an earlier run was killed.
    is_unfinished: bool,
    record: Record,
    after: Record,
    /// The number of files that need no change.
    pub unchanged: usize,
    /// Files that are refused; the existing ones are kept.
    pub findings: Vec<Finding>,
}

struct Writing {
    file: Incoming,
    /// The digest of the existing file when the plan was made, if there was one.
    seen: Option<Sum>,
}

impl Writing {
    /// Whether the path is still in the state that the plan saw.
    fn is_as_seen(&self, walk: &mut Walk<'_>) -> io::Result<bool> {
        let path = &self.file.path;
        Ok(match (walk.inspect(path)?, self.seen) {
            (PathState::File(_), Some(seen)) => walk.file(path).and_then(digest)? == seen,
            (state, None) => state == PathState::Nothing,
            _ => false,
        })
    }
}

/// The result of copying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// New files.
    pub created: usize,
    /// Files whose bytes or mode changed.
    pub updated: usize,
    /// Deleted files.
    pub deleted: usize,
    /// Files that needed no change.
    pub unchanged: usize,
}

/// Compares files with those below a folder. Files that an earlier copy of the same owner left there and that are no longer
/// among `files` are to be deleted. `progress` receives the number of compared files.
///
/// # Errors
/// Something cannot be read.
pub fn copy_plan(
    root: &Path,
    options: Options,
    owner: &str,
    files: Vec<Incoming>,
    progress: &dyn Fn(usize),
) -> Result<CopyPlan, Error> {
    let plan = Plan::start(root, options)?;
    let mut walk = walk(&plan.folder, root)?;
    let mut copy = CopyPlan {
        root: root.to_owned(),
        folder: plan.folder.clone(),
        owner: owner.into(),
        writes: Vec::new(),
        deletes: Vec::new(),
        before: plan.before.clone(),
        is_unfinished: plan.unfinished,
        record: plan.record.clone(),
        after: plan.record.clone(),
        unchanged: 0,
        findings: Vec::new(),
    };
    let mut paths = BTreeMap::new();
    for (index, file) in files.into_iter().enumerate() {
        let twin = paths.insert(portable_path::fold(&file.path), file.path.clone());
        match twin {
            Some(twin) => copy.collide(&plan, &twin, &file.path),
            None => copy.compare(&plan, &mut walk, file)?,
        }
        progress(index + 1);
    }
    let kept: BTreeSet<&str> = paths.values().map(String::as_str).collect();
    let gone = plan
        .record
        .files
        .iter()
        .filter(|(path, owned)| *owned.owner == *owner && !kept.contains(path.as_str()));
    for (path, owned) in gone {
        copy.plan_deletion(&plan, &mut walk, path, owned)?;
    }
    Ok(copy)
}

impl CopyPlan {
    /// Whether anything would change.
    pub fn drift(&self) -> bool {
        !self.writes.is_empty() || !self.deletes.is_empty()
    }

    fn compare(&mut self, plan: &Plan, walk: &mut Walk<'_>, file: Incoming) -> Result<(), Error> {
        if let Some(fault) = output_path::fault(&file.path) {
            let finding = refusal::illegal(&file.path, &fault, Subject::default());
            self.findings.push(finding);
            return Ok(());
        }
        let path = self.root.join(&file.path);
        let content = file.content.open().and_then(digest);
        let sum = content.map_err(unreadable(&path))?;
        let seen = match walk.inspect(&file.path).map_err(unreadable(&path))? {
            PathState::Nothing => None,
            PathState::File(_) => {
                let existing = walk.file(&file.path).map_err(unreadable(&path))?;
                let may_run = is_executable(&existing);
                let existing = digest(existing).map_err(unreadable(&path))?;
                let is_same = existing == sum;
                if is_same && may_run == file.is_executable {
                    self.unchanged += 1;
                    self.own(file.path, sum);
                    return Ok(());
                }
                let is_owned = self.record.files.contains_key(&file.path);
                if !is_same && !is_owned && plan.options.foreign == Foreign::Refuse {
                    let shown = plan.display_path(&file.path);
                    self.findings
                        .push(refusal::not_owned(&shown, Subject::default()));
                    return Ok(());
                }
                Some(existing)
            }
            other => {
                self.findings.push(obstacle(plan, &file.path, other));
                return Ok(());
            }
        };
        self.own(file.path.clone(), sum);
        self.writes.push(Writing { file, seen });
        Ok(())
    }

    /// Plans the deletion of a file of an earlier copy, if it was not edited since.
    fn plan_deletion(
        &mut self,
        plan: &Plan,
        walk: &mut Walk<'_>,
        path: &str,
        owned: &Owned,
    ) -> Result<(), Error> {
        let full = self.root.join(path);
        if let PathState::File(_) = walk.inspect(path).map_err(unreadable(&full))? {
            let sum = walk
                .file(path)
                .and_then(digest)
                .map_err(unreadable(&full))?;
            if !owned.sums.contains(&sum) && plan.options.foreign == Foreign::Refuse {
                let shown = plan.display_path(path);
                let finding = refusal::manual_edit(&shown, Subject::default());
                self.findings.push(finding);
                return Ok(());
            }
        }
        self.after.files.remove(path);
        self.deletes.push(path.to_owned());
        Ok(())
    }

    /// Refuses two files whose paths differ only in letter case.
    fn collide(&mut self, plan: &Plan, one: &str, other: &str) {
        let side = |path: &str| Side {
            path: plan.display_path(path),
            owner: &self.owner,
        };
        let finding = refusal::collision(&side(one), &side(other), 1, Subject::default());
        self.findings.push(finding);
    }

    fn own(&mut self, path: String, sum: Sum) {
        let owned = Owned {
            sums: vec![sum],
            owner: Arc::clone(&self.owner),
        };
        self.after.files.insert(path, owned);
    }

    /// Copies the files: first all under staged names, then each is renamed, then the deletions. `progress` receives the number
    /// of copied files.
    ///
    /// # Errors
    /// Something cannot be written, or another run is writing or has written since the plan was made.
    pub fn apply(self, progress: &dyn Fn(usize)) -> Result<Copied, Error> {
        let root = &self.root;
        let mut copied = Copied {
            unchanged: self.unchanged,
            deleted: self.deletes.len(),
            ..Copied::default()
        };
        if !self.drift() && !self.is_unfinished && self.before == self.after.print_finished() {
            return Ok(copied);
        }
        self.folder.make().map_err(unwritable(root))?;
        let _locked = lock(&self.folder, root)?;
        let walk = &mut walk(&self.folder, root)?;
        if ownership(walk, root)? != self.before {
            return Err(busy(root));
        }
        let mut writes = self.writes.iter();
        writes.try_for_each(|write| self.check_unchanged(walk, write))?;
        if self.is_unfinished {
            for folder in leftovers(&self.folder, self.before.as_deref()) {
                sweep(walk, &folder).map_err(unwritable(&root.join(folder)))?;
            }
        }
        let recorded = unwritable(&root.join(OWNERSHIP_FILE));
        let during = self.record.clone().union(&self.after).print_unfinished();
        record(walk, Some(&during)).map_err(&recorded)?;
        let placed = self.stage(walk, progress).and_then(|()| self.place(walk));
        placed.inspect_err(|_| {
            for (number, write) in self.writes.iter().enumerate() {
                let _ = walk.remove(&staging_path(&write.file.path, number));
            }
        })?;
        let new = self.writes.iter().filter(|write| write.seen.is_none());
        copied.created = new.count();
        copied.updated = self.writes.len() - copied.created;
        self.delete(walk)?;
        record(walk, self.after.print_finished().as_deref()).map_err(&recorded)?;
        Ok(copied)
    }

    /// Fails if a file to overwrite has changed since the plan was made.
    fn check_unchanged(&self, walk: &mut Walk<'_>, write: &Writing) -> Result<(), Error> {
        let path = self.root.join(&write.file.path);
        if write.is_as_seen(walk).map_err(unreadable(&path))? {
            Ok(())
        } else {
            Err(Error::Changed { path })
        }
    }

    fn place(&self, walk: &mut Walk<'_>) -> Result<(), Error> {
        for (number, write) in self.writes.iter().enumerate() {
            self.check_unchanged(walk, write)?;
            let path = &write.file.path;
            walk.rename(&staging_path(path, number), path)
                .map_err(unwritable(&self.root.join(path)))?;
        }
        Ok(())
    }

    fn stage(&self, walk: &mut Walk<'_>, progress: &dyn Fn(usize)) -> Result<(), Error> {
        for (number, write) in self.writes.iter().enumerate() {
            let path = &write.file.path;
            let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
            walk.make_folder(folder)
                .map_err(unwritable(&self.root.join(folder)))?;
            copy(walk, &write.file, &staging_path(path, number))
                .map_err(unwritable(&self.root.join(path)))?;
            progress(number + 1);
        }
        Ok(())
    }

    /// Deletes files, and the folders that are empty afterwards.
    fn delete(&self, walk: &mut Walk<'_>) -> Result<(), Error> {
        let mut folders = BTreeSet::new();
        for path in &self.deletes {
            let failed = unwritable(&self.root.join(path));
            if matches!(walk.inspect(path).map_err(&failed)?, PathState::File(_)) {
                walk.remove(path).map_err(&failed)?;
                folders.extend(portable_path::folders_above(path));
            }
        }
        for folder in folders.iter().rev() {
            // A folder with other content is kept.
            let _ = walk.remove_folder(folder);
        }
        Ok(())
    }
}

/// The finding for a path at which something exists that is not a file.
fn obstacle(plan: &Plan, path: &str, state: PathState) -> Finding {
    let (shown, subject) = (plan.display_path(path), Subject::default());
    match state {
        PathState::Link(link) => refusal::link(&shown, &plan.display_path(&link), subject),
        PathState::BelowFile(obstacle) => {
            refusal::obstacle(&shown, &plan.display_path(&obstacle), subject)
        }
        _ => refusal::obstacle(&shown, &shown, subject),
    }
}

/// Copies into a new file; a leftover of a killed run is removed first.
fn copy(walk: &mut Walk<'_>, file: &Incoming, staged: &str) -> io::Result<()> {
    let mut into = create(walk, staged)?;
    io::copy(&mut file.content.open()?, &mut into)?;
    set_executable(&into, file.is_executable)
}

fn digest(mut reader: impl Read) -> io::Result<Sum> {
    /// A writer that hashes.
    struct Hashing(Sha256);
    impl Write for Hashing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hashing = Hashing(Sha256::new());
    io::copy(&mut reader, &mut hashing)?;
    Ok(hashing.0.finalize().into())
}

#[cfg(unix)]
fn set_executable(file: &File, is_executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode();
    if is_executable {
        file.set_permissions(fs::Permissions::from_mode(mode | (mode & 0o444) >> 2))
    } else {
        Ok(())
    }
}

#[cfg(unix)]
fn is_executable(file: &File) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}

/// Windows has no executable bit.
#[cfg(not(unix))]
fn set_executable(_: &File, _: bool) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn is_executable(_: &File) -> bool {
    false
}

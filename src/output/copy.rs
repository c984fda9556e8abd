//! Files of any length and any bytes into a folder: planned, then copied, under the same laws as rendered files, and never held
//! in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::apply::{busy, create, leftovers, lock, record, staged, sweep, unwritable};
use super::join::folders_above;
use super::plan::{Foreign, Options, Plan, ownership, unreadable, walk};
use super::refusal;
use crate::error::Error;
use crate::files::{Folder, Standing, Walk};
use crate::model::finding::{Finding, Subject};
use crate::model::manifest::OWNERSHIP_FILE;
use crate::model::output_path;
use crate::model::ownership::{Owned, Record, Sum};
use crate::oci::Body;

/// A file that is to stand below a folder.
pub struct Incoming {
    /// The path below the folder, `/` between names.
    pub path: String,
    /// Whether it may be run.
    pub is_executable: bool,
    /// Its bytes.
    pub content: Arc<dyn Body>,
}

/// What copying would do.
pub struct CopyPlan {
    root: PathBuf,
    folder: Folder,
    owner: Arc<str>,
    writes: Vec<Writing>,
    /// Files of this owner that are no longer among the files.
    deletes: Vec<String>,
    before: Option<String>,
    /// Whether a run was killed there.
    is_unfinished: bool,
    record: Record,
    after: Record,
    /// How many files stand there already as they are to be.
    pub unchanged: usize,
    /// Files that are refused; what stands there stays.
    pub findings: Vec<Finding>,
}

struct Writing {
    file: Incoming,
    /// What stood there when the plan was made; none where nothing did.
    seen: Option<Sum>,
}

impl Writing {
    /// Whether it is still there.
    fn is_as_seen(&self, walk: &mut Walk<'_>) -> io::Result<bool> {
        let path = &self.file.path;
        Ok(match (walk.look(path)?, self.seen) {
            (Standing::File(_), Some(seen)) => walk.file(path).and_then(digest)? == seen,
            (standing, None) => standing == Standing::Nothing,
            _ => false,
        })
    }
}

/// What copying did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Files that are new.
    pub created: usize,
    /// Files whose bytes or mode changed.
    pub updated: usize,
    /// Files that went.
    pub deleted: usize,
    /// Files that stood there as they are.
    pub unchanged: usize,
}

/// Compares files with what stands below a folder. What an earlier copy under the same owner left there and this one has not
/// is to go.
///
/// # Errors
/// Something cannot be read.
pub fn copy_plan(
    root: &Path,
    options: Options,
    owner: &str,
    files: Vec<Incoming>,
    told: &dyn Fn(usize),
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
        let twin = paths.insert(output_path::folded(&file.path), file.path.clone());
        match twin {
            Some(twin) => copy.collide(&plan, &twin, &file.path),
            None => copy.compare(&plan, &mut walk, file)?,
        }
        told(index + 1);
    }
    let kept: BTreeSet<&str> = paths.values().map(String::as_str).collect();
    let gone = plan
        .record
        .files
        .iter()
        .filter(|(path, owned)| *owned.owner == *owner && !kept.contains(path.as_str()));
    for (path, owned) in gone {
        copy.gone(&plan, &mut walk, path, owned)?;
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
        let seen = match walk.look(&file.path).map_err(unreadable(&path))? {
            Standing::Nothing => None,
            Standing::File(_) => {
                let standing = walk.file(&file.path).map_err(unreadable(&path))?;
                let may_run = is_executable(&standing);
                let standing = digest(standing).map_err(unreadable(&path))?;
                let is_same = standing == sum;
                if is_same && may_run == file.is_executable {
                    self.unchanged += 1;
                    self.own(file.path, sum);
                    return Ok(());
                }
                let is_owned = self.record.files.contains_key(&file.path);
                if !is_same && !is_owned && plan.options.foreign == Foreign::Refuse {
                    let shown = plan.shown(&file.path);
                    self.findings
                        .push(refusal::not_owned(&shown, Subject::default()));
                    return Ok(());
                }
                Some(standing)
            }
            other => {
                self.findings.push(in_the_way(plan, &file.path, other));
                return Ok(());
            }
        };
        self.own(file.path.clone(), sum);
        self.writes.push(Writing { file, seen });
        Ok(())
    }

    /// A file of an earlier copy that this one has not: it is deleted where it is what was copied.
    fn gone(
        &mut self,
        plan: &Plan,
        walk: &mut Walk<'_>,
        path: &str,
        owned: &Owned,
    ) -> Result<(), Error> {
        let full = self.root.join(path);
        if let Standing::File(_) = walk.look(path).map_err(unreadable(&full))? {
            let sum = walk
                .file(path)
                .and_then(digest)
                .map_err(unreadable(&full))?;
            if !owned.sums.contains(&sum) && plan.options.foreign == Foreign::Refuse {
                let shown = plan.shown(path);
                let finding = refusal::edited(&shown, Subject::default());
                self.findings.push(finding);
                return Ok(());
            }
        }
        self.after.files.remove(path);
        self.deletes.push(path.to_owned());
        Ok(())
    }

    /// Two files that are one where letter case counts nothing.
    fn collide(&mut self, plan: &Plan, one: &str, other: &str) {
        let side = |path: &str| (plan.shown(path), &*self.owner);
        let finding = refusal::collision(side(one), side(other), 1, Subject::default());
        self.findings.push(finding);
    }

    fn own(&mut self, path: String, sum: Sum) {
        let owned = Owned {
            sums: vec![sum],
            owner: Arc::clone(&self.owner),
        };
        self.after.files.insert(path, owned);
    }

    /// Copies the files: all beside their places first, then each into its own, then the deletions. Tells after each copy how
    /// many are done.
    ///
    /// # Errors
    /// Something cannot be written; another run writes there, or wrote since the plan was made.
    pub fn apply(self, told: &dyn Fn(usize)) -> Result<Copied, Error> {
        let root = &self.root;
        let mut copied = Copied {
            unchanged: self.unchanged,
            deleted: self.deletes.len(),
            ..Copied::default()
        };
        if !self.drift() && !self.is_unfinished && self.before == self.after.finished() {
            return Ok(copied);
        }
        self.folder.make().map_err(unwritable(root))?;
        let _locked = lock(&self.folder, root)?;
        let walk = &mut walk(&self.folder, root)?;
        if ownership(walk, root)? != self.before {
            return Err(busy(root));
        }
        let mut writes = self.writes.iter();
        writes.try_for_each(|write| self.is_still(walk, write))?;
        if self.is_unfinished {
            for folder in leftovers(&self.folder, self.before.as_deref()) {
                sweep(walk, &folder).map_err(unwritable(&root.join(folder)))?;
            }
        }
        let recorded = unwritable(&root.join(OWNERSHIP_FILE));
        let during = self.record.clone().union(&self.after).unfinished();
        record(walk, Some(&during)).map_err(&recorded)?;
        let placed = self.stage(walk, told).and_then(|()| self.place(walk));
        placed.inspect_err(|_| {
            for (number, write) in self.writes.iter().enumerate() {
                let _ = walk.remove(&staged(&write.file.path, number));
            }
        })?;
        let new = self.writes.iter().filter(|write| write.seen.is_none());
        copied.created = new.count();
        copied.updated = self.writes.len() - copied.created;
        self.delete(walk)?;
        record(walk, self.after.finished().as_deref()).map_err(&recorded)?;
        Ok(copied)
    }

    /// What is to be overwritten has not changed since the plan was made.
    fn is_still(&self, walk: &mut Walk<'_>, write: &Writing) -> Result<(), Error> {
        let path = self.root.join(&write.file.path);
        match write.is_as_seen(walk).map_err(unreadable(&path))? {
            true => Ok(()),
            false => Err(Error::Changed { path }),
        }
    }

    fn place(&self, walk: &mut Walk<'_>) -> Result<(), Error> {
        for (number, write) in self.writes.iter().enumerate() {
            self.is_still(walk, write)?;
            let path = &write.file.path;
            walk.rename(&staged(path, number), path)
                .map_err(unwritable(&self.root.join(path)))?;
        }
        Ok(())
    }

    fn stage(&self, walk: &mut Walk<'_>, told: &dyn Fn(usize)) -> Result<(), Error> {
        for (number, write) in self.writes.iter().enumerate() {
            let path = &write.file.path;
            let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
            walk.make_folder(folder)
                .map_err(unwritable(&self.root.join(folder)))?;
            copy(walk, &write.file, &staged(path, number))
                .map_err(unwritable(&self.root.join(path)))?;
            told(number + 1);
        }
        Ok(())
    }

    /// Deletes what went, and the folders that are empty then.
    fn delete(&self, walk: &mut Walk<'_>) -> Result<(), Error> {
        let mut folders = BTreeSet::new();
        for path in &self.deletes {
            let failed = unwritable(&self.root.join(path));
            if matches!(walk.look(path).map_err(&failed)?, Standing::File(_)) {
                walk.remove(path).map_err(&failed)?;
                folders.extend(folders_above(path));
            }
        }
        for folder in folders.iter().rev() {
            // One that holds something else stays.
            let _ = walk.remove_folder(folder);
        }
        Ok(())
    }
}

/// Why a file is not written where no file stands.
fn in_the_way(plan: &Plan, path: &str, standing: Standing) -> Finding {
    let (shown, subject) = (plan.shown(path), Subject::default());
    match standing {
        Standing::Link(link) => refusal::link(&shown, &plan.shown(&link), subject),
        Standing::Behind(obstacle) => refusal::in_the_way(&shown, &plan.shown(&obstacle), subject),
        _ => refusal::in_the_way(&shown, &shown, subject),
    }
}

/// Into a new file; what a killed run left there is taken away first.
fn copy(walk: &mut Walk<'_>, file: &Incoming, staged: &str) -> io::Result<()> {
    let mut into = create(walk, staged)?;
    io::copy(&mut file.content.open()?, &mut into)?;
    set_executable(&into, file.is_executable)
}

fn digest(mut reader: impl Read) -> io::Result<Sum> {
    /// Feeds what is written to a hash.
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
    match is_executable {
        // Whoever may read it may run it.
        true => file.set_permissions(fs::Permissions::from_mode(mode | (mode & 0o444) >> 2)),
        false => Ok(()),
    }
}

#[cfg(unix)]
fn is_executable(file: &File) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}

/// Windows knows no such mark.
#[cfg(not(unix))]
fn set_executable(_: &File, _: bool) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn is_executable(_: &File) -> bool {
    false
}

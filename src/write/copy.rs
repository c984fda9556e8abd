//! Files of any length and any bytes into a folder: planned, then copied, under the same laws as rendered files, and never held
//! in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::apply::{busy, leftovers, lock, record, sweep, unwritable};
use super::join::folders_above;
use super::plan::{Foreign, Options, Plan, ownership};
use super::refusal;
use super::standing::{Inspector, Standing};
use crate::error::Error;
use crate::model::finding::{Finding, Subject};
use crate::model::manifest::STAGED;
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
    /// Whether it still stands there.
    fn is_as_seen(&self, path: &Path) -> io::Result<bool> {
        match (fs::symlink_metadata(path), self.seen) {
            (Ok(standing), Some(seen)) if standing.is_file() => {
                Ok(File::open(path).and_then(digest)? == seen)
            }
            (Err(cause), None) => Ok(cause.kind() == io::ErrorKind::NotFound),
            _ => Ok(false),
        }
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
    let mut inspector = Inspector::new(root);
    let mut copy = CopyPlan {
        root: root.to_owned(),
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
        let twin = paths.insert(file.path.to_lowercase(), file.path.clone());
        match twin {
            Some(twin) => copy.collide(&plan, &twin, &file.path),
            None => copy.compare(&plan, &mut inspector, file)?,
        }
        told(index + 1);
    }
    let kept: BTreeSet<&str> = paths.values().map(String::as_str).collect();
    let gone = plan
        .record
        .files
        .iter()
        .filter(|(path, owned)| owned.owner == copy.owner && !kept.contains(path.as_str()));
    copy.deletes = gone.map(|(path, _)| path.clone()).collect();
    for path in &copy.deletes {
        copy.after.files.remove(path);
    }
    Ok(copy)
}

impl CopyPlan {
    /// Whether anything would change.
    pub fn drift(&self) -> bool {
        !self.writes.is_empty() || !self.deletes.is_empty()
    }

    fn compare(
        &mut self,
        plan: &Plan,
        inspector: &mut Inspector<'_>,
        file: Incoming,
    ) -> Result<(), Error> {
        if let Some(fault) = output_path::fault(&file.path) {
            let finding = refusal::illegal(&file.path, &fault, Subject::default());
            self.findings.push(finding);
            return Ok(());
        }
        let path = self.root.join(&file.path);
        let content = file.content.open().and_then(digest);
        let sum = content.map_err(unreadable(&path))?;
        let seen = match inspector.look(&file.path)? {
            Standing::Nothing => None,
            Standing::File(_) => {
                let standing = File::open(&path).and_then(digest);
                let standing = standing.map_err(unreadable(&path))?;
                let is_same = standing == sum;
                if is_same && is_executable(&path) == file.is_executable {
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
        fs::create_dir_all(root).map_err(unwritable(root))?;
        let _locked = lock(root)?;
        if ownership(root)? != self.before {
            return Err(busy(root));
        }
        self.writes
            .iter()
            .try_for_each(|write| self.is_still(write))?;
        if self.is_unfinished {
            for folder in leftovers(root, self.before.as_deref()) {
                sweep(root, &folder)?;
            }
        }
        record(
            root,
            Some(&self.record.clone().union(&self.after).unfinished()),
        )?;
        let placed = self.stage(told).and_then(|()| self.place());
        if placed.is_err() {
            for (number, write) in self.writes.iter().enumerate() {
                let _ = fs::remove_file(self.staged(number, write));
            }
        }
        placed?;
        let new = self.writes.iter().filter(|write| write.seen.is_none());
        copied.created = new.count();
        copied.updated = self.writes.len() - copied.created;
        self.delete()?;
        record(root, self.after.finished().as_deref())?;
        Ok(copied)
    }

    /// What is to be overwritten has not changed since the plan was made.
    fn is_still(&self, write: &Writing) -> Result<(), Error> {
        let path = self.root.join(&write.file.path);
        match write.is_as_seen(&path).map_err(unreadable(&path))? {
            true => Ok(()),
            false => Err(Error::Changed { path }),
        }
    }

    fn place(&self) -> Result<(), Error> {
        for (number, write) in self.writes.iter().enumerate() {
            self.is_still(write)?;
            let path = self.root.join(&write.file.path);
            fs::rename(self.staged(number, write), &path).map_err(unwritable(&path))?;
        }
        Ok(())
    }

    fn stage(&self, told: &dyn Fn(usize)) -> Result<(), Error> {
        let mut inspector = Inspector::new(&self.root);
        for (number, write) in self.writes.iter().enumerate() {
            let staged = self.staged(number, write);
            if let Some((folder, _)) = write.file.path.rsplit_once('/')
                && !matches!(inspector.look(folder)?, Standing::Folder)
            {
                let full = self.root.join(folder);
                fs::create_dir_all(&full).map_err(unwritable(&full))?;
                inspector = Inspector::new(&self.root);
                // A link may have come to stand there since the plan was made.
                if !matches!(inspector.look(folder)?, Standing::Folder) {
                    let cause = io::Error::other("something else came to stand there");
                    return Err(unwritable(&full)(cause));
                }
            }
            let written = copy(&write.file, &staged);
            written.map_err(unwritable(&self.root.join(&write.file.path)))?;
            told(number + 1);
        }
        Ok(())
    }

    fn staged(&self, number: usize, write: &Writing) -> PathBuf {
        let path = self.root.join(&write.file.path);
        path.with_file_name(format!("{STAGED}{number}"))
    }

    /// Deletes what went, and the folders that are empty then.
    fn delete(&self) -> Result<(), Error> {
        let mut folders = BTreeSet::new();
        let mut inspector = Inspector::new(&self.root);
        for path in &self.deletes {
            if !matches!(inspector.look(path)?, Standing::File(_)) {
                continue;
            }
            let full = self.root.join(path);
            fs::remove_file(&full).map_err(unwritable(&full))?;
            folders.extend(folders_above(path));
        }
        for folder in folders.iter().rev() {
            // One that holds something else stays.
            let _ = fs::remove_dir(self.root.join(folder));
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

/// Into a file that must not exist; what a killed run left there is taken away first.
fn copy(file: &Incoming, staged: &Path) -> io::Result<()> {
    let created = match File::create_new(staged) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(staged)?;
            File::create_new(staged)
        }
        created => created,
    };
    let mut into = created?;
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

fn unreadable(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |cause| Error::Read {
        path: path.clone(),
        cause,
    }
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
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}

/// Windows knows no such mark.
#[cfg(not(unix))]
fn set_executable(_: &File, _: bool) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

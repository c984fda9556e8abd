//! Copies files of any length into a folder, without holding one in memory: planned first, then copied. The folder is new or
//! empty, or it holds these files; else nothing says whose the others are, and it is refused.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oci_artifacts::Body;
use oci_artifacts::portable_path;
use sha2::{Digest as _, Sha256};

use super::apply::{create, lock, remove, staging_path};
use super::plan::{Foreign, join, walk};
use super::refusal::{self, Side};
use crate::error::Error;
use crate::files::{Folder, PathState, Walk};
use crate::model::finding::{Finding, Subject};
use crate::model::manifest::STAGED;
use crate::model::output_path;
use crate::model::ownership::Sum;

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
    shown: String,
    folder: Folder,
    writes: Vec<Writing>,
    /// What a killed run was writing.
    litter: Vec<String>,
    /// The number of files that need no change.
    pub unchanged: usize,
    /// What is refused; then nothing is to be copied.
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
    /// Files that needed no change.
    pub unchanged: usize,
}

/// Compares files with those below a folder, which is `shown` as the user writes it. Below the top of a repository no link is
/// followed: it may be the repository's. `progress` receives the number of compared files.
///
/// # Errors
/// Something cannot be read.
pub fn copy_plan(
    root: &Path,
    shown: &str,
    foreign: Foreign,
    files: Vec<Incoming>,
    progress: &dyn Fn(usize),
) -> Result<CopyPlan, Error> {
    let mut copy = CopyPlan {
        folder: Folder::locate(root).map_err(Error::reading(root))?,
        root: root.to_owned(),
        shown: shown.to_owned(),
        writes: Vec::new(),
        litter: Vec::new(),
        unchanged: 0,
        findings: Vec::new(),
    };
    let folder = copy.folder.clone();
    let mut walk = walk(&folder, &copy.root)?;
    let mut paths = BTreeMap::new();
    for (index, file) in files.into_iter().enumerate() {
        let twin = paths.insert(portable_path::fold(&file.path), file.path.clone());
        match twin {
            Some(twin) => copy.collide(&twin, &file.path),
            None => copy.compare(&mut walk, file, foreign)?,
        }
        progress(index + 1);
    }
    let others = copy.search(&mut walk, "", &|path| {
        paths.contains_key(&portable_path::fold(path))
    })?;
    if let Some(other) = others.first().filter(|_| foreign == Foreign::Refuse) {
        let finding = refusal::not_empty(shown, &copy.display_path(other), others.len());
        copy.findings.push(finding);
    }
    Ok(copy)
}

impl CopyPlan {
    /// Whether anything would change.
    pub fn drift(&self) -> bool {
        !self.writes.is_empty()
    }

    fn display_path(&self, path: &str) -> String {
        match &*self.shown {
            "" | "." => path.to_owned(),
            shown => format!("{}/{path}", shown.trim_end_matches('/')),
        }
    }

    fn compare(
        &mut self,
        walk: &mut Walk<'_>,
        file: Incoming,
        foreign: Foreign,
    ) -> Result<(), Error> {
        if let Some(fault) = output_path::fault(&file.path) {
            let finding = refusal::illegal(&file.path, &fault, Subject::default());
            self.findings.push(finding);
            return Ok(());
        }
        let (path, shown) = (self.root.join(&file.path), self.display_path(&file.path));
        let subject = Subject::default();
        let state = walk.inspect(&file.path).map_err(Error::reading(&path))?;
        let refused = match state {
            PathState::Nothing => {
                self.writes.push(Writing { file, seen: None });
                return Ok(());
            }
            PathState::File(_) => {
                let content = file.content.open().and_then(digest);
                let new = content.map_err(Error::reading(&path))?;
                let existing = walk.file(&file.path).map_err(Error::reading(&path))?;
                let may_run = is_executable(&existing);
                let existing = digest(existing).map_err(Error::reading(&path))?;
                let is_same = existing == new;
                if is_same && may_run == file.is_executable {
                    self.unchanged += 1;
                    return Ok(());
                }
                if is_same || foreign == Foreign::Adopt {
                    let seen = Some(existing);
                    self.writes.push(Writing { file, seen });
                    return Ok(());
                }
                refusal::not_owned(&shown, None, subject)
            }
            PathState::Link(link) => refusal::link(&shown, &self.display_path(&link), subject),
            PathState::BelowFile(obstacle) => {
                refusal::obstacle(&shown, &self.display_path(&obstacle), subject)
            }
            PathState::Folder | PathState::Special => refusal::obstacle(&shown, &shown, subject),
        };
        self.findings.push(refused);
        Ok(())
    }

    /// What is in a folder beside the files to copy.
    fn search(
        &mut self,
        walk: &mut Walk<'_>,
        folder: &str,
        is_copied: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, Error> {
        let path = self.root.join(folder);
        let mut others = Vec::new();
        if walk.inspect(folder).map_err(Error::reading(&path))? != PathState::Folder {
            return Ok(others);
        }
        let Ok(inside) = walk.list(folder) else {
            return Ok(others);
        };
        for (name, state) in inside {
            let path = join(folder, &name);
            match state {
                PathState::Folder => others.extend(self.search(walk, &path, is_copied)?),
                PathState::File(_) if name.starts_with(STAGED) => self.litter.push(path),
                _ if is_copied(&path) => {}
                _ => others.push(path),
            }
        }
        Ok(others)
    }

    /// Refuses two files whose paths differ only in letter case.
    fn collide(&mut self, one: &str, other: &str) {
        let side = |path: &str| Side {
            path: self.display_path(path),
            maker: "the bundle",
        };
        let finding = refusal::collision(&side(one), &side(other), 1, Subject::default());
        self.findings.push(finding);
    }

    /// Copies the files: first all under staged names, then each is renamed. `progress` receives the number of copied files.
    ///
    /// # Errors
    /// Something cannot be written, or another run is writing or has written since the plan was made.
    pub fn apply(self, progress: &dyn Fn(usize)) -> Result<Copied, Error> {
        let root = &self.root;
        let mut copied = Copied {
            unchanged: self.unchanged,
            ..Copied::default()
        };
        if !self.drift() && self.litter.is_empty() {
            return Ok(copied);
        }
        self.folder.make().map_err(Error::writing(root))?;
        let _locked = lock(&self.folder, root)?;
        let walk = &mut walk(&self.folder, root)?;
        let mut writes = self.writes.iter();
        writes.try_for_each(|write| self.check_unchanged(walk, write))?;
        for path in &self.litter {
            remove(walk, path).map_err(Error::writing(root.join(path)))?;
        }
        let placed = self.stage(walk, progress).and_then(|()| self.place(walk));
        placed.inspect_err(|_| {
            for (number, write) in self.writes.iter().enumerate() {
                let _ = walk.remove(&staging_path(&write.file.path, number));
            }
        })?;
        let new = self.writes.iter().filter(|write| write.seen.is_none());
        copied.created = new.count();
        copied.updated = self.writes.len() - copied.created;
        Ok(copied)
    }

    /// Fails if a file to overwrite has changed since the plan was made.
    fn check_unchanged(&self, walk: &mut Walk<'_>, write: &Writing) -> Result<(), Error> {
        let path = self.root.join(&write.file.path);
        if write.is_as_seen(walk).map_err(Error::reading(&path))? {
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
                .map_err(Error::writing(self.root.join(path)))?;
        }
        Ok(())
    }

    fn stage(&self, walk: &mut Walk<'_>, progress: &dyn Fn(usize)) -> Result<(), Error> {
        for (number, write) in self.writes.iter().enumerate() {
            let path = &write.file.path;
            let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
            walk.make_folder(folder)
                .map_err(Error::writing(self.root.join(folder)))?;
            copy(walk, &write.file, &staging_path(path, number))
                .map_err(Error::writing(self.root.join(path)))?;
            progress(number + 1);
        }
        Ok(())
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

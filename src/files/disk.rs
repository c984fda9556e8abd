//! [`Files`] on disk.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{FileType, ReadDir};
use parking_lot::{Mutex, MutexGuard};

use super::left_out::LeftOut;
use super::scope::is_outside;
use super::{Below, Content, Files, Found, Scope, plain_path};
use crate::error::Error;
use crate::model::manifest::STAGED;

/// The files below a folder on disk, and what a scope allows outside it.
#[derive(Clone, Debug)]
pub struct Disk {
    root: PathBuf,
    /// The root, with links resolved.
    real: PathBuf,
    /// Access to the root only.
    inner: Scope,
    /// Access to everything that may be read.
    scope: Scope,
    /// The paths of files that were read last without a link on the way, so that [`Files::leads_to`] need not look again.
    linkless: Arc<Mutex<HashSet<PathBuf>>>,
    /// What is not there although git has it: not known, where others are gone.
    left_out: Arc<LeftOut>,
}

impl Disk {
    /// The folder `root`, with access to the repository that it is in.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn new(root: &Path) -> Result<Self, Error> {
        Self::with_scope(root, Scope::repository(root)?)
    }

    /// The folder `root`, with access to what a scope allows.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn with_scope(root: &Path, scope: Scope) -> Result<Self, Error> {
        let inner = Scope::folder(root)?;
        Ok(Self {
            root: root.to_owned(),
            real: inner.top().to_owned(),
            inner,
            scope,
            linkless: Arc::default(),
            left_out: Arc::new(LeftOut::from_work_tree(root)?),
        })
    }

    fn read(&self, scope: &Scope, path: &Path) -> io::Result<Content> {
        let full = self.real.join(path);
        let read = scope.read(&full).map_err(|cause| {
            let is_broken = |path: &Path| path.is_symlink() && !path.exists();
            let mut on_the_way = full.ancestors().take_while(|path| *path != self.real);
            let leads_nowhere = cause.kind() == ErrorKind::NotFound && on_the_way.any(is_broken);
            if leads_nowhere {
                io::Error::other(LEADS_NOWHERE)
            } else {
                cause
            }
        })?;
        if read.bytes.starts_with(LFS_POINTER) {
            return Err(io::Error::other(Pointer));
        }
        if read.is_linkless {
            self.linkless().insert(path.to_owned());
            return Ok(read.bytes.into());
        }
        self.linkless().remove(path);
        Ok(Content::new(read.bytes, self.leads_to(path)))
    }

    /// Whether nothing is at a path because git has not checked it out.
    fn is_left_out(&self, path: &Path) -> bool {
        self.left_out.has(&plain_path(&self.real.join(path)))
    }

    fn linkless(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.linkless.lock()
    }

    fn unreadable(&self, path: &Path) -> impl Fn(io::Error) -> Error {
        let path = self.root.join(path);
        move |cause| match cause.get_ref() {
            Some(inner) if inner.is::<Pointer>() => Error::Pointer {
                path: path.clone(),
                why: format!(": {Pointer}"),
            },
            _ => Error::Read {
                path: path.clone(),
                cause,
            },
        }
    }
}

impl Files for Disk {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        match self.read(&self.inner, path) {
            Ok(content) => Ok(Found::File(content)),
            Err(cause) if is_outside(&cause) => Ok(Found::Outside),
            Err(cause) if is_no_file(&cause) => {
                self.is_left_out(path);
                Ok(Found::Nothing)
            }
            Err(cause) => Err(self.unreadable(path)(cause)),
        }
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        let scope = if path.is_absolute() {
            &self.scope
        } else {
            &self.inner
        };
        let full = plain_path(&self.real.join(path));
        let mut lacking = self.left_out.names(&full);
        let names = match scope.entries(&self.real.join(path)) {
            Ok(entries) => names(entries).map_err(self.unreadable(path))?,
            Err(cause) if is_no_file(&cause) && !lacking.is_empty() => Vec::new(),
            Err(cause) if is_outside(&cause) || is_no_file(&cause) => return Ok(None),
            Err(cause) => return Err(self.unreadable(path)(cause)),
        };
        self.left_out.has(&full);
        let names = names.into_iter().map(|(name, _)| name);
        if lacking.is_empty() {
            return Ok(Some(names.collect()));
        }
        lacking.extend(names);
        Ok(Some(lacking.into_iter().collect()))
    }

    fn content(&self, path: &Path) -> Result<Content, Error> {
        self.read(&self.scope, path).map_err(|cause| {
            let is_left_out = is_no_file(&cause) && self.is_left_out(path);
            self.unreadable(path)(if is_left_out {
                io::Error::other(NOT_CHECKED_OUT)
            } else {
                cause
            })
        })
    }

    fn remotes(&self) -> Vec<String> {
        super::git::remotes(&self.real)
    }

    fn repository_files(&self, _root: &Path) -> Option<Arc<dyn Files>> {
        let disk = Self::with_scope(self.scope.top(), self.scope.clone());
        Some(Arc::new(disk.ok()?))
    }

    fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        if self.linkless().contains(path) {
            return None;
        }
        let is_link = |part: &Path| {
            let found = self.root.join(part).symlink_metadata();
            found.is_ok_and(|found| found.is_symlink())
        };
        let mut parts = path.ancestors().filter(|part| !part.as_os_str().is_empty());
        if !parts.any(is_link) {
            return None;
        }
        let real = self.root.join(path).canonicalize().ok()?;
        let below = real
            .strip_prefix(&self.real)
            .or_else(|_| real.strip_prefix(self.scope.top()));
        Some(below.map_or_else(|_| real.clone(), Path::to_owned))
    }

    fn is_file(&self, path: &Path) -> bool {
        let found = self.scope.metadata(&self.real.join(path));
        let is_file = found.is_ok_and(|found| found.is_file());
        if !is_file {
            self.is_left_out(path);
        }
        is_file
    }

    fn is_there(&self, path: &Path) -> bool {
        self.scope.has(&self.real.join(path))
    }

    fn is_folder(&self, path: &Path) -> bool {
        let found = self.scope.metadata(&self.real.join(path));
        let is_folder = found.is_ok_and(|found| found.is_dir());
        is_folder || self.left_out.is_folder(&plain_path(&self.real.join(path)))
    }

    fn absent_paths(&self) -> Vec<PathBuf> {
        let missed = self.left_out.absent_paths().into_iter();
        let below = missed.map(|path| {
            let below = path.strip_prefix(&self.real);
            below.map_or(path.clone(), Path::to_owned)
        });
        below.collect()
    }

    fn paths_named(&self, names: &[&str]) -> Vec<PathBuf> {
        let (mut found, mut open) = (Vec::new(), vec![PathBuf::from(".")]);
        while let Some(folder) = open.pop() {
            let entries = self.inner.entries(&self.real.join(&folder));
            for (name, kind) in entries.and_then(self::names).unwrap_or_default() {
                let path = folder.join(&name);
                if names.contains(&&*name) && !kind.is_dir() {
                    found.push(plain_path(&path));
                } else if kind.is_dir() && name != ".git" {
                    open.push(path);
                }
            }
        }
        found
    }

    fn list(&self, folder: &Path) -> Result<Below, Error> {
        let full = plain_path(&self.real.join(folder));
        self.left_out.look_below(&full);
        let root = match self.scope.open_folder(&full) {
            Err(cause) if is_no_file(&cause) && self.left_out.is_folder(&full) => {
                return Ok(Below::default());
            }
            root => root.map_err(self.unreadable(folder))?,
        };
        let (mut found, mut open) = (Below::default(), vec![PathBuf::new()]);
        while let Some(inner) = open.pop() {
            let inside = if inner.as_os_str().is_empty() {
                root.entries().and_then(names)
            } else {
                root.read_dir(&inner).and_then(names)
            };
            for (name, kind) in inside.map_err(self.unreadable(&folder.join(&inner)))? {
                match kind {
                    kind if kind.is_dir() => open.push(inner.join(name)),
                    kind if kind.is_file() => found.files.push(inner.join(name)),
                    kind if kind.is_symlink() => found.links.push(inner.join(name)),
                    _ => {}
                }
            }
        }
        found.files.sort();
        found.links.sort();
        Ok(found)
    }
}

const LEADS_NOWHERE: &str = "it is a link that leads nowhere\n\
     help: restore what it leads to, or remove the link";

/// How a file begins that Git LFS has not fetched (<https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>).
pub(super) const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// That such a file is in place of another one.
#[derive(Debug, thiserror::Error)]
#[error("Git LFS has not fetched it\nhelp: `git lfs pull`")]
struct Pointer;

const NOT_CHECKED_OUT: &str = "git has not checked it out\n\
     help: check it out: `git sparse-checkout add`, `git submodule update --init`";

/// The sorted names in a folder, without the files that a run is writing. A folder or YAML file that no path of a project can name
/// is an error: without one, a cluster would be left out in silence.
fn names(entries: ReadDir) -> io::Result<Vec<(String, FileType)>> {
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let is_yaml = |name: &str| name.ends_with(".yaml") || name.ends_with(".yml");
        let Some(name) = name.to_str().map(str::to_owned) else {
            let shown = name.to_string_lossy();
            if entry.file_type()?.is_dir() || is_yaml(&shown) {
                let what = format!("the name of `{shown}` in it is not UTF-8: rename it");
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
            continue;
        };
        if !name.starts_with(STAGED) {
            names.push((name, entry.file_type()?));
        }
    }
    names.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(names)
}

fn is_no_file(cause: &io::Error) -> bool {
    use ErrorKind::{InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound};
    matches!(
        cause.kind(),
        NotFound | NotADirectory | IsADirectory | InvalidInput | InvalidFilename
    )
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::ErrorKind;
    use std::path::Path;

    use super::{Disk, Files};
    use crate::error::Error;
    use crate::files::FILE_LIMIT;

    fn is_too_large<T>(read: Result<T, Error>) -> bool {
        matches!(read, Err(Error::Read { cause, .. }) if cause.kind() == ErrorKind::FileTooLarge)
    }

    #[test]
    fn the_largest_file_is_read_and_a_larger_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (disk, path) = (Disk::new(folder.path()).expect("there"), Path::new("a"));
        let file = File::create(folder.path().join(path)).expect("created");
        file.set_len(FILE_LIMIT).expect("a sparse file");
        let read = disk.read_file(path).expect("just fits");
        assert_eq!(read.len() as u64, FILE_LIMIT);
        file.set_len(FILE_LIMIT + 1).expect("a sparse file");
        assert!(is_too_large(disk.read_file(path)) && is_too_large(disk.file(path)));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_becomes_a_link_leads_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let (disk, path) = (
            Disk::new(folder.path()).expect("there"),
            Path::new("inner/a"),
        );
        let [a, b] = ["inner/a", "b"].map(|name| folder.path().join(name));
        std::fs::create_dir(folder.path().join("inner")).expect("made");
        std::fs::write(&a, "1").expect("written");
        std::fs::write(&b, "2").expect("written");
        assert_eq!(disk.read_file(path).expect("read"), b"1");
        assert_eq!(disk.leads_to(path), None);
        std::fs::remove_file(&a).expect("removed");
        std::os::unix::fs::symlink("../b", &a).expect("linked");
        assert_eq!(disk.read_file(path).expect("read"), b"2");
        assert_eq!(disk.leads_to(path).as_deref(), Some(Path::new("b")));
        let below = disk.content(path).expect("read");
        assert_eq!(below.raw_bytes(), b"2");
    }
}

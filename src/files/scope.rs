//! What a run may read: the repository of its project, and what the command line names.
//!
//! A path is resolved relative to an open folder, so that neither `..` nor a link leads out of it, even if links change
//! meanwhile: on Linux with `openat2`, `RESOLVE_BENEATH` and `RESOLVE_NO_MAGICLINKS`, elsewhere name by name (crate `cap-std`).
//! Only regular files are read, and opening never blocks on a pipe.

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, ReadDir};

use super::{FILE_LIMIT, repository_top, too_large};
use crate::error::Error;

/// Folders and single files that may be read.
#[derive(Clone, Debug)]
pub struct Scope(Arc<[Allowed]>);

/// A folder or a file that may be read.
#[derive(Clone, Debug)]
struct Allowed {
    /// The folder, with links resolved.
    folder: PathBuf,
    open: Arc<Dir>,
    /// The one file in the folder that may be read; if none, everything below the folder.
    only: Option<PathBuf>,
}

impl Scope {
    /// The repository that a folder is in; the folder itself if it is in none.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn repository(folder: &Path) -> Result<Self, Error> {
        let top = repository_top(folder);
        Self::folder(top.as_deref().unwrap_or(folder))
    }

    /// Everything below a folder.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn folder(folder: &Path) -> Result<Self, Error> {
        let allowed = Allowed::folder(folder).map_err(Error::reading(folder))?;
        Ok(Self([allowed].into()))
    }

    /// Adds paths that the command line names. A path that does not exist is ignored.
    pub fn and<'p>(self, named: impl Iterator<Item = &'p Path>) -> Self {
        let named = named.filter_map(|path| {
            if path.is_dir() {
                Allowed::folder(path).ok()
            } else {
                Allowed::file(path).ok()
            }
        });
        Self(self.0.iter().cloned().chain(named).collect())
    }

    /// The first folder, with links resolved.
    pub(super) fn top(&self) -> &Path {
        self.0.first().map_or(Path::new(""), |first| &first.folder)
    }

    /// The open folder that contains a path with its links resolved, and the path below it; none if it is outside.
    fn resolve(&self, path: &Path) -> io::Result<Option<(&Dir, PathBuf)>> {
        let real = fs::canonicalize(path)?;
        let below = |allowed: &'_ Allowed| {
            let below = real.strip_prefix(&allowed.folder).ok()?;
            let fits = allowed.only.as_deref().is_none_or(|only| only == below);
            fits.then(|| or_here(below).to_owned())
        };
        Ok(self
            .0
            .iter()
            .find_map(|allowed| Some((&*allowed.open, below(allowed)?))))
    }

    /// Runs `act` at a path: relative to the first folder if possible, otherwise at the path with its links resolved.
    fn run_at<T>(
        &self,
        path: &Path,
        act: impl Fn(&Dir, &Path, FollowSymlinks) -> io::Result<T>,
    ) -> io::Result<T> {
        if let (Ok(below), Some(first)) = (path.strip_prefix(self.top()), self.0.first())
            && first.only.is_none()
        {
            match act(&first.open, or_here(below), FollowSymlinks::Yes) {
                // The path leads out of the first folder: an absolute link, or `..` through a link.
                Err(cause) if cause.kind() == ErrorKind::PermissionDenied => {}
                done => return done,
            }
        }
        match self.resolve(path)? {
            Some((folder, below)) => act(folder, &below, FollowSymlinks::No),
            None => Err(io::Error::new(ErrorKind::PermissionDenied, Outside)),
        }
    }

    /// A regular file.
    pub(super) fn read(&self, path: &Path) -> io::Result<Read> {
        let is_linkless = Cell::new(false);
        let file = self.run_at(path, |folder, below, follow| {
            let opened = match follow {
                FollowSymlinks::Yes => open_linkless(folder, below),
                FollowSymlinks::No => None,
            };
            is_linkless.set(opened.is_some());
            opened.unwrap_or_else(|| folder.open_with(below, reading().follow(follow)))
        })?;
        Ok(Read {
            bytes: bytes(file)?,
            is_linkless: is_linkless.get(),
        })
    }

    /// The metadata of a path.
    pub(super) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.run_at(path, |folder, below, follow| match follow {
            FollowSymlinks::Yes => folder.metadata(below),
            FollowSymlinks::No => folder.symlink_metadata(below),
        })
    }

    /// Whether anything exists at a path, including a broken link and a link out of the scope.
    pub(super) fn has(&self, path: &Path) -> bool {
        match self.metadata(path) {
            Ok(_) => true,
            Err(cause) if is_outside(&cause) => true,
            Err(_) => {
                let link = |folder: &Dir, below: &Path, _| folder.symlink_metadata(below);
                self.run_at(path, link).is_ok()
            }
        }
    }

    /// The entries of a folder.
    pub(super) fn entries(&self, path: &Path) -> io::Result<ReadDir> {
        self.run_at(path, |folder, below, _| folder.read_dir(below))
    }

    /// Opens a folder.
    pub(super) fn open_folder(&self, path: &Path) -> io::Result<Dir> {
        self.run_at(path, |folder, below, _| folder.open_dir(below))
    }
}

impl Allowed {
    fn folder(folder: &Path) -> io::Result<Self> {
        let folder = fs::canonicalize(folder)?;
        Ok(Self {
            open: Arc::new(Dir::open_ambient_dir(&folder, ambient_authority())?),
            folder,
            only: None,
        })
    }

    fn file(path: &Path) -> io::Result<Self> {
        let real = fs::canonicalize(path)?;
        let folder = real.parent().unwrap_or(Path::new("/"));
        Ok(Self {
            only: real.file_name().map(PathBuf::from),
            ..Self::folder(folder)?
        })
    }
}

/// A file that was read.
pub(super) struct Read {
    pub(super) bytes: Vec<u8>,
    /// Whether its path below the scope's first folder is known to have no link in it.
    pub(super) is_linkless: bool,
}

/// Opens the file at a path if no part of the path is a link. None where one is, and where the kernel cannot say.
#[cfg(target_os = "linux")]
fn open_linkless(folder: &Dir, below: &Path) -> Option<io::Result<File>> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(folder, below, flags, Mode::empty(), resolve) {
        Ok(file) => Some(Ok(File::from_std(file.into()))),
        Err(error) if error == rustix::io::Errno::NOENT => Some(Err(error.into())),
        Err(_) => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn open_linkless(_folder: &Dir, _below: &Path) -> Option<io::Result<File>> {
    None
}

/// A path below a folder, `.` for the folder itself.
fn or_here(below: &Path) -> &Path {
    if below.as_os_str().is_empty() {
        Path::new(".")
    } else {
        below
    }
}

/// The options for opening files: `nonblock`, so that a pipe without a writer does not block.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true);
    options
}

/// The bytes of a regular file that is not too large.
fn bytes(file: File) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(no_regular_file());
    }
    if metadata.len() > FILE_LIMIT {
        return Err(too_large());
    }
    let mut bytes = vec![0; metadata.len() as usize];
    let mut file = file.into_std().take(FILE_LIMIT + 1);
    let read = file.read(&mut bytes)?;
    // As long as it was when it was opened: nobody has to look for more. A file of /proc says that it is empty.
    if read < bytes.len() || read == 0 {
        bytes.truncate(read);
        file.read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > FILE_LIMIT {
        Err(too_large())
    } else {
        Ok(bytes)
    }
}

pub(super) fn no_regular_file() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")
}

/// The error for a path outside the scope.
#[derive(Debug)]
struct Outside;

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "it is outside the repository\n\
             help: copy it into the repository; outside of it, only what the command line names is read",
        )
    }
}

impl std::error::Error for Outside {}

pub(super) fn is_outside(cause: &io::Error) -> bool {
    cause.get_ref().is_some_and(|cause| cause.is::<Outside>())
}

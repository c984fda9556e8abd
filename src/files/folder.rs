//! The folder that files are written to. No link is followed on the way to a file, not even one that appears meanwhile: each
//! folder is opened relative to its parent, and a file is addressed only by its name in its open folder.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use oci_artifacts::layout::{self, LayoutSink};
use oci_artifacts::{Failure, FailureKind};

use super::plain_path;

/// A folder to write files to. It need not exist.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The part of the path in which links are followed.
    base: PathBuf,
    /// The names of the folders below it.
    below: Vec<String>,
    /// The open base folder.
    open: OnceLock<Arc<Dir>>,
}

/// What exists at a path below a folder. Links are not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathState {
    /// Nothing.
    Nothing,
    /// A file with its length in bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A file (or a device, socket …) where the path needs a folder.
    BelowFile(String),
    /// A symbolic link, at the path itself or at a folder of it; empty for one at the folder's own path.
    Link(String),
    /// A device, a socket or a named pipe.
    Special,
}

impl Folder {
    /// The folder `path`. Below `base`, which contains it, no link is followed.
    pub fn new(path: &Path, base: Option<&Path>) -> Self {
        let inner = base.and_then(|base| Some((base, path.strip_prefix(base).ok()?)));
        let (base, below) = inner.unwrap_or((path, Path::new("")));
        let names = below.iter().map(|name| name.to_string_lossy().into_owned());
        Self {
            base: base.to_owned(),
            below: names.filter(|name| name != ".").collect(),
            open: OnceLock::new(),
        }
    }

    /// The folder at a path that a person has typed. No link is followed below the outermost repository, whose links the person has
    /// not made: one that leads to another repository neither.
    ///
    /// # Errors
    /// The current folder is not known.
    pub fn locate(path: &Path) -> io::Result<Self> {
        let path = plain_path(&std::path::absolute(path)?);
        let tops = path.ancestors().filter(|above| above.join(".git").exists());
        Ok(Self::new(&path, tops.last()))
    }

    /// A handle that addresses paths below the folder.
    ///
    /// # Errors
    /// The base cannot be opened.
    pub fn walk(&self) -> io::Result<Walk<'_>> {
        if self.open.get().is_none() {
            match Dir::open_ambient_dir(or_here(&self.base), ambient_authority()) {
                Err(cause) if cause.kind() == ErrorKind::NotFound => {}
                base => {
                    let _ = self.open.set(Arc::new(base?));
                }
            }
        }
        Ok(Walk {
            folder: self,
            base: self.open.get().cloned(),
            open: Vec::new(),
        })
    }

    /// Creates the folder.
    ///
    /// # Errors
    /// It cannot be created, for example because a link or a file has its name.
    pub fn make(&self) -> io::Result<()> {
        fs::create_dir_all(or_here(&self.base))?;
        let mut walk = self.walk()?;
        walk.open_all(&self.below, Missing::Create).map(drop)
    }

    /// Opens the folder, to lock it.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn open(&self) -> io::Result<fs::File> {
        let mut walk = self.walk()?;
        let folder = walk.open_all(&self.below, Missing::Fail)?;
        // The handle may be of a kind (O_PATH) that cannot be locked.
        Ok(folder.open(".")?.into_std())
    }
}

/// The image layout to write to in a folder relative to `base`, which is made if it is not there.
///
/// # Errors
/// A link of a repository leads to the folder, or it cannot be made.
pub fn layout_sink(base: &Path, folder: &str) -> Result<LayoutSink, Failure> {
    let failure =
        |kind, message| Failure::new(format!("{}{folder}", layout::SCHEME), kind, message);
    let open = || {
        let located = Folder::locate(&base.join(folder))?;
        if matches!(located.walk()?.inspect("")?, PathState::Link(_)) {
            return Ok(None);
        }
        located.make()?;
        located.open().map(Some)
    };
    match open() {
        Ok(Some(open)) => Ok(LayoutSink::new(open, folder)),
        Ok(None) => {
            let message =
                "it is not written: a symbolic link of the repository leads to it".to_owned();
            Err(failure(FailureKind::Corrupt, message)
                .help("name a folder that no link leads to, or remove the link"))
        }
        Err(cause) => {
            let message = format!("it cannot be written: {cause}");
            Err(failure(FailureKind::Unreachable, message))
        }
    }
}

fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

/// What to do if a folder of a path does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fail,
    Create,
}

/// Addresses paths below a folder. It keeps the folders of the last path open, so that its siblings cost nothing more.
pub struct Walk<'f> {
    folder: &'f Folder,
    /// None if it does not exist.
    base: Option<Arc<Dir>>,
    open: Vec<(String, Dir)>,
}

impl Walk<'_> {
    /// What exists at a path; the folder itself for an empty path.
    ///
    /// # Errors
    /// It cannot be queried.
    pub fn inspect(&mut self, path: &str) -> io::Result<PathState> {
        let mut folders = self.names(path);
        let Some(last) = folders.pop().filter(|_| self.base.is_some()) else {
            return Ok(match self.base {
                Some(_) => PathState::Folder,
                None => PathState::Nothing,
            });
        };
        let Err(cause) = self.open_all(&folders, Missing::Fail).map(drop) else {
            return kind(self.inner()?.symlink_metadata(&last), path);
        };
        // Of the folders, all before the one that is not a folder are open.
        let count = self.open.len();
        let name = folders.get(count).ok_or(cause)?;
        let outer = self.folder.below.len().min(count + 1);
        let shown = folders[outer..=count].join("/");
        Ok(match kind(self.inner()?.symlink_metadata(name), &shown)? {
            // A folder: it was created in the meantime.
            PathState::File(_) | PathState::Special | PathState::Folder => {
                PathState::BelowFile(shown)
            }
            other => other,
        })
    }

    /// The bytes of the file at a path; none if it is longer than `limit`.
    ///
    /// # Errors
    /// There is no regular file, or it cannot be read.
    pub fn read(&mut self, path: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let (file, length) = self.open_file(path)?;
        if length > limit {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(length as usize + 1);
        file.take(limit + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= limit).then_some(bytes))
    }

    /// The regular file at a path.
    ///
    /// # Errors
    /// There is none.
    pub fn file(&mut self, path: &str) -> io::Result<fs::File> {
        self.open_file(path).map(|(file, _)| file)
    }

    /// The regular file at a path, and its length in bytes.
    fn open_file(&mut self, path: &str) -> io::Result<(fs::File, u64)> {
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let (folder, name) = self.parent(path)?;
        let file = folder.open_with(name, &options)?.into_std();
        let found = file.metadata()?;
        if found.is_file() {
            Ok((file, found.len()))
        } else {
            Err(super::no_regular_file())
        }
    }

    /// Creates a file.
    ///
    /// # Errors
    /// The path exists, or the file cannot be created.
    pub fn create(&mut self, path: &str) -> io::Result<fs::File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let (folder, name) = self.parent(path)?;
        Ok(folder.open_with(name, &options)?.into_std())
    }

    /// Renames a file within its folder, and replaces the file of the new name.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let to = to.rsplit('/').next().unwrap_or(to);
        let (folder, from) = self.parent(from)?;
        folder.rename(from, folder, to)
    }

    /// Removes a file or a link.
    ///
    /// # Errors
    /// There is none, or it cannot be removed.
    pub fn remove(&mut self, path: &str) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        folder.remove_file_or_symlink(name)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// It is not empty, or cannot be removed.
    pub fn remove_folder(&mut self, path: &str) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        folder.remove_dir(name)
    }

    /// Creates a folder and the folders above it.
    ///
    /// # Errors
    /// One of them exists and is not a folder.
    pub fn make_folder(&mut self, path: &str) -> io::Result<()> {
        self.open_all(&self.names(path), Missing::Create).map(drop)
    }

    /// The names in a folder, sorted, and what each is.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn list(&mut self, path: &str) -> io::Result<Vec<(String, PathState)>> {
        let folder = self.open_all(&self.names(path), Missing::Fail)?;
        let mut found = Vec::new();
        for entry in folder.entries()? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let what = kind(entry.metadata(), &name)?;
            found.push((name, what));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// The names of a path, from the base on.
    fn names(&self, path: &str) -> Vec<String> {
        let names = path.split('/').filter(|name| !name.is_empty());
        let below = self.folder.below.iter().cloned();
        below.chain(names.map(str::to_owned)).collect()
    }

    /// The folder of a path, and the name in it.
    fn parent<'p>(&mut self, path: &'p str) -> io::Result<(&Dir, &'p str)> {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let names = self.names(folders);
        Ok((self.open_all(&names, Missing::Fail)?, name))
    }

    /// The innermost open folder.
    fn inner(&self) -> io::Result<&Dir> {
        let last = self.open.last().map(|(_, folder)| folder);
        last.or(self.base.as_deref())
            .ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Opens the folders of a path, and keeps those that are open already. On failure, the folders before the failed one are open.
    fn open_all(&mut self, names: &[String], missing: Missing) -> io::Result<&Dir> {
        let common = self.open.iter().zip(names);
        let common = common.take_while(|((open, _), name)| open == *name).count();
        self.open.truncate(common);
        for name in &names[common..] {
            let folder = self.inner()?;
            let next = match folder.open_dir_nofollow(name) {
                Err(cause) if cause.kind() == ErrorKind::NotFound && missing == Missing::Create => {
                    match folder.create_dir(name) {
                        Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
                            return Err(cause);
                        }
                        _ => folder.open_dir_nofollow(name),
                    }
                }
                next => next,
            }?;
            self.open.push((name.clone(), next));
        }
        self.inner()
    }
}

fn kind(found: io::Result<Metadata>, path: &str) -> io::Result<PathState> {
    let found = match found {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(PathState::Nothing),
        found => found?,
    };
    let kind = found.file_type();
    Ok(if kind.is_file() {
        PathState::File(found.len())
    } else if kind.is_dir() {
        PathState::Folder
    } else if kind.is_symlink() {
        PathState::Link(path.to_owned())
    } else {
        PathState::Special
    })
}

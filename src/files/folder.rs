//! A folder that files are written below. No link is followed on the way to them, also not one that appears meanwhile: each
//! folder on the way is opened in the one above it, and a file is only ever named in its open folder.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

/// Where files are written. It need not exist.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The folder where links are followed for the last time.
    base: PathBuf,
    /// The names from there on.
    below: Vec<String>,
    /// The base, once it is open.
    open: OnceLock<Arc<Dir>>,
}

/// What is at a path below a folder, links not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Nothing,
    /// A file of that many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A file (or a device, socket …) where the path needs a folder.
    Behind(String),
    /// A symbolic link, at the path itself or on the way to it; empty where it is on the way to the folder.
    Link(String),
    /// A device, a socket or a named pipe.
    Special,
}

impl Folder {
    /// The folder `path`; no link is followed below `base`, which it is in.
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

    /// A way through it, which begins at the folder itself.
    ///
    /// # Errors
    /// Its base cannot be opened.
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

    /// Makes it.
    ///
    /// # Errors
    /// It cannot be made; a link or a file is in its place.
    pub fn make(&self) -> io::Result<()> {
        fs::create_dir_all(or_here(&self.base))?;
        let mut walk = self.walk()?;
        walk.open_all(&self.below, Missing::Make).map(drop)
    }

    /// Opens it, to lock it.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn open(&self) -> io::Result<fs::File> {
        let mut walk = self.walk()?;
        let folder = walk.open_all(&self.below, Missing::Fail)?;
        // Its own handle may be one that only names it.
        Ok(folder.open(".")?.into_std())
    }
}

fn or_here(path: &Path) -> &Path {
    match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    }
}

/// What happens where a folder on the way does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fail,
    Make,
}

/// A way through a folder: the folders that lead to the last path are open, so that a path beside it costs no more.
pub struct Walk<'f> {
    folder: &'f Folder,
    /// None where it does not exist.
    base: Option<Arc<Dir>>,
    open: Vec<(String, Dir)>,
}

impl Walk<'_> {
    /// What is at a path whose names are legal; the folder itself for an empty one.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn look(&mut self, path: &str) -> io::Result<Standing> {
        let mut folders = self.names(path);
        let Some(last) = folders.pop().filter(|_| self.base.is_some()) else {
            return Ok(match self.base {
                Some(_) => Standing::Folder,
                None => Standing::Nothing,
            });
        };
        let Err(cause) = self.open_all(&folders, Missing::Fail).map(drop) else {
            return kind(self.inner()?.symlink_metadata(&last), path);
        };
        // The folders up to the one that is no folder are open.
        let count = self.open.len();
        let name = folders.get(count).ok_or(cause)?;
        let outer = self.folder.below.len().min(count + 1);
        let shown = folders[outer..=count].join("/");
        Ok(match kind(self.inner()?.symlink_metadata(name), &shown)? {
            // A folder is there: it has become one meanwhile.
            Standing::File(_) | Standing::Special | Standing::Folder => Standing::Behind(shown),
            other => other,
        })
    }

    /// The bytes of the file at a path; none where it is longer than `longest`.
    ///
    /// # Errors
    /// There is no regular file, or it cannot be read.
    pub fn read(&mut self, path: &str, longest: u64) -> io::Result<Option<Vec<u8>>> {
        let (file, length) = self.open_file(path)?;
        if length > longest {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(length as usize + 1);
        file.take(longest + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= longest).then_some(bytes))
    }

    /// The regular file at a path.
    ///
    /// # Errors
    /// There is none.
    pub fn file(&mut self, path: &str) -> io::Result<fs::File> {
        self.open_file(path).map(|(file, _)| file)
    }

    /// The regular file at a path, and how long it is.
    fn open_file(&mut self, path: &str) -> io::Result<(fs::File, u64)> {
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let (folder, name) = self.parent(path)?;
        let file = folder.open_with(name, &options)?.into_std();
        let found = file.metadata()?;
        match found.is_file() {
            true => Ok((file, found.len())),
            false => Err(super::no_regular_file()),
        }
    }

    /// A new file.
    ///
    /// # Errors
    /// Something is there, or it cannot be made.
    pub fn create(&mut self, path: &str) -> io::Result<fs::File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let (folder, name) = self.parent(path)?;
        Ok(folder.open_with(name, &options)?.into_std())
    }

    /// Gives a file another name in the same folder; what has that name is replaced.
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

    /// Makes a folder, and those on the way to it.
    ///
    /// # Errors
    /// Something that is no folder is in the way.
    pub fn make_folder(&mut self, path: &str) -> io::Result<()> {
        self.open_all(&self.names(path), Missing::Make).map(drop)
    }

    /// What is in a folder, by name, sorted.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn list(&mut self, path: &str) -> io::Result<Vec<(String, Standing)>> {
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

    /// The names from the base to a path.
    fn names(&self, path: &str) -> Vec<String> {
        let names = path.split('/').filter(|name| !name.is_empty());
        let below = self.folder.below.iter().cloned();
        below.chain(names.map(str::to_owned)).collect()
    }

    /// The folder that a path is in, and its name there.
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

    /// Opens folder in folder; those that are open already stay so. Where one cannot be opened, those before it are open.
    fn open_all(&mut self, names: &[String], missing: Missing) -> io::Result<&Dir> {
        let common = self.open.iter().zip(names);
        let common = common.take_while(|((open, _), name)| open == *name).count();
        self.open.truncate(common);
        for name in &names[common..] {
            let folder = self.inner()?;
            let next = match folder.open_dir_nofollow(name) {
                Err(cause) if cause.kind() == ErrorKind::NotFound && missing == Missing::Make => {
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

fn kind(found: io::Result<Metadata>, path: &str) -> io::Result<Standing> {
    let found = match found {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Standing::Nothing),
        found => found?,
    };
    let kind = found.file_type();
    Ok(if kind.is_file() {
        Standing::File(found.len())
    } else if kind.is_dir() {
        Standing::Folder
    } else if kind.is_symlink() {
        Standing::Link(path.to_owned())
    } else {
        Standing::Special
    })
}

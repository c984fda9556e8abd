//! Files with other content, or with additional files: a project file that is not written yet, or edits that are tried.

use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::Error;

use super::{Below, Content, Files, Found, plain_path};

/// Other files with some added or replaced.
pub struct Overlay {
    files: Arc<dyn Files>,
    added: HashMap<PathBuf, Vec<u8>>,
}

impl Overlay {
    /// Files with the content of those at these paths below the root.
    pub fn new(files: Arc<dyn Files>, added: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> Self {
        let added = added.into_iter();
        let added = added.map(|(path, bytes)| (plain(&path), bytes)).collect();
        Self { files, added }
    }

    /// Other bytes of a file: a link leads where it led.
    fn new_content(&self, path: &Path, bytes: &[u8]) -> Content {
        Content::new(bytes.to_vec(), self.files.leads_to(path))
    }

    fn get(&self, path: &Path) -> Option<&Vec<u8>> {
        self.added.get(&plain(path))
    }
}

/// A path without `./`.
fn plain(path: &Path) -> PathBuf {
    let parts = path.components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

impl Files for Overlay {
    fn inner(&self) -> Option<&dyn Files> {
        Some(&*self.files)
    }

    fn file(&self, path: &Path) -> Result<Found, Error> {
        match self.get(path) {
            Some(bytes) => Ok(Found::File(self.new_content(path, bytes))),
            None => self.files.file(path),
        }
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        self.files.folder(path)
    }

    fn content(&self, path: &Path) -> Result<Content, Error> {
        match self.get(path) {
            Some(bytes) => Ok(self.new_content(path, bytes)),
            None => self.files.content(path),
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.get(path).is_some() || self.files.is_file(path)
    }

    fn is_there(&self, path: &Path) -> bool {
        self.get(path).is_some() || self.files.is_there(path)
    }

    fn paths_named(&self, names: &[&str]) -> Vec<PathBuf> {
        let added = self.added.keys().filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| names.contains(&name))
        });
        let mut found = self.files.paths_named(names);
        found.extend(added.cloned());
        found
    }

    fn repository_files(&self, root: &Path) -> Option<Arc<dyn Files>> {
        let added = self.added.iter();
        let added = added.map(|(path, bytes)| (plain_path(&root.join(path)), bytes.clone()));
        Some(Arc::new(Self::new(
            self.files.repository_files(root)?,
            added,
        )))
    }

    fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        match self.get(path) {
            Some(_) => None,
            None => self.files.leads_to(path),
        }
    }
}

/// Other files, without those that are new to git.
pub struct Tracked {
    files: Arc<dyn Files>,
    /// The new files and folders, below the root.
    new: BTreeSet<PathBuf>,
    /// Those of them that somebody looked for.
    missed: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Tracked {
    /// The files without these, which [`super::Repository::new_files`] lists.
    pub fn new(files: Arc<dyn Files>, new: BTreeSet<PathBuf>) -> Self {
        Self {
            files,
            new,
            missed: Arc::default(),
        }
    }

    /// The new files and folders that were looked for, and not read.
    pub fn misses(&self) -> Vec<PathBuf> {
        self.missed.lock().iter().cloned().collect()
    }

    /// Whether a path is new to git, which is noted.
    fn is_new(&self, path: &Path) -> bool {
        let path = plain(path);
        let Some(new) = path.ancestors().find(|above| self.new.contains(*above)) else {
            return false;
        };
        self.missed.lock().insert(new.to_owned());
        true
    }
}

impl Files for Tracked {
    fn inner(&self) -> Option<&dyn Files> {
        Some(&*self.files)
    }

    fn file(&self, path: &Path) -> Result<Found, Error> {
        if self.is_new(path) {
            Ok(Found::Nothing)
        } else {
            self.files.file(path)
        }
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        if self.is_new(path) {
            return Ok(None);
        }
        let mut names = self.files.folder(path)?;
        if let Some(names) = &mut names {
            names.retain(|name| !self.is_new(&path.join(name)));
        }
        Ok(names)
    }

    fn content(&self, path: &Path) -> Result<Content, Error> {
        if self.is_new(path) {
            Err(Error::Read {
                path: path.to_owned(),
                cause: std::io::Error::other("git does not track it: `git add` it"),
            })
        } else {
            self.files.content(path)
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        !self.is_new(path) && self.files.is_file(path)
    }

    fn is_there(&self, path: &Path) -> bool {
        !self.is_new(path) && self.files.is_there(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        !self.is_new(path) && self.files.is_folder(path)
    }

    fn list(&self, folder: &Path) -> Result<Below, Error> {
        let mut below = self.files.list(folder)?;
        for paths in [&mut below.files, &mut below.links] {
            paths.retain(|path| !self.is_new(&folder.join(path)));
        }
        Ok(below)
    }

    fn repository_files(&self, root: &Path) -> Option<Arc<dyn Files>> {
        Some(Arc::new(Self {
            files: self.files.repository_files(root)?,
            new: self.new.iter().map(|path| root.join(path)).collect(),
            missed: Arc::clone(&self.missed),
        }))
    }
}

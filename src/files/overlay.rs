//! Files with other content, or with additional files: a project file that is not written yet, or edits that are tried.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{Files, Found};
use crate::error::Error;

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
    fn file(&self, path: &Path) -> Result<Found, Error> {
        match self.get(path) {
            Some(bytes) => Ok(Found::File(bytes.clone())),
            None => self.files.file(path),
        }
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        self.files.folder(path)
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Error> {
        match self.get(path) {
            Some(bytes) => Ok(bytes.clone()),
            None => self.files.read_file(path),
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.get(path).is_some() || self.files.is_file(path)
    }

    fn is_there(&self, path: &Path) -> bool {
        self.get(path).is_some() || self.files.is_there(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.files.is_folder(path)
    }

    fn list_recursive(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        self.files.list_recursive(folder)
    }

    fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        match self.get(path) {
            Some(_) => None,
            None => self.files.leads_to(path),
        }
    }

    fn relative_path(&self, path: &Path) -> PathBuf {
        self.files.relative_path(path)
    }
}

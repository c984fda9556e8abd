//! Files with one additional file: a project file that is not written yet, or did not exist in a revision.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{Files, Found};
use crate::error::Error;

/// Other files with one file added or replaced.
pub struct Overlay {
    /// The other files.
    pub files: Arc<dyn Files>,
    /// The path of the additional file, below the root.
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Overlay {
    /// Whether a path is that of the additional file, regardless of `./`.
    fn is_added(&self, path: &Path) -> bool {
        let plain = |path: &Path| -> PathBuf {
            let parts = path.components();
            parts.filter(|part| *part != Component::CurDir).collect()
        };
        path.file_name() == self.path.file_name() && plain(path) == plain(&self.path)
    }
}

impl Files for Overlay {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        match self.is_added(path) {
            true => Ok(Found::File(self.bytes.clone())),
            false => self.files.file(path),
        }
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        self.files.folder(path)
    }

    fn named(&self, path: &Path) -> Result<Vec<u8>, Error> {
        match self.is_added(path) {
            true => Ok(self.bytes.clone()),
            false => self.files.named(path),
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.is_added(path) || self.files.is_file(path)
    }

    fn is_there(&self, path: &Path) -> bool {
        self.is_added(path) || self.files.is_there(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.files.is_folder(path)
    }

    fn below(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        self.files.below(folder)
    }

    fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        match self.is_added(path) {
            true => None,
            false => self.files.leads_to(path),
        }
    }

    fn seen(&self, path: &Path) -> PathBuf {
        self.files.seen(path)
    }
}

//! The files as they stand on disk.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::{Files, Found};
use crate::error::Error;
use crate::model::manifest::STAGED;

/// The files below a folder on disk.
#[derive(Clone, Debug)]
pub struct Disk {
    root: PathBuf,
    /// The root with its links followed: what it holds starts with this.
    real: PathBuf,
}

impl Disk {
    /// The folder `root`.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn new(root: &Path) -> Result<Self, Error> {
        let real = fs::canonicalize(root).map_err(|cause| unreadable(root, cause))?;
        Ok(Self {
            root: root.to_owned(),
            real,
        })
    }

    /// The path with its links followed; none if it leads nowhere.
    fn real(&self, path: &Path) -> Result<Option<PathBuf>, Error> {
        let path = self.root.join(path);
        match fs::canonicalize(&path) {
            Ok(real) => Ok(Some(real)),
            Err(cause) if is_absent(cause.kind()) => Ok(None),
            Err(cause) => Err(unreadable(&path, cause)),
        }
    }
}

impl Files for Disk {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        let Some(real) = self.real(path)? else {
            return Ok(Found::Nothing);
        };
        if !real.starts_with(&self.real) {
            return Ok(Found::Outside);
        }
        if !real.is_file() {
            return Ok(Found::Nothing);
        }
        let bytes = fs::read(&real).map_err(|cause| unreadable(&self.root.join(path), cause))?;
        Ok(Found::File(bytes))
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        let Some(real) = self.real(path)? else {
            return Ok(None);
        };
        if !real.starts_with(&self.real) || !real.is_dir() {
            return Ok(None);
        }
        let unreadable = |cause| unreadable(&self.root.join(path), cause);
        let mut names = Vec::new();
        for entry in fs::read_dir(&real).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with(STAGED) {
                names.push(name.into_owned());
            }
        }
        names.sort();
        Ok(Some(names))
    }

    // One look for each of what follows: every cluster's values are read this way.

    fn named(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let path = self.root.join(path);
        fs::read(&path).map_err(|cause| unreadable(&path, cause))
    }

    fn is_file(&self, path: &Path) -> bool {
        self.root.join(path).is_file()
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.root.join(path).is_dir()
    }

    fn below(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let folder = self.root.join(folder);
        let mut found = Vec::new();
        for entry in WalkDir::new(&folder).sort_by_file_name() {
            let entry = entry.map_err(|error| Error::Read {
                path: error.path().unwrap_or(&folder).to_owned(),
                cause: error
                    .into_io_error()
                    .unwrap_or_else(|| std::io::Error::other("the links below it are a circle")),
            })?;
            let below = entry.path().strip_prefix(&folder);
            let is_staged = entry.file_name().to_string_lossy().starts_with(STAGED);
            if let (true, Ok(below)) = (entry.file_type().is_file() && !is_staged, below) {
                found.push(below.to_owned());
            }
        }
        Ok(found)
    }
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unreadable(path: &Path, cause: std::io::Error) -> Error {
    Error::Read {
        path: path.to_owned(),
        cause,
    }
}

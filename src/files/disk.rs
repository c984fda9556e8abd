//! The files as they stand on disk.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::{FILE_LIMIT, Files, Found, too_large};
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
        let bytes = bytes(&real).map_err(|cause| unreadable(&self.root.join(path), cause))?;
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
        bytes(&path).map_err(|cause| unreadable(&path, cause))
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

/// The bytes of a file, which may be a device or a pipe.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > FILE_LIMIT {
        return Err(too_large());
    }
    // One byte more, so that the end is met without another buffer.
    let mut bytes = Vec::with_capacity(length as usize + 1);
    file.take(FILE_LIMIT + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > FILE_LIMIT {
        true => Err(too_large()),
        false => Ok(bytes),
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::ErrorKind;
    use std::path::Path;

    use super::{Disk, FILE_LIMIT, Files, Found};
    use crate::error::Error;

    fn is_too_large<T>(read: Result<T, Error>) -> bool {
        matches!(read, Err(Error::Read { cause, .. }) if cause.kind() == ErrorKind::FileTooLarge)
    }

    #[test]
    fn the_largest_file_is_read_and_a_larger_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (disk, path) = (Disk::new(folder.path()).expect("there"), Path::new("a"));
        let file = File::create(folder.path().join(path)).expect("created");
        file.set_len(FILE_LIMIT).expect("a sparse file");
        let read = disk.named(path).expect("just fits");
        assert_eq!(read.len() as u64, FILE_LIMIT);
        file.set_len(FILE_LIMIT + 1).expect("a sparse file");
        assert!(is_too_large(disk.named(path)) && is_too_large(disk.file(path)));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_device_without_end_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let disk = Disk::new(folder.path()).expect("there");
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("a")).expect("linked");
        assert!(is_too_large(disk.named(Path::new("a"))));
        assert!(matches!(disk.file(Path::new("a")), Ok(Found::Outside)));
    }
}

//! A folder with all that is in it, links and devices too: what is packed must be seen as it stands.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use walkdir::WalkDir;

use super::Scope;
use crate::error::Error;
use crate::oci::Body;

/// Something below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The path below the folder, `/` between names; what is not UTF-8 in it is replaced.
    pub path: String,
    /// Where it is.
    pub at: PathBuf,
    /// What it is.
    pub kind: InsideKind,
}

/// What something below a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsideKind {
    /// A file of that many bytes.
    File {
        /// How many bytes it has.
        size: u64,
        /// Whether its owner may run it.
        is_executable: bool,
    },
    /// A folder.
    Folder,
    /// A symbolic link, which is not followed.
    Link,
    /// A device, a named pipe, a socket, or a name that is not UTF-8.
    Other,
}

/// All below a folder, sorted by path; git's own folder and metalmark's own files are passed over.
///
/// # Errors
/// The folder is not there, or something in it cannot be read.
pub fn tree(folder: &Path) -> Result<Vec<Inside>, Error> {
    let mut found = Vec::new();
    let is_own =
        |name: &str| name == ".git" || name.starts_with(crate::model::output_path::RESERVED_PREFIX);
    let walk = WalkDir::new(folder)
        .min_depth(1)
        .follow_root_links(true)
        .into_iter();
    for entry in walk.filter_entry(|entry| !is_own(&entry.file_name().to_string_lossy())) {
        let entry = entry.map_err(|error| Error::Read {
            path: error.path().unwrap_or(folder).to_owned(),
            cause: error
                .into_io_error()
                .unwrap_or_else(|| io::Error::other("its links are a circle")),
        })?;
        let below = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
        let kind = match below.to_str() {
            None => InsideKind::Other,
            Some(_) => kind(&entry)?,
        };
        found.push(Inside {
            path: names.join("/"),
            at: entry.into_path(),
            kind,
        });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The bytes of a file on disk, read when they are asked for.
pub fn body(path: &Path) -> Arc<dyn Body> {
    Arc::new(OnDisk(path.to_owned()))
}

struct OnDisk(PathBuf);

impl Body for OnDisk {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(io::BufReader::with_capacity(
            64 << 10,
            File::open(&self.0)?,
        )))
    }
}

/// A file that the user named, and how many bytes it has; `/dev/stdin` and other pipes have no length of their own.
///
/// # Errors
/// It cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>, Error> {
    let file = File::open(path).map_err(|cause| Error::Read {
        path: path.to_owned(),
        cause,
    })?;
    Ok(Box::new(file))
}

/// The bytes of a regular file that the command line names.
///
/// # Errors
/// It cannot be read.
pub fn typed(path: &Path) -> Result<Vec<u8>, Error> {
    let scope = Scope::folder(Path::new("."))?.and([path].into_iter());
    scope.read(&real(path)?).map_err(|cause| Error::Read {
        path: path.to_owned(),
        cause,
    })
}

/// A path with its links followed.
///
/// # Errors
/// Nothing is there.
pub fn real(path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(|cause| Error::Read {
        path: path.to_owned(),
        cause,
    })
}

/// What stands at a path that the user named; links are followed.
///
/// # Errors
/// Nothing stands there, or it cannot be looked at.
pub fn named(path: &Path) -> Result<InsideKind, Error> {
    let metadata = fs::metadata(path).map_err(|cause| Error::Read {
        path: path.to_owned(),
        cause,
    })?;
    Ok(of(&metadata))
}

fn kind(entry: &walkdir::DirEntry) -> Result<InsideKind, Error> {
    let metadata = entry.metadata().map_err(|error| Error::Read {
        path: entry.path().to_owned(),
        cause: error
            .into_io_error()
            .unwrap_or_else(|| io::ErrorKind::Other.into()),
    })?;
    Ok(of(&metadata))
}

fn of(metadata: &fs::Metadata) -> InsideKind {
    let kind = metadata.file_type();
    if kind.is_file() {
        InsideKind::File {
            size: metadata.len(),
            is_executable: is_executable(metadata),
        }
    } else if kind.is_dir() {
        InsideKind::Folder
    } else if kind.is_symlink() {
        InsideKind::Link
    } else {
        InsideKind::Other
    }
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

/// Windows knows no such mark.
#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

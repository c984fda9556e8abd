//! Lists a folder with all that it contains, including links and devices, for packing.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oci_artifacts::Body;
use oci_artifacts::archive::Mode;
use walkdir::WalkDir;

use super::Scope;
use crate::error::Error;

/// An entry below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The path below the folder, with `/` between names and invalid UTF-8 replaced.
    pub path: String,
    /// The path on disk.
    pub at: PathBuf,
    /// What it is.
    pub kind: InsideKind,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsideKind {
    /// A file, with its length in bytes and what may be done with it.
    File { size: u64, mode: Mode },
    /// A folder.
    Folder,
    /// A symbolic link, which is not followed.
    Link,
    /// A device, a named pipe, a socket, or a name that is not UTF-8.
    Other,
}

/// All entries below a folder, sorted by path, without `.git` and metalmark's own files.
///
/// # Errors
/// The folder does not exist, or an entry in it cannot be read.
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
                .unwrap_or_else(|| io::Error::other("its links form a loop")),
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

/// The bytes of a file on disk, which is opened when they are read.
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

/// Opens a file that the command line names, which may be a pipe such as `/dev/stdin`.
///
/// # Errors
/// It cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>, Error> {
    let file = File::open(path).map_err(Error::reading(path))?;
    Ok(Box::new(file))
}

/// The bytes of a regular file that the command line names.
///
/// # Errors
/// It cannot be read.
pub fn read_argument(path: &Path) -> Result<Vec<u8>, Error> {
    let scope = Scope::folder(Path::new("."))?.and([path].into_iter());
    let read = scope.read(&real(path)?).map_err(Error::reading(path))?;
    Ok(read.bytes)
}

/// A path with its links resolved.
///
/// # Errors
/// The path does not exist.
pub fn real(path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(Error::reading(path))
}

/// The kind of a path that the command line names; links are followed.
///
/// # Errors
/// The path does not exist, or cannot be queried.
pub fn path_kind(path: &Path) -> Result<InsideKind, Error> {
    let metadata = fs::metadata(path).map_err(Error::reading(path))?;
    Ok(metadata_kind(&metadata))
}

/// What a symbolic link says, which is not followed.
///
/// # Errors
/// It is none, or cannot be read.
pub fn read_link(path: &Path) -> Result<String, Error> {
    let target = fs::read_link(path).map_err(Error::reading(path))?;
    Ok(target.to_string_lossy().into_owned())
}

fn kind(entry: &walkdir::DirEntry) -> Result<InsideKind, Error> {
    let metadata = entry.metadata().map_err(|error| Error::Read {
        path: entry.path().to_owned(),
        cause: error
            .into_io_error()
            .unwrap_or_else(|| io::ErrorKind::Other.into()),
    })?;
    Ok(metadata_kind(&metadata))
}

pub(super) fn metadata_kind(metadata: &fs::Metadata) -> InsideKind {
    let kind = metadata.file_type();
    if kind.is_file() {
        InsideKind::File {
            size: metadata.len(),
            mode: mode(metadata),
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
fn mode(metadata: &fs::Metadata) -> Mode {
    use std::os::unix::fs::PermissionsExt as _;
    Mode::new(metadata.permissions().mode())
}

/// Windows has no executable bit.
#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> Mode {
    Mode::PLAIN
}

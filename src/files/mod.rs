//! Where the project's files are read from. Whoever reads the workspace reads it through [`Files`], so that a revision can be
//! read that is not checked out.

mod disk;
mod folder;
mod git;
mod provenance;
mod revision;
mod sandbox;
mod scope;
mod tree;
mod with;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::Error;
use scope::no_regular_file;

pub use disk::Disk;
pub use folder::{Folder, Standing, Walk};
pub use git::Repository;
pub use provenance::Provenance;
pub use revision::Revision;
pub use sandbox::sandbox;
pub use scope::Scope;
pub use tree::{Inside, InsideKind, body, named, open, real, tree, typed};
pub use with::With;

/// The most bytes of a file that are read: what is larger was not written for this tool. A link to a device has no end.
pub const FILE_LIMIT: u64 = 16 << 20;

/// The top of the repository that a folder is in: the nearest folder with a `.git`, links followed; none where there is none.
/// No commit can hold a file of that name.
pub fn repository_top(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let mut above = folder.ancestors();
    let top = above.find(|folder| folder.join(".git").symlink_metadata().is_ok());
    top.map(Path::to_owned)
}

/// A folder of files; paths are relative to its root.
pub trait Files: Send + Sync {
    /// The bytes of a file below the root, and nowhere else; the path holds no `..`. What a composition may read.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    fn file(&self, path: &Path) -> Result<Found, Error>;

    /// The names in a folder below the root, sorted; none if it is no folder.
    ///
    /// # Errors
    /// The folder is there and cannot be read.
    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error>;

    /// The bytes of a file by a path that may lead out of the root, itself or by a link: as far as the [`Scope`] allows.
    ///
    /// # Errors
    /// There is no such file, or it cannot be read.
    fn named(&self, path: &Path) -> Result<Vec<u8>, Error> {
        match self.file(path)? {
            Found::File(bytes) => Ok(bytes),
            Found::Nothing | Found::Outside => Err(Error::Read {
                path: path.to_owned(),
                cause: ErrorKind::NotFound.into(),
            }),
        }
    }

    /// Whether the user's path names a file.
    fn is_file(&self, path: &Path) -> bool {
        matches!(self.file(path), Ok(Found::File(_)))
    }

    /// Whether anything is at a path, be it a pipe, or a link that leads nowhere or out.
    fn is_there(&self, path: &Path) -> bool {
        self.is_file(path) || self.is_folder(path)
    }

    /// Whether the user's path names a folder.
    fn is_folder(&self, path: &Path) -> bool {
        matches!(self.folder(path), Ok(Some(_)))
    }

    /// The files below a folder that the user named, however deep, in the order of their paths, as seen from that folder.
    /// Links are not followed.
    ///
    /// # Errors
    /// There is no such folder, or one in it cannot be read.
    fn below(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let (mut found, mut open) = (Vec::new(), vec![PathBuf::new()]);
        while let Some(inner) = open.pop() {
            let path = folder.join(&inner);
            match self.folder(&path)? {
                Some(names) => open.extend(names.into_iter().rev().map(|name| inner.join(name))),
                None if inner.as_os_str().is_empty() => {
                    let cause = ErrorKind::NotFound.into();
                    return Err(Error::Read { path, cause });
                }
                None => found.push(inner),
            }
        }
        Ok(found)
    }

    /// Where the links in a path lead: a path below the root or the repository, an absolute one if outside of both. None where no
    /// link is in the path.
    fn leads_to(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// A path that the user typed, as seen from the root if it lies below it: an absolute one may.
    fn seen(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A file with these bytes.
    File(Vec<u8>),
    /// No file.
    Nothing,
    /// A symbolic link that leads out of the repository.
    Outside,
}

/// That a file is longer than [`FILE_LIMIT`].
fn too_large() -> std::io::Error {
    let message = format!("it is larger than {} MiB", FILE_LIMIT >> 20);
    std::io::Error::new(ErrorKind::FileTooLarge, message)
}

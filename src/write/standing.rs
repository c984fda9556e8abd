//! What stands on disk where a file is to be written, looked at without following a link.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::Error;

/// What stands at a path below the output folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing.
    Nothing,
    /// A file of that many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A file (or a device, socket …) where the path needs a folder.
    Behind(String),
    /// A symbolic link, at the path itself or on the way to it.
    Link(String),
    /// A device, a socket or a named pipe.
    Special,
}

/// Looks at many paths below one folder; each folder on the way is looked at once.
pub(super) struct Inspector<'a> {
    root: &'a Path,
    folders: HashMap<String, Standing>,
}

impl<'a> Inspector<'a> {
    /// The root itself is trusted: it may be a link, and it need not exist.
    pub(super) fn new(root: &'a Path) -> Self {
        Self {
            root,
            folders: HashMap::new(),
        }
    }

    /// What stands at a path whose names are legal.
    pub(super) fn look(&mut self, path: &str) -> Result<Standing, Error> {
        for (slash, _) in path.match_indices('/') {
            let folder = &path[..slash];
            match self.folder(folder)? {
                Standing::Folder => {}
                Standing::File(_) | Standing::Special => {
                    return Ok(Standing::Behind(folder.to_owned()));
                }
                other => return Ok(other),
            }
        }
        at(self.root, path)
    }

    fn folder(&mut self, folder: &str) -> Result<Standing, Error> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let standing = at(self.root, folder)?;
        self.folders.insert(folder.to_owned(), standing.clone());
        Ok(standing)
    }
}

fn at(root: &Path, path: &str) -> Result<Standing, Error> {
    let full = root.join(path);
    match fs::symlink_metadata(&full) {
        Ok(metadata) => Ok(kind(&metadata, path)),
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound) => Ok(Standing::Nothing),
        Err(cause) => Err(Error::Read { path: full, cause }),
    }
}

fn kind(metadata: &Metadata, path: &str) -> Standing {
    let kind = metadata.file_type();
    if kind.is_file() {
        Standing::File(metadata.len())
    } else if kind.is_dir() {
        Standing::Folder
    } else if kind.is_symlink() {
        Standing::Link(path.to_owned())
    } else {
        Standing::Special
    }
}

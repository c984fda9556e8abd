//! The files that a composition may read: those of the repository, and nothing outside it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use globset::Glob;

use crate::error::Error;

/// Where a composition reads its files; paths are relative to the repository's root and hold no `..`.
pub trait Files {
    /// The bytes of a file.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    fn file(&self, path: &Path) -> Result<Found, Error>;

    /// The names in a folder, sorted; none if it is no folder.
    ///
    /// # Errors
    /// The folder is there and cannot be read.
    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error>;
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

/// The files of a repository on disk.
#[derive(Clone, Debug)]
pub struct Disk {
    root: PathBuf,
    real: PathBuf,
}

impl Disk {
    /// The repository at `root`.
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
            names.push(name.to_string_lossy().into_owned());
        }
        names.sort();
        Ok(Some(names))
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

/// `path` as seen from the folder `from`, both below the root; none where it leads out of the root.
pub(super) fn below(from: &Path, path: &str) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in from.join(path).components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !parts.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts)
}

/// The paths that a pattern matches, sorted: `*` stays within a folder, `**` crosses them, hidden names match only what
/// names their dot. Only the folders that can match are read.
///
/// # Errors
/// A folder that cannot be read. A pattern that is none matches nothing.
pub(super) fn matches(files: &dyn Files, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let parts: Vec<&str> = pattern
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    let mut found = Vec::new();
    let mut open = vec![(PathBuf::new(), 0)];
    while let Some((path, at)) = open.pop() {
        let Some(part) = parts.get(at) else {
            found.push(path);
            continue;
        };
        if *part == "**" {
            open.push((path.clone(), at + 1));
        } else if !part.contains(WILD) {
            open.push((path.join(part), at + 1));
            continue;
        }
        let next = if *part == "**" { at } else { at + 1 };
        let glob = Glob::new(part).map(|glob| glob.compile_matcher());
        let Ok(glob) = glob else { continue };
        for name in files.folder(&path)?.unwrap_or_default() {
            let is_hidden = name.starts_with('.') && !part.starts_with('.');
            if !is_hidden && glob.is_match(&name) {
                open.push((path.join(name), next));
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The characters that make a part of a path a pattern.
const WILD: [char; 5] = ['*', '?', '[', '{', '\\'];

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::below;

    #[test]
    fn a_path_stays_below_the_root() {
        let from = Path::new("env/paris");
        assert_eq!(below(from, "../base"), Some(PathBuf::from("env/base")));
        assert_eq!(below(from, "./a//b/"), Some(PathBuf::from("env/paris/a/b")));
        assert_eq!(below(from, "../.."), Some(PathBuf::new()));
        assert_eq!(below(from, "../../.."), None);
        assert_eq!(below(from, "/etc/passwd"), None);
    }
}

//! Writes single files that no render owns: a report, a page, a first project file.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use oci_artifacts::Body;

use super::staged::{self, Put};
use crate::error::Error;

/// Writes a file and the folders above it. An existing file is replaced atomically; a pipe or device, such as `/dev/stderr`,
/// is written to.
///
/// # Errors
/// It cannot be written.
pub fn file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = match fs::metadata(path) {
        Ok(existing) if !existing.is_file() => fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes)),
        _ => put(path, &|file| file.write_all(bytes)),
    };
    written.map_err(Error::writing(path))
}

/// Writes a file of any length, and the folders above it. An existing file is replaced atomically.
///
/// # Errors
/// It cannot be written, or the body cannot be read.
pub fn body(path: &Path, content: &dyn Body) -> Result<(), Error> {
    let copy = |file: &mut fs::File| std::io::copy(&mut content.open()?, file).map(|_| ());
    put(path, &copy).map_err(Error::writing(path))
}

/// Writes a file atomically, in folders that are made for it, unless the path exists. Returns whether it did.
///
/// # Errors
/// It cannot be written.
pub fn new_file(path: &Path, content: &[u8]) -> Result<bool, Error> {
    let is_free = || match fs::symlink_metadata(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(true),
        existing => existing.map(|_| false),
    };
    let new = Put {
        fill: &|file| file.write_all(content),
        keeps_mode: false,
        if_still: &is_free,
    };
    let written = is_free().and_then(|free| {
        if let Some(folder) = path.parent().filter(|_| free) {
            fs::create_dir_all(folder)?;
        }
        Ok(free && staged::put(path, &new)?)
    });
    written.map_err(Error::writing(path))
}

/// Refuses a path that a link in a repository leads out of the repository, or into git's own folder: the person who types the command
/// has not made the link.
fn refuse_escape(path: &Path) -> std::io::Result<()> {
    let path = std::path::absolute(path)?;
    let mut parts: Vec<&Path> = path.ancestors().collect();
    parts.reverse();
    let mut top: Option<PathBuf> = None;
    for part in parts {
        // What is not there yet is no link.
        let Ok(real) = fs::canonicalize(part) else {
            break;
        };
        let is_git = |name: &OsStr| name.eq_ignore_ascii_case(".git");
        let is_inside = |top: &PathBuf| {
            let below = real.strip_prefix(top);
            below.is_ok_and(|below| !below.iter().any(is_git))
        };
        if part.ends_with("..") {
            top = None;
        } else if !top.as_ref().is_none_or(is_inside) {
            let what = "a symbolic link leads out of the repository, or into git's own folder\n\
                        help: name a file that no link leads to, or remove the link";
            return Err(std::io::Error::other(what));
        }
        if real.join(".git").symlink_metadata().is_ok() {
            top = Some(real);
        }
    }
    Ok(())
}

fn put(path: &Path, fill: &dyn Fn(&mut fs::File) -> std::io::Result<()>) -> std::io::Result<()> {
    refuse_escape(path)?;
    // A link is kept: the file that it leads to is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let new = Put {
        fill,
        keeps_mode: false,
        if_still: &|| Ok(true),
    };
    staged::put(&path, &new).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::file;

    #[test]
    fn folders_are_created_and_an_existing_file_is_replaced() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("a/b.json");
        for text in ["one", "two"] {
            file(&path, text.as_bytes()).expect("written");
            assert_eq!(std::fs::read_to_string(&path).expect("there"), text);
        }
        let inside = std::fs::read_dir(path.parent().expect("below")).expect("a folder");
        assert_eq!(inside.count(), 1);
    }

    #[test]
    fn a_folder_at_the_path_is_an_error() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        assert!(file(folder.path(), b"text").is_err());
    }
}

//! Replaces the user's files: each has its old or its new content at any moment, and keeps its mode.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::files::real;

use super::hold::Held;
use super::staged::{Put, put};

/// The byte order mark.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A file and its new text.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// Its path. A link is followed: the file that it leads to changes.
    pub path: &'a Path,
    /// Its text when it was read.
    pub before: &'a str,
    /// Its new text.
    pub after: &'a str,
}

/// Replaces the texts of files, all or none; a byte order mark is kept. If one file has changed since it was read, or cannot
/// be written, all are restored.
///
/// # Errors
/// A file cannot be read or written, or has changed.
pub fn replace_all(held: &mut Held, files: &[Replacement<'_>]) -> Result<(), Error> {
    let mut edits = Vec::new();
    for file in files {
        let (path, before) = current(file)?;
        let mark: &[u8] = if before.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK
        } else {
            b""
        };
        edits.push((path, [mark, file.after.as_bytes()].concat(), before));
    }
    for (path, after, before) in &edits {
        held.record_edit(path, Some(before), Some(after))?;
    }
    for (file, (path, after, before)) in files.iter().zip(&edits) {
        let done = write(path, before, after).map_err(Error::writing(file.path));
        if !matches!(done, Ok(true)) {
            held.undo()?;
            done?;
            return Err(change_error(file));
        }
    }
    Ok(())
}

/// Replaces the text of a file unless it has changed. Returns whether it did.
fn write(path: &Path, before: &[u8], after: &[u8]) -> io::Result<bool> {
    let new = Put {
        fill: &|file| file.write_all(after),
        keeps_mode: true,
        if_still: &|| Ok(fs::read(path)? == before),
    };
    put(path, &new)
}

/// The path of a file with its links resolved, and its bytes; an error if they have changed.
fn current(file: &Replacement<'_>) -> Result<(PathBuf, Vec<u8>), Error> {
    let unreadable = Error::reading(file.path);
    let path = real(file.path)?;
    let found = fs::read(&path).map_err(unreadable)?;
    if found.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&found) == file.before.as_bytes() {
        Ok((path, found))
    } else {
        Err(change_error(file))
    }
}

fn change_error(file: &Replacement<'_>) -> Error {
    Error::Changed {
        path: file.path.to_owned(),
    }
}

/// Replaces a file atomically, if it still has the content that this run has read: `before`, or no file. A link at the path
/// is refused, because it would be replaced, and so is a path out of the repository or into git's own folder, because the
/// project file can name any.
///
/// # Errors
/// The file cannot be written, or has changed.
pub fn write_owned_file(
    held: &mut Held,
    path: &Path,
    before: Option<&[u8]>,
    text: &str,
) -> Result<(), Error> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let cause = std::io::Error::other("it is not a regular file");
        return Err(Error::writing(path)(cause));
    }
    if !held.may_own(path)? {
        let cause = std::io::Error::other(
            "it is outside the repository, or in git's own folder\n\
             help: name a lock in the repository under `images.facts`",
        );
        return Err(Error::writing(path)(cause));
    }
    held.record_edit(path, before, Some(text.as_bytes()))?;
    let is_still = || match fs::read(path) {
        Ok(found) => Ok(before == Some(&*found)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(before.is_none()),
        Err(cause) => Err(cause),
    };
    let new = Put {
        fill: &|file| file.write_all(text.as_bytes()),
        keeps_mode: false,
        if_still: &is_still,
    };
    if put(path, &new).map_err(Error::writing(path))? {
        Ok(())
    } else {
        Err(Error::Changed {
            path: path.to_owned(),
        })
    }
}

//! Files of the user's, edited in place: each whole old or whole new at any moment, its mode kept.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::hold::Held;
use super::staged::{Put, put};
use crate::error::Error;
use crate::files::real;

/// What every reader skips at a file's start.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A file that is to have another text.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// Where it is. A link is followed, so that the file it leads to changes.
    pub path: &'a Path,
    /// Its text when it was read.
    pub before: &'a str,
    /// Its new text.
    pub after: &'a str,
}

/// Gives files new texts, all or none; a byte order mark stays. Where one of them is no longer what was read, or cannot be
/// written, all stay or become what they were.
///
/// # Errors
/// A file cannot be read or written, or is not what was read.
pub fn replace_all(held: &mut Held, files: &[Replacement<'_>]) -> Result<(), Error> {
    let mut edits = Vec::new();
    for file in files {
        let (path, before) = current(file)?;
        let mark: &[u8] = if before.starts_with(MARK) { MARK } else { b"" };
        edits.push((path, [mark, file.after.as_bytes()].concat(), before));
    }
    for (path, after, before) in &edits {
        held.about_to_edit(path, Some(before), Some(after))?;
    }
    for (file, (path, after, before)) in files.iter().zip(&edits) {
        let done = write(path, before, after).map_err(|cause| Error::Write {
            path: file.path.to_owned(),
            cause,
        });
        if !matches!(done, Ok(true)) {
            held.take_back()?;
            done?;
            return Err(changed(file));
        }
    }
    Ok(())
}

/// Writes a text where a file has another one. Answers whether it has.
fn write(path: &Path, before: &[u8], after: &[u8]) -> io::Result<bool> {
    let new = Put {
        fill: &|file| file.write_all(after),
        keeps_mode: true,
        if_still: &|| Ok(fs::read(path)? == before),
    };
    put(path, &new)
}

/// A file, its links followed, and its bytes, which are what was read.
fn current(file: &Replacement<'_>) -> Result<(PathBuf, Vec<u8>), Error> {
    let unreadable = |cause| Error::Read {
        path: file.path.to_owned(),
        cause,
    };
    let path = real(file.path)?;
    let found = fs::read(&path).map_err(unreadable)?;
    match found.strip_prefix(MARK).unwrap_or(&found) == file.before.as_bytes() {
        true => Ok((path, found)),
        false => Err(changed(file)),
    }
}

fn changed(file: &Replacement<'_>) -> Error {
    Error::Changed {
        path: file.path.to_owned(),
    }
}

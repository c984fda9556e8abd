//! Files of the user's, edited in place: each whole old or whole new at any moment, its mode kept.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::hold::Held;
use super::staged::{Put, put};
use crate::error::Error;

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

/// Puts texts in the place of those that files had when they were read; a byte order mark stays. Where one of the files is
/// no longer what was read, none is touched.
///
/// # Errors
/// A file cannot be read or written, or is not what was read.
pub fn replace_all(held: &mut Held, files: &[Replacement<'_>]) -> Result<(), Error> {
    held.about_to_replace(files.iter().map(|file| file.path))?;
    let changed = |path: &Path| Error::Changed {
        path: path.to_owned(),
    };
    for file in files {
        if marked(file)?.is_none() {
            return Err(changed(file.path));
        }
    }
    for file in files {
        if !one(file)? {
            return Err(changed(file.path));
        }
    }
    Ok(())
}

/// Puts a text in the place of the one that a file had when it was read, as [`replace_all`] does. Answers whether the file
/// was still what was read; if not, it stays as it is.
///
/// # Errors
/// The file cannot be read or written.
pub fn replace(held: &mut Held, file: &Replacement<'_>) -> Result<bool, Error> {
    held.about_to_replace([file.path])?;
    one(file)
}

fn one(file: &Replacement<'_>) -> Result<bool, Error> {
    let Some((real, mark)) = marked(file)? else {
        return Ok(false);
    };
    let new = Put {
        fill: &|new| {
            new.write_all(mark)?;
            new.write_all(file.after.as_bytes())
        },
        keeps_mode: true,
        if_still: &|| Ok(is_still(&fs::read(&real)?, file.before)),
    };
    put(&real, &new).map_err(|cause| Error::Write {
        path: file.path.to_owned(),
        cause,
    })
}

/// The file itself, and the mark that it starts with; none where it is not what was read.
fn marked(file: &Replacement<'_>) -> Result<Option<(PathBuf, &'static [u8])>, Error> {
    let unreadable = |cause| Error::Read {
        path: file.path.to_owned(),
        cause,
    };
    let real = fs::canonicalize(file.path).map_err(unreadable)?;
    let found = fs::read(&real).map_err(unreadable)?;
    let mark: &[u8] = match found.starts_with(MARK) {
        true => MARK,
        false => b"",
    };
    Ok(is_still(&found, file.before).then_some((real, mark)))
}

fn is_still(found: &[u8], before: &str) -> bool {
    found.strip_prefix(MARK).unwrap_or(found) == before.as_bytes()
}

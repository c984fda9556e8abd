//! Writes the one file that a command owns by its name: the lock.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use super::apply::unwritable;
use super::hold::Held;
use super::staged::{Put, put};
use crate::error::Error;

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
        return Err(unwritable(path)(cause));
    }
    if !held.may_own(path)? {
        let cause = std::io::Error::other(
            "it is outside the repository, or in git's own folder\n\
             help: name a lock in the repository under `images.facts`",
        );
        return Err(unwritable(path)(cause));
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
    if put(path, &new).map_err(unwritable(path))? {
        Ok(())
    } else {
        Err(Error::Changed {
            path: path.to_owned(),
        })
    }
}

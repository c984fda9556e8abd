//! One file of the user's, edited in place: whole old or whole new at any moment, its mode kept.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::error::Error;

/// What every reader skips at a file's start.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Puts a text in the place of the one that a file had when it was read; a byte order mark stays. A link is followed, so
/// that the file it leads to changes. Answers whether the file was still what was read; if not, it stays as it is.
///
/// # Errors
/// The file cannot be read or written.
pub fn replace(path: &Path, before: &str, after: &str) -> Result<bool, Error> {
    let unreadable = |cause| Error::Read {
        path: path.to_owned(),
        cause,
    };
    let unwritable = |cause| Error::Write {
        path: path.to_owned(),
        cause,
    };
    let file = fs::canonicalize(path).map_err(unreadable)?;
    let found = fs::read(&file).map_err(unreadable)?;
    let text = found.strip_prefix(MARK).unwrap_or(&found);
    if text != before.as_bytes() {
        return Ok(false);
    }
    let mark = &found[..found.len() - text.len()];
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let staged = file.with_file_name(format!("{}{name}", super::apply::STAGED));
    let written =
        stage(&file, &staged, &[mark, after.as_bytes()]).and_then(|()| fs::rename(&staged, &file));
    if written.is_err() {
        // What cannot be taken away now is overwritten by the next run.
        let _ = fs::remove_file(&staged);
    }
    written.map(|()| true).map_err(unwritable)
}

fn stage(file: &Path, staged: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
    match fs::remove_file(staged) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    let mut new = File::create_new(staged)?;
    for part in parts {
        new.write_all(part)?;
    }
    new.set_permissions(fs::metadata(file)?.permissions())
}

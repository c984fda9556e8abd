//! One file that a command owns by its name: the lock.

use std::fs;
use std::path::Path;

use super::apply::{STAGED, hold, unwritable, write_new};
use crate::error::Error;

/// Writes a file whole or not at all: beside its place, then renamed into it. The folder is held against other runs while it
/// does so. A link in its place is refused: it would be replaced.
///
/// # Errors
/// The file cannot be written, or another run is writing.
pub fn owned_file(path: &Path, text: &str) -> Result<(), Error> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let cause = std::io::Error::other("it is not a regular file");
        return Err(unwritable(path)(cause));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let _held = hold(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let staged = folder.join(format!("{STAGED}{name}"));
    let written =
        write_new(&staged, text).and_then(|()| fs::rename(&staged, path).map_err(unwritable(path)));
    if written.is_err() {
        // Litter at worst, which the next run takes away.
        let _ = fs::remove_file(&staged);
    }
    written
}

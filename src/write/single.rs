//! A file of its own, which no render owns: whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::error::Error;

/// Writes a file, whatever stood there, by way of one beside it; its folder is made where it is missing.
///
/// # Errors
/// It cannot be written.
pub fn file(path: &Path, content: &[u8]) -> Result<(), Error> {
    let unwritable = |cause| Error::Write {
        path: path.to_owned(),
        cause,
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.metalmark-new"));
    let written = fs::write(&beside, content).and_then(|()| fs::rename(&beside, path));
    written.map_err(|cause| {
        // What is left of it is of no use.
        let _ = fs::remove_file(&beside);
        unwritable(cause)
    })
}

/// Writes a file where nothing stands yet. Says whether it did.
///
/// # Errors
/// It cannot be written.
pub fn new_file(path: &Path, content: &[u8]) -> Result<bool, Error> {
    let unwritable = |cause| Error::Write {
        path: path.to_owned(),
        cause,
    };
    match fs::File::create_new(path) {
        Ok(mut file) => {
            file.write_all(content).map_err(unwritable)?;
            Ok(true)
        }
        Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(cause) => Err(unwritable(cause)),
    }
}

//! One file on its own, which no render owns: a report, a page, a first project file.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::apply::STAGED;
use crate::error::Error;
use crate::oci::Body;

/// Writes a file and the folders above it. A file that stands there is replaced in one step; what is no plain file, such as
/// a pipe or `/dev/stderr`, is written to.
///
/// # Errors
/// It cannot be written.
pub fn file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = match fs::metadata(path) {
        Ok(standing) if !standing.is_file() => fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes)),
        _ => put(path, bytes),
    };
    written.map_err(|cause| Error::Write {
        path: path.to_owned(),
        cause,
    })
}

/// Writes a file of any length, and the folders above it; a file that stands there is replaced in one step.
///
/// # Errors
/// It cannot be written, or the body not be read.
pub fn body(path: &Path, content: &dyn Body) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let staged = path.with_file_name(format!("{STAGED}{name}"));
    let write = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::File::create(&staged)?;
        std::io::copy(&mut content.open()?, &mut file)?;
        fs::rename(&staged, path)
    };
    write().map_err(|cause| {
        let _ = fs::remove_file(&staged);
        Error::Write {
            path: path.to_owned(),
            cause,
        }
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

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // A link keeps leading where it led.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let staged = path.with_file_name(format!("{STAGED}{name}"));
    let written = fs::write(&staged, bytes).and_then(|()| fs::rename(&staged, &path));
    if written.is_err() {
        let _ = fs::remove_file(&staged);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::file;

    #[test]
    fn it_makes_folders_and_replaces_what_stands_there() {
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
    fn a_folder_in_its_place_is_an_error() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        assert!(file(folder.path(), b"text").is_err());
    }
}

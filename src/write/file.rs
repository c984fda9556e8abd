//! One file on its own: a report, written whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::apply::STAGED;
use crate::error::Error;

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
        _ => replace(path, bytes),
    };
    written.map_err(|cause| Error::Write {
        path: path.to_owned(),
        cause,
    })
}

fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
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

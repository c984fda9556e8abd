//! Reading within the copy of a repository that a host hands over, where the project file is somebody else's text.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::model::checksum::is_url;

use super::project::ProjectFile;

/// That no path of the project file leads out of a folder: by its words, or by a link.
///
/// # Errors
/// One does; the folder is not there.
pub(super) fn check(root: &Path, file: &ProjectFile, folder: &Path) -> Result<(), Error> {
    let real = |path: &Path| {
        fs::canonicalize(path).map_err(|cause| Error::Read {
            path: path.to_owned(),
            cause,
        })
    };
    let (root, folder) = (real(root)?, real(folder)?);
    for path in paths(file) {
        let named = lexical(&root.join(path));
        let inside = named.starts_with(&folder)
            && fs::canonicalize(&named).map_or(true, |real| real.starts_with(&folder));
        if !inside {
            let message = format!("`{path}` in the project file lies outside the repository");
            return Err(Error::Usage { message });
        }
    }
    Ok(())
}

/// Every path and pattern that the project file names to be read.
fn paths(file: &ProjectFile) -> impl Iterator<Item = &String> {
    let clusters = file.clusters.iter();
    let folders = [&file.templates, &file.schemas];
    file.values
        .iter()
        .chain(clusters.flat_map(|source| source.values.iter().chain(&source.each)))
        .chain(file.state.values())
        // Pages of the web are read by `lock` alone.
        .chain(file.images.facts.iter().filter(|path| !is_url(path)))
        .chain(folders.into_iter().flatten())
}

/// An absolute path without `.` and `..`, links not followed: what is not there cannot be.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

//! The journal of a run's edits, in its run file: the next run undoes the edits of a killed one, so that several files change
//! together or not at all.
//!
//! One line per file, written before the file: its path below the repository, its old text, and the digest of its new text. An
//! edit is undone if the file has that digest; a file with another digest was edited since, and is kept.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::staged::{self, Put, put, staging_path};
use crate::error::Error;
use crate::files::{real, repository_top};
use crate::model::ownership::{self, Sum};

/// The prefix of a line.
const EDITED: &str = "edited ";

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// The path: in a run file relative to the repository if it is in it, in memory as it was opened.
    pub(super) path: PathBuf,
    /// The text before; none if there was no file.
    before: Option<String>,
    /// The digest of the text after; none if the file is removed.
    after: Option<Sum>,
}

impl Edit {
    /// The edit of a file. Links in its path are resolved.
    pub(super) fn new(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> Self {
        Self {
            path: path.to_owned(),
            before: before.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            after: after.map(ownership::sum),
        }
    }

    /// Appends the line to a run file.
    pub(super) fn write(&self, root: &Path, run: &mut File) -> io::Result<()> {
        let (Some(top), Ok(path)) = (top(root), inner(&self.path)) else {
            return Ok(());
        };
        let line = serde_json::to_string(&Self {
            path: path.strip_prefix(&top).unwrap_or(&path).to_owned(),
            ..self.clone()
        })?;
        run.write_all(format!("{EDITED}{line}\n").as_bytes())
    }

    /// The bytes of the file; none where there is none.
    fn current(&self) -> io::Result<Option<Vec<u8>>> {
        match fs::read(&self.path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
            current => current.map(Some),
        }
    }

    /// Whether the file has what the run has written.
    fn is_done(&self) -> bool {
        let current = self.current();
        current.is_ok_and(|current| current.as_deref().map(ownership::sum) == self.after)
    }

    /// Undoes the edit if the file has the digest of the new text. Returns whether it did.
    pub(super) fn undo(&self) -> io::Result<bool> {
        let current = self.current()?;
        if current.as_deref().map(ownership::sum) != self.after {
            return Ok(false);
        }
        let Some(before) = &self.before else {
            fs::remove_file(&self.path)?;
            return Ok(true);
        };
        let old = Put {
            fill: &|file| file.write_all(before.as_bytes()),
            keeps_mode: current.is_some(),
            if_still: &|| Ok(true),
        };
        put(&self.path, &old)
    }
}

/// The repository of a project; its own folder if it is in none.
pub(super) fn top(root: &Path) -> Option<PathBuf> {
    repository_top(root).or_else(|| real(root).ok())
}

/// A path with the links of its folder resolved.
pub(super) fn inner(path: &Path) -> Result<PathBuf, Error> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    Ok(real(folder)?.join(path.file_name().unwrap_or_default()))
}

/// The edits in a run file, the last first. An incomplete line belongs to a file that was not written yet.
fn edits(text: &str) -> Vec<Edit> {
    let lines = text
        .split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n')?.strip_prefix(EDITED));
    let mut edits: Vec<Edit> = lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    edits.reverse();
    edits
}

/// The files that have what a run has written, below its repository.
pub(super) fn files_with_edits(root: &Path, text: &str) -> Vec<PathBuf> {
    let top = top(root).unwrap_or_default();
    let edits = edits(text).into_iter().filter(|edit| {
        let path = top.join(&edit.path);
        Edit {
            path,
            ..edit.clone()
        }
        .is_done()
    });
    edits.map(|edit| edit.path).collect()
}

/// Undoes the edits of a run file, and removes staged files. Returns the paths of the edits, those in the project relative to
/// its folder. Of those that cannot be undone the first is the error; the next run tries again where the disk is full.
pub(super) fn undo(root: &Path, text: &str) -> Result<Vec<PathBuf>, Error> {
    let Some(top) = top(root) else {
        return Ok(Vec::new());
    };
    let inside = real(root).ok();
    let (mut undone, mut failed) = (Vec::new(), None);
    for edit in edits(text) {
        let path = top.join(&edit.path);
        // A link that somebody has put on the way since leads elsewhere.
        if inner(&path).is_ok_and(|inner| inner != path) {
            continue;
        }
        let edit = Edit {
            path: path.clone(),
            ..edit
        };
        // Best effort: a staged file does no harm.
        let _ = staged::sweep(&staging_path(&path));
        match edit.undo() {
            Ok(false) => {}
            Ok(true) => {
                let inside = inside.as_deref();
                let shown = inside.and_then(|root| path.strip_prefix(root).ok());
                undone.push(
                    shown
                        .or(path.strip_prefix(&top).ok())
                        .unwrap_or(&path)
                        .to_owned(),
                );
            }
            Err(cause) => {
                failed.get_or_insert(Error::Undo {
                    path,
                    is_kept: is_full(cause.kind()),
                    cause,
                });
            }
        }
    }
    failed.map_or(Ok(undone), Err)
}

fn is_full(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

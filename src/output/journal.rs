//! What a run has edited, in its run file: the next run takes the edits of a killed one back, so that several files change
//! together or not at all.
//!
//! One line a file, written before the file is: its path below the repository, its text, and the digest of the text that it
//! gets. An edit is taken back where the file has that digest; where it has another one, somebody edited it since, and it stays.
//! A clone may contain a run file that somebody made up, so a line leads to no file outside the repository, through no
//! link, and not into git's own folder.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::staged::{self, Put, beside, put};
use crate::error::Error;
use crate::files::{Folder, Standing, real, repository_top};
use crate::model::output_path;
use crate::model::ownership::{self, Sum};

/// What a line starts with.
const EDITED: &str = "edited ";

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// The path: below the repository in a run file, as opened in the run itself.
    pub(super) path: PathBuf,
    /// The text before; none where there was no file.
    before: Option<String>,
    /// The digest of the text after; none where the file is removed.
    after: Option<Sum>,
}

impl Edit {
    /// The edit of a file whose links have been followed.
    pub(super) fn new(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> Self {
        Self {
            path: path.to_owned(),
            before: before.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            after: after.map(ownership::sum),
        }
    }

    /// Adds its line to the run file of a project. A file outside the repository, which only its own command line names, has none.
    pub(super) fn write(&self, root: &Path, run: &mut File) -> io::Result<()> {
        let (Some(top), Ok(path)) = (top(root), inner(&self.path)) else {
            return Ok(());
        };
        let Ok(below) = path.strip_prefix(&top) else {
            return Ok(());
        };
        let line = serde_json::to_string(&Self {
            path: below.to_owned(),
            ..self.clone()
        })?;
        run.write_all(format!("{EDITED}{line}\n").as_bytes())
    }

    /// Takes it back where the file is what it made of it. Answers whether it was.
    pub(super) fn take_back(&self) -> io::Result<bool> {
        let current = match fs::read(&self.path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => None,
            current => Some(current?),
        };
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

/// The repository of a project; its own folder where it is in none.
fn top(root: &Path) -> Option<PathBuf> {
    repository_top(root).or_else(|| real(root).ok())
}

/// A path in a folder whose links are followed.
fn inner(path: &Path) -> Result<PathBuf, Error> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    Ok(real(folder)?.join(path.file_name().unwrap_or_default()))
}

/// The edits that a run file names, the last first. A line that is torn is that of a file that was not written yet.
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

/// Takes back what a run file says that was edited, and takes away what was being written. Answers the paths of the edits,
/// those in the project as seen from its folder.
pub(super) fn take_back(root: &Path, text: &str) -> Result<Vec<PathBuf>, Error> {
    let Some(top) = top(root) else {
        return Ok(Vec::new());
    };
    let (folder, inside) = (Folder::new(&top, None), real(root).ok());
    let mut taken = Vec::new();
    for edit in edits(text) {
        let path = top.join(&edit.path);
        let unwritable = |cause| Error::Undo {
            path: path.clone(),
            cause,
        };
        let below = edit.path.to_string_lossy();
        let standing = folder.walk().and_then(|mut walk| walk.look(&below));
        let is_plain = matches!(standing, Ok(Standing::File(_) | Standing::Nothing));
        if output_path::fault(&below).is_some() || !is_plain {
            continue;
        }
        let edit = Edit {
            path: path.clone(),
            ..edit
        };
        // What cannot be taken away is in nobody's way.
        let _ = staged::sweep(&beside(&path));
        if edit.take_back().map_err(unwritable)? {
            let shown = inside
                .as_deref()
                .and_then(|root| path.strip_prefix(root).ok());
            taken.push(shown.map_or(edit.path, Path::to_owned));
        }
    }
    Ok(taken)
}

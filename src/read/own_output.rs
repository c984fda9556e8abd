//! Which files metalmark rendered itself. They are never input: an overlay that was read back would be the strongest layer,
//! and every later render would repeat it instead of following the user's change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::Error;
use crate::files::{Files, Found};
use crate::model::old_list::{OLD_LIST, OldList};
use crate::model::output_path::OutputFolders;
use crate::model::ownership::Owner;

use super::files::display;

/// The rendered files of a project: those below its outputs whose first line says so. Elsewhere the line means nothing, because
/// anybody can write it.
#[derive(Debug, Default)]
pub struct OwnOutput {
    folders: OutputFolders,
    /// Their paths.
    outputs: Vec<String>,
    /// The lists of an earlier version.
    old_lists: Mutex<HashMap<PathBuf, Option<Arc<OldList>>>>,
}

impl OwnOutput {
    /// The rendered files of a project with these output paths.
    pub fn new<'p>(outputs: impl Iterator<Item = &'p str>) -> Self {
        let outputs: Vec<String> = outputs.map(str::to_owned).collect();
        Self {
            folders: OutputFolders::new(outputs.iter().map(|path| &**path)),
            outputs,
            old_lists: Mutex::default(),
        }
    }

    /// The same files, as seen from a folder that the project is in.
    pub(super) fn rebase(&self, root: &Path) -> Self {
        let outputs = self.outputs.iter().map(|path| root.join(path));
        let outputs: Vec<String> = outputs.map(|path| display(&path)).collect();
        Self::new(outputs.iter().map(|path| &**path))
    }

    /// Whether metalmark rendered the file at a path below the root.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn has(&self, files: &dyn Files, path: &Path) -> Result<bool, Error> {
        Ok(self.owner(files, path)?.is_some())
    }

    /// Whose the rendered file at a path below the root is; none if metalmark did not render it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn owner(&self, files: &dyn Files, path: &Path) -> Result<Option<Owner>, Error> {
        if !self.folders.holds(path) {
            return Ok(None);
        }
        let Found::File(content) = files.file(path)? else {
            return Ok(None);
        };
        let bytes = content.raw_bytes();
        match Owner::from_start(bytes) {
            Some(owner) => Ok(Some(owner)),
            None => self.find_listed_owner(files, path, bytes),
        }
    }

    /// Whether metalmark renders files at or below a path where nothing exists yet.
    pub fn will_have(&self, files: &dyn Files, path: &Path) -> bool {
        self.folders.holds_apart(path) && !files.is_file(path) && !files.is_folder(path)
    }

    /// Whose a file is that an earlier version rendered, and the next render gives its first line.
    fn find_listed_owner(
        &self,
        files: &dyn Files,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Option<Owner>, Error> {
        for folder in path.ancestors().skip(1) {
            let below = path.strip_prefix(folder).unwrap_or(path);
            let below = below.to_string_lossy().replace('\\', "/");
            let list = self.old_list(files, folder)?;
            if let Some(owner) = { list.as_ref() }.and_then(|list| list.owner(&below, bytes)) {
                return Ok(Some(owner.clone()));
            }
        }
        Ok(None)
    }

    fn old_list(&self, files: &dyn Files, folder: &Path) -> Result<Option<Arc<OldList>>, Error> {
        if let Some(known) = self.old_lists.lock().get(folder) {
            return Ok(known.clone());
        }
        let list = match files.file(&folder.join(OLD_LIST))? {
            Found::File(list) => Some(OldList::parse(&String::from_utf8_lossy(list.raw_bytes()))),
            Found::Nothing | Found::Outside => None,
        };
        let list = list.map(Arc::new);
        let mut known = self.old_lists.lock();
        known.insert(folder.to_owned(), list.clone());
        Ok(list)
    }
}

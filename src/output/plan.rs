//! Plans the changes that a rendered tree makes on disk. It reads and never writes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::refusal;
use crate::error::Error;
use crate::files::{Folder, PathState, Walk};
use crate::model::finding::{Finding, Subject};
use crate::model::manifest::{ChangeKind, ChangeSet, FileChange, ManifestFile};
use crate::model::old_list::{OLD_LIST, OldList};
use crate::model::output_path::{self, OutputFolders};
use crate::model::ownership::{self, Owner};

/// The options of a plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// The root as the user would write it.
    pub shown: String,
    /// A folder that contains the root; no link is followed below it. If none, the root itself may be a link.
    pub base: Option<PathBuf>,
    /// The folders of the outputs below the root, in which files that are not rendered any more are looked for.
    pub outputs: OutputFolders,
    /// Files that the project takes for input, were it not for their first line: none of them is deleted.
    pub inputs: BTreeSet<PathBuf>,
    /// The project file's name, where it is not the usual one: what others rendered is not this project's.
    pub project: String,
    /// What to do with a file that exists and is not owned.
    pub foreign: Foreign,
    /// Which texts changes carry.
    pub texts: Texts,
}

impl Default for Options {
    /// The whole root is one output.
    fn default() -> Self {
        Self {
            shown: String::new(),
            base: None,
            outputs: OutputFolders::new([""]),
            inputs: BTreeSet::new(),
            project: String::new(),
            foreign: Foreign::default(),
            texts: Texts::default(),
        }
    }
}

/// What to do with a file whose first line is not metalmark's where one is rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Foreign {
    /// Refuse it, with a finding.
    #[default]
    Refuse,
    /// Overwrite it, and own it from then on.
    Adopt,
}

impl Foreign {
    /// The value for `--adopt`.
    pub fn from_flag(adopt: bool) -> Self {
        if adopt { Self::Adopt } else { Self::Refuse }
    }
}

/// Which texts changes carry: as few as the run needs, because those of thousands of files are in memory at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Texts {
    /// None: the run only compares.
    None,
    /// The new ones, to write them.
    #[default]
    New,
    /// The old ones too, for diffs and line counts.
    Both,
}

/// A plan in progress: compares files with the disk, in parts, from several threads.
pub struct Plan {
    pub(super) root: PathBuf,
    pub(super) folder: Folder,
    pub(super) options: Options,
    /// The lists of an earlier version, by the folders that they lie in.
    pub(super) old_lists: Vec<(String, OldList)>,
}

/// Some compared files, without the texts that are on disk already.
#[derive(Debug)]
pub struct Part {
    pub(super) entries: Vec<Entry>,
    /// The number of files with an illegal path, which have no entry.
    pub(super) unnamed: usize,
    pub(super) findings: Vec<Finding>,
}

/// A compared file.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) maker: Arc<str>,
    pub(super) subject: Subject,
    /// Whose the file is that is there.
    pub(super) before: Option<Owner>,
    pub(super) outcome: FileOutcome,
}

/// The result of a comparison. Changes are boxed: of thousands of files, most are the same.
#[derive(Debug)]
pub(super) enum FileOutcome {
    /// The file exists with these bytes.
    Same,
    /// The file is to be written.
    Change(Box<FileChange>),
    /// The file is to be written, but something blocks its path that may or may not be pruned: a file where a folder is
    /// needed, or a folder at this path.
    Blocked(Box<FileChange>, String),
    /// The file is not written; a finding explains why.
    Refused,
}

impl Part {
    /// Whether another text is to be written over a file.
    pub fn is_replaced(&self, path: &str) -> bool {
        let is_update = |outcome: &FileOutcome| matches!(outcome, FileOutcome::Change(change) if change.kind == ChangeKind::Updated);
        let mut entries = self.entries.iter();
        entries.any(|entry| entry.path == path && is_update(&entry.outcome))
    }

    /// Adds what is wrong with what is written.
    pub fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }
}

impl Plan {
    /// Looks at the outputs' folders, which need not exist.
    pub fn start(root: &Path, options: Options) -> Result<Self, Error> {
        let folder = Folder::new(root, options.base.as_deref());
        let mut walk = walk(&folder, root)?;
        let mut old_lists = Vec::new();
        for output in options.outputs.roots() {
            let path = join(output, OLD_LIST);
            let full = root.join(&path);
            let text = match walk.inspect(&path).map_err(Error::reading(&full))? {
                PathState::File(_) => walk.read(&path, LONGEST).map_err(Error::reading(&full))?,
                PathState::Link(link) if link != path => return Err(link_in_path(root, output)),
                PathState::BelowFile(_) => return Err(unwritable_folder(root, output, BELOW_FILE)),
                _ => None,
            };
            let text = text.map(|text| OldList::parse(&String::from_utf8_lossy(&text)));
            old_lists.extend(text.map(|list| (output.to_owned(), list)));
        }
        Ok(Self {
            root: root.to_owned(),
            folder,
            options,
            old_lists,
        })
    }

    /// Compares some files with those on disk.
    pub fn compare(&self, files: Vec<ManifestFile>) -> Result<Part, Error> {
        let mut walk = walk(&self.folder, &self.root)?;
        let mut part = Part {
            entries: Vec::with_capacity(files.len()),
            unnamed: 0,
            findings: Vec::new(),
        };
        for file in files {
            if let Some(fault) = output_path::fault(&file.path) {
                let finding = refusal::illegal(&file.path, &fault, file.subject);
                part.findings.push(finding);
                part.unnamed += 1;
                continue;
            }
            let state = walk.inspect(&file.path);
            let state = state.map_err(self.unreadable(&file.path))?;
            let mut entry = Entry {
                path: file.path.clone(),
                maker: Arc::clone(&file.maker),
                subject: file.subject.clone(),
                before: None,
                outcome: FileOutcome::Refused,
            };
            entry.outcome = match state {
                PathState::File(_) => {
                    self.plan_replacement(file, &mut entry.before, &mut walk, &mut part.findings)?
                }
                state => self.plan_creation(file, state, &mut part.findings),
            };
            part.entries.push(entry);
        }
        Ok(part)
    }

    /// The outcome for a path at which there is no file.
    fn plan_creation(
        &self,
        file: ManifestFile,
        state: PathState,
        findings: &mut Vec<Finding>,
    ) -> FileOutcome {
        let path = file.path.clone();
        match state {
            PathState::Folder => FileOutcome::Blocked(self.creation(file), path),
            PathState::BelowFile(obstacle) => FileOutcome::Blocked(self.creation(file), obstacle),
            PathState::Link(link) => {
                let (shown, link) = (self.display_path(&path), self.display_path(&link));
                findings.push(refusal::link(&shown, &link, file.subject));
                FileOutcome::Refused
            }
            PathState::Special => {
                let shown = self.display_path(&path);
                findings.push(refusal::obstacle(&shown, &shown, file.subject));
                FileOutcome::Refused
            }
            PathState::Nothing | PathState::File(_) => FileOutcome::Change(self.creation(file)),
        }
    }

    fn plan_replacement(
        &self,
        file: ManifestFile,
        before: &mut Option<Owner>,
        walk: &mut Walk<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<FileOutcome, Error> {
        let old = self.present(walk, &file.path)?;
        if old.as_deref() == Some(file.text.as_bytes()) {
            return Ok(FileOutcome::Same);
        }
        *before = old.as_deref().and_then(|old| self.owner(&file.path, old));
        if before.is_none() && self.options.foreign == Foreign::Refuse {
            let shown = self.display_path(&file.path);
            let start = old.as_deref().unwrap_or_default();
            let by = Owner::other_project(&self.options.project, start);
            let finding = refusal::not_owned(&shown, by.as_deref(), file.subject);
            findings.push(finding);
            return Ok(FileOutcome::Refused);
        }
        Ok(FileOutcome::Change(Box::new(FileChange {
            path: file.path,
            kind: ChangeKind::Updated,
            seen: old.as_deref().map(ownership::sum),
            old: self.old_text(old),
            new: self.new_text(file.text),
            is_adopted: before.is_none(),
        })))
    }

    /// Whose a file is: its first line says so, or a list of an earlier version.
    pub(super) fn owner(&self, path: &str, bytes: &[u8]) -> Option<Owner> {
        let listed = || {
            self.old_lists.iter().find_map(|(folder, list)| {
                let below = strip_folder(path, folder)?;
                list.owner(below, bytes).cloned()
            })
        };
        Owner::from_start_of(&self.options.project, bytes).or_else(listed)
    }

    /// The text of a file that is there.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn text(&self, path: &str) -> Result<String, Error> {
        let mut walk = walk(&self.folder, &self.root)?;
        let bytes = self.present(&mut walk, path)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The bytes of a file below the root; none if it is too long to be metalmark's.
    pub(super) fn present(
        &self,
        walk: &mut Walk<'_>,
        path: &str,
    ) -> Result<Option<Vec<u8>>, Error> {
        walk.read(path, LONGEST).map_err(self.unreadable(path))
    }

    pub(super) fn unreadable(&self, path: &str) -> impl Fn(std::io::Error) -> Error + use<> {
        Error::reading(self.root.join(path))
    }

    /// The old text, if changes carry it.
    pub(super) fn old_text(&self, old: Option<Vec<u8>>) -> Option<String> {
        let old = old.filter(|_| self.options.texts == Texts::Both);
        old.map(|old| String::from_utf8_lossy(&old).into_owned())
    }

    fn new_text(&self, text: String) -> Option<String> {
        Some(text).filter(|_| self.options.texts != Texts::None)
    }

    fn creation(&self, file: ManifestFile) -> Box<FileChange> {
        Box::new(FileChange {
            path: file.path,
            kind: ChangeKind::Created,
            seen: None,
            old: None,
            new: self.new_text(file.text),
            is_adopted: false,
        })
    }

    /// A path below the root as the user would write it.
    pub(super) fn display_path(&self, path: &str) -> String {
        let changes = ChangeSet {
            shown: self.options.shown.clone(),
            ..ChangeSet::default()
        };
        changes.display_path(path)
    }
}

/// The most bytes of a file that metalmark writes: many times the largest object that Kubernetes accepts (1.5 MiB, etcd's
/// limit).
pub(super) const LONGEST: u64 = 256 << 20;

const BELOW_FILE: &str = "a file is in its path";

fn link_in_path(root: &Path, output: &str) -> Error {
    let why = "a symbolic link is in its path\n\
               help: replace the link by a real folder, or choose another output folder";
    unwritable_folder(root, output, why)
}

fn unwritable_folder(root: &Path, output: &str, why: &str) -> Error {
    Error::Write {
        path: root.join(output),
        cause: std::io::Error::other(why.to_owned()),
    }
}

/// A path below a folder; the folder is empty for the root.
pub(super) fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// The part of a path below a folder.
pub(super) fn strip_folder<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        Some(path)
    } else {
        path.strip_prefix(folder)?.strip_prefix('/')
    }
}

/// A handle for paths below a folder.
pub(super) fn walk<'f>(folder: &'f Folder, root: &Path) -> Result<Walk<'f>, Error> {
    folder.walk().map_err(Error::writing(root))
}

#[cfg(test)]
mod tests {
    use super::strip_folder;

    #[test]
    fn a_folder_holds_no_file_that_only_begins_like_it() {
        assert_eq!(strip_folder("rendered-old/a.yaml", "rendered"), None);
        assert_eq!(strip_folder("rendered/a.yaml", "rendered"), Some("a.yaml"));
        assert_eq!(strip_folder("a.yaml", ""), Some("a.yaml"));
    }
}

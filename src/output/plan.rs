//! Plans the changes that a rendered tree makes on disk. It reads and never writes.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::refusal;
use crate::error::Error;
use crate::files::{Folder, PathState, Walk};
use crate::model::finding::{Finding, Subject};
use crate::model::manifest::{
    ChangeKind, ChangeSet, FileChange, ManifestFile, ManifestTree, OWNERSHIP_FILE, Origin,
};
use crate::model::output_path;
use crate::model::ownership::{self, Record, Sum};

/// The ownership file while it is written.
pub(super) const TORN_RECORD: &str = ".metalmark-tmp-owned";

/// Plans a whole tree. A run over many clusters uses [`Plan`] instead, so that unchanged files are not all in memory at once.
pub fn plan(root: &Path, tree: ManifestTree, options: Options) -> Result<ChangeSet, Error> {
    /// How many files share their open folders.
    const CHUNK: usize = 64;
    let plan = Plan::start(root, options)?;
    let parts = tree
        .files
        .into_par_iter()
        .chunks(CHUNK)
        .map(|files| plan.compare(files))
        .collect::<Result<Vec<Part>, Error>>()?;
    plan.finish(parts, &tree.keeps)
}

/// The options of a plan.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The output folder as the user would write it.
    pub shown: String,
    /// A folder that contains the output folder; no link is followed below it. If none, the output folder itself may be
    /// a link.
    pub base: Option<PathBuf>,
    /// What to do with a file that exists and is not owned.
    pub foreign: Foreign,
    /// Whether changes carry the old text.
    pub previous: Previous,
}

/// What to do with a file that is not owned where one is rendered. A file with exactly the rendered bytes is adopted in any
/// case: nothing is lost, and a lost ownership file is restored.
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

/// Whether changes carry the old text, for diffs and line counts, at the cost of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Previous {
    #[default]
    Drop,
    Keep,
}

/// A plan in progress: compares files with the disk, in parts, from several threads.
pub struct Plan {
    pub(super) root: PathBuf,
    pub(super) folder: Folder,
    pub(super) options: Options,
    pub(super) record: Record,
    pub(super) before: Option<String>,
    pub(super) unfinished: bool,
    /// Whether nothing exists at the root, so that there is nothing to look for below it. What appears there meanwhile is found
    /// before the first file is written.
    is_new: bool,
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
    pub(super) owner: Arc<str>,
    pub(super) subject: Subject,
    pub(super) sum: Sum,
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

impl Plan {
    /// Reads what is owned in an output folder, which need not exist.
    pub fn start(root: &Path, options: Options) -> Result<Self, Error> {
        let folder = Folder::new(root, options.base.as_deref());
        let mut walk = walk(&folder, root)?;
        let before = ownership(&mut walk, root)?;
        let (record, unfinished) = before.as_deref().map(Record::parse).unwrap_or_default();
        let torn = walk.inspect(TORN_RECORD);
        let torn = torn.map_err(unreadable(root))? != PathState::Nothing;
        let is_new = walk.inspect("").map_err(unreadable(root))? == PathState::Nothing;
        Ok(Self {
            is_new,
            root: root.to_owned(),
            folder,
            options,
            record,
            before,
            unfinished: unfinished || torn,
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
            let state = if self.is_new {
                PathState::Nothing
            } else {
                walk.inspect(&file.path)
                    .map_err(self.unreadable(&file.path))?
            };
            let sum = ownership::sum(file.text.as_bytes());
            let (path, owner, subject) =
                (file.path.clone(), file.owner.clone(), file.subject.clone());
            let outcome = self.outcome(file, state, &mut walk, &mut part.findings)?;
            part.entries.push(Entry {
                path,
                owner,
                subject,
                sum,
                outcome,
            });
        }
        Ok(part)
    }

    fn outcome(
        &self,
        file: ManifestFile,
        state: PathState,
        walk: &mut Walk<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<FileOutcome, Error> {
        let path = file.path.clone();
        match state {
            PathState::Nothing => Ok(FileOutcome::Change(creation(file))),
            PathState::File(length) => self.plan_replacement(file, length, walk, findings),
            PathState::Folder => Ok(FileOutcome::Blocked(creation(file), path)),
            PathState::BelowFile(obstacle) => Ok(FileOutcome::Blocked(creation(file), obstacle)),
            PathState::Link(link) => {
                let (shown, link) = (self.display_path(&path), self.display_path(&link));
                findings.push(refusal::link(&shown, &link, file.subject));
                Ok(FileOutcome::Refused)
            }
            PathState::Special => {
                let shown = self.display_path(&path);
                findings.push(refusal::obstacle(&shown, &shown, file.subject));
                Ok(FileOutcome::Refused)
            }
        }
    }

    fn plan_replacement(
        &self,
        file: ManifestFile,
        length: u64,
        walk: &mut Walk<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<FileOutcome, Error> {
        let owned = self.record.files.get(&file.path);
        let same_length = length == file.text.len() as u64;
        if !same_length && owned.is_none() && self.options.foreign == Foreign::Refuse {
            findings.push(refusal::not_owned(
                &self.display_path(&file.path),
                file.subject,
            ));
            return Ok(FileOutcome::Refused);
        }
        let old = self.present(walk, &file.path)?;
        if same_length && old.as_deref() == Some(file.text.as_bytes()) {
            return Ok(FileOutcome::Same);
        }
        let seen = old.as_deref().map(ownership::sum);
        let origin = match owned {
            Some(owned) => origin(&owned.sums, seen.as_ref()),
            None if self.options.foreign == Foreign::Adopt => Origin::Adopted,
            None => {
                findings.push(refusal::not_owned(
                    &self.display_path(&file.path),
                    file.subject,
                ));
                return Ok(FileOutcome::Refused);
            }
        };
        Ok(FileOutcome::Change(Box::new(FileChange {
            path: file.path,
            kind: ChangeKind::Updated,
            seen,
            old: self.old_text(old),
            new: Some(file.text),
            origin,
        })))
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
        unreadable(&self.root.join(path))
    }

    /// The old text, if changes carry it.
    pub(super) fn old_text(&self, old: Option<Vec<u8>>) -> Option<String> {
        match self.options.previous {
            Previous::Drop => None,
            Previous::Keep => old.map(|old| String::from_utf8_lossy(&old).into_owned()),
        }
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

/// Whether an earlier run wrote the bytes.
pub(super) fn origin(sums: &[Sum], seen: Option<&Sum>) -> Origin {
    match seen {
        Some(seen) if sums.contains(seen) => Origin::Run,
        _ => Origin::Edited,
    }
}

/// The text of the ownership file. A link is refused, because it could make any file owned.
pub(super) fn ownership(walk: &mut Walk<'_>, root: &Path) -> Result<Option<String>, Error> {
    let path = root.join(OWNERSHIP_FILE);
    let unwritable = |why: &str| Error::Write {
        path: root.to_owned(),
        cause: std::io::Error::other(why.to_owned()),
    };
    match walk.inspect(OWNERSHIP_FILE).map_err(unreadable(&path))? {
        PathState::Nothing => Ok(None),
        PathState::File(_) => {
            let bytes = walk
                .read(OWNERSHIP_FILE, LONGEST)
                .map_err(unreadable(&path))?;
            let text = String::from_utf8(bytes.unwrap_or_default());
            let text = text.map_err(|_| ErrorKind::InvalidData.into());
            text.map(Some).map_err(unreadable(&path))
        }
        PathState::Link(link) if link != OWNERSHIP_FILE => Err(unwritable(
            "a symbolic link is in its path\n\
             help: replace the link by a real folder, or choose another output folder",
        )),
        PathState::BelowFile(_) => Err(unwritable("a file is in its path")),
        PathState::Link(_) | PathState::Folder | PathState::Special => Err(unreadable(&path)(
            std::io::Error::other("not a regular file"),
        )),
    }
}

/// A handle for paths below a folder.
pub(super) fn walk<'f>(folder: &'f Folder, root: &Path) -> Result<Walk<'f>, Error> {
    folder.walk().map_err(|cause| Error::Write {
        path: root.to_owned(),
        cause,
    })
}

pub(super) fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |cause| Error::Read {
        path: path.clone(),
        cause,
    }
}

fn creation(file: ManifestFile) -> Box<FileChange> {
    Box::new(FileChange {
        path: file.path,
        kind: ChangeKind::Created,
        seen: None,
        old: None,
        new: Some(file.text),
        origin: Origin::Run,
    })
}

//! What applying a rendered tree would change on disk. Reads, never writes.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::refusal;
use crate::error::Error;
use crate::files::{Folder, Standing, Walk};
use crate::model::finding::{Finding, Subject};
use crate::model::manifest::{
    Change, ChangeKind, ChangeSet, Keeps, ManifestFile, ManifestTree, OWNERSHIP_FILE, Origin,
};
use crate::model::output_path;
use crate::model::ownership::{self, Record, Sum};

/// Plans a whole tree. A run over many clusters uses [`Plan`] instead, so that unchanged files are never held together.
pub fn plan(root: &Path, tree: ManifestTree, options: Options) -> Result<ChangeSet, Error> {
    /// Files that share one look at their folders.
    const TOGETHER: usize = 64;
    let plan = Plan::start(root, options)?;
    let parts = tree
        .files
        .into_par_iter()
        .chunks(TOGETHER)
        .map(|files| plan.compare(files))
        .collect::<Result<Vec<Part>, Error>>()?;
    plan.finish(parts, &tree.keeps)
}

/// How a plan is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The output folder as the user would type it.
    pub shown: String,
    /// The folder that the output folder is in, below which no link is followed; where there is none, a link may lead to the
    /// output folder itself.
    pub base: Option<PathBuf>,
    /// What happens to a file that somebody else wrote where one is rendered.
    pub foreign: Foreign,
    /// Whether changes carry the text that they replace.
    pub previous: Previous,
}

/// What happens to a file that is not owned, where one is rendered. One with the very bytes that are rendered is adopted
/// in any case: nothing is lost, and a lost ownership file mends itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Foreign {
    /// It is refused, with a finding.
    #[default]
    Refuse,
    /// It is overwritten, and owned from then on.
    Adopt,
}

impl Foreign {
    /// As `--adopt` says.
    pub fn by(adopt: bool) -> Self {
        match adopt {
            true => Self::Adopt,
            false => Self::Refuse,
        }
    }
}

/// Whether changes carry the text that they replace: for diffs and line counts, at the price of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Previous {
    /// They do not.
    #[default]
    Drop,
    /// They do.
    Keep,
}

/// A plan in the making: compares files with the disk, in parts, from several threads.
pub struct Plan {
    pub(super) root: PathBuf,
    pub(super) folder: Folder,
    pub(super) options: Options,
    pub(super) record: Record,
    pub(super) before: Option<String>,
    pub(super) unfinished: bool,
}

/// Some compared files. Texts that are on disk already are gone.
#[derive(Debug)]
pub struct Part {
    pub(super) entries: Vec<Entry>,
    /// How many files have a path that is illegal, and so no entry.
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
    pub(super) fate: Fate,
}

/// What a comparison came to.
#[derive(Debug)]
pub(super) enum Fate {
    /// The bytes are on disk.
    Same,
    /// They are not.
    Change(Change),
    /// They are not, and something that may or may not be pruned stands in the way: a file at this path's folder, or
    /// a folder at this path.
    Blocked(Change, String),
    /// It is not written; a finding says why.
    Refused,
}

impl Plan {
    /// Reads what is owned below an output folder, which need not exist.
    pub fn start(root: &Path, options: Options) -> Result<Self, Error> {
        let folder = Folder::new(root, options.base.as_deref());
        let mut walk = walk(&folder, root)?;
        let before = ownership(&mut walk, root)?;
        let (record, unfinished) = before.as_deref().map(Record::parse).unwrap_or_default();
        let torn = walk.look(super::apply::TORN_RECORD);
        let torn = torn.map_err(unreadable(root))? != Standing::Nothing;
        Ok(Self {
            root: root.to_owned(),
            folder,
            options,
            record,
            before,
            unfinished: unfinished || torn,
        })
    }

    /// Compares some files with what stands on disk.
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
            let standing = walk.look(&file.path).map_err(self.unreadable(&file.path))?;
            let sum = ownership::sum(file.text.as_bytes());
            let (path, owner, subject) =
                (file.path.clone(), file.owner.clone(), file.subject.clone());
            let fate = self.fate(file, standing, &mut walk, &mut part.findings)?;
            part.entries.push(Entry {
                path,
                owner,
                subject,
                sum,
                fate,
            });
        }
        Ok(part)
    }

    /// Puts the parts together: what collides, what is pruned, what is owned afterwards.
    pub fn finish(self, parts: Vec<Part>, keeps: &Keeps) -> Result<ChangeSet, Error> {
        super::join::change_set(self, parts, keeps)
    }

    fn fate(
        &self,
        file: ManifestFile,
        standing: Standing,
        walk: &mut Walk<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<Fate, Error> {
        let path = file.path.clone();
        match standing {
            Standing::Nothing => Ok(Fate::Change(created(file))),
            Standing::File(length) => self.replaced(file, length, walk, findings),
            Standing::Folder => Ok(Fate::Blocked(created(file), path)),
            Standing::Behind(obstacle) => Ok(Fate::Blocked(created(file), obstacle)),
            Standing::Link(link) => {
                let (shown, link) = (self.shown(&path), self.shown(&link));
                findings.push(refusal::link(&shown, &link, file.subject));
                Ok(Fate::Refused)
            }
            Standing::Special => {
                let shown = self.shown(&path);
                findings.push(refusal::in_the_way(&shown, &shown, file.subject));
                Ok(Fate::Refused)
            }
        }
    }

    fn replaced(
        &self,
        file: ManifestFile,
        length: u64,
        walk: &mut Walk<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<Fate, Error> {
        let owned = self.record.files.get(&file.path);
        let same_length = length == file.text.len() as u64;
        if !same_length && owned.is_none() && self.options.foreign == Foreign::Refuse {
            findings.push(refusal::not_owned(&self.shown(&file.path), file.subject));
            return Ok(Fate::Refused);
        }
        let old = self.present(walk, &file.path)?;
        if same_length && old.as_deref() == Some(file.text.as_bytes()) {
            return Ok(Fate::Same);
        }
        let seen = old.as_deref().map(ownership::sum);
        let origin = match owned {
            Some(owned) => origin(&owned.sums, seen.as_ref()),
            None if self.options.foreign == Foreign::Adopt => Origin::Adopted,
            None => {
                findings.push(refusal::not_owned(&self.shown(&file.path), file.subject));
                return Ok(Fate::Refused);
            }
        };
        Ok(Fate::Change(Change {
            path: file.path,
            kind: ChangeKind::Updated,
            seen,
            old: self.kept(old),
            new: Some(file.text),
            origin,
        }))
    }

    /// The bytes of a file below the root; none where it is too long for metalmark to have written it.
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

    /// The replaced text, where changes are to carry it.
    pub(super) fn kept(&self, old: Option<Vec<u8>>) -> Option<String> {
        match self.options.previous {
            Previous::Drop => None,
            Previous::Keep => old.map(|old| String::from_utf8_lossy(&old).into_owned()),
        }
    }

    /// A path below the root as the user would type it.
    pub(super) fn shown(&self, path: &str) -> String {
        let changes = ChangeSet {
            shown: self.options.shown.clone(),
            ..ChangeSet::default()
        };
        changes.shown(path)
    }
}

/// The most bytes of a file that metalmark wrote: far above the largest object that Kubernetes takes (1.5 MiB, etcd's limit), many
/// of them in a file.
pub(super) const LONGEST: u64 = 256 << 20;

/// Whether the bytes are what an earlier run wrote.
pub(super) fn origin(sums: &[Sum], seen: Option<&Sum>) -> Origin {
    match seen {
        Some(seen) if sums.contains(seen) => Origin::Run,
        _ => Origin::Edited,
    }
}

/// The text of the ownership file. A link in its place could make anything owned, so it is refused.
pub(super) fn ownership(walk: &mut Walk<'_>, root: &Path) -> Result<Option<String>, Error> {
    let path = root.join(OWNERSHIP_FILE);
    let unwritable = |why: &str| Error::Write {
        path: root.to_owned(),
        cause: std::io::Error::other(why.to_owned()),
    };
    match walk.look(OWNERSHIP_FILE).map_err(unreadable(&path))? {
        Standing::Nothing => Ok(None),
        Standing::File(_) => {
            let bytes = walk
                .read(OWNERSHIP_FILE, LONGEST)
                .map_err(unreadable(&path))?;
            let text = String::from_utf8(bytes.unwrap_or_default());
            let text = text.map_err(|_| ErrorKind::InvalidData.into());
            text.map(Some).map_err(unreadable(&path))
        }
        Standing::Link(link) if link != OWNERSHIP_FILE => Err(unwritable(
            "a symbolic link is on the way to it\n\
             help: replace the link by a real folder, or choose another output folder",
        )),
        Standing::Behind(_) => Err(unwritable("a file is on the way to it")),
        Standing::Link(_) | Standing::Folder | Standing::Special => Err(unreadable(&path)(
            std::io::Error::other("not a regular file"),
        )),
    }
}

/// A way through a folder.
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

fn created(file: ManifestFile) -> Change {
    Change {
        path: file.path,
        kind: ChangeKind::Created,
        seen: None,
        old: None,
        new: Some(file.text),
        origin: Origin::Run,
    }
}

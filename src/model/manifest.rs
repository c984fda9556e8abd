//! Rendered files, and the changes that they make on disk.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::finding::{Finding, Subject};
use super::shard::Shard;

/// The ownership file's name: no GitOps tool reads a dot-file without a YAML ending.
pub const OWNERSHIP_FILE: &str = ".metalmark-owned";

/// The name of the file that says which run is writing below a project's folder.
pub const RUN_FILE: &str = ".metalmark-run";

/// Files that are being written start with this, in the folder of their place. No stage reads them.
pub const STAGED: &str = ".metalmark-tmp-";

/// The files of one output folder, as rendered. Paths are not yet proven: [`crate::output`] refuses the ones that would
/// leave the folder.
#[derive(Clone, Debug, Default)]
pub struct ManifestTree {
    /// The files, in any order.
    pub files: Vec<ManifestFile>,
    /// Whose earlier files stay although this run did not render them.
    pub keeps: Keeps,
}

/// One rendered file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFile {
    /// The path below the output folder, with `/` between names.
    pub path: String,
    /// The whole text, LF at the end of each line.
    pub text: String,
    /// What made it, such as `manifests/edge-1`. [`Keeps`] names the same words.
    pub owner: Arc<str>,
    /// What a finding about the file is about.
    pub subject: Subject,
    /// What kind of documents it holds.
    pub kind: FileKind,
    /// The objects in it: `KIND.GROUP NAMESPACE/NAME`.
    pub objects: Vec<Box<str>>,
    /// The number of its output in the project file.
    pub output: usize,
    /// What is applied as one: the folder of that output, with the cluster's name in it where its path has one; else the owner.
    pub root: Arc<str>,
}

/// What kind of documents a rendered file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileKind {
    /// Kubernetes objects: a cluster takes them as they are.
    #[default]
    Objects,
    /// Values, a kustomization: something that a tool reads to make objects.
    Input,
}

impl ManifestFile {
    /// A file made for a cluster, or for all of them.
    pub fn new(
        path: impl Into<String>,
        text: impl Into<String>,
        owner: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            owner: owner.into(),
            subject: Subject::default(),
            kind: FileKind::default(),
            objects: Vec::new(),
            output: 0,
            root: "".into(),
        }
    }
}

/// Whose earlier files survive a run that renders nothing in their place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// Nobody's: the run rendered everything there is.
    #[default]
    Nobody,
    /// These owners', because they could not be rendered (`--keep-going`).
    These(BTreeSet<Arc<str>>),
    /// Everybody's but these owners': the run rendered a selection.
    AllBut(BTreeSet<Arc<str>>),
    /// Those of other parts of the fleet, and of this part these owners'.
    OtherShards {
        /// The part that the run answers for.
        shard: Shard,
        /// Owners of this part that could not be rendered.
        these: BTreeSet<Arc<str>>,
        /// Every cluster that there is, in whatever part.
        clusters: BTreeSet<Arc<str>>,
    },
}

impl Keeps {
    /// Whether an owner's earlier files survive.
    pub fn keeps(&self, owner: &str) -> bool {
        match self {
            Self::Nobody => false,
            Self::These(owners) => owners.contains(owner),
            Self::AllBut(owners) => !owners.contains(owner),
            Self::OtherShards { shard, these, .. } => !shard.owns(owner) || these.contains(owner),
        }
    }

    /// Whether an owner renders files in another part of the fleet, so that its files are not to be overwritten here.
    pub fn renders_elsewhere(&self, owner: &str) -> bool {
        match self {
            Self::Nobody | Self::These(_) | Self::AllBut(_) => false,
            Self::OtherShards {
                shard, clusters, ..
            } => {
                let is_there = |(_, cluster): (&str, &str)| clusters.contains(cluster);
                !shard.owns(owner) && owner.split_once('/').is_none_or(is_there)
            }
        }
    }
}

/// What applying a [`ManifestTree`] would do to its folder.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    /// The output folder on disk.
    pub root: PathBuf,
    /// The folder that it is in, below which no link is followed; where there is none, a link may lead to the output folder.
    pub base: Option<PathBuf>,
    /// The output folder as the user would type it; empty for the working directory.
    pub shown: String,
    /// What changes, sorted by path.
    pub changes: Vec<FileChange>,
    /// How many files are rendered, changed or not, refused or not.
    pub rendered: usize,
    /// How many of them are refused.
    pub refused: usize,
    /// Folders below the root that are removed once they are empty, deepest first.
    pub folders: Vec<String>,
    /// What happens to the ownership file.
    pub ownership: Ownership,
    /// Files that are refused. They are not among the changes, and the existing files stay.
    pub findings: Vec<Finding>,
}

/// The texts of the ownership file in the course of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    /// The current text; `None` if the file does not exist.
    pub before: Option<String>,
    /// While files are being written: everything that is owned before or after. Unused where nothing changes.
    pub during: String,
    /// When all is written; none where nothing is owned any more.
    pub after: Option<String>,
    /// The run before was killed: `before` is a `during`.
    pub unfinished: bool,
}

/// What happens to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The path below the output folder.
    pub path: String,
    /// What happens.
    pub kind: ChangeKind,
    /// The file's present text (bytes that are not UTF-8 replaced), where the plan keeps it.
    pub old: Option<String>,
    /// The file's new text; none where it is deleted.
    pub new: Option<String>,
    /// Why the file is not as the last run left it.
    pub origin: Origin,
    /// The SHA-256 of the file's present bytes; none where no file exists, or more than metalmark ever writes.
    pub seen: Option<[u8; 32]>,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// Its text changes.
    Updated,
    /// It is no longer rendered.
    Deleted,
}

/// Who wrote the file that is on disk now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An earlier run, or no file exists.
    Run,
    /// An earlier run, and somebody edited it since: the edit is lost.
    Edited,
    /// Somebody else, and the run has the option to adopt it.
    Adopted,
}

impl ChangeSet {
    /// Whether the run rendered no file at all: applying it would leave an empty folder behind.
    pub fn is_empty(&self) -> bool {
        self.rendered == 0
    }

    /// Whether the folder differs from what is rendered.
    pub fn drift(&self) -> bool {
        !self.changes.is_empty() || self.ownership_drift()
    }

    /// Whether the ownership file differs from what it has to say.
    pub fn ownership_drift(&self) -> bool {
        self.ownership.before != self.ownership.after
    }

    /// A path below the output folder as the user would type it.
    pub fn display_path(&self, path: &str) -> String {
        match self.shown.trim_end_matches('/') {
            "" | "." => path.to_owned(),
            root => format!("{root}/{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ChangeSet, Keeps};

    #[test]
    fn a_selection_keeps_what_it_does_not_name() {
        let named = std::iter::once("a".into()).collect();
        let keeps = Keeps::AllBut(named);
        assert!(keeps.keeps("b"));
        assert!(!keeps.keeps("a"));
    }

    #[test]
    fn paths_are_shown_below_the_folder_that_the_user_named() {
        let shown = |root: &str| {
            let changes = ChangeSet {
                shown: root.into(),
                ..ChangeSet::default()
            };
            changes.display_path("a.yaml")
        };
        assert_eq!(shown(""), "a.yaml");
        assert_eq!(shown("."), "a.yaml");
        assert_eq!(shown("out/"), "out/a.yaml");
    }
}

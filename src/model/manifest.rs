//! Rendered files, and the changes that they make on disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::finding::{Finding, Subject};
use super::ownership::Owner;
use super::part::Part;

/// Files that are being written start with this, in the folder of their place. No stage reads them.
pub const STAGED: &str = ".metalmark-tmp-";

/// One rendered file. Its path is not yet proven: [`crate::output`] refuses one that would leave the output folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFile {
    /// The path below the output folder, with `/` between names.
    pub path: String,
    /// The whole text, LF at the end of each line; the first line says whose it is.
    pub text: String,
    /// What made it: `manifests/edge-1`, or `configmap` for all clusters.
    pub maker: Arc<str>,
    /// What a finding about the file is about.
    pub subject: Subject,
    /// What kind of documents it holds.
    pub kind: FileKind,
    /// The objects in it: `KIND.GROUP NAMESPACE/NAME`.
    pub objects: Vec<Box<str>>,
    /// The number of its output in the project file.
    pub output: usize,
    /// What is applied as one: the folder of that output, with the cluster's name in it where its path has one; else the maker.
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
    /// A file made for a cluster, or for all of them. Its first line, which says so, is put before the text.
    pub fn new(path: impl Into<String>, text: &str, maker: impl Into<Arc<str>>) -> Self {
        Self::from_project("", path, text, maker)
    }

    /// The same of a project whose file has another name than usual, so that two projects may render into one folder.
    pub fn from_project(
        project: &str,
        path: impl Into<String>,
        text: &str,
        maker: impl Into<Arc<str>>,
    ) -> Self {
        let maker = maker.into();
        Self {
            path: path.into(),
            // Of its exact size: thousands of texts may be in memory at once.
            text: [&*Owner::from_maker(&maker).line(project), text].concat(),
            maker,
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
pub struct Keeps {
    /// What the run answers for. It knows nothing of the rest, and leaves that alone.
    pub part: Part,
    /// Every cluster that there is, in whatever part.
    pub clusters: BTreeSet<Arc<str>>,
    /// Whether all stays that is not rendered: the run renders other outputs than the project has, or knows not all that the
    /// clusters are made of.
    pub is_all: bool,
}

impl Keeps {
    /// Whether an owner's earlier files survive.
    pub fn keeps(&self, owner: &Owner) -> bool {
        !self.part.owns(owner) || self.is_all
    }

    fn has(&self, owner: &Owner) -> bool {
        match owner {
            Owner::Cluster(name) => self.clusters.contains(name),
            Owner::All => true,
        }
    }

    /// Whether an owner renders files in another part of the fleet, so that its files are not to be overwritten here.
    pub fn renders_elsewhere(&self, owner: &Owner) -> bool {
        !self.part.owns(owner) && self.has(owner)
    }
}

/// What applying rendered files would do to their folder.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    /// The folder on disk that paths start from: the project's, or what `--out` names.
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
    /// The paths of the files that are there in the end, sorted.
    pub paths: Vec<String>,
    /// The leading folders of the outputs, below the root.
    pub outputs: Vec<String>,
    /// What a killed run was writing: removed, whatever changes.
    pub litter: Vec<String>,
    /// Files that are refused. They are not among the changes, and the existing files stay.
    pub findings: Vec<Finding>,
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
    /// The file's new text, where the plan keeps it; none where it is deleted.
    pub new: Option<String>,
    /// Whether the file was not metalmark's, and the run has the option to adopt it.
    pub is_adopted: bool,
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

impl ChangeSet {
    /// Whether the run rendered no file at all: applying it would leave an empty folder behind.
    pub fn is_empty(&self) -> bool {
        self.rendered == 0
    }

    /// Whether the folder differs from what is rendered.
    pub fn drift(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Whether applying does anything: a killed run may have left no more than litter.
    pub fn is_to_apply(&self) -> bool {
        self.drift() || !self.litter.is_empty()
    }

    /// The leading folders of the outputs that paths are in, each once, as the user would type them.
    pub fn outputs_of(&self, paths: &[&str]) -> Vec<String> {
        let holds = |folder: &&String| {
            let is_below = |path: &&str| folder.is_empty() || Path::new(path).starts_with(folder);
            paths.iter().any(is_below)
        };
        let folders = self.outputs.iter().filter(holds);
        let shown = folders.map(|folder| self.display_path(folder));
        shown
            .map(|shown| match shown.trim_end_matches('/') {
                "" => ".".to_owned(),
                shown => shown.to_owned(),
            })
            .collect()
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
    use super::ChangeSet;

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

    #[test]
    fn an_output_folder_holds_what_is_below_it() {
        let changes = ChangeSet {
            shown: "out/".into(),
            outputs: ["".into(), "edge".into()].into(),
            ..ChangeSet::default()
        };
        assert_eq!(changes.outputs_of(&["edge/a.yaml"]), ["out", "out/edge"]);
        assert_eq!(changes.outputs_of(&["edges/a.yaml"]), ["out"]);
        let here = ChangeSet {
            shown: "".into(),
            ..changes
        };
        assert_eq!(here.outputs_of(&["a.yaml"]), ["."]);
    }
}

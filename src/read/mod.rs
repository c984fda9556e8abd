//! Stage 1: files → [`Workspace`]. Reads the project file, the shared layers and the list of clusters once; then each
//! cluster's own layers when its turn comes, so that memory does not grow with the fleet.

mod changed_values;
mod chart;
mod chart_files;
mod chart_loader;
mod chart_metadata;
mod cluster;
mod clusters;
mod dialects;
mod environment;
mod error;
mod expressions;
mod files;
mod fleet;
pub mod gitops;
mod graph;
mod helm_charts;
mod helm_ignore;
mod host_objects;
mod installed;
mod key_policy;
mod layers;
mod location;
mod management;
mod manifests;
mod own_output;
mod places;
mod project;
mod provenance;
mod provenance_options;
mod record;
mod registries;
mod release_options;
mod rule_options;
mod settings;
mod stamps;
mod sylva;
mod tables;
mod typed;
mod unknown;
mod unlisted;
mod values;
mod values_schema;
mod wave_options;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::schema::Schemas;
use yaml_tree::engine::Engine;
use yaml_tree::place::Source;

use crate::files::{Files, KUSTOMIZATIONS, is_kustomization};
use crate::model::cluster_view::ClusterRead;
use crate::model::finding::Finding;
use crate::model::lock::Locking;
use crate::model::part::Part;
use crate::model::rule::{Level, RuleId};
use crate::model::selector::{Library, Matching};
use crate::model::settings::{ChecksumStyle, Settings};
use crate::model::stamping::StampEntry;
use crate::model::written::WrittenImage;

pub use cluster::{
    SharedCatalog, cluster, cluster_without_nodes, read_shared_catalog, version_map,
};
pub use clusters::ClusterEntry;
pub use files::{argument_text, key_text, objects};
pub use gitops::{Deliverer, Delivery, is_held};
pub use graph::{Stamped, clusters_of_objects, has_pair, is_placeholder};
pub use helm_charts::{RenderedTexts, render_chart};
pub use layers::Shared;
pub use location::{
    Location, PROJECT_FILE_NAME, folder_in_repository, location, project_file, scope,
};
pub use manifests::{ManifestFiles, manifests};
pub use registries::mirror;
pub use sylva::{BUNDLE, OwnEffect, is_choice, own_effect};
pub use typed::project_schema;
pub use values::{ClusterValues, values};
pub use workspace::{
    name_schemes, no_cluster, registries, workspace, workspace_in, workspace_while_typed,
};

/// The request: where the project is, and the flags that replace a project file or override it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Run as if started here.
    pub directory: Option<PathBuf>,
    /// The project file, when named.
    pub project: Option<PathBuf>,
    /// Everything else.
    pub flags: Flags,
}

impl Request {
    /// The request with further files and folders that the command line names, as seen from where it starts.
    pub fn naming(&self, paths: &[PathBuf]) -> Self {
        let mut request = self.clone();
        let start = self.directory.as_deref().unwrap_or(Path::new("."));
        let named = paths.iter().map(|path| start.join(path));
        request.flags.named.extend(named);
        request
    }

    /// A path that the command line names, as seen from where the run starts; `-` is the standard input or output.
    pub fn locate(&self, path: &Path) -> PathBuf {
        match &self.directory {
            Some(folder) if path != Path::new("-") => folder.join(path),
            _ => path.to_owned(),
        }
    }
}

/// Settings from the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--values`
    pub values: Vec<String>,
    /// `--clusters`
    pub clusters: Vec<String>,
    /// `--info`
    pub info: Vec<String>,
    /// `--image-url`
    pub image_url: Option<String>,
    /// `--checksum`
    pub checksum: Option<ChecksumStyle>,
    /// `--all-images`
    pub all_images: bool,
    /// `--matching`
    pub matching: Option<Matching>,
    /// `--frozen`
    pub locking: Locking,
    /// `--target`
    pub targets: Vec<String>,
    /// `--out`
    pub out: Option<String>,
    /// `--schemas`
    pub schemas: Option<String>,
    /// `--templates`
    pub templates: Option<String>,
    /// `--tracked`
    pub tracked: bool,
    /// The clusters that are named.
    pub selected: Vec<String>,
    /// Whether manifests are requested, so that a project without clusters is whole.
    pub manifests: bool,
    /// Whether clusters are looked for in all manifests below the folder where no project file says where they are.
    pub discovers: bool,
    /// Whether a run is whole without any project: only its policy is requested.
    pub without_project: bool,
    /// Further files and folders that the command line names.
    pub named: Vec<PathBuf>,
    /// The only folder that may be read, whatever the flags name, where a host sets them.
    pub confined: Option<PathBuf>,
}

/// Everything that is read before the first cluster.
pub struct Workspace {
    /// The settings, from project file and flags.
    pub settings: Settings,
    /// Whose reading of values counts.
    pub engine: Engine,
    /// Whether expressions read other values evaluated or as text.
    evaluation: project::EvaluationOption,
    /// The version of sylva-library that the project names.
    library: Option<Library>,
    /// The layers that all clusters share, merged once.
    pub shared: Shared,
    /// The clusters, in the project's order; then those of manifests, by name.
    pub clusters: Vec<ClusterEntry>,
    /// The files that are no clusters because they say that they are rendered.
    pub omissions: BTreeSet<PathBuf>,
    /// The clusters of manifests, by name.
    of_manifests: BTreeMap<Arc<str>, ClusterRead>,
    /// The files that mention clusters of manifests and are not read, with the reason.
    pub unread_files: BTreeMap<PathBuf, &'static str>,
    /// Where manifests make no cluster: that nothing makes machines of a template.
    pub unused_template: Option<Finding>,
    /// The project's folder in its repository.
    root: PathBuf,
    /// The part of them that this run looks at.
    pub part: Part,
    /// What management clusters give others at run time.
    management: management::Management,
    /// The files with image facts, the strongest first, below the root; the lock first of all where there is one.
    pub facts: Vec<PathBuf>,
    /// The project file's own records of images, and the file; none where it has none.
    pub records: Option<(Vec<WrittenImage>, Arc<Source>)>,
    /// Where the lock is, or is to be written, below the root.
    pub lock: PathBuf,
    /// The folder that `--out` names, where outputs then go; else they are below the root.
    pub out: Option<PathBuf>,
    /// The user's templates, by `<target>/<file>`.
    pub templates: BTreeMap<String, Arc<Source>>,
    /// The CustomResourceDefinitions that rendered objects are compared with.
    pub schemas: Option<Schemas>,
    /// The manifests that are stamped in place, below the root.
    pub manifests: Vec<PathBuf>,
    /// Which image the objects in them boot.
    pub stamps: Vec<StampEntry>,
    /// Where all of it is read from.
    pub files: Arc<dyn Files>,
    /// Whether this run checks who signed images: where there is a lock, where the project requires signatures, and to lock.
    pub checks_signers: bool,
    /// What the list of clusters is made of and git has not checked out: more clusters than these may exist.
    left_out: usize,
    /// What is to be said of each object of `state` that no cluster needs.
    unused_state: BTreeMap<String, Finding>,
    /// What reading found.
    pub findings: Vec<Finding>,
}

impl Workspace {
    /// The objects of `state` that no cluster needs, once all clusters were read.
    pub fn state_findings(&self) -> impl Iterator<Item = Finding> {
        let unused = self.unused_state.iter();
        let unused = unused.filter(|(object, _)| !self.shared.has_used(object));
        unused.map(|(_, finding)| finding.clone())
    }

    /// Whether any cluster is read from values.
    pub fn has_values(&self) -> bool {
        self.clusters.len() > self.of_manifests.len()
    }

    /// What a cluster is made of and git has not checked out, in a finding.
    pub fn absence_finding(&self) -> Option<Finding> {
        let missed = self.files.absent_paths();
        (missed.len() > self.left_out).then(|| workspace::absence_finding(&missed, Level::Error))?
    }

    /// Whether all that the clusters are made of is there. If not, what a run does not render may still be somebody's.
    pub fn is_whole(&self) -> bool {
        self.files.absent_paths().is_empty()
    }

    /// What deploys the files of the repository, as far as they can be read.
    pub fn delivery(&self) -> Delivery {
        let read = graph::delivery(&self.files, &self.root, self.shared.own_output());
        read.unwrap_or_else(|_| Delivery::unreadable(&self.files))
    }

    /// The files that mention clusters and are not read, each with a digest of its content.
    pub fn digests(&self) -> impl Iterator<Item = (&PathBuf, Vec<u8>)> {
        let paths = self.unread_files.keys();
        paths.map(|path| (path, gitops::digest(&*self.files, path)))
    }

    /// The files below the project's folder that clusters of manifests are read from.
    pub fn manifest_files(&self) -> BTreeSet<&str> {
        let sources = { self.of_manifests.values() }.flat_map(|read| read.sources.all());
        let paths = sources.map(|source| &*source.path);
        let is_inside =
            |path: &&str| !path.starts_with("..") && self.files.is_file(Path::new(path));
        paths.filter(is_inside).collect()
    }

    /// What is wrong with the objects of clusters of manifests, whatever becomes of their images.
    pub fn object_findings(&self) -> impl Iterator<Item = &Finding> {
        let of_objects = [RuleId::ReferenceDangling, RuleId::FieldNotInVersion];
        let found = self.of_manifests.values().flat_map(|read| &read.findings);
        found.filter(move |finding| of_objects.contains(&finding.rule))
    }

    /// The clusters of kustomizations that make none on the other side of a change, where another one builds on all of their files: each
    /// with its folder.
    pub fn clusters_of_bases(&self, other: &Self) -> Vec<(Arc<str>, PathBuf)> {
        let others = || other.of_manifests.values();
        let known: BTreeSet<&PathBuf> = others().filter_map(|it| it.folder.as_ref()).collect();
        let is_built = |folder: &Path| {
            let mut names = KUSTOMIZATIONS.iter();
            names.any(|name| other.files.is_file(&folder.join(name)))
        };
        let is_part = |folder: &&PathBuf| !known.contains(folder) && is_built(folder);
        let mut found = Vec::new();
        for (name, read) in &self.of_manifests {
            let Some(folder) = read.folder.as_ref().filter(is_part) else {
                continue;
            };
            let files = object_files(read);
            let mut built = others().filter(|it| it.folder.as_deref().is_some_and(is_built));
            if built.any(|built| files.is_subset(&object_files(built))) {
                found.push((Arc::clone(name), folder.clone()));
            }
        }
        found
    }

    /// Leaves out a cluster of manifests.
    pub fn remove_cluster(&mut self, name: &str) {
        self.of_manifests.remove(name);
        self.clusters.retain(|entry| *entry.name != *name);
    }

    /// The cluster of a name, whether this run looks at it or not.
    pub fn find_cluster(&self, name: &str) -> Option<&ClusterEntry> {
        self.clusters.iter().find(|entry| *entry.name == *name)
    }

    /// The clusters that this run looks at.
    pub fn entries(&self) -> impl Iterator<Item = &ClusterEntry> {
        let is_held = |entry: &&ClusterEntry| self.part.holds(&entry.name);
        self.clusters.iter().filter(is_held)
    }
}

/// The files with a cluster's objects.
fn object_files(read: &ClusterRead) -> BTreeSet<&str> {
    let paths = read.sources.all().map(|source| &*source.path);
    paths
        .filter(|path| !is_kustomization(Path::new(path)))
        .collect()
}

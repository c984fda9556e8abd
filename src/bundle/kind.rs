//! The kinds of bundles, and how files and media types show a bundle's kind.

use std::collections::BTreeSet;
use std::fmt;

use clap::ValueEnum;
use oci_artifacts::CONFIG_TYPE;
use oci_artifacts::archive::Tree;
use yaml_tree::place::Spot;

use crate::model::component::{INSTALLER, LAYER_TYPE};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// The configuration that `flux push artifact` writes.
pub(super) const FLUX_CONFIG: &str = "application/vnd.cncf.flux.config.v1+json";

/// The folder of a plain bundle.
pub const MANIFESTS: &str = "manifests";

/// The file beside the manifests of a registry+v1 bundle.
const ANNOTATIONS: &str = "metadata/annotations.yaml";

/// What sort of bundle it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleKind {
    /// RukPak's plain+v0: manifests in `manifests/`, and nothing else.
    Plain,
    /// OLM's registry+v1: `manifests/` with a ClusterServiceVersion, and `metadata/`. It is recognized, to be refused by name.
    Registry,
    /// A tree of files that a GitOps engine unpacks.
    Artifact(LayerType),
    /// Something that is installed on a machine by its `install.sh`.
    Components,
}

/// How the layer of a GitOps artifact is named: Argo CD takes images' layers only, Flux takes both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayerType {
    /// As images name their layers.
    Oci,
    /// As `flux push artifact` does.
    Flux,
}

impl BundleKind {
    /// The media type of the one layer.
    pub fn layer_type(self) -> &'static str {
        match self {
            Self::Artifact(LayerType::Flux) => "application/vnd.cncf.flux.content.v1.tar+gzip",
            _ => LAYER_TYPE,
        }
    }

    /// The media type of the configuration: an image's where container tools are to read it.
    pub fn config_type(self) -> &'static str {
        match self {
            Self::Artifact(_) => FLUX_CONFIG,
            _ => CONFIG_TYPE,
        }
    }

    /// What its files make it, and the media type of its configuration where it came as an artifact.
    pub fn from_tree(tree: &Tree, config_type: Option<&str>, layer_type: &str) -> Self {
        let artifact = if layer_type.starts_with("application/vnd.cncf.flux.") {
            Self::Artifact(LayerType::Flux)
        } else {
            Self::Artifact(LayerType::Oci)
        };
        if config_type.is_some_and(|config| !is_image_config(config)) {
            return artifact;
        }
        let has_file = |path: &str| tree.files.contains_key(path);
        Self::from_files(has_file, tree.folders.contains(MANIFESTS)).unwrap_or(artifact)
    }

    /// The kind that files have by their paths; none of a tree of files.
    pub fn from_files(has_file: impl Fn(&str) -> bool, has_manifests: bool) -> Option<Self> {
        if has_file(INSTALLER) {
            Some(Self::Components)
        } else if has_manifests && has_file(ANNOTATIONS) {
            Some(Self::Registry)
        } else {
            has_manifests.then_some(Self::Plain)
        }
    }
}

/// As people call it.
impl fmt::Display for BundleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain+v0",
            Self::Registry => "registry+v1",
            Self::Artifact(_) => "artifact",
            Self::Components => "components",
        })
    }
}

/// The folder of the first registry+v1 bundle among the paths of files and folders: empty, or with `/` at its end.
pub fn registry_root<'p>(paths: impl Iterator<Item = &'p str> + Clone) -> Option<&'p str> {
    let folders = |end: &'static str| {
        let roots = paths.clone().filter_map(move |path| path.strip_suffix(end));
        roots.filter(|root| root.is_empty() || root.ends_with('/'))
    };
    let described: BTreeSet<&str> = folders(ANNOTATIONS).collect();
    folders(MANIFESTS)
        .filter(|root| described.contains(root))
        .min()
}

/// The finding about a registry+v1 bundle: OLM decides what it installs, so no plain manifests are equal to it.
pub fn registry_bundle_finding(spot: Option<Spot>) -> Finding {
    let finding = Finding::new(
        RuleId::BundleUnsupported,
        format!("bundles of kind {} are not supported", BundleKind::Registry),
    );
    finding
        .with_label(spot, "")
        .help("with OLM in the cluster: a `ClusterExtension` in git, with the name of its package and its version")
        .help("without OLM: what its project installs without it, such as `kubectl kustomize config/default | metalmark bundle pack - --to dir:OUT`")
}

/// Whether a configuration is a container image's, whose layers are applied on top of each other.
pub(super) fn is_image_config(media_type: &str) -> bool {
    media_type == CONFIG_TYPE || media_type == "application/vnd.docker.container.image.v1+json"
}

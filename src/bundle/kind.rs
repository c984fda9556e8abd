//! What sort of bundle files are, and which media types say so.

use std::fmt;

use crate::artifacts::archive::Tree;
use crate::model::component::INSTALLER;

/// An image's configuration.
pub(super) const IMAGE_CONFIG: &str = "application/vnd.oci.image.config.v1+json";

/// The configuration that `flux push artifact` writes.
pub(super) const FLUX_CONFIG: &str = "application/vnd.cncf.flux.config.v1+json";

/// The folder of a plain bundle.
pub const MANIFESTS: &str = "manifests";

/// What sort of bundle it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// RukPak's plain+v0: manifests in `manifests/`, and nothing else.
    Plain,
    /// OLM's registry+v1: `manifests/` with a ClusterServiceVersion, and `metadata/`.
    Registry,
    /// A tree of files that a GitOps engine unpacks.
    Artifact(LayerType),
    /// Something that is installed on a machine by its `install.sh`.
    Components,
}

/// How the layer of a GitOps artifact is named: Argo CD takes images' layers only, Flux takes both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerType {
    /// As images name their layers.
    Oci,
    /// As `flux push artifact` names it.
    Flux,
}

impl Kind {
    /// The media type of the one layer.
    pub fn layer_type(self) -> &'static str {
        match self {
            Self::Artifact(LayerType::Flux) => "application/vnd.cncf.flux.content.v1.tar+gzip",
            _ => "application/vnd.oci.image.layer.v1.tar+gzip",
        }
    }

    /// The media type of the configuration: an image's where container tools are to read it.
    pub fn config_type(self) -> &'static str {
        match self {
            Self::Artifact(_) => FLUX_CONFIG,
            _ => IMAGE_CONFIG,
        }
    }

    /// What its files make it, and the media type of its configuration where it came as an artifact.
    pub fn of(tree: &Tree, config_type: Option<&str>, layer_type: &str) -> Self {
        let artifact = match layer_type.starts_with("application/vnd.cncf.flux.") {
            true => Self::Artifact(LayerType::Flux),
            false => Self::Artifact(LayerType::Oci),
        };
        if config_type.is_some_and(|config| !is_image_config(config)) {
            return artifact;
        }
        let has_manifests = tree.folders.contains(MANIFESTS);
        if tree.files.contains_key(INSTALLER) {
            Self::Components
        } else if has_manifests && tree.files.contains_key("metadata/annotations.yaml") {
            Self::Registry
        } else if has_manifests {
            Self::Plain
        } else {
            artifact
        }
    }
}

/// As people call it.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain+v0",
            Self::Registry => "registry+v1",
            Self::Artifact(_) => "artifact",
            Self::Components => "components",
        })
    }
}

/// Whether a configuration is a container image's: its layers lie over each other.
pub(super) fn is_image_config(media_type: &str) -> bool {
    media_type == IMAGE_CONFIG || media_type == "application/vnd.docker.container.image.v1+json"
}

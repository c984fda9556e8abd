//! Bundles: files that are distributed together under one digest. Kubernetes manifests as RukPak reads them, the rendered tree
//! as Flux and Argo CD read it, or something to be installed on a machine.
//!
//! Outside `commands`, the only I/O is in the temporary files of archives: nothing writes a named file or sends a request.

mod artifact;
pub mod commands;
mod components;
mod config_maps;
mod kind;
pub mod plain;
mod receive;

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::{Value, json};

use oci_artifacts::Body;
use oci_artifacts::archive::{Mode, Tree};
use yaml_tree::place::Spot;

pub use components::{Contract, Installer, contract};
pub use config_maps::{ConfigMaps, Shard, config_maps, read_config_maps};
pub use kind::{BundleKind, LayerType, MANIFESTS, registry_bundle_finding, registry_root};
pub use receive::{ReceiveError, Received, receive, receive_archive};

/// The annotation that says when an artifact was made.
///
/// Source: image-spec, annotations.md, "Pre-Defined Annotation Keys".
pub const CREATED: &str = "org.opencontainers.image.created";

/// The annotation that says which repository the content comes from.
pub const SOURCE: &str = "org.opencontainers.image.source";

/// The annotation with the revision of the source; Flux writes `BRANCH@sha1:COMMIT`.
pub const REVISION: &str = "org.opencontainers.image.revision";

/// Files that are distributed together.
#[derive(Clone)]
pub struct Bundle {
    /// What sort of bundle it is.
    pub kind: BundleKind,
    /// The files, sorted by the bytes of their paths, each path once.
    files: Vec<File>,
    /// What lies beside the manifests of a plain one, or hidden among them, and is no part of it.
    left_out: Vec<File>,
    /// The annotations of its artifact's manifest.
    pub annotations: BTreeMap<String, String>,
}

/// A file of a bundle.
#[derive(Clone)]
pub struct File {
    /// The path below the bundle's root, `/` between names; it never leaves the root.
    pub path: Arc<str>,
    /// Where it was read, as findings show it.
    pub from: Arc<str>,
    /// What may be done with it where it was read; a bundle keeps whether it is run.
    pub mode: Mode,
    /// How many bytes it has.
    pub size: u64,
    /// Its bytes.
    pub content: Arc<dyn Body>,
}

impl File {
    /// Its start, for findings about the whole file.
    pub fn spot(&self) -> Option<Spot> {
        Some(Spot::from_path(&self.from))
    }

    /// A file that is not run, from bytes in memory.
    pub fn text(path: impl Into<Arc<str>>, content: Vec<u8>) -> Self {
        let path = path.into();
        Self {
            from: Arc::clone(&path),
            path,
            mode: Mode::PLAIN,
            size: content.len() as u64,
            content: Arc::new(content),
        }
    }
}

impl Bundle {
    /// A bundle without annotations, its files in any order.
    ///
    /// # Errors
    /// Two files have one path: which.
    pub fn new(kind: BundleKind, mut files: Vec<File>) -> Result<Self, Arc<str>> {
        files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
        let twice = files.windows(2).find(|pair| pair[0].path == pair[1].path);
        match twice {
            Some(pair) => Err(Arc::clone(&pair[0].path)),
            None => Ok(Self::from_files(kind, files)),
        }
    }

    /// A bundle without files.
    pub fn empty(kind: BundleKind) -> Self {
        Self::from_files(kind, Vec::new())
    }

    /// A bundle of files whose paths are known to differ.
    fn from_files(kind: BundleKind, files: Vec<File>) -> Self {
        let is_part = |file: &File| kind != BundleKind::Plain || plain::is_part(&file.path);
        let (mut files, left_out): (Vec<File>, Vec<File>) = files.into_iter().partition(is_part);
        files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
        Self {
            kind,
            files,
            left_out,
            annotations: BTreeMap::new(),
        }
    }

    /// The files of an archive.
    pub fn from_tree(kind: BundleKind, tree: &Tree) -> Self {
        let files = tree.files.iter().map(|(path, entry)| File {
            path: path.as_str().into(),
            from: path.as_str().into(),
            mode: entry.mode,
            size: entry.size,
            content: Arc::new(entry.content.clone()),
        });
        Self::from_files(kind, files.collect())
    }

    /// The same, with files that findings show below what the user wrote: `app.tgz:manifests/a.yaml`.
    pub fn with_origin(mut self, shown: &str) -> Self {
        for file in self.files.iter_mut().chain(&mut self.left_out) {
            file.from = format!("{shown}:{}", file.path).into();
        }
        self
    }

    /// The files, sorted by the bytes of their paths, each path once.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The files that are no part of it, as findings show them.
    pub fn omissions(&self) -> impl Iterator<Item = Arc<str>> {
        self.left_out.iter().map(|file| Arc::clone(&file.from))
    }
}

// DeploymentSource: operator-framework/rukpak, api/v1alpha1 (up to v0.16) and api/v1alpha2 (from v0.17).

/// The name of RukPak's provisioner of plain bundles.
const PLAIN: &str = "core-rukpak-io-plain";

/// Where RukPak reads the bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeploymentSource {
    /// An image, pinned: `registry/repository@sha256:…`.
    Image(String),
    /// ConfigMaps, by name, and their namespace.
    ConfigMaps(Vec<String>, String),
}

/// The version of the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeploymentVersion {
    /// RukPak up to v0.16.
    #[value(name = "v1alpha1")]
    V1Alpha1,
    /// RukPak from v0.17 on.
    #[value(name = "v1alpha2")]
    V1Alpha2,
}

/// A BundleDeployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// The version of the resource.
    pub version: DeploymentVersion,
    /// The name of the resource.
    pub name: String,
    /// The namespace that objects without one land in; it must exist. Version v1alpha1 knows none.
    pub install_namespace: String,
}

impl Deployment {
    /// Its manifest.
    ///
    /// # Errors
    /// That version cannot name the source, with the reason.
    pub fn manifest(&self, source: &DeploymentSource) -> Result<String, String> {
        let manifest = match self.version {
            DeploymentVersion::V1Alpha2 => json!({
                "apiVersion": "core.rukpak.io/v1alpha2",
                "kind": "BundleDeployment",
                "metadata": {"name": self.name},
                "spec": {
                    "installNamespace": self.install_namespace,
                    "provisionerClassName": PLAIN,
                    "source": self.source_v1alpha2(source),
                },
            }),
            DeploymentVersion::V1Alpha1 => json!({
                "apiVersion": "core.rukpak.io/v1alpha1",
                "kind": "BundleDeployment",
                "metadata": {"name": self.name},
                "spec": {
                    "provisionerClassName": PLAIN,
                    "template": {
                        "metadata": {"labels": {"app": self.name}},
                        "spec": {"provisionerClassName": PLAIN, "source": self.source_v1alpha1(source)?},
                    },
                },
            }),
        };
        yaml_tree::emit_data(&manifest).map_err(|error| error.to_string())
    }

    fn source_v1alpha2(&self, source: &DeploymentSource) -> Value {
        match source {
            DeploymentSource::Image(reference) => {
                json!({"type": "image", "image": {"ref": reference}})
            }
            DeploymentSource::ConfigMaps(names, _) => {
                let list = names
                    .iter()
                    .map(|name| json!({"configMap": {"name": name}, "path": "manifests"}));
                json!({"type": "configMaps", "configMaps": list.collect::<Vec<_>>()})
            }
        }
    }

    fn source_v1alpha1(&self, source: &DeploymentSource) -> Result<Value, String> {
        match source {
            DeploymentSource::Image(reference) => {
                Ok(json!({"type": "image", "image": {"ref": reference}}))
            }
            DeploymentSource::ConfigMaps(names, namespace) => match names.as_slice() {
                [name] => Ok(json!({
                    "type": "local",
                    "local": {"configMap": {"name": name, "namespace": namespace}},
                })),
                several => Err(format!(
                    "a BundleDeployment of v1alpha1 names one ConfigMap, and the bundle needs {}",
                    several.len()
                )),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Deployment, DeploymentSource, DeploymentVersion};

    fn deployment(version: DeploymentVersion) -> Deployment {
        Deployment {
            version,
            name: "app".into(),
            install_namespace: "apps".into(),
        }
    }

    #[test]
    fn the_newer_version_lists_config_maps() {
        let source = DeploymentSource::ConfigMaps(
            vec!["app-1".into(), "app-2".into()],
            "rukpak-system".into(),
        );
        let text = deployment(DeploymentVersion::V1Alpha2)
            .manifest(&source)
            .expect("a manifest");
        let expected = "apiVersion: core.rukpak.io/v1alpha2\nkind: BundleDeployment\nmetadata:\n  name: app\nspec:\n  \
            installNamespace: apps\n  provisionerClassName: core-rukpak-io-plain\n  source:\n    configMaps:\n    - configMap:\n        \
            name: app-1\n      path: manifests\n    - configMap:\n        name: app-2\n      path: manifests\n    type: configMaps\n";
        assert_eq!(text, expected);
        assert!(
            deployment(DeploymentVersion::V1Alpha1)
                .manifest(&source)
                .is_err()
        );
    }

    #[test]
    fn the_older_version_wraps_a_bundle() {
        let source = DeploymentSource::Image("r.example/a@sha256:00".into());
        let text = deployment(DeploymentVersion::V1Alpha1)
            .manifest(&source)
            .expect("a manifest");
        assert!(text.contains(
            "    spec:\n      provisionerClassName: core-rukpak-io-plain\n      source:\n"
        ));
        assert!(!text.contains("installNamespace"));
    }
}

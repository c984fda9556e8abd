//! Bundles: files that are distributed together under one digest. Kubernetes manifests as RukPak reads them, the rendered tree
//! as Flux and Argo CD read it, or something to be installed on a machine.
//!
//! Outside `commands`, the only I/O is in the temporary files of archives: nothing writes a named file or sends a request.

mod artifact;
pub mod commands;
mod components;
mod config_maps;
mod deployment;
mod kind;
pub mod plain;
mod receive;

use std::collections::BTreeMap;
use std::sync::Arc;

use oci_artifacts::Body;
use oci_artifacts::archive::Tree;
use yaml_tree::place::Spot;

pub use components::{Installer, contract};
pub use config_maps::{ConfigMaps, Shard, config_maps, read_config_maps};
pub use deployment::{Deployment, DeploymentSource, DeploymentVersion};
pub use kind::{Kind, LayerType, MANIFESTS, registry_bundle_finding};
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
    pub kind: Kind,
    /// The files, sorted by the bytes of their paths, each path once.
    files: Vec<File>,
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
    /// Whether it may be run; nothing else of its mode is kept.
    pub is_executable: bool,
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
            is_executable: false,
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
    pub fn new(kind: Kind, mut files: Vec<File>) -> Result<Self, Arc<str>> {
        files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
        let twice = files.windows(2).find(|pair| pair[0].path == pair[1].path);
        match twice {
            Some(pair) => Err(Arc::clone(&pair[0].path)),
            None => Ok(Self::from_files(kind, files)),
        }
    }

    /// A bundle without files.
    pub fn empty(kind: Kind) -> Self {
        Self::from_files(kind, Vec::new())
    }

    /// A bundle of files whose paths are known to differ.
    fn from_files(kind: Kind, mut files: Vec<File>) -> Self {
        files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
        Self {
            kind,
            files,
            annotations: BTreeMap::new(),
        }
    }

    /// The files of an archive.
    pub fn from_tree(kind: Kind, tree: &Tree) -> Self {
        let files = tree.files.iter().map(|(path, entry)| File {
            path: path.as_str().into(),
            from: path.as_str().into(),
            is_executable: entry.is_executable,
            size: entry.size,
            content: Arc::new(entry.content.clone()),
        });
        Self::from_files(kind, files.collect())
    }

    /// The same, with files that findings show below what the user wrote: `app.tgz:manifests/a.yaml`.
    pub fn with_origin(mut self, shown: &str) -> Self {
        for file in &mut self.files {
            file.from = format!("{shown}:{}", file.path).into();
        }
        self
    }

    /// The files, sorted by the bytes of their paths, each path once.
    pub fn files(&self) -> &[File] {
        &self.files
    }
}

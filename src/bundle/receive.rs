//! Reads a bundle from a store or an archive, within limits, and determines its kind.

use std::io::{self, Read};

use oci_artifacts::archive::{Layers, Limits, ReadError, Refusal, Spooling, Tree, Whiteouts};
use oci_artifacts::{
    Body as _, Content, Descriptor, Failure, FailureKind, Manifest, Reference, Store,
};

use super::kind::is_image_config;
use super::{Bundle, BundleKind};
use crate::model::component::ARTIFACT_TYPE;

/// What was received.
pub struct Received {
    /// The bundle, with the annotations of its manifest.
    pub bundle: Bundle,
    /// Its files and folders as they lay in the archive.
    pub tree: Tree,
}

/// Why nothing was received.
#[derive(Debug)]
pub enum ReceiveError {
    /// The store does not have it, or sent other content.
    Store(Failure),
    /// The archive is refused, which is a finding.
    Refused(Refusal),
    /// It could not be read, or not be stored.
    Io(io::Error),
}

impl From<ReadError> for ReceiveError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Refused(refusal) => Self::Refused(refusal),
            ReadError::World(error) => Self::Io(error),
        }
    }
}

/// The bundle of a manifest, which is no index; its layers come from the repository of `of`. Of a container image, all layers
/// are applied on top of each other; of any other artifact the first layer counts, as in Flux and Argo CD. `progress` receives the number of entries.
///
/// # Errors
/// A layer cannot be fetched, is no tar archive, or is refused.
pub fn receive(
    store: &dyn Store,
    of: &Reference,
    manifest: &Manifest,
    limits: Limits,
    progress: &dyn Fn(usize),
) -> Result<Received, ReceiveError> {
    let unsupported = |message: &str| {
        let failure = Failure::new(of, FailureKind::Unsupported, message);
        ReceiveError::Store(failure)
    };
    let Content::Image {
        config,
        layers,
        annotations,
        artifact_type,
        ..
    } = &manifest.content
    else {
        return Err(unsupported(
            "it is an index, and no manifest of it was selected",
        ));
    };
    let Some(first) = layers.first() else {
        return Err(unsupported("it has no layer"));
    };
    let (taken, whiteouts) = counting(config, layers);
    let mut stack = Layers::new(limits.clone(), whiteouts);
    for layer in taken {
        stack.add(fetch_layer(store, of, layer, &limits)?, progress)?;
    }
    let tree = stack.finish();
    let kind = match artifact_type.as_deref() {
        Some(ARTIFACT_TYPE) => BundleKind::Components,
        _ => BundleKind::from_tree(&tree, Some(&config.media_type), &first.media_type),
    };
    let mut bundle = Bundle::from_tree(kind, &tree);
    bundle.annotations.clone_from(annotations);
    Ok(Received { bundle, tree })
}

/// The layers that count: all of a container image, the first of anything else.
fn counting<'l>(config: &Descriptor, layers: &'l [Descriptor]) -> (&'l [Descriptor], Whiteouts) {
    if is_image_config(&config.media_type) {
        (layers, Whiteouts::Hide)
    } else {
        (&layers[..layers.len().min(1)], Whiteouts::AreFiles)
    }
}

/// The bundle of an archive on disk or from a pipe.
///
/// # Errors
/// It cannot be read, or is refused.
pub fn receive_archive(
    reader: impl Read,
    limits: Limits,
    progress: &dyn Fn(usize),
) -> Result<Received, ReceiveError> {
    let mut layers = Layers::new(limits, Whiteouts::AreFiles);
    layers.add(reader, progress)?;
    let tree = layers.finish();
    let kind = BundleKind::from_tree(&tree, None, "");
    let bundle = Bundle::from_tree(kind, &tree);
    Ok(Received { bundle, tree })
}

/// A layer, fetched and verified before a byte of it is unpacked.
fn fetch_layer(
    store: &dyn Store,
    of: &Reference,
    layer: &Descriptor,
    limits: &Limits,
) -> Result<Box<dyn Read + Send>, ReceiveError> {
    let failure = |kind, message| ReceiveError::Store(Failure::new(of, kind, message));
    if !is_tar(&layer.media_type) {
        let message = format!(
            "its layer has media type `{}`, and `tar` and `tar+gzip` are read",
            layer.media_type
        );
        return Err(failure(FailureKind::Unsupported, message));
    }
    if layer.size > limits.packed {
        let message = format!(
            "its layer `{}` has {} bytes, and at most {} are read",
            layer.digest, layer.size, limits.packed
        );
        return Err(failure(FailureKind::TooLarge, message));
    }
    let mut spooling = Spooling::new();
    store
        .copy(of, layer, &mut spooling)
        .map_err(ReceiveError::Store)?;
    spooling.finish().whole().open().map_err(ReceiveError::Io)
}

/// `…tar`, `…tar+gzip`, and Docker's `…tar.gzip`.
fn is_tar(media_type: &str) -> bool {
    [".tar", ".tar+gzip", ".tar.gzip"]
        .iter()
        .any(|end| media_type.ends_with(end))
}

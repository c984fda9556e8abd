//! Artifacts that tests push.

use std::io::{self, Read};
use std::sync::Arc;

use oci_artifacts::{Artifact, Blob, Body, Descriptor, Digest};
use serde_json::{Value, json};

use super::registry::MANIFEST;

/// A blob that is described as it is.
pub(crate) fn blob(media_type: &str, bytes: &[u8]) -> Blob {
    Blob {
        descriptor: descriptor(media_type, bytes),
        content: Arc::new(bytes.to_vec()),
    }
}

pub(crate) fn descriptor(media_type: &str, bytes: &[u8]) -> Descriptor {
    Descriptor {
        media_type: media_type.to_owned(),
        digest: Digest::compute(bytes),
        size: bytes.len() as u64,
        annotations: Default::default(),
        architecture: None,
        os: None,
        artifact_type: None,
    }
}

/// An image with these layers, and what `more` says beside them.
pub(crate) fn artifact(layers: Vec<Blob>, more: Value) -> Artifact {
    let config = blob("application/vnd.oci.empty.v1+json", b"{}");
    let reported = |blob: &Blob| {
        json!({
            "mediaType": blob.descriptor.media_type,
            "digest": blob.descriptor.digest.as_str(),
            "size": blob.descriptor.size,
        })
    };
    let listed: Vec<Value> = layers.iter().map(reported).collect();
    let mut manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": reported(&config), "layers": listed,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        manifest[key] = value.clone();
    }
    let manifest = manifest.to_string().into_bytes();
    let mut blobs = vec![config];
    blobs.extend(layers);
    Artifact {
        descriptor: descriptor(MANIFEST, &manifest),
        manifest,
        blobs,
    }
}

/// Content that is made as it is read: the same each time, never held.
pub(crate) struct Made(pub(crate) u64);

impl Body for Made {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Reading {
            at: 0,
            size: self.0,
        }))
    }
}

struct Reading {
    at: u64,
    size: u64,
}

impl Read for Reading {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size - self.at).unwrap_or(usize::MAX);
        let most = into.len().min(left);
        for byte in &mut into[..most] {
            *byte = (self.at.wrapping_mul(2_654_435_761) >> 11) as u8;
            self.at += 1;
        }
        Ok(most)
    }
}

/// A blob of that many bytes.
pub(crate) fn made(size: u64) -> Blob {
    let mut into = oci_artifacts::Digesting::new(io::sink());
    let mut reader = Made(size).open().expect("made");
    io::copy(&mut reader, &mut into).expect("made");
    let oci_artifacts::Digested { digest, size, .. } = into.finish();
    Blob {
        descriptor: Descriptor {
            digest,
            size,
            ..descriptor("application/octet-stream", b"")
        },
        content: Arc::new(Made(size)),
    }
}

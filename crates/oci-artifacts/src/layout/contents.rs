//! Reads artifacts of a layout for copying: the exact manifest, and blobs that are opened when they are sent.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use crate::{
    Artifact, Blob, Body, Content, Descriptor, Failure, FailureKind, INDEX_TYPE, MANIFEST_TYPE,
    Manifest, Reference, Store as _,
};

use super::Layout;

/// The most manifests of an index.
const MOST: usize = 1000;

impl Layout {
    /// The artifacts of a reference: those of an index first, the index itself last. Blobs that the layout omits are included, but
    /// cannot be read.
    ///
    /// # Errors
    /// A manifest cannot be read; an index has too many manifests, or contains other indexes.
    pub fn artifacts(&self, of: &Reference) -> Result<Vec<Artifact>, Failure> {
        let top = self.manifest(of)?;
        let mut found = Vec::new();
        if let Content::Index { manifests, .. } = &top.content {
            let failure = |message: &str| Failure::new(of, FailureKind::Unsupported, message);
            if manifests.len() > MOST {
                return Err(failure("its index names more than 1000 manifests"));
            }
            for child in manifests {
                let manifest = self.manifest(&of.with_digest(&child.digest))?;
                if matches!(manifest.content, Content::Index { .. }) {
                    return Err(failure(
                        "its index names another index, which is not followed",
                    ));
                }
                found.push(self.artifact(&manifest, &child.media_type)?);
            }
        }
        let entry = self.entries.iter().find(|entry| entry.digest == top.digest);
        let media_type = entry.map_or("", |entry| &entry.media_type);
        found.push(self.artifact(&top, media_type)?);
        Ok(found)
    }

    fn artifact(&self, manifest: &Manifest, media_type: &str) -> Result<Artifact, Failure> {
        let mut blobs: Vec<Blob> = Vec::new();
        let default = match &manifest.content {
            Content::Image { config, layers, .. } => {
                for descriptor in std::iter::once(&**config).chain(layers) {
                    let digest = &descriptor.digest;
                    if blobs.iter().all(|known| known.descriptor.digest != *digest) {
                        blobs.push(Blob {
                            descriptor: descriptor.clone(),
                            content: self.body(descriptor)?,
                        });
                    }
                }
                MANIFEST_TYPE
            }
            Content::Index { .. } => INDEX_TYPE,
        };
        let media_type = if media_type.is_empty() {
            default
        } else {
            media_type
        };
        Ok(Artifact {
            descriptor: Descriptor::new(
                media_type,
                manifest.digest.clone(),
                manifest.bytes.len() as u64,
            ),
            manifest: manifest.bytes.clone(),
            blobs,
        })
    }

    fn body(&self, blob: &Descriptor) -> Result<Arc<dyn Body>, Failure> {
        let path = self.folder.path_of(&blob.digest)?;
        Ok(Arc::new(OnDisk(path)))
    }
}

/// The file of a blob, which is opened when it is read.
struct OnDisk(Option<PathBuf>);

impl Body for OnDisk {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        match &self.0 {
            Some(path) => Ok(Box::new(File::open(path)?)),
            None => Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the image layout leaves it out",
            )),
        }
    }
}

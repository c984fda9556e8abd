//! Finds the referrers of a layout's artifacts by their `subject`.

use std::collections::HashMap;

use crate::oci::{Content, Descriptor, Digest, Failure, Manifest};

/// The referrers of each digest, in the order of the index.
pub(super) struct Referrers(HashMap<Digest, Vec<Descriptor>>);

impl Referrers {
    /// Collects the referrers among artifacts, each given with its entry in the index.
    ///
    /// # Errors
    /// The first artifact that cannot be read: its subject is unknown.
    pub(super) fn read<'e>(
        artifacts: impl Iterator<Item = Result<(&'e Descriptor, Manifest), Failure>>,
    ) -> Result<Self, Failure> {
        let mut found: HashMap<Digest, Vec<Descriptor>> = HashMap::new();
        for artifact in artifacts {
            let (entry, manifest) = artifact?;
            if let Some((subject, descriptor)) = referrer(entry, manifest) {
                let of = found.entry(subject).or_default();
                if of.iter().all(|other| other.digest != descriptor.digest) {
                    of.push(descriptor);
                }
            }
        }
        Ok(Self(found))
    }

    /// The referrers of a digest.
    pub(super) fn of(&self, digest: &Digest) -> &[Descriptor] {
        self.0.get(digest).map_or(&[], Vec::as_slice)
    }
}

/// The subject of a manifest, and its descriptor for a list of referrers: with its annotations, and with the type of its
/// configuration if it declares no artifact type (distribution-spec, "Listing Referrers").
fn referrer(entry: &Descriptor, manifest: Manifest) -> Option<(Digest, Descriptor)> {
    let Content::Image {
        config,
        annotations,
        artifact_type,
        subject,
        ..
    } = manifest.content
    else {
        return None;
    };
    let descriptor = Descriptor {
        annotations,
        artifact_type: artifact_type.or(Some(config.media_type)),
        ..entry.clone()
    };
    Some((subject?.digest, descriptor))
}

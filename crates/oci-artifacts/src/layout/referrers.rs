//! Finds the referrers of a layout's artifacts by their `subject`.

use std::collections::HashMap;

use crate::{Descriptor, Digest, Failure, Manifest};

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
            let Some(subject) = manifest.content.subject() else {
                continue;
            };
            let of = found.entry(subject.digest.clone()).or_default();
            if of.iter().all(|other| other.digest != entry.digest) {
                of.push(manifest.content.describe(entry.clone()));
            }
        }
        Ok(Self(found))
    }

    /// The referrers of a digest.
    pub(super) fn of(&self, digest: &Digest) -> &[Descriptor] {
        self.0.get(digest).map_or(&[], Vec::as_slice)
    }
}

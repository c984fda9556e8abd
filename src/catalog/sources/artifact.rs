//! Queries a store for images: their digests, and the facts in their annotations.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::fact;
use oci_artifacts::evidence::Evidence;
use oci_artifacts::{
    Content, Descriptor, Digest, Failure, FailureKind, Manifest, Platform, Reference, Store,
    find_part, images,
};
use yaml_tree::place::{Located, Place};

use crate::model::annotations::{self, Oddity};
use crate::model::lock::LockedImage;

/// One artifact, requested by tag.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The digest that the tag refers to: of an index, the index's own, for that is what is signed and what nodes pull.
    pub digest: Digest,
    /// Where it was had, where that is not its registry.
    pub mirror: Option<Arc<str>>,
    /// What the annotations say.
    pub facts: BTreeMap<Arc<str>, Arc<str>>,
    /// What is odd about them.
    pub oddities: Vec<Oddity>,
    /// Its layers, compressed as they lie there.
    pub layers: Vec<Descriptor>,
    /// The bytes that the digest and the facts are derived from.
    pub evidence: Evidence,
}

/// A fact of a lock entry that is not what its artifact says.
#[derive(Debug)]
pub struct Difference<'a> {
    /// The fact's name.
    pub name: &'a Arc<str>,
    /// What the lock says, where it says something.
    pub locked: Option<&'a Located<Arc<str>>>,
    /// What the artifact says.
    pub artifact: Option<&'a Arc<str>>,
}

impl Artifact {
    /// The hex digest of a component bundle's tarball: that of the one layer it has, as it lies there. None where it has none, or
    /// several.
    pub fn tarball(&self) -> Option<&str> {
        match self.layers.as_slice() {
            [only] => only.digest.as_str().strip_prefix("sha256:"),
            _ => None,
        }
    }

    /// The artifact of some evidence of that digest. Makes no request.
    ///
    /// # Errors
    /// Why the evidence is not that of the digest, or not for the platform, in one clause.
    pub fn from_evidence(
        evidence: &Evidence,
        digest: &Digest,
        platform: &Platform,
    ) -> Result<Self, String> {
        if !digest.is_of(evidence.manifest.as_bytes()) {
            return Err(format!("its manifest has another digest than `{digest}`"));
        }
        let read = |text: &Arc<str>| {
            Manifest::read(text.as_bytes().to_vec()).map_err(|error| error.to_string())
        };
        let whole = read(&evidence.manifest)?;
        let wanted = match &whole.content {
            Content::Index { manifests, .. } => {
                Some(find_part(manifests, platform).map_err(|why| why.message)?)
            }
            Content::Image { .. } => None,
        };
        let part = match (wanted, &evidence.part) {
            (None, None) => None,
            (Some(wanted), Some(part)) if wanted.digest.is_of(part.as_bytes()) => Some(read(part)?),
            _ => {
                return Err(format!(
                    "it has no manifest for `{}`",
                    platform.architecture
                ));
            }
        };
        let mut artifact = from_manifests(&whole, part.as_ref())?;
        artifact.digest = digest.clone();
        artifact.evidence = evidence.clone();
        Ok(artifact)
    }

    /// The facts of a lock entry that are not what the artifact says.
    pub fn differences<'a>(&'a self, image: &'a LockedImage) -> Vec<Difference<'a>> {
        let differs = |(name, locked): (&'a Arc<str>, &'a Located<Arc<str>>)| {
            let artifact = self.facts.get(name);
            // The lock has the digest of a component bundle's layer, which is in no annotation.
            let is_tarball = &**name == fact::SHA256
                && artifact.is_none()
                && self.tarball() == Some(&*locked.value);
            (artifact != Some(&locked.value) && !is_tarball).then_some(Difference {
                name,
                locked: Some(locked),
                artifact,
            })
        };
        let left_out = self.facts.iter();
        let left_out = left_out.filter(|(name, _)| !image.facts.contains_key(*name));
        let left_out = left_out.map(|(name, value)| Difference {
            name,
            locked: None,
            artifact: Some(value),
        });
        image
            .facts
            .iter()
            .filter_map(differs)
            .chain(left_out)
            .collect()
    }
}

impl Difference<'_> {
    /// One sentence about it, and its place in the lock.
    pub fn message(&self, image: &LockedImage) -> (String, Place) {
        let (name, key) = (self.name, &image.key.value);
        match (self.locked, self.artifact) {
            (Some(locked), theirs) => {
                let theirs = theirs.map_or("nothing".to_owned(), |theirs| format!("`{theirs}`"));
                let message = format!(
                    "`{name}` of `{key}` is `{}` by the lock, {theirs} by the artifact's annotations",
                    locked.value
                );
                (message, locked.place)
            }
            (None, theirs) => {
                let theirs = theirs.map_or("", |theirs| theirs);
                let message = format!("the lock leaves out that `{name}` of `{key}` is `{theirs}`");
                (message, image.key.place)
            }
        }
    }
}

/// Requests all of them; then the manifest for the platform of those that are indexes.
pub fn artifacts(
    wanted: &[Reference],
    platform: &Platform,
    store: &dyn Store,
) -> Vec<Result<Artifact, Failure>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let pairs = wanted.iter().zip(images(store, wanted, platform));
    pairs
        .map(|(reference, answer)| {
            let chosen = answer?;
            let part = chosen.index.as_ref().map(|_| &chosen.manifest);
            from_manifests(chosen.whole(), part)
                .map_err(|error| Failure::new(reference, FailureKind::TooLarge, error))
        })
        .collect()
}

/// The part's annotations count before the index's.
fn from_manifests(whole: &Manifest, part: Option<&Manifest>) -> Result<Artifact, String> {
    let mut facts: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    let mut oddities = Vec::new();
    let mut all_layers = Vec::new();
    for manifest in std::iter::once(whole).chain(part) {
        let own = match &manifest.content {
            Content::Index { annotations, .. } => annotations,
            Content::Image {
                annotations,
                layers,
                ..
            } => {
                all_layers.clone_from(layers);
                annotations
            }
        };
        let annotated = annotations::facts(own).map_err(|error| error.to_string())?;
        oddities.extend(annotated.oddities);
        for (name, value) in annotated.facts {
            let of_index = facts.insert(Arc::clone(&name), Arc::clone(&value));
            if let Some(index) = of_index.filter(|index| *index != value) {
                let (name, index, part) = (name.to_string(), index.to_string(), value.to_string());
                oddities.push(Oddity::OfIndex { name, index, part });
            }
        }
    }
    // A manifest that was read is UTF-8.
    let text = |manifest: &Manifest| String::from_utf8_lossy(&manifest.bytes).into();
    Ok(Artifact {
        digest: whole.digest.clone(),
        mirror: whole.mirror.as_deref().map(Arc::from),
        facts,
        oddities,
        layers: all_layers,
        evidence: Evidence {
            manifest: text(whole),
            part: part.map(text),
            signatures: Vec::new(),
        },
    })
}

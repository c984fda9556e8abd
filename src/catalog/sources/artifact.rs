//! Queries a store for images: their digests, and the facts in their annotations.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::fact;
use oci_artifacts::evidence::Evidence;
use oci_artifacts::{
    Content, Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store,
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
    /// Why the evidence is not that of the digest, or not for the architecture, in one clause.
    pub fn from_evidence(
        evidence: &Evidence,
        digest: &Digest,
        architecture: &str,
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
                let part = find_part(manifests, architecture);
                Some(part.ok_or_else(|| nothing_for(architecture))?)
            }
            Content::Image { .. } => None,
        };
        let part = match (wanted, &evidence.part) {
            (None, None) => None,
            (Some(wanted), Some(part)) if wanted.digest.is_of(part.as_bytes()) => Some(read(part)?),
            _ => return Err(format!("it has no manifest for `{architecture}`")),
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

fn nothing_for(architecture: &str) -> String {
    format!("it holds nothing for the architecture `{architecture}`")
}

/// Requests all of them; then the wanted architecture's manifest of those that are indexes.
pub fn artifacts(
    wanted: &[Reference],
    architecture: &str,
    store: &dyn Store,
) -> Vec<Result<Artifact, Failure>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let answers = store.manifests(wanted);
    let mut parts: Vec<(usize, Reference)> = Vec::new();
    let mut all: Vec<Result<(Manifest, Option<Manifest>), Failure>> = Vec::new();
    for (index, (reference, answer)) in wanted.iter().zip(answers).enumerate() {
        all.push(answer.and_then(|manifest| {
            if let Content::Index { manifests, .. } = &manifest.content {
                let part = find_part(manifests, architecture).ok_or_else(|| {
                    let message = nothing_for(architecture);
                    Failure::new(reference, FailureKind::Unsupported, message)
                })?;
                parts.push((index, reference.with_digest(&part.digest)));
            }
            Ok((manifest, None))
        }));
    }
    let references: Vec<Reference> = parts.iter().map(|(_, part)| part.clone()).collect();
    let answers = if references.is_empty() {
        Vec::new()
    } else {
        store.manifests(&references)
    };
    for ((index, _), answer) in parts.into_iter().zip(answers) {
        match (&mut all[index], answer) {
            (Ok((_, part)), Ok(manifest)) => *part = Some(manifest),
            (whole, Err(failure)) => *whole = Err(corrupt_index(failure)),
            (Err(_), Ok(_)) => {}
        }
    }
    let pairs = wanted.iter().zip(all);
    pairs
        .map(|(reference, answer)| {
            let (whole, part) = answer?;
            from_manifests(&whole, part.as_ref())
                .map_err(|error| Failure::new(reference, FailureKind::TooLarge, error))
        })
        .collect()
}

/// An index that names missing manifests is broken, which is not an error of the catalog.
fn corrupt_index(failure: Failure) -> Failure {
    Failure {
        kind: match failure.kind {
            FailureKind::NotFound => FailureKind::Corrupt,
            kind => kind,
        },
        ..failure
    }
}

fn find_part<'a>(parts: &'a [Descriptor], architecture: &str) -> Option<&'a Descriptor> {
    let named = parts
        .iter()
        .find(|part| part.architecture.as_deref() == Some(architecture));
    named.or(match parts {
        [only] if only.architecture.is_none() => Some(only),
        _ => None,
    })
}

/// The part's annotations count before the index's.
fn from_manifests(whole: &Manifest, part: Option<&Manifest>) -> Result<Artifact, String> {
    let mut annotations = BTreeMap::new();
    let mut all_layers = Vec::new();
    for manifest in std::iter::once(whole).chain(part) {
        match &manifest.content {
            Content::Index {
                annotations: own, ..
            } => annotations.extend(own.clone()),
            Content::Image {
                annotations: own,
                layers,
                ..
            } => {
                annotations.extend(own.clone());
                all_layers.clone_from(layers);
            }
        }
    }
    let annotated = annotations::facts(&annotations).map_err(|error| error.to_string())?;
    // A manifest that was read is UTF-8.
    let text = |manifest: &Manifest| String::from_utf8_lossy(&manifest.bytes).into();
    Ok(Artifact {
        digest: whole.digest.clone(),
        mirror: whole.mirror.as_deref().map(Arc::from),
        facts: annotated.facts,
        oddities: annotated.oddities,
        layers: all_layers,
        evidence: Evidence {
            manifest: text(whole),
            part: part.map(text),
            signatures: Vec::new(),
        },
    })
}

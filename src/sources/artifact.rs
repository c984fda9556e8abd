//! What a store says of images: digests, and the facts in annotations.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::annotations::{self, Oddity, TooManyFacts};
use crate::oci::{Content, Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store};

/// One artifact, asked for by tag.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The digest of what the tag stands for: of an index, the index's own, for that is what is signed and what nodes pull.
    pub digest: Digest,
    /// Where it was had, where that is not its registry.
    pub mirror: Option<Arc<str>>,
    /// What the annotations say.
    pub facts: BTreeMap<Arc<str>, Arc<str>>,
    /// What is odd about them.
    pub oddities: Vec<Oddity>,
    /// Its layers, compressed as they lie there.
    pub layers: Vec<Descriptor>,
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
}

/// Asks for all of them; then for the wanted architecture's manifest of those that are indexes.
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
                let part = of_architecture(manifests, architecture).ok_or_else(|| {
                    let message = format!("it holds nothing for the architecture `{architecture}`");
                    Failure::new(reference, FailureKind::Unsupported, message)
                })?;
                parts.push((index, reference.at(&part.digest)));
            }
            Ok((manifest, None))
        }));
    }
    let references: Vec<Reference> = parts.iter().map(|(_, part)| part.clone()).collect();
    let answers = match references.is_empty() {
        true => Vec::new(),
        false => store.manifests(&references),
    };
    for ((index, _), answer) in parts.into_iter().zip(answers) {
        match (&mut all[index], answer) {
            (Ok((_, part)), Ok(manifest)) => *part = Some(manifest),
            (whole, Err(failure)) => *whole = Err(without_the_part(failure)),
            (Err(_), Ok(_)) => {}
        }
    }
    let pairs = wanted.iter().zip(all);
    pairs
        .map(|(reference, answer)| {
            let (whole, part) = answer?;
            of_manifests(&whole, part.as_ref())
                .map_err(|error| Failure::new(reference, FailureKind::TooLarge, error.to_string()))
        })
        .collect()
}

/// An index that names what is not there is broken: that is no catalogue's fault.
fn without_the_part(failure: Failure) -> Failure {
    Failure {
        kind: match failure.kind {
            FailureKind::NotFound => FailureKind::Corrupt,
            kind => kind,
        },
        ..failure
    }
}

fn of_architecture<'a>(parts: &'a [Descriptor], architecture: &str) -> Option<&'a Descriptor> {
    let named = parts
        .iter()
        .find(|part| part.architecture.as_deref() == Some(architecture));
    named.or(match parts {
        [only] if only.architecture.is_none() => Some(only),
        _ => None,
    })
}

/// The part's annotations count before the index's.
fn of_manifests(whole: &Manifest, part: Option<&Manifest>) -> Result<Artifact, TooManyFacts> {
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
    let annotated = annotations::facts(&annotations)?;
    Ok(Artifact {
        digest: whole.digest.clone(),
        mirror: whole.mirror.as_deref().map(Arc::from),
        facts: annotated.facts,
        oddities: annotated.oddities,
        layers: all_layers,
    })
}

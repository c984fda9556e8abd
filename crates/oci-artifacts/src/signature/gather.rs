//! Finds and fetches the signatures of artifacts in few requests.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use yaml_tree::bytes::BASE64;

use crate::evidence::Witness;
use crate::{Content, Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store};

use super::Witnesses;
use super::annotated;
use super::bundle::{self, Bundle};
use super::key::PublicKey;
use super::payload;
use super::verdict::{Claim, Flaw, Form};

/// The longest payload or bundle that is read for a signature, in bytes. It has a few thousand; what is longer is an attestation.
pub(super) const LIMIT: u64 = 256 << 10;

/// The most payloads, and the most referrers, that are read of one artifact. `cosign sign` adds one at each run.
const MOST: usize = 256;

/// One thing that may be a signature of an artifact.
pub(super) struct Evidence {
    pub(super) form: Form,
    item: Item,
}

enum Item {
    Witness {
        witness: Witness,
        /// What is signed, where that is the manifest itself.
        manifest: Option<Vec<u8>>,
    },
    /// Too long for a signature.
    Attestation,
    /// It exists, and could not be fetched.
    Failed(Failure),
}

impl Item {
    fn fault(reason: impl Into<Arc<str>>) -> Self {
        Self::from_witness(Witness::Malformed {
            reason: reason.into(),
        })
    }

    fn from_witness(witness: Witness) -> Self {
        Self::Witness {
            witness,
            manifest: None,
        }
    }
}

impl Evidence {
    /// What it claims under a key.
    ///
    /// # Errors
    /// It could not be fetched.
    pub(super) fn claim(&self, key: &PublicKey, ours: &Digest) -> Result<Claim, Failure> {
        Ok(match &self.item {
            Item::Witness { witness, manifest } => claim(witness, key, ours, manifest.as_deref()),
            Item::Attestation => Claim::Bad(Flaw::Attestation),
            Item::Failed(failure) => return Err(failure.clone()),
        })
    }

    /// Adds it to what was found.
    pub(super) fn collect(self, out: &mut Witnesses) {
        match self.item {
            Item::Witness { witness, .. } => out.all.push(witness),
            Item::Attestation => out.too_long += 1,
            Item::Failed(failure) => {
                out.failed.get_or_insert(failure);
            }
        }
    }

    /// What of it can be kept.
    pub(super) fn witness(&self) -> Option<&Witness> {
        match &self.item {
            Item::Witness { witness, .. } => Some(witness),
            Item::Attestation | Item::Failed(_) => None,
        }
    }
}

/// What a signature claims under a key of the manifest of that digest. `manifest`: its bytes, which a signature over them needs.
pub(super) fn claim(
    witness: &Witness,
    key: &PublicKey,
    ours: &Digest,
    manifest: Option<&[u8]>,
) -> Claim {
    match witness {
        Witness::Tag { payload, signature } | Witness::Referrer { payload, signature } => {
            payload::claim(key, ours, payload.as_bytes(), signature)
        }
        Witness::Bundle { bundle } => match Bundle::read(bundle.as_bytes()) {
            Ok(bundle) => bundle.claim(key, ours, manifest),
            Err(reason) => Claim::Bad(Flaw::Malformed(reason)),
        },
        Witness::Certified { payload, bundle } => match Bundle::read(bundle.as_bytes()) {
            Ok(bundle) => {
                let signature = BASE64.encode(bundle.signature().unwrap_or_default());
                match payload::claim(key, ours, payload.as_bytes(), &signature) {
                    Claim::Bad(Flaw::WrongKey) => bundle.unproven(key, true),
                    claim => claim,
                }
            }
            Err(reason) => Claim::Bad(Flaw::Malformed(reason)),
        },
        Witness::Malformed { reason } => Claim::Bad(Flaw::Malformed(reason.to_string())),
    }
}

/// The artifact that signatures are requested for: its reference, and the digest of its manifest.
pub type Wanted = (Reference, Digest);

/// A layer that may be a signature, before its bytes are fetched.
struct Layer {
    form: Form,
    descriptor: Descriptor,
}

/// The signatures at the tags `sha256-<hex>.sig`, the attestations at `.att`. A tag that does not exist is none; one that cannot be
/// fetched is a failure.
pub(super) fn find_at_tags(
    store: &dyn Store,
    wanted: &[Wanted],
    ending: &str,
    limit: u64,
) -> Vec<Result<Vec<Evidence>, Failure>> {
    let tagged =
        |(reference, digest): &Wanted| reference.with_tag(&format!("{}.{ending}", digest.as_tag()));
    let tags: Vec<Reference> = wanted.iter().map(tagged).collect();
    let found = store
        .manifests(&tags)
        .into_iter()
        .map(|answer| match answer {
            Ok(manifest) => Ok(layers(manifest, Form::Tag, limit)),
            Err(failure) if failure.kind == FailureKind::NotFound => Ok(Vec::new()),
            Err(failure) => Err(failure),
        });
    read(store, wanted, found.collect(), limit)
}

/// The signatures among what refers to the artifacts. No list is filtered by its entries' types: registries write
/// there what they like, so only the layers decide.
pub(super) fn referring(
    store: &dyn Store,
    wanted: &[Wanted],
    limit: u64,
) -> Vec<Result<Vec<Evidence>, Failure>> {
    let mut requested: Vec<Reference> = Vec::new();
    let lists: Vec<Result<(usize, Option<Failure>), Failure>> = store
        .referrers(wanted)
        .into_iter()
        .zip(wanted)
        .map(|(answer, (reference, _))| {
            let listed = match answer {
                Err(failure) if failure.kind == FailureKind::NotFound => Vec::new(),
                answer => answer?,
            };
            let too_many = (listed.len() > MOST).then(|| {
                let message = format!(
                    "{} artifacts refer to it, and {MOST} are read",
                    listed.len()
                );
                Failure::new(reference, FailureKind::TooLarge, message)
            });
            let count = listed.len().min(MOST);
            let likely_first = likely_first(listed).into_iter().take(count);
            requested
                .extend(likely_first.map(|descriptor| reference.with_digest(&descriptor.digest)));
            Ok((count, too_many))
        })
        .collect();
    let mut manifests = store.manifests(&requested).into_iter();
    let found = lists.into_iter().map(|list| {
        let (count, too_many) = list?;
        let mut found: Vec<Result<Layer, Item>> = Vec::new();
        for answer in manifests.by_ref().take(count) {
            match answer {
                Ok(manifest) => found.extend(layers(manifest, Form::Referrer, limit)),
                // A list under the tag keeps an entry whose artifact was deleted.
                Err(failure) if failure.kind == FailureKind::NotFound => {}
                Err(failure) => found.push(Err(Item::Failed(failure))),
            }
        }
        found.extend(too_many.map(|failure| Err(Item::Failed(failure))));
        Ok(found)
    });
    let found = found.collect();
    read(store, wanted, found, limit)
}

/// Those whose type is that of signatures, then the others.
fn likely_first(mut listed: Vec<Descriptor>) -> Vec<Descriptor> {
    let is_other = |descriptor: &Descriptor| {
        let kind = descriptor.artifact_type.as_deref().unwrap_or_default();
        !kind.contains("sigstore") && !kind.contains("cosign")
    };
    listed.sort_by_key(is_other);
    listed
}

/// The layers of a signature image or of a bundle's, in order. `form` is that of signature images here.
fn layers(manifest: Manifest, form: Form, limit: u64) -> Vec<Result<Layer, Item>> {
    let Content::Image { layers, .. } = manifest.content else {
        return Vec::new();
    };
    let layer = |descriptor: Descriptor| {
        let kind = &descriptor.media_type;
        if kind.starts_with(bundle::MEDIA_TYPE) || kind == annotated::ENVELOPE {
            let form = Form::Bundle;
            return Some(if descriptor.size > limit {
                Err(Item::Attestation)
            } else {
                Ok(Layer { form, descriptor })
            });
        }
        if kind != payload::MEDIA_TYPE {
            return None;
        }
        Some(if descriptor.size > LIMIT {
            let reason = format!("its payload has {} bytes", descriptor.size);
            Err(Item::fault(reason))
        } else if !descriptor
            .annotations
            .contains_key(crate::evidence::ANNOTATION)
        {
            let reason = format!(
                "its payload has no annotation `{}`",
                crate::evidence::ANNOTATION
            );
            Err(Item::fault(reason))
        } else {
            Ok(Layer { form, descriptor })
        })
    };
    layers.into_iter().filter_map(layer).take(MOST).collect()
}

/// The bytes of all layers, each blob requested once; then the manifests that some bundles sign.
fn read(
    store: &dyn Store,
    wanted: &[Wanted],
    found: Vec<Result<Vec<Result<Layer, Item>>, Failure>>,
    limit: u64,
) -> Vec<Result<Vec<Evidence>, Failure>> {
    let mut places: HashMap<(String, Digest), usize> = HashMap::new();
    let mut blobs: Vec<(Reference, Descriptor)> = Vec::new();
    for ((reference, _), layers) in wanted.iter().zip(&found) {
        for layer in layers.iter().flatten().flatten() {
            let key = (reference.name(), layer.descriptor.digest.clone());
            places.entry(key).or_insert_with(|| {
                blobs.push((reference.clone(), layer.descriptor.clone()));
                blobs.len() - 1
            });
        }
    }
    let bytes = store.blobs(&blobs, limit);
    let evidence = |reference: &Reference, layer: Result<Layer, Item>| {
        let Layer { form, descriptor } = match layer {
            Ok(layer) => layer,
            Err(item) => {
                return Evidence {
                    form: Form::Tag,
                    item,
                };
            }
        };
        let place = places.get(&(reference.name(), descriptor.digest.clone()));
        let item = match place.and_then(|place| bytes.get(*place)) {
            Some(Ok(bytes)) => item(form, &descriptor, bytes),
            Some(Err(failure)) => Item::Failed(failure.clone()),
            None => Item::fault("its payload was not answered"),
        };
        Evidence { form, item }
    };
    let mut all: Vec<Result<Vec<Evidence>, Failure>> = wanted
        .iter()
        .zip(found)
        .map(|((reference, _), layers)| {
            let layers = layers?.into_iter();
            Ok(layers.map(|layer| evidence(reference, layer)).collect())
        })
        .collect();
    add_manifests(store, wanted, &mut all);
    all
}

fn item(form: Form, descriptor: &Descriptor, bytes: &[u8]) -> Item {
    // Both are JSON, which is UTF-8 (RFC 8259, 8.1).
    let Ok(text) = std::str::from_utf8(bytes).map(Arc::<str>::from) else {
        return Item::fault("what is signed is not UTF-8");
    };
    let signature = || -> Arc<str> {
        let annotation = descriptor.annotations.get(crate::evidence::ANNOTATION);
        annotation.map_or("", String::as_str).into()
    };
    let annotations = &descriptor.annotations;
    let composed = if descriptor.media_type == annotated::ENVELOPE {
        let envelope = serde_json::from_str(&text)
            .map_err(|error| format!("its envelope cannot be read: {error}"));
        let bundle = envelope.and_then(|it| annotated::bundle(annotations, ("dsseEnvelope", it)));
        Some(bundle.map(|bundle| Witness::Bundle {
            bundle: bundle.into(),
        }))
    } else if form != Form::Bundle && annotated::is_certified(annotations) {
        let content = json!({"signature": &*signature()});
        let bundle = annotated::bundle(annotations, ("messageSignature", content));
        Some(bundle.map(|bundle| Witness::Certified {
            payload: Arc::clone(&text),
            bundle: bundle.into(),
        }))
    } else {
        None
    };
    if let Some(composed) = composed {
        return composed.map_or_else(Item::fault, Item::from_witness);
    }
    Item::from_witness(match form {
        Form::Bundle => Witness::Bundle { bundle: text },
        Form::Tag => Witness::Tag {
            payload: text,
            signature: signature(),
        },
        Form::Referrer => Witness::Referrer {
            payload: text,
            signature: signature(),
        },
    })
}

/// Gives the bundles that sign a manifest itself its bytes.
fn add_manifests(
    store: &dyn Store,
    wanted: &[Wanted],
    found: &mut [Result<Vec<Evidence>, Failure>],
) {
    let mut requested = Vec::new();
    let mut receivers = Vec::new();
    for ((reference, digest), found) in wanted.iter().zip(found) {
        for evidence in found.iter_mut().flatten() {
            if signs_manifest(&evidence.item) {
                requested.push(reference.with_digest(digest));
                receivers.push(evidence);
            }
        }
    }
    if requested.is_empty() {
        return;
    }
    for (evidence, answer) in receivers.into_iter().zip(store.manifests(&requested)) {
        match (answer, &mut evidence.item) {
            (Ok(answer), Item::Witness { manifest, .. }) => *manifest = Some(answer.bytes),
            (Ok(_), _) => {}
            (Err(failure), item) => *item = Item::Failed(failure),
        }
    }
}

fn signs_manifest(item: &Item) -> bool {
    let Item::Witness {
        witness: Witness::Bundle { bundle },
        ..
    } = item
    else {
        return false;
    };
    Bundle::read(bundle.as_bytes()).is_ok_and(|bundle| bundle.signs_bytes())
}

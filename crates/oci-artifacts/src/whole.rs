//! Everything that belongs to an artifact, for copying it: the manifests of an index, and of each of these what signs or describes
//! it: the images at the tags `sha256-<hex>.sig`, `.att` and `.sbom`, and what refers to it by `subject`, with what refers to that.
//!
//! Programs that copy images leave behind what is not named by the image itself. So a copy begins with this list.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::evidence::Witness;
use crate::streamed::Streamed;
use crate::{
    Artifact, Blob, Content, Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store,
};

/// The ends of the tags at which cosign stores what belongs to a digest.
const TAGS: [&str; 3] = ["sig", "att", "sbom"];

/// The most manifests that are looked for of one artifact, whether they exist or not: a registry may list others without end.
const MOST: usize = 10_000;

/// A manifest with its name.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its reference: always with its digest, and with the tag that it is stored at, if there is one.
    pub name: Reference,
    /// What it is of the artifact.
    pub role: Role,
    /// The manifest.
    pub manifest: Manifest,
}

/// What a manifest is of an artifact, in the order in which they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A manifest of its index.
    Part,
    /// Itself.
    Artifact,
    /// A signature, an attestation, or something else that belongs to it.
    Attached,
}

/// What is requested for an artifact.
struct Wanted {
    /// The number of the artifact.
    whole: usize,
    name: Reference,
    role: Role,
    /// Whether it may not exist.
    is_optional: bool,
}

/// Each artifact alone, with the manifests that its index names before it. References have digests or tags.
pub fn own_pieces(store: &dyn Store, artifacts: &[Reference]) -> Vec<Result<Vec<Piece>, Failure>> {
    let mut wholes: Vec<_> = artifacts.iter().map(|_| Ok(Vec::new())).collect();
    fetch_own(store, artifacts, &mut wholes);
    sort(wholes)
}

/// Everything that belongs to each artifact, in the order in which it is stored.
pub fn pieces(store: &dyn Store, artifacts: &[Reference]) -> Vec<Result<Vec<Piece>, Failure>> {
    let mut wholes: Vec<_> = artifacts.iter().map(|_| Ok(Vec::new())).collect();
    let mut new = fetch_own(store, artifacts, &mut wholes);
    while !new.is_empty() {
        let attached = find_attached(store, &new, &mut wholes);
        new = fetch(store, attached, &mut wholes);
        // What belongs to a signature at a tag is stored beside it.
        new.retain(|(_, piece)| piece.name.tag.is_none());
    }
    sort(wholes)
}

fn sort(mut wholes: Vec<Result<Vec<Piece>, Failure>>) -> Vec<Result<Vec<Piece>, Failure>> {
    for pieces in wholes.iter_mut().flatten() {
        pieces.sort_by_key(|piece| piece.role);
    }
    wholes
}

/// The artifacts, then the parts of those that are an index.
fn fetch_own(
    store: &dyn Store,
    artifacts: &[Reference],
    wholes: &mut [Result<Vec<Piece>, Failure>],
) -> Vec<(usize, Piece)> {
    let named = artifacts.iter().enumerate().map(|(whole, name)| Wanted {
        whole,
        name: name.clone(),
        role: Role::Artifact,
        is_optional: false,
    });
    let mut new = fetch(store, named.collect(), wholes);
    let parts = new.iter().flat_map(|(whole, piece)| parts(*whole, piece));
    let parts = parts.collect();
    new.extend(fetch(store, parts, wholes));
    new
}

/// Requests everything at once, adds what is there to its artifact, and returns what is new.
fn fetch(
    store: &dyn Store,
    mut wanted: Vec<Wanted>,
    wholes: &mut [Result<Vec<Piece>, Failure>],
) -> Vec<(usize, Piece)> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for wanted in &wanted {
        *counts.entry(wanted.whole).or_default() += 1;
    }
    for (whole, count) in counts {
        let known = wholes[whole]
            .as_ref()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if let Some(first) = known.first().filter(|_| known.len() + count > MOST) {
            let message = format!("more than {MOST} manifests may belong to it");
            let failure = Failure::new(&first.name, FailureKind::TooLarge, message);
            wholes[whole] = Err(failure);
        }
    }
    wanted.retain(|wanted| wholes[wanted.whole].is_ok());
    let names: Vec<Reference> = wanted.iter().map(|wanted| wanted.name.clone()).collect();
    let mut new = Vec::new();
    for (wanted, answer) in wanted.into_iter().zip(store.manifests(&names)) {
        let Ok(known) = &mut wholes[wanted.whole] else {
            continue;
        };
        let added = match answer {
            Err(failure) if wanted.is_optional && failure.kind == FailureKind::NotFound => continue,
            answer => answer.and_then(|manifest| Piece::new(&wanted, manifest)),
        };
        match added {
            Ok(piece) if known.iter().any(|it| it.name == piece.name) => {}
            Ok(piece) => {
                known.push(piece.clone());
                new.push((wanted.whole, piece));
            }
            Err(failure) => wholes[wanted.whole] = Err(failure),
        }
    }
    new
}

/// The manifests that an index names.
fn parts(whole: usize, piece: &Piece) -> Vec<Wanted> {
    let Content::Index { manifests, .. } = &piece.manifest.content else {
        return Vec::new();
    };
    let part = |descriptor: &Descriptor| Wanted {
        whole,
        name: piece.name.pin(&descriptor.digest),
        role: Role::Part,
        is_optional: false,
    };
    manifests.iter().map(part).collect()
}

/// What may belong to manifests: at tags, and what refers to them.
fn find_attached(
    store: &dyn Store,
    to: &[(usize, Piece)],
    wholes: &mut [Result<Vec<Piece>, Failure>],
) -> Vec<Wanted> {
    let subjects: Vec<(Reference, Digest)> = to
        .iter()
        .map(|(_, piece)| (piece.name.clone(), piece.manifest.digest.clone()))
        .collect();
    let mut wanted = Vec::new();
    for ((whole, piece), listed) in to.iter().zip(store.referrers(&subjects)) {
        let mut add = |name: Reference| {
            wanted.push(Wanted {
                whole: *whole,
                name,
                role: Role::Attached,
                is_optional: true,
            });
        };
        let tag = piece.manifest.digest.as_tag();
        for end in TAGS {
            add(piece.name.with_tag(&format!("{tag}.{end}")));
        }
        match listed {
            Ok(listed) => listed
                .iter()
                .for_each(|descriptor| add(piece.name.pin(&descriptor.digest))),
            Err(failure) if failure.kind == FailureKind::NotFound => {}
            Err(failure) => wholes[*whole] = Err(failure),
        }
    }
    wanted
}

impl Piece {
    fn new(wanted: &Wanted, manifest: Manifest) -> Result<Self, Failure> {
        if wanted.role == Role::Part && matches!(manifest.content, Content::Index { .. }) {
            let message = "its index names another index, which is not followed";
            return Err(Failure::new(
                &wanted.name,
                FailureKind::Unsupported,
                message,
            ));
        }
        Ok(Self {
            name: wanted.name.with_digest(&manifest.digest),
            role: wanted.role,
            manifest,
        })
    }

    /// The descriptors of its configuration and layers, each content once.
    fn blobs(&self) -> Vec<&Descriptor> {
        let config = match &self.manifest.content {
            Content::Image { config, .. } => Some(&**config),
            Content::Index { .. } => None,
        };
        let mut known = BTreeSet::new();
        let all = config.into_iter().chain(layers(&self.manifest));
        all.filter(|blob| known.insert(&blob.digest)).collect()
    }

    /// Whether a signature is in it.
    pub fn holds(&self, witness: &Witness) -> bool {
        let mut layers = layers(&self.manifest).iter();
        layers.any(|layer| witness.is_stored_as(layer))
    }

    /// The same for a sink. Its blobs are read from the store when they are stored.
    pub fn artifact(&self, store: &Arc<dyn Store>) -> Artifact {
        let blob = |descriptor: &Descriptor| Blob {
            descriptor: descriptor.clone(),
            content: Arc::new(Streamed {
                store: Arc::clone(store),
                of: self.name.clone(),
                blob: descriptor.clone(),
            }),
        };
        let bytes = &self.manifest.bytes;
        let digest = self.manifest.digest.clone();
        Artifact {
            descriptor: Descriptor::new(&self.manifest.media_type(), digest, bytes.len() as u64),
            manifest: bytes.clone(),
            blobs: self.blobs().into_iter().map(blob).collect(),
        }
    }
}

/// The bytes that a store lacks of each piece under a name there; none where it has all of it. Without a store everything is lacking.
///
/// A tag of signatures is not replaced where the store has signatures that the piece lacks: that is a failure.
pub fn lacking(
    store: Option<&dyn Store>,
    pieces: &[(Reference, &Piece)],
) -> Vec<Result<Option<u64>, Failure>> {
    let Some(store) = store else {
        let all = |(_, piece): &(Reference, &Piece)| {
            let sizes = piece.blobs().into_iter().map(|blob| blob.size);
            Ok(Some(sizes.fold(0, u64::saturating_add)))
        };
        return pieces.iter().map(all).collect();
    };
    let names: Vec<Reference> = pieces.iter().map(|(name, _)| tag_name(name)).collect();
    let subjects: Vec<(Reference, Digest)> = pieces
        .iter()
        .filter_map(|(name, piece)| {
            let subject = piece.manifest.content.subject()?;
            Some((name.clone(), subject.digest.clone()))
        })
        .collect();
    let blobs: Vec<(Reference, Digest)> = pieces
        .iter()
        .flat_map(|(name, piece)| {
            let blobs = piece.blobs().into_iter();
            blobs.map(|blob| (name.clone(), blob.digest.clone()))
        })
        .collect();
    let mut sizes = store.sizes(&blobs).into_iter();
    let mut listed = store.referrers(&subjects).into_iter();
    let manifests = store.manifests(&names);
    let answers = pieces.iter().zip(manifests);
    answers
        .map(|((name, piece), manifest)| {
            // Every piece takes its own answers, whatever they are.
            let blobs = piece.blobs();
            let sizes: Vec<_> = sizes.by_ref().take(blobs.len()).collect();
            let subject = piece.manifest.content.subject();
            let listed = subject.and_then(|_| listed.next()).transpose();
            let mut bytes = 0u64;
            let mut is_whole = is_there(name, piece, optional(manifest)?)?;
            for (blob, size) in blobs.into_iter().zip(sizes) {
                if optional(size)?.flatten() != Some(blob.size) {
                    is_whole = false;
                    bytes = bytes.saturating_add(blob.size);
                }
            }
            if let Some(listed) = optional(listed)?.flatten() {
                let digest = &piece.manifest.digest;
                is_whole &= listed.iter().any(|referrer| referrer.digest == *digest);
            } else {
                is_whole &= subject.is_none();
            }
            Ok((!is_whole).then_some(bytes))
        })
        .collect()
}

/// The layers of a manifest; an index has none.
fn layers(manifest: &Manifest) -> &[Descriptor] {
    match &manifest.content {
        Content::Image { layers, .. } => layers,
        Content::Index { .. } => &[],
    }
}

/// The name under which people find it: by its tag where it has one.
fn tag_name(name: &Reference) -> Reference {
    match &name.tag {
        Some(tag) => name.with_tag(tag),
        None => name.clone(),
    }
}

fn optional<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(failure) if failure.kind == FailureKind::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Whether the manifest under a name is the piece.
fn is_there(name: &Reference, piece: &Piece, there: Option<Manifest>) -> Result<bool, Failure> {
    let Some(there) = there else {
        return Ok(false);
    };
    if there.digest == piece.manifest.digest {
        return Ok(true);
    }
    let is_lost = |layer: &Descriptor| !layers(&piece.manifest).contains(layer);
    if piece.role == Role::Attached && layers(&there).iter().any(is_lost) {
        let message = "other signatures are stored there under this tag, and are not replaced";
        let failure = Failure::new(tag_name(name), FailureKind::Unsupported, message);
        return Err(failure.help(
            "copy to a repository of its own, or sign there with bundles, which have no tag",
        ));
    }
    Ok(false)
}

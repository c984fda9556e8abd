//! What clusters ask for: each image key and reference once, whoever asks.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::model::finding::{Finding, Subject};
use crate::model::image::{Image, ImageKey, Images, fact};
use crate::model::lock::{LockOrigin, LockedImage, is_lockable};
use crate::model::place::{Located, Place, Spot};
use crate::model::workspace::ClusterView;
use crate::oci::Reference;
use crate::signature::PublicKey;
use crate::sources::Artifact;

/// One image or component bundle that clusters ask for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Its key.
    pub key: ImageKey,
    /// Its reference, as the values write it.
    pub reference: Arc<str>,
    /// What kind of artifact it is.
    pub kind: AskKind,
    /// What in the values asks for it.
    pub origin: LockOrigin,
    /// Whether it is to be signed, and by whom.
    pub signing: Signing,
    /// Where the catalogue names it.
    pub spot: Option<Spot>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskKind {
    /// An OS image: its annotations say everything.
    Image,
    /// A component bundle: whoever fetches its tarball needs the tarball's own digest too.
    Bundle,
}

/// Whether an image is to be signed.
#[derive(Clone, Debug)]
pub enum Signing {
    /// No key is known, or the values say not to look.
    Unasked,
    /// By the holder of this key.
    By(PublicKey),
    /// By a key that cannot be used, which is told elsewhere: the image is not locked.
    Unusable,
}

/// Everything that is asked for, by key and reference.
pub type Asks = BTreeMap<(ImageKey, Arc<str>), Ask>;

/// What one cluster asks for: every image and component bundle of its catalogue that can be locked, for a selector needs the facts
/// of all.
pub fn asks_of<'a>(
    view: &'a ClusterView,
    mut signing: impl FnMut(&Image) -> Signing + 'a,
) -> impl Iterator<Item = Ask> + 'a {
    let of = |images: &'a Images, kind| images.values().map(move |image| (image, kind));
    let all = of(&view.images, AskKind::Image).chain(of(&view.bundles, AskKind::Bundle));
    let all = all.filter(|(image, _)| is_lockable(image));
    all.filter_map(move |(image, kind)| {
        Some(Ask {
            key: Arc::clone(&image.key),
            kind,
            reference: Arc::clone(&image.uri.as_ref()?.value),
            origin: origin(image),
            signing: signing(image),
            spot: view.sources.resolve(image.place),
        })
    })
}

/// Adds what another cluster asks for. Of two that ask for one reference the first one's place is shown; a key is wanted
/// where either wants one.
pub fn add(asks: &mut Asks, ask: Ask) {
    match asks.entry(ask.identity()) {
        Entry::Vacant(vacant) => {
            vacant.insert(ask);
        }
        Entry::Occupied(mut occupied) => {
            let known = occupied.get_mut();
            known.origin = known.origin.clone().min(ask.origin);
            if matches!(known.signing, Signing::Unasked) {
                known.signing = ask.signing;
            }
        }
    }
}

/// The builder's images are asked for by a registry and a version; others by their own `uri`.
fn origin(image: &Image) -> LockOrigin {
    if !image.built {
        return LockOrigin::default();
    }
    let reference = image.uri.as_ref().map(|uri| Reference::parse(&uri.value));
    LockOrigin {
        registry: image.registry.clone(),
        version: reference.and_then(|reference| reference.ok()?.tag),
    }
}

impl Ask {
    /// What tells it from others.
    pub fn identity(&self) -> (ImageKey, Arc<str>) {
        (Arc::clone(&self.key), Arc::clone(&self.reference))
    }

    /// The old entry, asked for as it is now.
    pub(super) fn kept(&self, known: &LockedImage) -> LockedImage {
        LockedImage {
            origin: self.origin.clone(),
            ..known.clone()
        }
    }

    /// The entry of what arrived, not yet verified.
    pub(super) fn locked(&self, arrived: Artifact) -> LockedImage {
        let nowhere = Place::NONE;
        let mut facts = arrived.facts.clone();
        let tarball = arrived.tarball().filter(|_| self.kind == AskKind::Bundle);
        if let Some(tarball) = tarball {
            facts.entry(fact::SHA256.into()).or_insert(tarball.into());
        }
        LockedImage {
            key: Located::new(Arc::clone(&self.key), nowhere),
            reference: Located::new(Arc::clone(&self.reference), nowhere),
            digest: Located::new(arrived.digest, nowhere),
            mirror: arrived.mirror,
            facts: facts
                .into_iter()
                .map(|(name, value)| (name, Located::new(value, nowhere)))
                .collect(),
            origin: self.origin.clone(),
            verified: None,
        }
    }

    /// A finding about it, at its place in the catalogue.
    pub(super) fn finding(&self, rule: &'static str, message: String) -> Finding {
        let subject = Subject {
            image: Some(self.key.to_string()),
            ..Subject::default()
        };
        Finding::new(rule, message)
            .about(subject)
            .at(self.spot.clone(), "asked for here")
    }
}

//! Collects the images and bundles that clusters require: each key and reference once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use capi::image::{Image, ImageKey, fact};
use oci_artifacts::{Address, Platform, Reference};
use yaml_tree::place::{Located, Place, Spot};

use super::RequirementKind;
use super::signers::{self, Keyring, Signing};
use crate::catalog::sources::Artifact;
use crate::model::cluster_view::ClusterView;
use crate::model::finding::{Finding, Subject};
use crate::model::lock::{LockOrigin, LockedImage};
use crate::model::rule::RuleId;
use crate::model::signing::RequiredSignatures;

/// One image or component bundle that clusters require.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Its key.
    pub key: ImageKey,
    /// Its reference.
    pub reference: Address,
    /// What kind of artifact it is.
    pub kind: RequirementKind,
    /// What in the values requires it.
    pub origin: LockOrigin,
    /// Whether it is to be signed, and by whom.
    pub signing: Signing,
    /// Where the catalog names it.
    pub spot: Option<Spot>,
}

/// Everything that is required, by key and reference.
pub type Requirements = BTreeMap<(ImageKey, Address), Requirement>;

/// What one cluster requires: every image and component bundle of its catalog that can be locked, for a selector needs the facts
/// of all. What is wrong with the keys that they are to be signed with are findings.
pub fn requirements_of(
    view: &ClusterView,
    required: &RequiredSignatures,
    keyring: &Keyring,
    findings: &mut Vec<Finding>,
) -> Requirements {
    let signers = signers::signers(view, required, keyring);
    findings.extend(signers.findings);
    let mut requirements = Requirements::new();
    for (image, kind, signing) in signers.images {
        let Some(uri) = &image.uri else { continue };
        let requirement = Requirement {
            key: Arc::clone(&image.key),
            kind,
            reference: uri.value.clone(),
            origin: origin(image),
            signing,
            spot: view.sources.resolve(image.place),
        };
        add(&mut requirements, requirement);
    }
    requirements
}

/// Adds what another cluster requests. Of two that request one reference the first one's place is shown; the image has to be
/// signed by the keys of both.
pub fn add(requirements: &mut Requirements, requirement: Requirement) {
    match requirements.entry(requirement.identity()) {
        Entry::Vacant(vacant) => {
            vacant.insert(requirement);
        }
        Entry::Occupied(mut occupied) => {
            let known = occupied.get_mut();
            known.origin = known.origin.clone().min(requirement.origin);
            known.signing.join(requirement.signing);
        }
    }
}

/// The builder's images are requested by registry and version; others by their own `uri`.
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

impl Requirement {
    /// What distinguishes it from others.
    pub fn identity(&self) -> (ImageKey, Address) {
        (Arc::clone(&self.key), self.reference.clone())
    }

    /// The old entry, rebuilt from its evidence; `None` if there is no evidence for this platform.
    pub(super) fn rebuild_entry(
        &self,
        known: &LockedImage,
        platform: &Platform,
    ) -> Option<LockedImage> {
        let evidence = known.evidence.as_ref()?;
        let artifact = Artifact::from_evidence(evidence, &known.digest.value, platform).ok()?;
        Some(LockedImage {
            digest: known.digest.clone(),
            mirror: known.mirror.clone(),
            verified: known.verified.clone(),
            provenance: known.provenance.clone(),
            evidence: known.evidence.clone(),
            ..self.lock_entry(artifact)
        })
    }

    /// The old entry, whatever it says.
    pub(super) fn copy_entry(&self, known: &LockedImage) -> LockedImage {
        LockedImage {
            origin: self.origin.clone(),
            ..known.clone()
        }
    }

    /// The entry of what arrived, not yet verified.
    pub(super) fn lock_entry(&self, arrived: Artifact) -> LockedImage {
        let nowhere = Place::NONE;
        let mut facts = arrived.facts.clone();
        let tarball = arrived
            .tarball()
            .filter(|_| self.kind == RequirementKind::Bundle);
        if let Some(tarball) = tarball {
            facts.entry(fact::SHA256.into()).or_insert(tarball.into());
        }
        LockedImage {
            key: Located::new(Arc::clone(&self.key), nowhere),
            reference: Located::new(self.reference.clone(), nowhere),
            digest: Located::new(arrived.digest, nowhere),
            mirror: arrived.mirror,
            facts: facts
                .into_iter()
                .map(|(name, value)| (name, Located::new(value, nowhere)))
                .collect(),
            origin: self.origin.clone(),
            verified: Vec::new(),
            provenance: BTreeMap::new(),
            evidence: Some(Arc::new(arrived.evidence)),
        }
    }

    /// A finding about it, at its place in the catalog.
    pub(super) fn finding(&self, rule: RuleId, message: String) -> Finding {
        let subject = Subject::image(&self.key);
        Finding::new(rule, message)
            .with_subject(subject)
            .with_label(self.spot.clone(), "required here")
    }
}

//! The result of verifying a lock.

use std::collections::BTreeSet;
use std::sync::Arc;

use oci_artifacts::Failure;
use yaml_tree::place::Sources;

use crate::model::finding::{Finding, Subject};
use crate::model::lock::LockedImage;
use crate::model::rule::RuleId;

/// The result of verifying a lock.
#[derive(Debug, Default)]
pub struct Verification {
    /// One line for each entry, in the lock's order.
    pub images: Vec<VerifiedImage>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// The entries whose signatures cannot be proven for want of evidence, by their places.
    pub unproven: BTreeSet<u32>,
    /// What could not be queried.
    pub failures: Vec<Failure>,
}

impl Verification {
    /// What could not be had, at the entry that wants it; once, whatever else wants it.
    pub(super) fn fail(&mut self, failure: Failure, image: &LockedImage, sources: &Sources) {
        let is_it =
            |known: &Failure| known.wanted == failure.wanted && known.message == failure.message;
        if !self.failures.iter().any(is_it) {
            let place = sources.resolve(image.reference.place);
            let place = place.map(|spot| spot.to_string());
            self.failures
                .push(failure.with_place(place, &image.key.value));
        }
    }
}

/// What became of one entry.
#[derive(Clone, Debug)]
pub struct VerifiedImage {
    /// Its key.
    pub key: Arc<str>,
    /// Its reference.
    pub reference: Arc<str>,
    /// Whether its tag refers to the locked digest; none where there was no answer.
    pub in_place: Option<bool>,
    /// The fingerprints of the keys that it is signed by; empty where no key is known or it is not signed by them.
    pub signed_by: BTreeSet<String>,
}

/// A finding about an entry of the lock.
pub(super) fn entry_finding(image: &LockedImage, rule: RuleId, message: String) -> Finding {
    Finding::new(rule, message).with_subject(Subject::image(&image.key.value))
}

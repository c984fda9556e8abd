//! An image is locked for another reference than the catalog gives it, or without evidence.

use std::collections::BTreeSet;

use yaml_tree::place::Sources;

use crate::model::finding::{Finding, Subject};
use crate::model::lock::{Lock, LockedImage, Locking};
use crate::model::lock_gaps::gaps;
use crate::model::rule::{Level, RuleId};
use crate::model::settings::Settings;
use crate::rules::not_locked::{self, Words};
use crate::rules::{ClusterInput, WorkspaceInput};

/// Looks at the catalog of each cluster, where the project has a lock.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let stale = gaps(input.view, input.settings.locking).stale;
    let words = Words {
        what: "the lock holds another reference of",
        label: "required here",
    };
    findings.extend(not_locked::findings(input, RuleId::LockStale, words, stale));
}

/// Looks at the whole lock.
pub(super) fn workspace(input: &WorkspaceInput<'_>, findings: &mut Vec<Finding>) {
    let Some((lock, sources)) = input.lock else {
        return;
    };
    // Those whose signature has to be proven are reported with the clusters whose keys apply to them.
    let unproven = &input.uses.signed.unproven;
    findings.extend(missing_evidence(lock, sources, input.settings, unproven));
}

/// That entries have no evidence, but for those whose signature has to be proven (`unproven`, by their places): an error where
/// everything has to be locked, or signed.
pub fn missing_evidence(
    lock: &Lock,
    sources: &Sources,
    settings: &Settings,
    unproven: &BTreeSet<u32>,
) -> Option<Finding> {
    let lacking = lock
        .images()
        .iter()
        .filter(|image| image.lacks_evidence() && !unproven.contains(&image.place().start));
    let lacking: Vec<&LockedImage> = lacking.collect();
    let finding = bare(
        &lacking,
        sources,
        "so that nothing proves what it says of them",
    )?;
    let is_required =
        |image: &&LockedImage| settings.policy.signatures.cover(&image.reference.value);
    if settings.locking == Locking::Frozen || lacking.iter().any(is_required) {
        return Some(finding);
    }
    Some(finding.unless_set(Level::Warning))
}

/// That entries have no evidence whose signature has to be proven.
pub fn unproven(images: &[&LockedImage], sources: &Sources) -> Option<Finding> {
    bare(images, sources, "so that their signatures cannot be proven")
}

/// One finding for some entries without evidence.
fn bare(images: &[&LockedImage], sources: &Sources, consequence: &str) -> Option<Finding> {
    /// Keys that are named.
    const SHOWN: usize = 5;
    let first = images.first()?;
    let keys = images.iter().take(SHOWN);
    let keys: Vec<String> = keys.map(|image| format!("`{}`", image.key.value)).collect();
    let more = match images.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let keys = keys.join(", ");
    let message = format!("the lock has no evidence of {keys}{more}, {consequence}");
    let subject = Subject {
        image: (images.len() == 1).then(|| first.key.value.to_string()),
        ..Subject::default()
    };
    let finding = Finding::new(RuleId::LockStale, message).with_subject(subject);
    Some(
        finding
            .with_label(sources.resolve(first.digest.place), "locked here")
            .help("run `metalmark lock`, and commit the lock and the evidence beside it"),
    )
}

//! No key is named for an image whose signature has to be checked.

use yaml_tree::place::Sources;

use crate::model::finding::{Finding, Subject};
use crate::model::lock::{Lock, LockedImage};
use crate::model::rule::RuleId;
use crate::rules::{ImageUse, RunScope, WorkspaceInput};

/// Looks at what all clusters' keys apply to: one cluster's key is enough for an image that several boot.
pub(super) fn workspace(input: &WorkspaceInput<'_>, findings: &mut Vec<Finding>) {
    let Some((lock, sources)) = input.lock else {
        return;
    };
    // A cluster that is not named may name the key.
    if input.run_scope == RunScope::Part {
        return;
    }
    findings.extend(entries_without_key(lock, sources, input.uses));
}

/// The entries that some cluster uses, that were verified, and that none of these clusters names a key for.
pub fn entries_without_key(lock: &Lock, sources: &Sources, uses: &ImageUse) -> Vec<Finding> {
    let (used, keyed) = (&uses.locked, &uses.signed.keyed);
    let mut findings = Vec::new();
    for image in lock.images() {
        let place = image.place().start;
        if !image.verified.is_empty() && used.contains(&place) && !keyed.contains(&place) {
            let spot = sources.resolve(image.digest.place);
            findings.push(finding(image).with_label(spot, "locked here"));
        }
    }
    findings
}

/// That an entry was verified, and no key is named for it any more.
pub fn finding(entry: &LockedImage) -> Finding {
    let (key, reference) = entry.identity();
    let signers: Vec<&str> = entry.verified.iter().map(|it| &*it.key).collect();
    let message = format!(
        "`{reference}` is locked as signed by the key {}, and the values name no key for it any more",
        signers.join(" and ")
    );
    let subject = Subject::image(key);
    Finding::new(RuleId::SignatureUnchecked, message).with_subject(subject).help(format!(
        "name the key again; or, if the image is not signed any more, run `metalmark lock --upgrade {key}`"
    ))
}

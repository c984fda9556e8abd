//! No key is named for an image whose signature has to be checked.

use capi::image::Origin;
use yaml_tree::place::Sources;

use crate::model::finding::{Finding, Subject};
use crate::model::lock::{Lock, LockedImage, is_lockable};
use crate::model::rule::{Level, RuleId};
use crate::model::signing::{KEY_PROPERTY, own_key};
use crate::rules::{ClusterInput, ImageUse, RunScope, WorkspaceInput};

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

/// Looks at the keys that images name themselves: beside their entries and in their records. Without a lock nothing is verified with
/// them, and of a file of a web server never.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let has_lock = input.view.lock.is_some();
    let images = input.view.images.values();
    let named = images.filter_map(|image| Some((image, own_key(image)?)));
    // What is exported from a cluster repeats the keys that the chart took from registries.
    let named = named.filter(|(image, _)| {
        let key = image.facts.get(KEY_PROPERTY);
        key.is_none_or(|key| key.origin > Origin::InfoFile)
    });
    let (lockable, others): (Vec<_>, Vec<_>) = named.partition(|(image, _)| is_lockable(image));
    let lockable = if has_lock { Vec::new() } else { lockable };
    for (images, why, help) in [
        (
            lockable,
            "nothing is locked, so no signature is checked",
            "run `metalmark lock`, and commit the lock",
        ),
        (
            others,
            "only images in a registry are signed",
            "give the image an `oci://` reference, or remove the key",
        ),
    ] {
        let Some((_, first)) = images.first() else {
            continue;
        };
        let keys = images.iter().map(|(image, _)| format!("`{}`", image.key));
        let keys: Vec<String> = keys.collect();
        let of = if keys.len() == 1 { "image" } else { "images" };
        let message = format!("a key is named for {of} {}, and {why}", keys.join(", "));
        let finding = Finding::new(RuleId::SignatureUnchecked, message)
            .with_subject(input.subject(None))
            .unless_set(Level::Warning)
            .with_label(input.spot(first.place()), "this key");
        findings.push(finding.help(help));
    }
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

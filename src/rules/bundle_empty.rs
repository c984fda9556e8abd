//! A bundle of manifests holds no object.

use capi::objects::bundled::Bundle;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// Found while packing and unpacking.
pub(super) fn bundle(input: &Bundle<'_>, findings: &mut Vec<Finding>) {
    if input.objects.is_empty() {
        let message = "the bundle holds no object";
        findings.push(
            Finding::new(RuleId::BundleEmpty, message).help("put at least one manifest into it"),
        );
    }
}

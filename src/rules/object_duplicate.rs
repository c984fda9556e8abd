//! An object is rendered twice, or is in a bundle twice.

use std::collections::BTreeMap;

use capi::objects::bundled::{Bundle, Bundled};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// Looks at bundles of manifests; of what is rendered it is found while rendering.
pub(super) fn bundle(input: &Bundle<'_>, findings: &mut Vec<Finding>) {
    let mut first: BTreeMap<_, &Bundled> = BTreeMap::new();
    for object in input.objects {
        let before = *first.entry(object.identity()).or_insert(object);
        if !std::ptr::eq(before, object) {
            let message = format!("`{object}` occurs twice");
            let finding = Finding::new(RuleId::ObjectDuplicate, message)
                .with_label(input.spot(object), "again here")
                .with_label(input.spot(before), "first here")
                .help("keep one of the two");
            findings.push(finding);
        }
    }
}

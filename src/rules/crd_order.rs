//! An object is applied before the definition of its kind.

use capi::objects::bundled::{Bundle, Bundled, Order};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// Looks at bundles whose objects are applied by the names of their files.
pub(super) fn bundle(input: &Bundle<'_>, findings: &mut Vec<Finding>) {
    if input.order != Order::Names {
        return;
    }
    let place = |object: &Bundled| (object.file, object.named.start);
    for object in input.objects {
        let Some(definition) = input.definition(object) else {
            continue;
        };
        if place(object) < place(definition) {
            let message =
                format!("`{object}` is applied before `{definition}`, which defines its kind");
            let finding = Finding::new(RuleId::CrdOrder, message)
                .with_label(input.spot(object), "applied first")
                .with_label(input.spot(definition), "defined here")
                .help("pack with `--order numbered`, or give the definition's file a name that comes first");
            findings.push(finding);
        }
    }
}

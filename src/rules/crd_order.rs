//! An object is applied before the definition of its kind is known.

use std::collections::BTreeSet;

use capi::objects::bundled::{Bundle, Bundled, Order};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// Looks at bundles whose objects are not applied by their kinds. Of the objects of a kind, the first is reported.
pub(super) fn bundle(input: &Bundle<'_>, findings: &mut Vec<Finding>) {
    let place = |object: &Bundled| (object.file, object.named.start);
    let mut reported = BTreeSet::new();
    for object in input.objects {
        let Some(definition) = input.definition(object) else {
            continue;
        };
        let finding = match input.order {
            Order::Together => report_unknown_kind(object, definition),
            Order::Names if place(object) < place(definition) => {
                report_early_object(object, definition)
            }
            Order::Names | Order::Kind => continue,
        };
        if reported.insert(place(definition)) {
            let label = match input.order {
                Order::Names => "applied first",
                _ => "of this kind",
            };
            findings.push(
                finding
                    .with_label(input.spot(object), label)
                    .with_label(input.spot(definition), "defined here"),
            );
        }
    }
}

fn report_early_object(object: &Bundled, definition: &Bundled) -> Finding {
    let message = format!("`{object}` is applied before `{definition}`, which defines its kind");
    Finding::new(RuleId::CrdOrder, message)
        .help("pack with `--order numbered`, or give the definition's file a name that comes first")
}

fn report_unknown_kind(object: &Bundled, definition: &Bundled) -> Finding {
    let message = format!(
        "`{object}` is in one bundle with `{definition}`, which defines its kind: RukPak looks up every kind before it \
         applies anything"
    );
    Finding::new(RuleId::CrdOrder, message)
        .help("for RukPak: pack the definition as a bundle of its own; an index names that one in `provided:`, not in `bundles:`")
        .help("for Flux and Argo CD, which apply definitions first: `--kind artifact`")
        .help("for `kubectl apply`, file by file: `--order numbered`")
}

//! An object is applied before the definition of its kind, or its namespace, is known.

use std::collections::{BTreeMap, BTreeSet};

use capi::objects::bundled::{Bundle, Bundled, Order};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// Looks at bundles whose objects are not applied by their kinds. Of the objects that want the same one, the first is reported.
pub(super) fn bundle(input: &Bundle<'_>, findings: &mut Vec<Finding>) {
    let place = |object: &Bundled| (object.file, object.named.start);
    let namespaces: BTreeMap<&str, &Bundled> = { input.objects.iter().rev() }
        .filter(|object| object.is_namespace())
        .map(|object| (&*object.name, object))
        .collect();
    let mut reported = BTreeSet::new();
    for object in input.objects {
        let is_late = |wanted: &&Bundled| place(object) < place(wanted);
        let definition = input.definition(object);
        let namespace = { namespaces.get(&*object.namespace).copied() }
            .filter(|_| !input.is_cluster_scoped(object));
        let (wanted, label) = match input.order {
            Order::Together => ([definition, None], "of this kind"),
            Order::Names => (
                [definition, namespace].map(|wanted| wanted.filter(is_late)),
                "applied first",
            ),
            Order::Kind => continue,
        };
        for wanted in wanted.into_iter().flatten() {
            if !reported.insert(place(wanted)) {
                continue;
            }
            let finding = match input.order {
                Order::Together => report_unknown_kind(object, wanted),
                _ => report_early_object(object, wanted),
            };
            findings.push(
                finding
                    .with_label(input.spot(object), label)
                    .with_label(input.spot(wanted), "defined here"),
            );
        }
    }
}

fn report_early_object(object: &Bundled, wanted: &Bundled) -> Finding {
    let what = if wanted.is_namespace() {
        "is its namespace"
    } else {
        "defines its kind"
    };
    let way = if object.file == wanted.file {
        format!("move `{wanted}` up")
    } else {
        format!("give the file of `{wanted}` a name that comes first")
    };
    let message = format!("`{object}` is applied before `{wanted}`, which {what}");
    Finding::new(RuleId::CrdOrder, message).help(format!("pack with `--order numbered`, or {way}"))
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

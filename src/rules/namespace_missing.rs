//! An object names no namespace, or one that the bundle does not hold.

use std::collections::{BTreeMap, BTreeSet};

use capi::objects::bundled::{Bundle, Bundled};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// Looks at bundles of manifests.
pub(super) fn bundle(input: &Bundle<'_>, findings: &mut Vec<Finding>) {
    let held: BTreeSet<&str> = input
        .objects
        .iter()
        .filter(|object| object.is_namespace())
        .map(|object| &*object.name)
        .collect();
    let mut wanting: BTreeMap<&str, (&Bundled, usize)> = BTreeMap::new();
    for object in input.objects {
        let namespace = &*object.namespace;
        let is_known = held.contains(namespace) || ALWAYS.contains(&namespace);
        if !is_known && !input.is_cluster_scoped(object) {
            wanting.entry(namespace).or_insert((object, 0)).1 += 1;
        }
    }
    for (namespace, (first, count)) in wanting {
        findings.push(finding(input, namespace, first, count));
    }
}

/// Namespaces that every cluster has.
const ALWAYS: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

fn finding(input: &Bundle<'_>, namespace: &str, first: &Bundled, count: usize) -> Finding {
    let (others, are) = match count - 1 {
        0 => (String::new(), "is"),
        1 => (", and another object".to_owned(), "are"),
        others => (format!(", and {others} other objects"), "are"),
    };
    if namespace.is_empty() {
        Finding::new(
            RuleId::NamespaceMissing,
            format!("`{first}`{others} {are} in no namespace"),
        )
        .with_label(input.spot(first), "it lands wherever it is applied")
        .help("write `metadata.namespace`, or pack with `--namespace NAME`")
    } else {
        Finding::new(
            RuleId::NamespaceMissing,
            format!(
                "`{first}`{others} {are} in namespace `{namespace}`, which the bundle does not hold"
            ),
        )
        .with_label(input.spot(first), "")
        .help(format!(
            "add the Namespace `{namespace}`, unless it is there before the bundle"
        ))
    }
}

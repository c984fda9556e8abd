//! The machines that the values list, with their labels and addresses: metalmark's own `inventory`, and Sylva's
//! `baremetal_hosts`. Nothing else of them is read: credentials are beside it.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::labels::Labels;
use capi::objects::CLUSTER_LABEL;
use capi::providers;
use yaml_tree::json::scalar_text;
use yaml_tree::place::{Located, Place};
use yaml_tree::value::{Node, Value};

use super::report::{Report, path_of};
use crate::evaluate::{Branch, BranchEntry};
use crate::model::cluster::Cluster;
use crate::model::endpoint::{ControlPlaneEndpoint, Host, is_host};

/// Where each vocabulary has its machines, and in each of those its labels and addresses.
const VOCABULARIES: [Vocabulary; 2] = [
    Vocabulary {
        hosts: "inventory",
        default: "inventory_default",
        kind: None,
        labels: &["labels"],
        addresses: "addresses",
    },
    Vocabulary {
        hosts: "baremetal_hosts",
        default: "baremetal_host_default",
        kind: Some("BareMetalHost"),
        labels: &["bmh_metadata", "labels"],
        addresses: "ip_preallocations",
    },
];

struct Vocabulary {
    hosts: &'static str,
    default: &'static str,
    /// The kind that all are of; else each says its own.
    kind: Option<&'static str>,
    labels: &'static [&'static str],
    addresses: &'static str,
}

/// Fills in every machine that a cluster can claim, sorted by name; of one in both vocabularies, metalmark's own counts. A machine
/// whose key is `NAMESPACE/NAME` is of that namespace alone, one whose kind another provider claims is none of the cluster's, and
/// one that another cluster has claimed is not there.
pub(super) fn read_hosts(
    cluster: &Branch,
    of: &Cluster,
    endpoint: &mut ControlPlaneEndpoint,
    report: &mut Report<'_>,
) {
    let infra = of.infra_provider.as_ref();
    let provider = infra.and_then(|infra| providers::find(&infra.value));
    let is_claimable = |kind: &str| provider.is_none_or(|it| it.data().claims(kind));
    let mut found: BTreeMap<Arc<str>, Host> = BTreeMap::new();
    for vocabulary in &VOCABULARIES {
        let default = report.answer(cluster.child(vocabulary.default));
        let inherited = default.map_or_else(Labels::new, |default| {
            labels(&default, vocabulary.labels, report)
        });
        for entry in report.entries(cluster, vocabulary.hosts) {
            // A machine that another layer takes away is null.
            let is_there = report
                .answer(entry.branch.shallow())
                .is_some_and(|node| !node.value.is_null());
            if !is_there {
                continue;
            }
            let name = match entry.key.split_once('/') {
                Some((other, _)) if other != &*of.namespace => {
                    endpoint.other_namespaces.insert(other.into());
                    continue;
                }
                Some((_, name)) => name.into(),
                None => Arc::clone(&entry.key),
            };
            if found.contains_key(&name) {
                continue;
            }
            let host = host(&name, &entry, vocabulary, &inherited, report);
            if let Some(kind) = host.kind.as_ref().filter(|kind| !is_claimable(kind)) {
                endpoint.other_kinds.insert(Arc::clone(kind));
                continue;
            }
            // A controller labels the host that it claims.
            let owner = host.labels.get(CLUSTER_LABEL);
            if owner.is_none_or(|owner| **owner == *of.object_name) {
                found.insert(name, host);
            }
        }
    }
    endpoint.hosts = found.into_values().collect();
}

fn host(
    name: &Arc<str>,
    entry: &BranchEntry,
    vocabulary: &Vocabulary,
    inherited: &Labels,
    report: &mut Report<'_>,
) -> Host {
    let path = entry.branch.path();
    let known = ["kind", vocabulary.labels[0], vocabulary.addresses];
    let known = &known[usize::from(vocabulary.kind.is_some())..];
    for field in report.answer(entry.branch.entries()).unwrap_or_default() {
        report.expect_key(&path, &field.key, field.key_place, known, false);
    }
    let kind = match vocabulary.kind {
        Some(kind) => Some(kind.into()),
        None => report.string(&entry.branch, "kind").map(|kind| kind.value),
    };
    let mut all = inherited.clone();
    all.extend(labels(&entry.branch, vocabulary.labels, report));
    Host {
        name: Arc::clone(name),
        kind,
        place: entry.key_place,
        labels: all,
        addresses: addresses(&entry.branch, vocabulary.addresses, report),
    }
}

fn labels(holder: &Branch, path: &[&str], report: &mut Report<'_>) -> Labels {
    let entries = report
        .answer(holder.get_path(path))
        .and_then(|branch| report.answer(branch.entries()));
    let mut labels = Labels::new();
    for entry in entries.unwrap_or_default() {
        let node = report.answer(entry.branch.node());
        // A label that is a number here is a string to the readers of the object.
        if let Some(text) = node.and_then(|node| scalar_text(&node.value)) {
            labels.insert(entry.key, text);
        }
    }
    labels
}

fn addresses(
    holder: &Branch,
    key: &str,
    report: &mut Report<'_>,
) -> Vec<(Arc<str>, Located<Arc<str>>)> {
    let path = path_of(holder, key);
    let mut found = Vec::new();
    for entry in report.entries(holder, key) {
        let node = report.answer(entry.branch.node());
        let path = format!("{path}.{}", entry.key);
        if let Some(address) = node.and_then(|node| host_text(&path, &node, report)) {
            found.push((entry.key, address));
        }
    }
    found
}

/// An address or a DNS name; null and an empty text are none, anything else is reported.
pub(super) fn host_text(
    path: &str,
    node: &Node,
    report: &mut Report<'_>,
) -> Option<Located<Arc<str>>> {
    match &node.value {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) if is_host(text) => Some(Located::new(Arc::clone(text), node.place)),
        _ => {
            report.unfit(
                path,
                node.place,
                "an address that other machines can reach, or a DNS name",
            );
            None
        }
    }
}

/// The place of a key, else of its map.
pub(super) fn key_place(holder: &Branch, key: &str, report: &mut Report<'_>) -> Place {
    let entries = report.answer(holder.entries()).unwrap_or_default();
    let entry = entries.iter().find(|entry| &*entry.key == key);
    entry.map_or(holder.place(), |entry| entry.key_place)
}

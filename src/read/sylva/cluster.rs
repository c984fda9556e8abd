//! Reads the settings of the cluster itself from the values.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::providers;
use yaml_tree::merge;
use yaml_tree::place::{Located, Place};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::report::Report;
use super::{Scope, endpoint, pools};
use crate::evaluate::{Branch, BranchEntry, Evaluator};
use crate::model::cluster::{Cluster, MappedVersion, VERSION_MAPS};
use crate::model::fix::whole_places;
use crate::model::selector::Selector;

/// The provider that is meant where none is named and none selects an image.
const DEFAULT_PROVIDER: &str = "capm3";
/// How many equal texts of an expression are distinguished.
const MOST_OCCURRENCES: usize = 8;
/// The settings that select an image by themselves.
const SELECTING: [&str; 5] = [
    "image_key",
    "image_name",
    "machine_image_url",
    "os_image_key",
    "os_image_selector",
];

pub(super) fn cluster(
    evaluator: &Evaluator,
    name: &Arc<str>,
    namespace: &Arc<str>,
    scope: Scope,
    report: &mut Report<'_>,
) -> Cluster {
    let root = evaluator.root();
    let mut cluster = Cluster {
        additional_selectors: additional_selectors(&root, report),
        k8s_minor: k8s_minor(&root, report),
        default_storage: report.string(&root, "os_images_default_download_storage_space"),
        ..Cluster::empty(name, Arc::clone(namespace))
    };
    let Some(branch) = report.answer(root.child("cluster")) else {
        let help = "describe the cluster under `cluster:`";
        report.missing("cluster", root.place(), help);
        return cluster;
    };
    if !pools::is_map("cluster", &branch, report) {
        return cluster;
    }
    if let Some(name) = report.string(&branch, "name") {
        cluster.object_name = name.value;
    }
    cluster.autoselect_registries = report
        .string(&branch, "os_image_selector_autoselect_registries")
        .map(|text| text.value);
    let found_before = report.findings.len();
    report.report_unknown();
    cluster.k8s_version = report.string(&branch, "k8s_version");
    let installed = report.string(&branch, "install_image_key");
    cluster.install_image = installed.filter(|key| !key.value.is_empty());
    let version_is_wrong = report.findings.len() > found_before || !report.unknown.is_empty();
    let providers = report.answer(branch.child("capi_providers"));
    if let Some(providers) = providers
        && pools::is_map("cluster.capi_providers", &providers, report)
    {
        cluster.infra_provider = report.string(&providers, "infra_provider");
        cluster.bootstrap_provider = report.string(&providers, "bootstrap_provider");
    }
    cluster.infra_provider = cluster
        .infra_provider
        .or_else(|| only_provider(&branch, report))
        .or_else(|| Some(Located::new(DEFAULT_PROVIDER.into(), Place::NONE)));
    cluster.unknown_values = std::mem::take(&mut report.unknown);
    pools::pools(&branch, &mut cluster, report);
    cluster.endpoint = endpoint::endpoint(&root, &branch, &cluster, scope, report);
    let chooses = cluster.pools.iter().any(|pool| pool.choice.is_made());
    if chooses && cluster.k8s_version.is_none() && !version_is_wrong {
        let help = "set `cluster.k8s_version`: no image can be matched without it";
        report.missing("cluster.k8s_version", place_of(&branch), help);
    }
    cluster
}

/// The minor version of the chart's map of versions. Nothing requires it to be a string: other charts have no such map.
fn k8s_minor(root: &Branch, report: &mut Report<'_>) -> Option<Located<Arc<str>>> {
    let node = report.value(root, "k8s_version_short")?;
    let text = node.value.as_str()?;
    Some(Located::new(Arc::clone(text), node.place))
}

/// The entries of the chart's map of versions. One that cannot be evaluated is no finding: the cluster runs another one, or its
/// `k8s_version` says so.
///
/// Where an expression says the version more than once, `evaluate` gives what it prints with another text instead of one.
pub(in crate::read) fn read_version_map(
    evaluator: &Evaluator,
    values: &Node,
    evaluate: impl Fn(&Node) -> Evaluator,
) -> Vec<MappedVersion> {
    let mut versions = Vec::new();
    for path in VERSION_MAPS {
        let entries = evaluator.root().get_path(path);
        let entries = entries.and_then(|map| map.map_or(Ok(None), |map| map.entries()));
        for entry in entries.ok().flatten().unwrap_or_default() {
            if let Ok(Some(node)) = entry.branch.node()
                && let Value::String(version) = &node.value
            {
                let keys = [path, &[&*entry.key]].concat();
                versions.push(MappedVersion {
                    path: keys.join("."),
                    occurrence: find_occurrence(&keys, version, values, &evaluate),
                    minor: Arc::clone(&entry.key),
                    version: Located::new(Arc::clone(version), node.place),
                });
            }
        }
    }
    versions
}

/// Which of several equal texts in an expression gives the version that it prints: another text there is printed instead.
fn find_occurrence(
    keys: &[&str],
    version: &str,
    values: &Node,
    evaluate: impl Fn(&Node) -> Evaluator,
) -> Option<usize> {
    let text = values.text(keys)?;
    if version.is_empty() {
        return None;
    }
    let places: Vec<(usize, usize)> = whole_places(text, version).collect();
    if !(2..=MOST_OCCURRENCES).contains(&places.len()) {
        return None;
    }
    let other = format!("{version}-other");
    let is_printed = |(_, at): &&(usize, usize)| {
        let mut text = text.to_owned();
        text.replace_range(*at..*at + version.len(), &other);
        let over = keys.iter().rfold(Node::from_value(&*text), |node, key| {
            Node::from_value(Map::from_iter([Entry::holding(*key, node)]))
        });
        let evaluator = evaluate(&merge::merge(values, &over));
        let branch = evaluator.root().get_path(keys);
        let node = branch.and_then(|branch| branch.map_or(Ok(None), |branch| branch.node()));
        node.ok()
            .flatten()
            .is_some_and(|node| node.value.as_str().is_some_and(|it| **it == *other))
    };
    let mut printed = places.iter().filter(is_printed);
    let (occurrence, _) = printed.next()?;
    printed.next().is_none().then_some(*occurrence)
}

/// The one provider whose settings are below `cluster`; of several, the one that selects an image there or for a pool.
fn only_provider(branch: &Branch, report: &mut Report<'_>) -> Option<Located<Arc<str>>> {
    let is_provider = |entry: &BranchEntry| providers::find(&entry.key).is_some();
    let entries = report.answer(branch.entries())?;
    let mut found = entries.iter().filter(|entry| is_provider(entry));
    let located = |entry: &BranchEntry| Located::new(Arc::clone(&entry.key), entry.key_place);
    let (first, second) = (found.next(), found.next());
    let only = first.filter(|_| second.is_none()).map(located);
    let mut parts = vec![branch.clone()];
    for name in ["control_plane", "machine_deployment_default"] {
        parts.extend(report.answer(branch.child(name)));
    }
    let deployments = report.entries(branch, "machine_deployments").into_iter();
    parts.extend(deployments.map(|entry| entry.branch));
    let mut selecting: BTreeMap<Arc<str>, Place> = BTreeMap::new();
    for part in parts {
        let entries = report.answer(part.entries()).unwrap_or_default();
        for entry in entries.into_iter().filter(is_provider) {
            let settings = report.answer(entry.branch.entries()).unwrap_or_default();
            let mut settings = settings.iter();
            if settings.any(|setting| SELECTING.contains(&&*setting.key)) {
                selecting.entry(entry.key).or_insert(entry.key_place);
            }
        }
    }
    match selecting.len() {
        0 => only,
        1 => selecting
            .pop_first()
            .map(|(name, place)| Located::new(name, place)),
        _ => {
            report.several_providers(&selecting);
            only
        }
    }
}

/// What is served beside what pools choose (docs/sylva.md#the-image-server).
fn additional_selectors(root: &Branch, report: &mut Report<'_>) -> Vec<(Arc<str>, Selector)> {
    let name = "os_image_server_additional_selectors";
    let Some(node) = report.value(root, name) else {
        return Vec::new();
    };
    report.expect_map(name, &node);
    let mut selectors = Vec::new();
    for entry in node.entries(&[]) {
        match &entry.node.value {
            Value::Map(terms) => {
                selectors.push((Arc::clone(&entry.key), Selector::from_map(terms)))
            }
            _ => report.wrong_type(&format!("{name}.{}", entry.key), &entry.node, "a map"),
        }
    }
    selectors
}

/// Where a map begins: a short place to point at.
fn place_of(branch: &Branch) -> Place {
    let place = branch.place();
    Place {
        end: place.start.saturating_add(1).min(place.end),
        ..place
    }
}

//! What the values say of the cluster itself.

use std::sync::Arc;

use super::report::Report;
use super::{Asked, endpoint, pools};
use crate::evaluate::{Branch, Evaluator};
use crate::model::cluster::Cluster;
use crate::model::matching::Library;
use crate::model::place::{Located, Place};
use crate::model::selector::Selector;
use crate::model::value::Value;

/// The providers whose settings stand directly under `cluster`: the one that does is meant, else the first.
const PROVIDERS: &[&str] = &["capm3", "capo"];

pub(super) fn cluster(
    evaluator: &Evaluator,
    name: &Arc<str>,
    namespace: &Arc<str>,
    asked: Asked,
    report: &mut Report<'_>,
) -> Cluster {
    let root = evaluator.root();
    let mut cluster = Cluster {
        name: Arc::clone(name),
        object_name: Arc::clone(name),
        namespace: Arc::clone(namespace),
        k8s_version: None,
        infra_provider: None,
        bootstrap_provider: None,
        levels: Vec::new(),
        pools: Vec::new(),
        additional_selectors: additional_selectors(&root, report),
        autoselect_registries: None,
        library: Library::default(),
        default_storage: report.string(&root, "os_images_default_download_storage_space"),
        endpoint: None,
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
    cluster.k8s_version = report.string(&branch, "k8s_version");
    let version_is_wrong = report.findings.len() > found_before;
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
        .or_else(|| Some(Located::new(PROVIDERS[0].into(), Place::NONE)));
    pools::pools(&branch, &mut cluster, report);
    cluster.endpoint = endpoint::endpoint(&root, &branch, &cluster, asked, report);
    let chooses = cluster.pools.iter().any(|pool| pool.choice.is_made());
    if chooses && cluster.k8s_version.is_none() && !version_is_wrong {
        let help = "set `cluster.k8s_version`: no image can be matched without it";
        report.missing("cluster.k8s_version", place_of(&branch), help);
    }
    cluster
}

/// The one provider that stands under `cluster`.
fn only_provider(branch: &Branch, report: &mut Report<'_>) -> Option<Located<Arc<str>>> {
    let entries = report.answer(branch.entries())?;
    let mut found = entries
        .iter()
        .filter(|entry| PROVIDERS.contains(&&*entry.key));
    let only = found.next()?;
    match found.next() {
        None => Some(Located::new(Arc::clone(&only.key), only.key_place)),
        Some(_) => None,
    }
}

/// What is served beside what pools choose (S27).
fn additional_selectors(root: &Branch, report: &mut Report<'_>) -> Vec<(Arc<str>, Selector)> {
    let name = "os_image_server_additional_selectors";
    let Some(branch) = report.answer(root.child(name)) else {
        return Vec::new();
    };
    let Some(node) = report.answer(branch.node()) else {
        return Vec::new();
    };
    let Value::Map(map) = &node.value else {
        if !node.value.is_null() {
            report.wrong_type(name, &node, "a map");
        }
        return Vec::new();
    };
    let mut selectors = Vec::new();
    for entry in map.iter() {
        match &entry.node.value {
            Value::Map(terms) => selectors.push((Arc::clone(&entry.key), pools::terms(terms))),
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

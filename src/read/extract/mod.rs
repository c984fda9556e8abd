//! What evaluated values say of a cluster's nodes and images, in the terms of the model.
//!
//! Only what is needed is evaluated: versions, providers, the levels that choose images, and of a pool's settings those that
//! its provider's machine template takes.

mod catalogue;
mod choice;
mod reader;

use std::sync::Arc;

use crate::evaluate::Evaluator;
use crate::model::catalogue::Catalogue;
use crate::model::cluster::{Cluster, LevelName, Pool, PoolName};
use crate::model::finding::{Finding, Subject};
use crate::model::merge;
use crate::model::place::{Place, Sources};
use crate::model::value::{Map, Node, Value};
use crate::providers;

use choice::LevelValues;
use reader::{Reader, Text};

/// The infrastructure providers whose settings are looked for where the values name none.
const INFRAS: [&str; 2] = ["capm3", "capo"];

/// The keys of the values that the catalogue is made of.
pub(super) const CATALOGUE_KEYS: [&str; 8] = catalogue::KEYS;

/// The image catalogue that the values hold.
pub(super) fn catalogue(
    evaluator: &Evaluator,
    sources: &Sources,
    subject: Subject,
) -> (Catalogue, Vec<Finding>) {
    let mut reader = Reader::new(evaluator, sources, subject);
    let catalogue = catalogue::catalogue(&mut reader);
    for key in CATALOGUE_KEYS {
        reader.compare_order(&[key]);
    }
    (catalogue, reader.findings)
}

/// A cluster without its catalogue. `name` and `namespace` are the project's words for it.
pub(super) fn cluster(
    evaluator: &Evaluator,
    sources: &Sources,
    name: &Arc<str>,
    namespace: &Arc<str>,
) -> (Cluster, Vec<Finding>) {
    let subject = Subject {
        cluster: Some(name.to_string()),
        ..Subject::default()
    };
    let mut reader = Reader::new(evaluator, sources, subject);
    let infra_provider = reader.text(&["cluster", "capi_providers", "infra_provider"]);
    let infra = infra(&mut reader, infra_provider.as_ref());
    let values = levels(&mut reader, &infra);
    let levels = choice::levels(&mut reader, &values, &infra);
    let pools = pools(&mut reader, &values, &infra);
    let object_name = reader.text(&["cluster", "name"]).map(|text| text.value);
    let cluster = Cluster {
        name: Arc::clone(name),
        object_name: object_name
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| Arc::clone(name)),
        namespace: Arc::clone(namespace),
        k8s_version: reader
            .text(&["cluster", "k8s_version"])
            .filter(|version| !version.value.is_empty()),
        bootstrap_provider: reader.text(&["cluster", "capi_providers", "bootstrap_provider"]),
        levels,
        pools,
        additional_selectors: additional(&mut reader),
        autoselect_registries: reader
            .text(&["cluster", "os_image_selector_autoselect_registries"])
            .map(|text| text.value),
        default_storage: reader.text(&["os_images_default_download_storage_space"]),
        infra_provider: infra_provider.or_else(|| Some(Text::new(infra.into(), Place::NONE))),
    };
    reader.compare_order(&["cluster", "k8s_version"]);
    (cluster, reader.findings)
}

/// The provider that the values name; else the only one whose settings stand in them; else Metal3.
fn infra(reader: &mut Reader<'_>, named: Option<&Text>) -> String {
    if let Some(named) = named {
        return named.value.to_string();
    }
    let standing: Vec<&str> = INFRAS
        .into_iter()
        .filter(|infra| reader.branch(&["cluster", infra]).is_some())
        .collect();
    match standing.as_slice() {
        [only] => (*only).to_owned(),
        _ => INFRAS[0].to_owned(),
    }
}

/// The levels that exist, in the order of inheritance: cluster, control plane, the deployments' default, each deployment.
fn levels(reader: &mut Reader<'_>, infra: &str) -> Vec<LevelValues> {
    let settings = providers::find(infra).map_or(&[][..], |provider| provider.settings());
    let deployments = reader.entries(&["cluster", "machine_deployments"]);
    let deployments = deployments
        .into_iter()
        .map(|entry| LevelName::MachineDeployment(entry.key));
    let names = [
        LevelName::Cluster,
        LevelName::ControlPlane,
        LevelName::MachineDeploymentDefault,
    ];
    let names: Vec<LevelName> = names.into_iter().chain(deployments).collect();
    names
        .into_iter()
        .map(|name| choice::level(reader, name, infra, settings))
        .collect()
}

/// The control plane, then each machine deployment by name.
fn pools(reader: &mut Reader<'_>, levels: &[LevelValues], infra: &str) -> Vec<Pool> {
    let [root, control_plane, default, deployments @ ..] = levels else {
        return Vec::new();
    };
    let mut pools = Vec::with_capacity(1 + deployments.len());
    let settings = inherited(&[root, control_plane]);
    pools.push(pool(
        reader,
        PoolName::ControlPlane,
        &["cluster", "control_plane"],
        &settings,
        infra,
    ));
    for deployment in deployments {
        let LevelName::MachineDeployment(name) = &deployment.name else {
            continue;
        };
        let settings = inherited(&[root, default, deployment]);
        let path = ["cluster", "machine_deployments", name];
        pools.push(pool(
            reader,
            PoolName::MachineDeployment(Arc::clone(name)),
            &path,
            &settings,
            infra,
        ));
    }
    pools
}

/// Levels over each other, deeply: `false` and `""` replace, `{}` keeps what is below (T6).
fn inherited(levels: &[&LevelValues]) -> Map {
    let nodes = levels
        .iter()
        .map(|level| Node::computed(level.settings.clone()));
    let merged = nodes.reduce(|below, above| merge::merge(&below, &above));
    merged
        .and_then(|node| node.value.as_map().map(|map| Map::clone(map)))
        .unwrap_or_default()
}

fn pool(
    reader: &mut Reader<'_>,
    name: PoolName,
    path: &[&str],
    settings: &Map,
    infra: &str,
) -> Pool {
    let cluster = reader.subject.clone();
    reader.subject.pool = Some(name.to_string());
    let replicas = match name {
        PoolName::ControlPlane => reader.count(&["cluster", "control_plane_replicas"]),
        PoolName::MachineDeployment(_) => reader.count(&[path, &["replicas"]].concat()),
    };
    let pool = Pool {
        choice: choice::choice(reader, settings, &[path, &[infra]].concat().join(".")),
        place: reader
            .branch(path)
            .map_or(Place::NONE, |branch| branch.place()),
        replicas,
        k8s_version: reader.text(&[path, &["k8s_version"]].concat()),
        settings: Node::computed(settings.clone()),
        name,
    };
    reader.subject = cluster;
    pool
}

/// `os_image_server_additional_selectors`, by name; each is one selector (S27).
fn additional(reader: &mut Reader<'_>) -> Vec<(Arc<str>, crate::model::selector::Selector)> {
    let entries = reader.entries(&["os_image_server_additional_selectors"]);
    let mut selectors = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Some(Node {
            value: Value::Map(map),
            ..
        }) = reader.whole(&entry.branch)
        {
            selectors.push((entry.key, choice::terms(&map)));
        }
    }
    selectors
}

//! Elemental's registrations: what a host is labeled with when it comes, so that its pool's selector finds it.
//!
//! A registration keeps its name whatever changes in it: installation media hold its URL. It concerns hosts that come
//! later, and rolls none. Source: rancher-sandbox/cluster-api-provider-elemental, `api/v1beta1`.

use super::machine_template::CLUSTER_LABEL;
use super::{name, secret_within};
use crate::model::cluster::Pool;
use crate::model::finding::{Finding, Subject};
use crate::model::value::{Entry, Map, Node, Value};
use crate::model::workspace::ClusterView;

/// The setting of a pool that asks for one: the rest of its `spec`, in the CRD's words.
pub const SETTING: &str = "registration";

/// One registration for each pool that asks for it, in the order of the pools, as the templates take them.
pub fn contexts(view: &ClusterView, report: &mut dyn FnMut(Finding)) -> Vec<Node> {
    let infra = view.cluster.infra_provider.as_ref();
    if infra.is_none_or(|infra| &*infra.value != "elemental") {
        return Vec::new();
    }
    let pools = view.cluster.pools.iter();
    let context = |pool: &Pool| context(view, pool, report);
    pools.filter_map(context).collect()
}

fn context(view: &ClusterView, pool: &Pool, report: &mut dyn FnMut(Finding)) -> Option<Node> {
    let node = pool.settings.at(&[SETTING])?;
    let told = |place, message: &str, help: &str| {
        Finding::new("manifest-invalid", message)
            .at(view.sources.resolve(place), "this registration")
            .help(help)
            .about(Subject {
                cluster: Some(view.cluster.name.to_string()),
                pool: Some(pool.name.to_string()),
                image: None,
            })
    };
    let said = match &node.value {
        Value::Map(map) => map,
        Value::Null => return None,
        _ => {
            report(told(
                node.place,
                "a registration is a map",
                "`registration: {config: {}}`",
            ));
            return None;
        }
    };
    if let Some(place) = secret_within(view, node) {
        let help = "leave it out: the manifests are read by everybody who reads the repository";
        report(told(place, "a registration would show a secret", help));
        return None;
    }
    if let Some(token) = node.at(&["config", "elemental", "registration", "token"]) {
        let help = "remove `token`: the operator makes one out of the registration's key";
        report(told(
            token.place,
            "a registration's token would stand in git",
            help,
        ));
        return None;
    }
    let mut spec = Map::clone(said);
    spec.insert(Entry::computed("hostLabels", labels(pool, said)));
    let cluster = &view.cluster;
    let own = Map::from_iter([Entry::computed(CLUSTER_LABEL, &*cluster.object_name)]);
    Some(Node::computed(Map::from_iter([
        Entry::computed("apiVersion", "infrastructure.cluster.x-k8s.io/v1beta1"),
        Entry::computed("kind", "ElementalRegistration"),
        Entry::computed(
            "name",
            name::of_pool(&cluster.object_name, &pool.name.to_string()),
        ),
        Entry::computed("pool", pool.name.to_string()),
        Entry::computed("namespace", Value::String(cluster.namespace.clone())),
        Entry::computed("labels", own),
        Entry::computed("annotations", Map::default()),
        Entry::computed("spec", spec),
    ])))
}

/// What the pool's selector asks for, and what is said beside it; the selector wins, or its own hosts would be missed.
fn labels(pool: &Pool, said: &Map) -> Map {
    let own = said.get("hostLabels").and_then(|node| node.value.as_map());
    let mut labels = own.map_or_else(Map::default, |map| Map::clone(map));
    let asked = pool.settings.at(&["selector", "matchLabels"]);
    for entry in asked
        .iter()
        .filter_map(|node| node.value.as_map())
        .flat_map(|map| map.iter())
    {
        labels.insert(entry.clone());
    }
    labels
}

//! Elemental's registrations: the labels that a host gets when it registers, so that its pool's selector finds it.
//!
//! The name of a registration does not depend on its content, because installation media contain its URL. A change affects hosts
//! that register later, and replaces none. Source: rancher-sandbox/cluster-api-provider-elemental, `api/v1beta1`.

use yaml_tree::value::{Entry, Map, Node, Value};

use super::{Head, name, object, secret_within};
use crate::model::cluster::Pool;
use crate::model::cluster_view::ClusterView;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;

/// The setting of a pool that requests one: the rest of its `spec`, with the field names of the CRD.
pub const SETTING: &str = "registration";

/// One registration for each pool that requests it, in the order of the pools, as contexts for the templates.
pub fn contexts(view: &ClusterView, findings: &mut Vec<Finding>) -> Vec<Node> {
    let infra = view.cluster.infra_provider.as_ref();
    if infra.is_none_or(|infra| &*infra.value != "elemental") {
        return Vec::new();
    }
    let pools = view.cluster.pools.iter();
    let context = |pool: &Pool| context(view, pool, findings);
    pools.filter_map(context).collect()
}

fn context(view: &ClusterView, pool: &Pool, findings: &mut Vec<Finding>) -> Option<Node> {
    let node = pool.settings.get_path(&[SETTING])?;
    let finding = |place, message: &str, help: &str| {
        Finding::new(RuleId::ManifestInvalid, message)
            .with_label(view.sources.resolve(place), "this registration")
            .help(help)
            .with_subject(Subject::pool(&view.cluster.name, &pool.name))
    };
    let fields = match &node.value {
        Value::Map(map) => map,
        Value::Null => return None,
        _ => {
            findings.push(finding(
                node.place,
                "a registration is a map",
                "`registration: {config: {}}`",
            ));
            return None;
        }
    };
    if let Some(place) = secret_within(node) {
        let help = "leave it out: the manifests are read by everybody who reads the repository";
        findings.push(finding(place, "a registration would show a secret", help));
        return None;
    }
    if let Some(token) = node.get_path(&["config", "elemental", "registration", "token"]) {
        let help = "remove `token`: the operator makes one out of the registration's key";
        findings.push(finding(
            token.place,
            "a registration's token would be in git",
            help,
        ));
        return None;
    }
    let mut spec = Map::clone(fields);
    spec.insert(Entry::from_value("hostLabels", labels(pool, fields)));
    let cluster = &view.cluster;
    let head = Head {
        api_version: "infrastructure.cluster.x-k8s.io/v1beta1",
        kind: "ElementalRegistration",
        name: name::pool_object(&cluster.object_name, &pool.name.to_string()),
        annotations: Map::default(),
    };
    let mut object = object(cluster, head, Entry::from_value("spec", spec));
    object.insert(Entry::from_value("pool", pool.name.to_string()));
    Some(Node::from_value(object))
}

/// The labels that the pool's selector requires, and those of the setting. The selector wins, or it would not find its hosts.
fn labels(pool: &Pool, fields: &Map) -> Map {
    let own = fields
        .get("hostLabels")
        .and_then(|node| node.value.as_map());
    let mut labels = own.map_or_else(Map::default, |map| Map::clone(map));
    for entry in pool.settings.entries(&["selector", "matchLabels"]) {
        labels.insert(entry.clone());
    }
    labels
}

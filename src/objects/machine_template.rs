//! The machine templates of a cluster: one for each node pool that came to an image.

use super::{SUBSTITUTE_ANNOTATION, holds_variables, name};
use crate::model::finding::{Finding, Subject};
use crate::model::json::{Html, to_json};
use crate::model::value::{Entry, Map, Node, Value};
use crate::model::workspace::ClusterView;
use crate::providers::{Provider, Stamp};

/// The label by which Cluster API's tools find a cluster's objects.
const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";

/// The machine templates in the order of the pools, as the templates take them. A pool that came to no image has none: the
/// rules say why. `annotations` are added to each.
pub fn contexts(
    view: &ClusterView,
    stamps: &[Option<Stamp>],
    (provider, version): (&dyn Provider, &str),
    annotations: &Map,
    report: &mut dyn FnMut(Finding),
) -> Vec<Node> {
    let cluster = &view.cluster;
    let mut templates = Vec::with_capacity(cluster.pools.len());
    for (pool, stamp) in cluster.pools.iter().zip(stamps) {
        let deploys_itself = pool.settings.at(&["customDeploy", "method"]).is_some();
        if stamp.is_none() && !deploys_itself {
            continue;
        }
        let pool_name = pool.name.to_string();
        for problem in provider.problems(stamp.as_ref(), &pool.settings, version) {
            let mut finding = Finding::new("manifest-invalid", problem)
                .at(view.sources.resolve(pool.choice.place()), "chosen here");
            finding.subject = Subject {
                cluster: Some(cluster.name.to_string()),
                pool: Some(pool_name.clone()),
                image: stamp
                    .as_ref()
                    .and_then(|stamp| stamp.key.as_deref())
                    .map(str::to_owned),
            };
            report(finding);
        }
        let spec = Node::computed(provider.template_spec(stamp.as_ref(), &pool.settings, version));
        let mut annotations = annotations.clone();
        if holds_variables(&spec) {
            annotations.insert(Entry::computed(SUBSTITUTE_ANNOTATION, "disabled"));
        }
        let name = name::machine_template(
            &cluster.object_name,
            &pool_name,
            &to_json(&spec.value, Html::Plain),
        );
        let api_version = format!("{}/{version}", provider.group());
        let labels = Map::from_iter([Entry::computed(CLUSTER_LABEL, &*cluster.object_name)]);
        templates.push(Node::computed(Map::from_iter([
            Entry::computed("apiVersion", api_version),
            Entry::computed("kind", provider.kind()),
            Entry::computed("name", name),
            Entry::computed("namespace", Value::String(cluster.namespace.clone())),
            Entry::computed("pool", pool_name),
            Entry::computed("labels", labels),
            Entry::computed("annotations", annotations),
            Entry::holding("spec", spec),
        ])));
    }
    templates
}

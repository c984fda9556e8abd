//! The machine templates of a cluster: one for each node pool with an image.

use super::{SUBSTITUTE_ANNOTATION, holds_variables, kept, name};
use crate::model::cluster::Pool;
use crate::model::cluster_view::ClusterView;
use crate::model::finding::{Finding, Subject};
use crate::model::json::{Html, to_json};
use crate::model::rule::RuleId;
use crate::model::value::{Entry, Map, Node, Value};
use crate::providers::{Kind, Provider, Stamp, template_spec};

/// The label with which Cluster API's tools find a cluster's objects.
pub const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";

/// The kind and version of the machine templates to write.
#[derive(Clone, Copy)]
pub struct Template<'a> {
    /// The infrastructure provider.
    pub provider: &'a dyn Provider,
    /// One of the provider's kinds.
    pub kind: &'a Kind,
    /// One of the kind's API versions.
    pub version: &'a str,
}

/// The machine templates in the order of the pools, as contexts for the templates. A pool without an image has none: the rules
/// report why. `annotations` are added to each, in addition to those that protect it from pruning.
pub fn contexts(
    view: &ClusterView,
    stamps: &[Option<Stamp>],
    template: Template<'_>,
    annotations: &Map,
    findings: &mut Vec<Finding>,
) -> Vec<Node> {
    let pools = view.cluster.pools.iter().zip(stamps);
    let Template {
        provider,
        kind,
        version,
    } = template;
    let needs_no_image = |pool: &Pool| provider.needs_no_image(&pool.settings);
    pools
        .filter(|(pool, stamp)| stamp.is_some() || needs_no_image(pool))
        .filter_map(|(pool, stamp)| {
            let stamp = stamp.as_ref();
            for problem in provider.problems(&pool.settings, version) {
                findings.push(invalid(view, pool, stamp, problem));
            }
            match template_spec(provider, (kind, version), stamp, &pool.settings) {
                Ok(spec) => {
                    let spec = Node::computed(spec);
                    let annotations = kept().iter().chain(annotations).cloned().collect();
                    Some(context(view, pool, template, spec, annotations))
                }
                Err(problem) => {
                    findings.push(invalid(view, pool, stamp, problem));
                    None
                }
            }
        })
        .collect()
}

/// A finding for what the provider's webhook would refuse.
fn invalid(view: &ClusterView, pool: &Pool, stamp: Option<&Stamp>, problem: String) -> Finding {
    let image = stamp.and_then(|stamp| stamp.key.as_deref());
    Finding::new(RuleId::ManifestInvalid, problem)
        .at(view.sources.resolve(pool.choice.place()), "selected here")
        .about(Subject {
            cluster: Some(view.cluster.name.to_string()),
            pool: Some(pool.name.to_string()),
            image: image.map(str::to_owned),
        })
}

fn context(
    view: &ClusterView,
    pool: &Pool,
    template: Template<'_>,
    spec: Node,
    mut annotations: Map,
) -> Node {
    let cluster = &view.cluster;
    if holds_variables(&spec) {
        annotations.insert(Entry::computed(SUBSTITUTE_ANNOTATION, "disabled"));
    }
    let pool_name = pool.name.to_string();
    let content = to_json(&spec.value, Html::Plain);
    let name = name::machine_template(&cluster.object_name, &pool_name, &content);
    let api_version = format!("{}/{}", template.kind.group, template.version);
    let labels = Map::from_iter([Entry::computed(CLUSTER_LABEL, &*cluster.object_name)]);
    Node::computed(Map::from_iter([
        Entry::computed("apiVersion", api_version),
        Entry::computed("kind", template.kind.kind),
        Entry::computed("name", name),
        Entry::computed("namespace", Value::String(cluster.namespace.clone())),
        Entry::computed("pool", pool_name),
        Entry::computed("labels", labels),
        Entry::computed("annotations", annotations),
        Entry::holding("spec", spec),
    ]))
}

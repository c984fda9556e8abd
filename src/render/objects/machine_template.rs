//! The machine templates of a cluster: one for each node pool with an image.

use capi::providers::{Stamp, Template, template_spec};
use yaml_tree::json::{Html, to_json};
use yaml_tree::value::{Entry, Map, Node};

use super::{Head, guard, keep_annotations, name, object};
use crate::model::cluster::Pool;
use crate::model::cluster_view::ClusterView;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;

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
    let provider = template.provider;
    let needs_no_image = |pool: &Pool| provider.needs_no_image(&pool.settings);
    pools
        .filter(|(pool, stamp)| stamp.is_some() || needs_no_image(pool))
        .filter_map(|(pool, stamp)| {
            let stamp = stamp.as_ref();
            for problem in provider.problems(&pool.settings, template.version) {
                findings.push(invalid(view, pool, stamp, problem));
            }
            match template_spec(template, stamp, &pool.settings) {
                Ok(spec) => {
                    let spec = Node::from_value(spec);
                    let annotations = keep_annotations()
                        .iter()
                        .chain(annotations)
                        .cloned()
                        .collect();
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
        .with_label(view.sources.resolve(pool.choice.place()), "selected here")
        .with_subject(Subject {
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
    guard(&mut annotations, &spec);
    let pool_name = pool.name.to_string();
    let content = to_json(&spec.value, Html::Plain);
    let head = Head {
        api_version: &format!("{}/{}", template.kind.group, template.version),
        kind: template.kind.kind,
        name: name::machine_template(&cluster.object_name, &pool_name, &content),
        annotations,
    };
    let mut object = object(cluster, head, Entry::holding("spec", spec));
    object.insert(Entry::from_value("pool", pool_name));
    Node::from_value(object)
}

//! The Kubernetes objects and values that several targets write, as trees for the templates.

pub mod choices;
pub mod component_bundle;
pub mod elemental_registration;
pub mod hash;
pub mod info;
pub mod infra_cluster;
pub mod kube_vip;
pub mod machine_template;
pub mod name;
mod shell;

use capi::objects::CLUSTER_LABEL;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::model::cluster::Cluster;

/// Disables Flux's variable substitution for one object, if its text contains `${` that is not meant for Flux
/// (kustomize-controller docs/spec/v1/kustomizations.md, "Post build variable substitution").
const SUBSTITUTE_ANNOTATION: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// What the targets' templates write above the content of an object.
struct Head<'a> {
    api_version: &'a str,
    kind: &'a str,
    name: String,
    annotations: Map,
}

/// An object in the namespace of its cluster and with the label for it.
fn object(cluster: &Cluster, head: Head<'_>, content: Entry) -> Map {
    let labels = Map::from_iter([Entry::from_value(CLUSTER_LABEL, &*cluster.object_name)]);
    Map::from_iter([
        Entry::from_value("apiVersion", head.api_version),
        Entry::from_value("kind", head.kind),
        Entry::from_value("name", head.name),
        Entry::from_value("namespace", Value::String(cluster.namespace.clone())),
        Entry::from_value("labels", labels),
        Entry::from_value("annotations", head.annotations),
        content,
    ])
}

/// Adds the annotation that guards an object's content from Flux's substitution, if that would change it.
pub fn guard(annotations: &mut Map, content: &Node) {
    if holds_variables(content) {
        annotations.insert(Entry::from_value(SUBSTITUTE_ANNOTATION, "disabled"));
    }
}

/// The annotations of an object whose name changes with its content. GitOps tools do not delete it when it is no longer rendered,
/// since machines and references may use it until they are replaced, and Argo CD does not report its Application as out of sync.
/// Eventually the Cluster owns it.
/// (kustomize-controller docs/spec/v1/kustomizations.md, "Prune"; Argo CD docs/user-guide/sync-options.md, "No Prune Resources",
/// and compare-options.md.)
pub fn keep_annotations() -> Map {
    Map::from_iter([
        Entry::from_value("argocd.argoproj.io/compare-options", "IgnoreExtraneous"),
        Entry::from_value("argocd.argoproj.io/sync-options", "Prune=false"),
        Entry::from_value("kustomize.toolkit.fluxcd.io/prune", "disabled"),
    ])
}

/// A Secret that delivers files to machines, with the annotations of [`keep_annotations`] and others.
fn secret(cluster: &Cluster, name: String, annotations: &Map, data: Map) -> Node {
    let head = Head {
        api_version: "v1",
        kind: "Secret",
        name,
        annotations: keep_annotations()
            .iter()
            .chain(annotations)
            .cloned()
            .collect(),
    };
    Node::from_value(object(cluster, head, Entry::from_value("stringData", data)))
}

/// Whether Flux's post-build substitution would change a text of the tree: it replaces an undefined `${variable}` by nothing.
pub fn holds_variables(node: &Node) -> bool {
    // Most texts have no `$`, and looking for one letter costs less.
    let is_variable = |text: &str| text.contains('$') && text.contains("${");
    match &node.value {
        Value::String(text) => is_variable(text),
        Value::List(items) => items.iter().any(holds_variables),
        Value::Map(map) => map
            .iter()
            .any(|entry| is_variable(&entry.key) || holds_variables(&entry.node)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Opaque(_) => false,
    }
}

/// The place of a secret value in the tree, if there is one: no manifest may contain it.
fn secret_within(node: &Node) -> Option<Place> {
    node.opaque().map(|(node, _)| node.place)
}

#[cfg(test)]
mod tests {
    use super::holds_variables;
    use yaml_tree::value::{Entry, Map, Node};

    #[test]
    fn a_variable_is_found_at_any_depth() {
        let list = vec![Node::from_value("$plain"), Node::from_value("a ${b} c")];
        let tree = Map::from_iter([Entry::from_value("a", list)]);
        assert!(holds_variables(&Node::from_value(tree)));
        assert!(!holds_variables(&Node::from_value("$a {b}")));
    }
}

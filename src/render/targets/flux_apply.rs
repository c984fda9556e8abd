//! The files that every Flux target writes around its objects: a folder's kustomization, and the Kustomization that applies it.

use std::sync::Arc;

use yaml_tree::value::{Entry, Map, Node, Value};

use super::{Content, TargetFile, TargetInput, text_option, tree};
use crate::model::finding::Finding;

/// A kustomization, from which `kubectl kustomize` and Flux build a folder.
pub(super) fn kustomization(path: String, resources: Vec<Node>) -> TargetFile {
    TargetFile {
        path,
        template: "kustomization.yaml.j2",
        context: Map::from_iter([Entry::from_value("resources", resources)]),
        content: Content::Yaml,
    }
}

/// The kustomization of an output's folder. It lists only the files that apply the clusters' folders, or they would be applied twice.
pub(super) fn root(clusters: &[Arc<str>]) -> TargetFile {
    let file = |name: &Arc<str>| Node::from_value(format!("{name}.yaml"));
    let resources = clusters.iter().map(file).collect();
    kustomization("kustomization.yaml".to_owned(), resources)
}

/// The same, in a folder that belongs to one cluster.
pub(super) fn own_root(input: &TargetInput<'_>) -> Option<TargetFile> {
    let name = &input.view.cluster.name;
    input.is_alone.then(|| root(std::slice::from_ref(name)))
}

/// The Flux Kustomization that applies a cluster's folder.
pub(super) fn sync(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> TargetFile {
    let output = input.output;
    let project = text_option(output, "project-path", "", findings).trim_matches('/');
    let path = [".", project, input.folder, &input.view.cluster.name]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("/");
    let context = Map::from_iter([
        // The project's name of the cluster: two clusters may have one name in their values.
        Entry::from_value("name", Value::String(input.view.cluster.name.clone())),
        Entry::from_value(
            "namespace",
            text_option(output, "flux-namespace", "flux-system", findings),
        ),
        Entry::from_value("interval", text_option(output, "interval", "10m", findings)),
        Entry::from_value("path", path),
        Entry::from_value(
            "source_kind",
            text_option(output, "git-kind", "GitRepository", findings),
        ),
        Entry::from_value(
            "source_name",
            text_option(output, "git-name", "flux-system", findings),
        ),
    ]);
    TargetFile {
        path: format!("{}.yaml", input.view.cluster.name),
        template: "sync.yaml.j2",
        context,
        content: Content::Objects,
    }
}

/// The `valuesFrom` entries of the user's own values.
pub(super) fn values_from(input: &TargetInput<'_>) -> Vec<Node> {
    let listed = input.output.options.get("values-from").map(tree);
    match listed.map(|node| node.value) {
        Some(Value::List(items)) => items.to_vec(),
        Some(Value::Null) | None => Vec::new(),
        Some(other) => vec![Node::from_value(other)],
    }
}

//! The files that every Flux target writes around its objects: a folder's kustomization, and the Kustomization that applies it.
//!
//! No file lists the clusters: of a folder without a kustomization Flux applies every file, and each folder that has one as that
//! says. So a cluster's folder says that its `sync.yaml` is all of it, and its objects, which that one applies, are in a folder
//! below.
//! (github.com/fluxcd/pkg/kustomize, `Generator.WriteFile`)

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

/// The folder of a cluster's objects, below that of the output.
pub(super) fn objects_folder(cluster: &str) -> String {
    format!("{cluster}/objects")
}

/// What applies a cluster's objects: the Flux Kustomization, and the kustomization that lists it alone.
pub(super) fn apply(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> [TargetFile; 2] {
    let path = format!("{}/kustomization.yaml", input.view.cluster.name);
    let sync = sync(input, findings);
    [
        kustomization(path, vec![Node::from_value("sync.yaml")]),
        sync,
    ]
}

/// The Flux Kustomization that applies a cluster's folder.
fn sync(input: &TargetInput<'_>, findings: &mut Vec<Finding>) -> TargetFile {
    let output = input.output;
    let project = text_option(output, "project-path", "", findings).trim_matches('/');
    let objects = objects_folder(&input.view.cluster.name);
    let path = [".", project, input.folder, &objects]
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
        path: format!("{}/sync.yaml", input.view.cluster.name),
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

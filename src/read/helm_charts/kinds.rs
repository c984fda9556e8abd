//! Which templates make Cluster API objects, by the `apiVersion` and `kind` of what they make.

use yaml_tree::value::Node;

/// The groups of objects that make clusters and node pools.
pub(in crate::read) const GROUPS: [&str; 4] = [
    "cluster.x-k8s.io",
    "controlplane.cluster.x-k8s.io",
    "infrastructure.cluster.x-k8s.io",
    "anywhere.eks.amazonaws.com",
];

/// The kinds of Cluster API's own objects.
const KINDS: [&str; 5] = [
    "Cluster",
    "ClusterClass",
    "Machine",
    "MachineDeployment",
    "MachineSet",
];

/// What the kinds of providers end with.
const ENDS: [&str; 4] = [
    "MachineTemplate",
    "MachinePool",
    "ControlPlane",
    "ControlPlaneTemplate",
];

/// The kinds that run machines, or say which do.
const POOLS: [&str; 4] = ["MachineDeployment", "MachineSet", "MachinePool", "Machine"];

/// Whether an object is one of Cluster API or its providers.
pub(in crate::read) fn is_of_cluster_api(api_version: &str) -> bool {
    let group = api_version.split('/').next().unwrap_or_default();
    group.ends_with(".cluster.x-k8s.io") || GROUPS.contains(&group)
}

/// Whether an object is a node pool, or has some.
pub(super) fn has_pools(object: &Node) -> bool {
    let text = |key: &str| object.text(&[key]).unwrap_or_default();
    let kind = text("kind");
    let is_cluster = kind == "Cluster"
        && (text("apiVersion").starts_with(GROUPS[3])
            || object.get_path(&["spec", "topology"]).is_some());
    is_of_cluster_api(text("apiVersion"))
        && (POOLS.contains(&kind) || kind.ends_with("ControlPlane") || is_cluster)
}

/// Whether a template makes Cluster API objects: an `apiVersion` of one that is in no other object but a list, or where that is
/// computed, a `kind` of one.
pub(super) fn makes_clusters(text: &str) -> bool {
    text.split("\n---").any(|document| {
        let versions = values(document, "apiVersion");
        let kinds = values(document, "kind");
        let has_kind = || kinds.iter().any(|kind| is_kind(kind.text));
        let is_list = kinds.iter().any(|kind| kind.text.ends_with("List"));
        let outermost = versions.iter().map(|version| version.column).min();
        let is_outermost = |one: &&Value<'_>| is_list || Some(one.column) == outermost;
        let mut outermost = versions.iter().filter(is_outermost);
        let is_ours = |version: &Value<'_>| match version.text.split_once('/') {
            Some((group, _)) if !group.contains("{{") => GROUPS.contains(&group),
            _ => version.text.contains("{{") && has_kind(),
        };
        outermost.any(is_ours) || versions.is_empty() && has_kind()
    })
}

fn is_kind(kind: &str) -> bool {
    KINDS.contains(&kind) || ENDS.iter().any(|end| kind.ends_with(end))
}

/// A value of a template as it is written.
struct Value<'t> {
    text: &'t str,
    column: usize,
}

/// What is written behind a key, in YAML or JSON or as arguments of `dict`. Lines of comments have none.
fn values<'t>(document: &'t str, key: &str) -> Vec<Value<'t>> {
    let lines = document
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let value = |line: &'t str, column: usize| {
        let rest = line[column + key.len()..].trim_start_matches([':', ' ', '"', '\'']);
        let end = match rest.strip_prefix("{{") {
            Some(_) => rest.len(),
            None => rest.find([',', '}', '"', '\'', ' ']).unwrap_or(rest.len()),
        };
        let text = &rest[..end];
        (!text.is_empty()).then_some(Value { text, column })
    };
    let of_line = |line: &'t str| {
        let columns = line.match_indices(key);
        columns.filter_map(move |(column, _)| value(line, column))
    };
    lines.flat_map(of_line).collect()
}

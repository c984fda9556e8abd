//! Where objects say the Kubernetes version of their machines.

use crate::providers::cluster_api::{ANY_CONTROL_PLANE, REPEATED_VERSIONS, VERSIONS, VersionField};
use yaml_tree::edit::Step;
use yaml_tree::value::Node;

use super::ManifestObject;

/// The Kubernetes version in an object; none where it is an expression, which another program evaluates.
pub fn version_node(object: &ManifestObject) -> Option<(Vec<Step>, &Node)> {
    said_in(object, VERSIONS).into_iter().next()
}

/// Where an object says its Kubernetes version, each place that does.
pub fn version_nodes(object: &ManifestObject) -> Vec<(Vec<Step>, &Node)> {
    let mut found = said_in(object, VERSIONS);
    found.append(&mut said_in(object, REPEATED_VERSIONS));
    found
}

fn said_in<'o>(object: &'o ManifestObject, fields: &[VersionField]) -> Vec<(Vec<Step>, &'o Node)> {
    let (group, _) = object.group_version();
    let is_of_kind = |kind: &str| {
        kind == &*object.kind || kind == ANY_CONTROL_PLANE && object.kind.ends_with(kind)
    };
    let own = fields
        .iter()
        .filter(|field| is_of_kind(field.kind) && field.group == group)
        .take(1);
    let found = own.flat_map(|field| object.nodes(field.path));
    let is_said = |node: &Node| {
        let text = node.value.as_str();
        text.is_none_or(|text| !text.contains("{{") && !text.contains("${"))
    };
    found.filter(|(_, node)| is_said(node)).collect()
}

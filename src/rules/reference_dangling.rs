//! An object refers to a template that is not there.

use std::collections::BTreeSet;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::suggest::did_you_mean;
use crate::objects::{Manifests, Reference, Standing};
use crate::yaml::edit::Step;

/// What the API groups of Cluster API and its providers have in common, misspelled ones included.
const CLUSTER_API: &str = "cluster.x-k8s.io";

/// Looks at every reference to a kind of which there are any in the same folder and namespace.
pub(super) fn manifests(input: &Manifests<'_>, report: &mut dyn FnMut(Finding)) {
    for reference in input.references() {
        let from = &input.objects[reference.from];
        if !is_of_cluster_api(from, &reference) {
            continue;
        }
        let Some(name) = reference
            .name
            .value
            .as_str()
            .filter(|_| reference.to.is_none())
        else {
            continue;
        };
        let others = input.objects.iter().filter(|object| {
            &*object.kind == reference.kind
                && object.namespace == from.namespace
                && object.folder() == from.folder()
        });
        let others: BTreeSet<&str> = others.map(|object| &*object.name).collect();
        if others.is_empty() {
            continue;
        }
        let message = format!(
            "{} `{}` refers to {} `{name}`, which is not there",
            from.kind, from.name, reference.kind
        );
        let finding = Finding::new(RuleId::ReferenceDangling, message)
            .about(input.subject(reference.from))
            .at(from.spot(reference.name.place), "");
        let only = others.first().copied().filter(|_| others.len() == 1);
        report(match did_you_mean(name, others.iter().copied()).or(only) {
            _ if others.contains(&**name) => elsewhere(input, &reference, finding),
            Some(meant) => finding.help(format!("write `name: {meant}`")),
            None => finding.help("name a template that is there, or add it"),
        });
    }
}

/// Whether an object of Cluster API refers to another one. What other objects refer to may be kept anywhere.
fn is_of_cluster_api(from: &Standing, reference: &Reference<'_>) -> bool {
    let is_own = |group: &str| group.contains(CLUSTER_API);
    let (group, _) = from.group_version();
    let is_owner = reference.steps.contains(&Step::from("ownerReferences"));
    let is_template = reference.kind.ends_with("Template");
    is_own(group) && reference.group.map_or(is_template, is_own) && !is_owner
}

/// There is an object of that kind and name, and the reference names another group.
fn elsewhere(input: &Manifests<'_>, reference: &Reference<'_>, finding: Finding) -> Finding {
    let name = reference.name.value.as_str();
    let mut same = input
        .objects
        .iter()
        .filter(|object| &*object.kind == reference.kind && Some(&object.name) == name);
    let Some(object) = same.next() else {
        return finding;
    };
    let (group, _) = object.group_version();
    finding
        .at(
            object.name_spot(),
            format!("this one is of the group `{group}`"),
        )
        .help(format!(
            "write `apiGroup: {group}`, or the same group in `apiVersion`"
        ))
}

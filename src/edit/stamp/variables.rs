//! The variables of a ClusterClass, which its patches put into templates: by the `variables` of an entry of `stamps:`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::objects::ManifestObject;
use yaml_tree::edit::Step;
use yaml_tree::value::Node;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::stamping::{ImageRequest, StampEntry};

use super::entries::Entries;
use super::request::Requested;

/// Where a Cluster gives variables: for all its machines, for its control plane, for its workers.
const LISTS: [&str; 4] = [
    "spec.topology.variables",
    "spec.topology.controlPlane.variables.overrides",
    "spec.topology.workers.machineDeployments[].variables.overrides",
    "spec.topology.workers.machinePools[].variables.overrides",
];
/// Where a ClusterClass has the value that holds where a Cluster gives none.
const DEFAULT: [&str; 3] = ["schema", "openAPIV3Schema", "default"];

/// Adds what entries request for variables. The first of several entries counts, and a marker beside a value comes before all.
pub(super) fn add(
    objects: &[ManifestObject],
    entries: &Entries<'_>,
    found: &mut Vec<Requested>,
    findings: &mut Vec<Finding>,
) {
    let said = found.iter().filter_map(|requested| {
        let (steps, _) = requested.field.as_ref()?;
        Some((requested.object, steps.clone()))
    });
    let mut said: BTreeSet<(usize, Vec<Step>)> = said.collect();
    let mut fitting: BTreeMap<usize, (&StampEntry, Vec<usize>)> = BTreeMap::new();
    let may_have = |object: &&ManifestObject| matches!(&*object.kind, "Cluster" | "ClusterClass");
    for (index, object) in objects.iter().enumerate().filter(|(_, it)| may_have(it)) {
        for (number, entry) in entries.find(object) {
            let (_, objects) = fitting.entry(number).or_insert((entry, Vec::new()));
            objects.push(index);
        }
    }
    for (entry, fitting) in fitting.values() {
        for (name, word) in &entry.variables {
            let mut is_there = false;
            for &index in fitting {
                for field in values(&objects[index], name) {
                    is_there = true;
                    if said.insert((index, field.0.clone())) {
                        found.push(new_request(entry, index, field, word));
                    }
                }
            }
            if !is_there {
                findings.push(nowhere(entry, name));
            }
        }
    }
}

fn new_request(
    entry: &StampEntry,
    object: usize,
    field: (Vec<Step>, Node),
    word: &Arc<str>,
) -> Requested {
    Requested {
        object,
        field: Some(field),
        request: ImageRequest {
            field: Some(Arc::clone(word)),
            ..entry.request.clone()
        },
    }
}

fn nowhere(entry: &StampEntry, name: &str) -> Finding {
    let message =
        format!("no Cluster or ClusterClass of this entry gives the variable `{name}` a value");
    Finding::new(RuleId::ImageUnstamped, message)
        .with_label(entry.request.spot.clone(), "")
        .help("write the variable with any value, or take it out of the entry")
}

/// The values of a variable in an object: `imageURL`, or `image.url` for a value in a map.
fn values(object: &ManifestObject, name: &str) -> Vec<(Vec<Step>, Node)> {
    let mut parts = name.split('.');
    let name = parts.next().unwrap_or_default();
    let inner: Vec<&str> = parts.collect();
    let (lists, value): (&[&str], &[&str]) = match &*object.kind {
        "Cluster" => (&LISTS, &["value"]),
        _ => (&["spec.variables"], &DEFAULT),
    };
    let items = lists
        .iter()
        .flat_map(|path| object.nodes(&format!("{path}[]")));
    let named = items.filter(|(_, item)| item.text(&["name"]) == Some(name));
    let found = named.filter_map(|(steps, item)| {
        let path: Vec<&str> = value.iter().chain(&inner).copied().collect();
        let node = item.get_path(&path)?.clone();
        let below = path.into_iter().map(Step::from);
        Some((steps.into_iter().chain(below).collect(), node))
    });
    found.collect()
}

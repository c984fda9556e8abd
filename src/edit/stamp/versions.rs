//! The Kubernetes versions of the machines of each template: what selectors require, and what `--set-version` writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Origin, fact};
use capi::objects::{ManifestObject, references, version_node, version_nodes};
use yaml_tree::edit::{Edit, Step, Target};
use yaml_tree::value::Value;

use crate::decide::replacement;

use super::choose::Chooser;
use super::plan::Plan;
use super::request::Requested;

/// The objects that say which Kubernetes version the machines of each template run: those that refer to it, and the clusters of
/// the classes that do. What says a version runs its own images.
pub(super) fn runners(objects: &[ManifestObject]) -> BTreeMap<usize, Vec<usize>> {
    let says = |index: &usize| version_node(&objects[*index]).is_some();
    let own = (0..objects.len()).filter(says);
    let mut found: BTreeMap<usize, Vec<usize>> = own.map(|index| (index, vec![index])).collect();
    let clusters = clusters(objects);
    for reference in references(objects) {
        let Some(template) = reference.to else {
            continue;
        };
        let runners = found.entry(template).or_default();
        let from = &objects[reference.from];
        match &*from.kind {
            "ClusterClass" => runners.extend(clusters.get(&*from.name).into_iter().flatten()),
            _ => runners.push(reference.from),
        }
    }
    for runners in found.values_mut() {
        runners.sort_unstable();
        runners.dedup();
    }
    found
}

/// The Clusters by the class that their topology names.
fn clusters(objects: &[ManifestObject]) -> BTreeMap<&str, Vec<usize>> {
    let mut found: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        let text = |path: &[&str]| object.node.text(path);
        let class = text(&["spec", "topology", "class"])
            .or_else(|| text(&["spec", "topology", "classRef", "name"]));
        if let Some(class) = class.filter(|_| &*object.kind == "Cluster") {
            found.entry(class).or_default().push(index);
        }
    }
    found
}

/// The Kubernetes version of each template's machines, where its runners agree on one.
pub(super) fn common_versions(
    objects: &[ManifestObject],
    runners: &BTreeMap<usize, Vec<usize>>,
) -> BTreeMap<usize, Arc<str>> {
    let one = runners.iter().filter_map(|(template, runners)| {
        let said = runners.iter().filter_map(|index| {
            let (_, node) = version_node(&objects[*index])?;
            node.value.as_str().cloned()
        });
        let mut said: Vec<Arc<str>> = said.collect();
        said.sort();
        said.dedup();
        match &said[..] {
            [version] => Some((*template, Arc::clone(version))),
            _ => None,
        }
    });
    one.collect()
}

/// Brings the Kubernetes version of the pools that run a stamped template to its image's. A version with a marker of its own is
/// what that says.
pub(super) fn set(
    objects: &[ManifestObject],
    runners: &BTreeMap<usize, Vec<usize>>,
    requests: &[Requested],
    chooser: &Chooser<'_>,
    plan: &mut Plan,
) {
    let marked = requests.iter().filter_map(|requested| {
        let (steps, _) = requested.field.as_ref()?;
        Some((requested.object, &**steps))
    });
    let marked: BTreeSet<(usize, &[Step])> = marked.collect();
    for (template, runners) in runners {
        let mut held = plan.results[*template].images.iter().filter_map(|key| {
            let image = chooser.images.get(key)?;
            image.facts.get(fact::K8S_VERSION)
        });
        // A version that only a name states is never written.
        let Some(held) = held.next().filter(|held| held.origin != Origin::Name) else {
            continue;
        };
        let version = format!("v{}", held.value.strip_prefix('v').unwrap_or(&held.value));
        for &runner in runners {
            if !plan.versions.contains_key(&runner) {
                bring(objects, runner, &version.as_str().into(), &marked, plan);
            }
        }
    }
}

/// Brings an object to a version, in each place that says it and has no marker.
fn bring(
    objects: &[ManifestObject],
    runner: usize,
    version: &Arc<str>,
    marked: &BTreeSet<(usize, &[Step])>,
    plan: &mut Plan,
) {
    let object = &objects[runner];
    for (steps, node) in version_nodes(object) {
        let current = node.value.as_str().map(|text| text.trim_start_matches('v'));
        let is_there = current == Some(version.trim_start_matches('v'));
        let may_follow =
            current.is_none_or(|current| replacement::version_obstacle(current, version).is_none());
        if is_there || !may_follow || marked.contains(&(runner, &*steps)) {
            continue;
        }
        let at = Target::Path(object.document, steps);
        let value = Value::String(Arc::clone(version));
        plan.versions.insert(runner, Arc::clone(version));
        plan.edit(runner, Edit::Set { at, value });
    }
}

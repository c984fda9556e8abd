//! The Kubernetes versions of the machines of each template: what selectors ask for, and what `--set-version` writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::image::{Origin, fact};
use crate::model::replacement;
use crate::model::value::Value;
use crate::objects::{Manifests, Standing, version_node, version_nodes};
use crate::yaml::edit::{Edit, Step, Target};

use super::choose::Chooser;
use super::plan::Plan;
use super::wish::Wished;

/// The objects that say which version the machines of each template run.
pub(super) fn runners(objects: &[Standing], chooser: &Chooser<'_>) -> BTreeMap<usize, Vec<usize>> {
    let manifests = Manifests {
        objects,
        choices: &[],
        images: chooser.images,
        versions: &BTreeMap::new(),
        matching: chooser.matching,
    };
    manifests.all_runners()
}

/// The Kubernetes version of each template's machines, where its runners agree on one.
pub(super) fn agreed(
    objects: &[Standing],
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

/// Brings the Kubernetes version of those who run a stamped template to its image's. A version with a marker of its own is
/// what that says.
pub(super) fn set(
    objects: &[Standing],
    runners: &BTreeMap<usize, Vec<usize>>,
    wishes: &[Wished],
    chooser: &Chooser<'_>,
    plan: &mut Plan,
) {
    let marked = wishes.iter().filter_map(|wished| {
        let (steps, _) = wished.field.as_ref()?;
        Some((wished.object, &**steps))
    });
    let marked: BTreeSet<(usize, &[Step])> = marked.collect();
    for (template, runners) in runners {
        let images = plan.choices[*template].images.iter();
        let mut held = images.filter_map(|key| {
            let image = chooser.images.get(key)?;
            image.facts.get(fact::K8S_VERSION)
        });
        // What only a name says is no version to write.
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
    objects: &[Standing],
    runner: usize,
    version: &Arc<str>,
    marked: &BTreeSet<(usize, &[Step])>,
    plan: &mut Plan,
) {
    let object = &objects[runner];
    for (steps, node) in version_nodes(object) {
        let standing = node.value.as_str().map(|text| text.trim_start_matches('v'));
        let is_there = standing == Some(version.trim_start_matches('v'));
        let may_follow =
            standing.is_none_or(|standing| replacement::of_version(standing, version).is_none());
        if is_there || !may_follow || marked.contains(&(runner, &*steps)) {
            continue;
        }
        let at = Target::Path(object.document, steps);
        let value = Value::String(Arc::clone(version));
        plan.versions.insert(runner, Arc::clone(version));
        plan.edit(runner, Edit::Set { at, value });
    }
}

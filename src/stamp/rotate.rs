//! Rotation: a template whose image changes gets a name of its own, every reference follows it, and the old one is kept for
//! the machines that still refer to it.
//!
//! The object that people edit keeps its place, its comments and its marker under the new name; what is kept of the past is a
//! copy behind it, marked by an annotation. Upstream's advice: the new template and the version in one change
//! (<https://cluster-api.sigs.k8s.io/tasks/updating-machine-templates>).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::engine::Engine;
use crate::model::image::fact;
use crate::model::value::{Entry, Map, Node, Value};
use crate::objects::hash;
use crate::objects::standing::{KEPT_ANNOTATION, Standing, references, version_node};
use crate::providers;
use crate::yaml;
use crate::yaml::edit::{Edit, Position, Step, Target, edit};

use super::choose::Chooser;
use super::plan::{Options, Plan};

/// The longest name of an object.
const LONGEST_NAME: usize = 253;

/// What becomes of whole documents, by file: they are texts, and no edit of a tree.
#[derive(Default)]
pub(super) struct Copies {
    /// The old text of a document that is added behind it.
    behind: BTreeMap<usize, String>,
    /// Documents that go.
    gone: BTreeSet<usize>,
}

/// The files' copies, by the first object of each file.
pub(super) type AllCopies = BTreeMap<Arc<str>, Copies>;

/// Renames the templates whose image changes, and moves what refers to them.
pub(super) fn rotate(
    objects: &[Standing],
    contents: &BTreeMap<usize, Map>,
    options: &Options,
    plan: &mut Plan,
) -> AllCopies {
    let mut copies = AllCopies::new();
    let references = references(objects);
    for (&index, content) in contents {
        let object = &objects[index];
        let kind = providers::of_object(&object.api_version, &object.kind);
        let is_template = kind.is_some_and(|(_, kind)| kind.is_template());
        let overwrites = plan.choices[index]
            .changes
            .iter()
            .any(|change| change.overwrites);
        if !is_template || !overwrites || object.name.is_empty() {
            continue;
        }
        let name = name(&object.name, content);
        plan.choices[index].is_rotated = true;
        let own = steps(&object.steps, &["metadata", "name"]);
        let mut set = |object: usize, document, steps| {
            let at = Target::Path(document, steps);
            let value = name.as_str().into();
            plan.edits
                .entry(object)
                .or_default()
                .push(Edit::Set { at, value });
        };
        set(index, object.document, own);
        for reference in references
            .iter()
            .filter(|reference| reference.to == Some(index))
        {
            let from = &objects[reference.from];
            set(reference.from, from.document, reference.steps.clone());
        }
        keep(objects, index, &name, options.keep, &mut copies, plan);
        let used: BTreeSet<usize> = references
            .iter()
            .filter_map(|reference| reference.to)
            .collect();
        prune(objects, index, (options.keep, &used), &mut copies, plan);
    }
    copies
}

/// The name without the hash of earlier content, and with the hash of this.
fn name(old: &str, content: &Map) -> String {
    let spec = content
        .get("spec")
        .map_or(Value::Null, |spec| spec.value.clone());
    let hash = hash::of_text(&yaml::emit(&spec));
    let base = base(old);
    let end = base.floor_char_boundary(LONGEST_NAME - 1 - hash.len());
    format!("{}-{hash}", base[..end].trim_end_matches(['-', '.']))
}

/// A name without the hash behind it.
fn base(name: &str) -> &str {
    let length = hash::of_text("").len();
    match name.rsplit_once('-') {
        Some((base, end))
            if end.len() == length
                && !base.is_empty()
                && end
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) =>
        {
            base
        }
        _ => name,
    }
}

fn steps(start: &[Step], path: &[&str]) -> Vec<Step> {
    let below = path.iter().map(|key| Step::from(*key));
    start.iter().cloned().chain(below).collect()
}

/// The template as it was, behind the one that takes its place.
fn keep(
    objects: &[Standing],
    index: usize,
    successor: &str,
    keep: usize,
    copies: &mut AllCopies,
    plan: &mut Plan,
) {
    let object = &objects[index];
    if keep == 0 {
        return;
    }
    if let Some((Step::Item(item), list)) = object.steps.split_last() {
        let edit = Edit::InsertItem {
            list: Target::Path(object.document, list.to_vec()),
            value: marked(&object.node, successor),
            position: Position::After(Step::Item(*item)),
        };
        plan.edits.entry(index).or_default().push(edit);
        return;
    }
    match copy(object, successor) {
        Some(text) => {
            let file = copies.entry(Arc::clone(&object.source.path)).or_default();
            file.behind.insert(object.document, text);
        }
        None => plan.choices[index].problems.push(
            "the template that is to be kept cannot be copied: run with `--keep 0`".to_owned(),
        ),
    }
}

/// A document's text with the annotation in it.
fn copy(object: &Standing, successor: &str) -> Option<String> {
    let parts = yaml::parts(&object.source.text).ok()?;
    let text = object
        .source
        .text
        .get(parts.get(object.document)?.clone())?;
    let annotations = object.node.at(&["metadata", "annotations"]);
    let is_map = annotations.is_some_and(|node| node.value.as_map().is_some());
    let change = match is_map {
        true => Edit::Insert {
            map: Target::keys(&["metadata", "annotations"]),
            key: KEPT_ANNOTATION.to_owned(),
            value: successor.into(),
            position: Position::Last,
        },
        false => Edit::Insert {
            map: Target::keys(&["metadata"]),
            key: "annotations".to_owned(),
            value: Map::from_iter([Entry::computed(KEPT_ANNOTATION, successor)]).into(),
            position: Position::Last,
        },
    };
    edit(text, Engine::Kubectl, &[change]).ok()
}

/// An object's tree with the annotation in it.
fn marked(node: &Node, successor: &str) -> Value {
    let map = |node: Option<&Node>| {
        let map = node.and_then(|node| node.value.as_map());
        map.map_or_else(Map::default, |map| (**map).clone())
    };
    let mut annotations = map(node.at(&["metadata", "annotations"]));
    annotations.insert(Entry::computed(KEPT_ANNOTATION, successor));
    let mut metadata = map(node.at(&["metadata"]));
    metadata.insert(Entry::computed("annotations", annotations));
    let mut object = map(Some(node));
    object.insert(Entry::computed("metadata", metadata));
    object.into()
}

/// Takes away the templates of the past that are more than are kept, the oldest first. One that is referred to stays.
fn prune(
    objects: &[Standing],
    index: usize,
    (keep, used): (usize, &BTreeSet<usize>),
    copies: &mut AllCopies,
    plan: &mut Plan,
) {
    let object = &objects[index];
    let is_past = |(_, other): &(usize, &Standing)| {
        other.is_kept()
            && Arc::ptr_eq(&other.source, &object.source)
            && (&other.kind, &other.namespace) == (&object.kind, &object.namespace)
            && base(&other.name) == base(&object.name)
    };
    // Copies stand behind their successors, so the newest comes first; one more is being added.
    let past = objects.iter().enumerate().filter(is_past);
    for (index, old) in past.skip(keep.saturating_sub(1)) {
        if used.contains(&index) {
            continue;
        }
        if old.steps.is_empty() {
            let file = copies.entry(Arc::clone(&old.source.path)).or_default();
            file.gone.insert(old.document);
        } else {
            let at = Target::Path(old.document, old.steps.clone());
            plan.edits
                .entry(index)
                .or_default()
                .push(Edit::Remove { at });
        }
    }
}

/// Brings the Kubernetes version of those who run a stamped template to its image's.
pub(super) fn set_versions(
    objects: &[Standing],
    runners: &BTreeMap<usize, Vec<usize>>,
    chooser: &Chooser<'_>,
    plan: &mut Plan,
) {
    for (template, runners) in runners {
        let key = plan.choices[*template].image.as_ref();
        let image = key.and_then(|key| chooser.images.get(key));
        let Some(held) = image.and_then(|image| image.facts.text(fact::K8S_VERSION)) else {
            continue;
        };
        for &runner in runners {
            let Some((steps, node)) = version_node(&objects[runner]) else {
                continue;
            };
            let plain = held.strip_prefix('v').unwrap_or(held);
            let version: Arc<str> = format!("v{plain}").into();
            let standing = node.value.as_str().map(|text| text.trim_start_matches('v'));
            if standing == Some(plain) || plan.versions.contains_key(&runner) {
                continue;
            }
            let at = Target::Path(objects[runner].document, steps);
            let value = Value::String(Arc::clone(&version));
            plan.versions.insert(runner, version);
            plan.edits
                .entry(runner)
                .or_default()
                .push(Edit::Set { at, value });
        }
    }
}

impl Copies {
    /// An edited text with the documents of the past added and taken away; none where it cannot be parted.
    pub(super) fn applied(&self, text: &str) -> Option<String> {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut text = text.to_owned();
        for (document, part) in yaml::parts(&text).ok()?.into_iter().enumerate().rev() {
            if let Some(copy) = self.behind.get(&document) {
                let mut behind = String::new();
                if !text[..part.end].ends_with('\n') {
                    behind.push_str(end);
                }
                let is_last = part.end == text.len();
                let copy = match is_last && !text.ends_with('\n') {
                    true => copy.trim_end(),
                    false => copy,
                };
                behind.push_str(&format!("---{end}{copy}"));
                if !is_last && !behind.ends_with('\n') {
                    behind.push_str(end);
                }
                text.insert_str(part.end, &behind);
            }
            if self.gone.contains(&document) {
                let line = text[..part.start].trim_end_matches(['\r', '\n']);
                let start = line.rfind('\n').map_or(0, |line| line + 1);
                let from = if line[start..].starts_with("---") {
                    start
                } else {
                    part.start
                };
                text.replace_range(from..part.end, "");
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn only_a_hash_is_no_part_of_a_name() {
        let hash = crate::objects::hash::of_text("x");
        assert_eq!(base(&format!("edge-7-{hash}")), "edge-7");
        for name in ["edge-7", "edge", "a-worker", &hash] {
            assert_eq!(base(name), name);
        }
    }
}

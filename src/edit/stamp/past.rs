//! Copies of earlier templates, which machines may still refer to: each rotation keeps one and removes the oldest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::objects::{KEPT_ANNOTATION, ManifestObject};
use yaml_tree::edit::{Edit, Position, Step, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::render::objects::hash;

use super::plan::Plan;

/// What an object is found by: its kind, its namespace and its name, or what its name starts with.
type Name<'a> = (&'a str, &'a str, &'a str);

/// The objects by name, and the templates that are kept of the past.
pub(super) struct Past<'a> {
    objects: &'a [ManifestObject],
    named: BTreeMap<Name<'a>, Vec<usize>>,
    kept: BTreeMap<Name<'a>, Vec<usize>>,
    /// How many are kept.
    keep: usize,
    /// Those that something refers to.
    used: BTreeSet<usize>,
}

impl<'a> Past<'a> {
    pub(super) fn new(objects: &'a [ManifestObject], keep: usize, used: BTreeSet<usize>) -> Self {
        let (mut named, mut kept) = (BTreeMap::<_, Vec<usize>>::new(), BTreeMap::new());
        let own = objects.iter().enumerate();
        for (index, object) in own.filter(|(_, object)| !object.is_patch) {
            let (kind, namespace): (&str, &str) = (&object.kind, &object.namespace);
            let name: Name<'a> = (kind, namespace, &object.name);
            named.entry(name).or_default().push(index);
            if object.is_kept() {
                let name: Name<'a> = (kind, namespace, base(&object.name));
                kept.entry(name).or_insert_with(Vec::new).push(index);
            }
        }
        Self {
            objects,
            named,
            kept,
            keep,
            used,
        }
    }

    /// The name of the kept copy with this content. Earlier content gets its earlier name again, so that its machines are not replaced.
    pub(super) fn name_of(&self, index: usize, spec: &Value) -> Option<String> {
        let object = &self.objects[index];
        let has_content = |copy: &&ManifestObject| {
            let own = copy.node.get_path(&["spec"]);
            Arc::ptr_eq(&copy.text, &object.text) && own.is_some_and(|own| own.value.same(spec))
        };
        let mut copies = self.copies(index).map(|index| &self.objects[index]);
        let copy = copies.find(has_content)?;
        Some(copy.name.to_string())
    }

    /// The kept copies of a template.
    fn copies(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let object = &self.objects[index];
        let name = (&*object.kind, &*object.namespace, base(&object.name));
        self.kept.get(&name).into_iter().flatten().copied()
    }

    /// Puts a template under a new name: what bears that name goes, the template as it was is kept, and the oldest of the
    /// past go.
    ///
    /// # Errors
    /// An object that the user keeps has that name.
    pub(super) fn follow(&self, index: usize, name: &str, plan: &mut Plan) -> Result<(), String> {
        self.make_room(index, name, plan)?;
        keep(self.objects, index, name, self.keep, plan);
        self.prune(index, name, plan);
        Ok(())
    }

    /// Takes away the copy of the past that bears the name that a template is to get: content that comes back.
    fn make_room(&self, index: usize, name: &str, plan: &mut Plan) -> Result<(), String> {
        let object = &self.objects[index];
        let known = self.named.get(&(&*object.kind, &*object.namespace, name));
        for &other in known.into_iter().flatten() {
            let existing = &self.objects[other];
            if !Arc::ptr_eq(existing.file(), object.file()) {
                continue;
            }
            if existing.is_kept() {
                remove(self.objects, other, plan)
            } else {
                return Err(format!("its new name would be `{name}`, which is taken"));
            }
        }
        Ok(())
    }

    /// Takes away the templates of the past that are more than are kept, the oldest first. One that is referred to stays.
    fn prune(&self, index: usize, successor: &str, plan: &mut Plan) {
        let object = &self.objects[index];
        let is_past = |old: &usize| {
            let old = &self.objects[*old];
            *old.name != *successor && Arc::ptr_eq(&old.text, &object.text)
        };
        // Copies follow their successors, so the newest comes first; one more is being added.
        let past = self.copies(index).filter(is_past);
        for old in past.skip(self.keep.saturating_sub(1)) {
            if !self.used.contains(&old) {
                remove(self.objects, old, plan);
            }
        }
    }
}

/// The template as it was, behind the one that takes its place.
fn keep(objects: &[ManifestObject], index: usize, successor: &str, keep: usize, plan: &mut Plan) {
    let object = &objects[index];
    if keep == 0 {
        return;
    }
    let edit = match object.steps.split_last() {
        None => copy(object, successor).map(|text| Edit::InsertDocument {
            after: object.document,
            text,
        }),
        Some((Step::Index(item), list)) => Some(Edit::InsertItem {
            list: Target::Path(object.document, list.to_vec()),
            value: as_kept(&object.node, successor),
            position: Position::After(Step::Index(*item)),
        }),
        Some(_) => None,
    };
    match edit {
        Some(edit) => plan.edit(index, edit),
        None => plan.results[index].problems.push(
            "there is no place beside it for the template that is to be kept: run with `--keep 0`"
                .to_owned(),
        ),
    }
}

/// A document's text with the annotation in it; none of a JSON file, which holds one document.
fn copy(object: &ManifestObject, successor: &str) -> Option<String> {
    let text = &object.text.source.text;
    if text.trim_start().starts_with('{') {
        return None;
    }
    let parts = yaml_tree::parts(text).ok()?;
    let text = text.get(parts.get(object.document)?.clone())?;
    let annotations = object.node.get_path(&["metadata", "annotations"]);
    let is_map = annotations.is_some_and(|node| node.value.as_map().is_some());
    let change = if is_map {
        Edit::Insert {
            map: Target::keys(&["metadata", "annotations"]),
            key: KEPT_ANNOTATION.to_owned(),
            value: successor.into(),
            position: Position::Last,
        }
    } else {
        Edit::Insert {
            map: Target::keys(&["metadata"]),
            key: "annotations".to_owned(),
            value: Map::from_iter([Entry::from_value(KEPT_ANNOTATION, successor)]).into(),
            position: Position::Last,
        }
    };
    edit(
        text.trim_start_matches('\u{feff}'),
        Engine::Kubectl,
        &[change],
    )
    .ok()
}

/// An object's tree with the annotation in it.
fn as_kept(node: &Node, successor: &str) -> Value {
    let map = |node: Option<&Node>| {
        let map = node.and_then(|node| node.value.as_map());
        map.map_or_else(Map::default, |map| (**map).clone())
    };
    let mut annotations = map(node.get_path(&["metadata", "annotations"]));
    annotations.insert(Entry::from_value(KEPT_ANNOTATION, successor));
    let mut metadata = map(node.get_path(&["metadata"]));
    metadata.insert(Entry::from_value("annotations", annotations));
    let mut object = map(Some(node));
    object.insert(Entry::from_value("metadata", metadata));
    object.into()
}

/// Takes an object out of its file.
fn remove(objects: &[ManifestObject], index: usize, plan: &mut Plan) {
    let object = &objects[index];
    let edit = if object.steps.is_empty() {
        Edit::RemoveDocument {
            document: object.document,
        }
    } else {
        Edit::Remove {
            at: Target::Path(object.document, object.steps.clone()),
        }
    };
    plan.edit(index, edit);
}

/// A name without the hash behind it.
pub(super) fn base(name: &str) -> &str {
    let length = hash::compute("").len();
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

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn only_a_hash_is_no_part_of_a_name() {
        let hash = crate::render::objects::hash::compute("x");
        assert_eq!(base(&format!("edge-7-{hash}")), "edge-7");
        for name in ["edge-7", "edge", "a-worker", &hash] {
            assert_eq!(base(name), name);
        }
    }
}

//! References: every map with a `kind` and a `name` refers to the object of that kind and name; so does a patch of kustomize as a
//! whole.
//!
//! No list of kinds is kept: each control plane provider puts its reference somewhere else, and a reference that is passed over
//! leaves machines on a template that is about to be deleted.

use std::collections::BTreeSet;
use std::sync::Arc;

use yaml_tree::place::Place;
use yaml_tree::value::{Node, Value};
use yaml_tree::{Step, children};

use super::nearest::{Name, Names};
use super::{ManifestObject, Text};

/// A reference from one object to another.
#[derive(Clone, Debug)]
pub struct Reference<'a> {
    /// The object that refers.
    pub from: usize,
    /// The way to the name in its document.
    pub steps: Vec<Step>,
    /// The name's node.
    pub name: &'a Node,
    /// The kind that is referred to.
    pub kind: &'a str,
    /// The API group, where the reference names one.
    pub group: Option<&'a str>,
    /// The namespace: the reference's, else that of the object that refers.
    pub namespace: &'a str,
    /// The object that is meant, if it is among the manifests.
    pub to: Option<usize>,
}

impl<'a> Reference<'a> {
    /// What the object that it means is found by.
    pub fn target(&self) -> Option<Name<'a>> {
        Some(Name {
            kind: self.kind,
            group: self.group,
            namespace: self.namespace,
            name: self.name.value.as_str()?,
        })
    }
}

/// The key of a reference that names no kind: `contentFrom: {secret: {name: …}}` of Cluster API's bootstrap configurations.
const SECRET: &str = "secret";

/// The objects of files by where they are: an object inside another one has references of its own.
type Places = BTreeSet<(*const Text, Place)>;

/// Every reference among these objects, in their order.
pub fn references(objects: &[ManifestObject]) -> Vec<Reference<'_>> {
    let known = Names::new(objects);
    let place = |object: &ManifestObject| (Arc::as_ptr(&object.text), object.node.place);
    // What is built has no object in another one, and of one that a single expression makes each value is at the same place.
    let in_files = objects.iter().filter(|object| !object.text.is_build());
    let places: Places = in_files.map(place).collect();
    let mut found = Vec::new();
    for (from, object) in objects.iter().enumerate() {
        let mut walk = Walk {
            from,
            object,
            places: &places,
            steps: object.steps.clone(),
            found: Vec::new(),
        };
        walk.found.extend(patch_target(object, from));
        walk.visit_children(&object.node);
        for mut reference in walk.found {
            let target = reference.target();
            reference.to = target.and_then(|target| known.nearest(target, from));
            found.push(reference);
        }
    }
    found
}

/// The way through one object.
struct Walk<'a, 'p> {
    from: usize,
    object: &'a ManifestObject,
    places: &'p Places,
    steps: Vec<Step>,
    found: Vec<Reference<'a>>,
}

impl<'a> Walk<'a, '_> {
    fn visit_children(&mut self, node: &'a Node) {
        for (step, child) in children(node) {
            self.node(step, child);
        }
    }

    fn node(&mut self, step: Step, node: &'a Node) {
        let is_collection = matches!(node.value, Value::Map(_) | Value::List(_));
        let place = (Arc::as_ptr(&self.object.text), node.place);
        if !is_collection || node.place.is_known() && self.places.contains(&place) {
            return;
        }
        self.steps.push(step);
        self.found.extend(self.reference(node));
        self.visit_children(node);
        self.steps.pop();
    }

    fn reference(&self, node: &'a Node) -> Option<Reference<'a>> {
        let is_of_secret = matches!(self.steps.last(), Some(Step::Key(key)) if key == SECRET);
        let text = |key| node.text(&[key]);
        let kind = text("kind").or_else(|| is_of_secret.then_some("Secret"))?;
        let name = node.get_path(&["name"])?;
        name.value.as_str()?;
        let steps = self.steps.iter().cloned().chain([Step::from("name")]);
        // Kustomize's patch targets and Argo CD's selectors write `group`.
        let group = text("apiGroup").or_else(|| text("group"));
        let of_version = |version: &'a str| version.split_once('/').map_or("", |(group, _)| group);
        Some(Reference {
            from: self.from,
            steps: steps.collect(),
            name,
            kind,
            group: group.or_else(|| text("apiVersion").map(of_version)),
            namespace: text("namespace").unwrap_or(&self.object.namespace),
            to: None,
        })
    }
}

/// The object that a patch is applied to.
fn patch_target(object: &ManifestObject, from: usize) -> Option<Reference<'_>> {
    let name = object.node.get_path(&["metadata", "name"])?;
    let is_of_object = object.is_patch && !object.kind.is_empty() && !object.name.is_empty();
    is_of_object.then(|| Reference {
        from,
        steps: object.name_steps(),
        name,
        kind: &object.kind,
        group: Some(object.group()),
        namespace: &object.namespace,
        to: None,
    })
}

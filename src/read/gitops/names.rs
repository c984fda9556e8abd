//! Changes of names by overlays: namespace, prefix, suffix, the hash of a generated object, and the updated references.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use data_encoding::HEXLOWER;
use yaml_tree::json::{Html, scalar_text, to_json};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::configuration::{FieldSpec, Missing, Reference};
use super::object::Object;

/// Kinds whose names get no prefix or suffix.
const UNNAMED: &[&str] = &["Namespace", "CustomResourceDefinition", "APIService"];

/// Kinds whose objects are in no namespace.
const CLUSTER_SCOPED: &[&str] = &[
    "APIService",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "MutatingWebhookConfiguration",
    "PersistentVolume",
    "PriorityClass",
    "StorageClass",
    "ValidatingWebhookConfiguration",
];

/// Puts an object into a namespace, with the other fields that hold it. One that is there stays if this is a default.
pub(super) fn set_namespace(
    object: &mut Object,
    namespace: &str,
    fields: &[FieldSpec],
    is_default: bool,
) -> Result<(), String> {
    let is_open = |text: &str| text.is_empty() || !is_default;
    let is_namespace = object.kind() == "Namespace" && object.group().is_empty();
    for field in fields {
        if field.leads_to(&["metadata", "namespace"]) {
            continue;
        }
        if field.leads_to(&["metadata", "name"]) {
            if is_namespace && field.is_of(object) && is_open(object.name()) {
                object.rename("name", namespace);
            }
            continue;
        }
        field.change(object, Missing::Scalar, &mut |node| {
            let text = text_of(node)?;
            if is_open(&text) {
                node.value = namespace.into();
            }
            Ok(())
        })?;
    }
    if !is_namespace && !CLUSTER_SCOPED.contains(&object.kind()) && is_open(object.namespace()) {
        object.rename("namespace", namespace);
    }
    Ok(())
}

/// Puts a prefix and a suffix around the name of an object, and what other fields hold.
pub(super) fn affix(
    object: &mut Object,
    prefix: &str,
    suffix: &str,
    fields: &[FieldSpec],
) -> Result<(), String> {
    if UNNAMED.contains(&object.kind()) {
        return Ok(());
    }
    for field in fields {
        if field.leads_to(&["metadata", "name"]) {
            if field.is_of(object) {
                let name = [prefix, object.name(), suffix].concat();
                object.rename("name", &name);
            }
            continue;
        }
        field.change(object, Missing::Left, &mut |node| {
            node.value = [prefix, &*text_of(node)?, suffix].concat().into();
            Ok(())
        })?;
    }
    Ok(())
}

/// The text of a scalar.
fn text_of(node: &Node) -> Result<Arc<str>, String> {
    match &node.value {
        Value::Null => Ok("".into()),
        value => scalar_text(value).ok_or_else(|| format!("it is {}", value.kind())),
    }
}

/// Completes a build: generated names get the hash of their content, and the fields that refer to a renamed object follow.
pub(super) fn finish(objects: &mut [Object], references: &[Reference]) {
    let mut known: HashMap<Content, String> = HashMap::new();
    for object in objects.iter_mut().filter(|object| object.is_hashed) {
        let hash = known.entry(content(object)).or_insert_with(|| hash(object));
        let name = format!("{}-{hash}", object.name());
        object.rename("name", &name);
    }
    let mut changed = Vec::new();
    for reference in references {
        let known = targets_by_name(objects, reference);
        for field in &reference.fields {
            for (index, object) in objects.iter().enumerate() {
                if !field.is_of(object) {
                    continue;
                }
                let mut tree = object.tree.clone();
                let mut follow = |kind: Option<&str>, name: &mut Node| {
                    let Some(old) = name.value.as_str() else {
                        return;
                    };
                    let is_other = kind.is_some_and(|kind| *kind != *reference.kind);
                    let target = known.get(old).and_then(|known| known.first_from(object));
                    if let Some(target) = target.filter(|_| !is_other) {
                        name.value = objects[target].name().into();
                    }
                };
                each_name(&mut tree, None, &field.path, &mut follow);
                changed.push((index, tree));
            }
            for (index, tree) in changed.drain(..) {
                objects[index].tree = tree;
            }
        }
    }
}

/// The objects that a reference may lead to, by each name that they have had.
fn targets_by_name(objects: &[Object], reference: &Reference) -> HashMap<Arc<str>, Targets> {
    let mut known: HashMap<Arc<str>, Targets> = HashMap::new();
    let group = reference.group.as_deref();
    for (index, object) in objects.iter().enumerate() {
        if object.kind() != &*reference.kind || group.is_some_and(|group| group != object.group()) {
            continue;
        }
        for named in object.names() {
            let targets = known.entry(named.name).or_default();
            targets.first.get_or_insert(index);
            let namespace = object.namespace().to_owned();
            targets.by_namespace.entry(namespace).or_insert(index);
        }
    }
    known
}

/// The first object of a name, of all and in each namespace: every cluster may have one of this name in its own.
#[derive(Default)]
struct Targets {
    first: Option<usize>,
    by_namespace: HashMap<String, usize>,
}

impl Targets {
    /// The first one that an object may mean.
    fn first_from(&self, from: &Object) -> Option<usize> {
        let Some(namespaces) = namespaces(from) else {
            return self.first;
        };
        let known = namespaces.iter();
        known
            .filter_map(|namespace| self.by_namespace.get(*namespace).copied())
            .min()
    }
}

/// The namespaces that the references of an object lead to: its own, and none, which is set when it is applied. None where it has
/// none itself: all of them.
fn namespaces(from: &Object) -> Option<[&str; 2]> {
    let own = from.namespace();
    (!own.is_empty()).then_some([own, ""])
}

/// What is done with a name, and the `kind` beside it.
type Visit<'v> = &'v mut dyn FnMut(Option<&str>, &mut Node);

/// Visits the names at a path, through lists, each with the `kind` beside it.
fn each_name(node: &mut Node, kind: Option<&str>, path: &[Arc<str>], visit: Visit<'_>) {
    match (&mut node.value, path.split_first()) {
        (Value::List(items), _) => Arc::make_mut(items)
            .iter_mut()
            .for_each(|item| each_name(item, kind, path, visit)),
        (Value::Map(map), Some((key, rest))) => {
            let beside = map
                .get("kind")
                .and_then(|kind| kind.value.as_str())
                .cloned();
            let key = key.strip_suffix("[]").unwrap_or(key);
            if let Some(below) = Arc::make_mut(map).get_mut(key) {
                each_name(below, beside.as_deref(), rest, visit);
            }
        }
        (_, None) => visit(kind, node),
        _ => {}
    }
}

/// What the hash of an object is of: its kind and type, and its fields, each with its key and the address of its text. Generators
/// share the texts of whole files.
type Content = (String, Vec<(&'static str, Arc<str>, usize)>);

fn content(object: &Object) -> Content {
    let fields = ["data", "binaryData", "stringData"].into_iter();
    let fields = fields.flat_map(|field| {
        let entries = object.tree.entries(&[field]);
        entries.into_iter().map(move |entry| {
            let text = entry.node.value.as_str();
            let address = text.map_or(0, |text| Arc::as_ptr(text).addr());
            (field, Arc::clone(&entry.key), address)
        })
    });
    let kind = object.tree.text(&["type"]).unwrap_or_default();
    (format!("{} {kind}", object.kind()), fields.collect())
}

/// The hash of a generated object in kustomize's form: SHA-256 of its content as JSON, without its name, in a code without
/// vowels.
fn hash(object: &Object) -> String {
    let mut fields = vec![
        Entry::from_value("kind", object.kind()),
        Entry::from_value("name", ""),
    ];
    for field in ["data", "binaryData", "stringData"] {
        let node = object.tree.get_path(&[field]);
        match node.filter(|node| node.value.as_map().is_some()) {
            Some(node) => fields.push(Entry::holding(field, node.map_children(&mut only_text))),
            None if field == "data" => fields.push(Entry::from_value(field, "")),
            None => {}
        }
    }
    if object.kind() == "Secret" {
        let kind = object.tree.text(&["type"]).unwrap_or_default();
        fields.push(Entry::from_value("type", kind));
    }
    let fields = Value::from(fields.into_iter().collect::<Map>());
    let digest = Sha256::digest(to_json(&fields, Html::Escaped));
    let digits = HEXLOWER.encode(&digest[..5]);
    let spelled = |digit| match digit {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    };
    digits.chars().map(spelled).collect()
}

/// A text, or null.
fn only_text(node: &Node) -> Node {
    let text = node.value.as_str().cloned();
    Node::from_value(text.map_or(Value::Null, Value::String))
}

/// The object that a HelmRelease's reference leads to.
pub(super) enum Referred<'o> {
    /// It exists.
    Object(&'o Object),
    /// The object with this name was renamed, and the reference was not updated.
    Renamed(&'o Object),
    /// There is none.
    Nothing,
}

/// Resolves a reference of a release by kind and name.
pub(super) fn resolve_reference<'o>(
    objects: &'o [Object],
    release: &Object,
    kind: &str,
    name: &str,
) -> Referred<'o> {
    let namespaces = namespaces(release);
    let is_near = |object: &Object| namespaces.is_none_or(|all| all.contains(&object.namespace()));
    let is_of_kind = |object: &Object| object.kind() == kind && object.group().is_empty();
    let candidates = || { objects.iter() }.filter(|object| is_of_kind(object) && is_near(object));
    if let Some(object) = candidates().find(|object| object.name() == name) {
        return Referred::Object(object);
    }
    let has_name = |object: &&Object| object.names().any(|named| *named.name == *name);
    candidates()
        .find(has_name)
        .map_or(Referred::Nothing, Referred::Renamed)
}

#[cfg(test)]
mod tests {
    use yaml_tree::engine::Engine;
    use yaml_tree::place::FileId;

    use super::{Object, Reference, targets_by_name};

    /// Every cluster may have an object of one name in its own namespace.
    #[test]
    fn a_reference_leads_to_the_first_object_of_its_namespace_or_of_none() {
        let text = "{apiVersion: g/v1, kind: K, metadata: {name: a, namespace: one}}\n---\n\
                    {apiVersion: g/v1, kind: K, metadata: {name: a}}\n---\n\
                    {apiVersion: g/v1, kind: K, metadata: {name: a, namespace: two}}\n---\n\
                    {apiVersion: g/v1, kind: K, metadata: {name: a, namespace: one}}\n---\n\
                    {apiVersion: h/v1, kind: K, metadata: {name: b}}\n---\n\
                    {apiVersion: g/v1, kind: L, metadata: {name: a, namespace: three}}\n";
        let read = yaml_tree::read(text, FileId(0), Engine::Kubectl).expect("it is YAML");
        let objects: Vec<Object> = read.documents.into_iter().map(Object::new).collect();
        let [one, none, two, _, _, three] = &*objects else {
            panic!("six objects are written");
        };
        let reference = |group: Option<&str>| Reference {
            kind: "K".into(),
            group: group.map(Into::into),
            fields: Vec::new(),
        };
        let known = targets_by_name(&objects, &reference(Some("g")));
        let first = |from: &Object| known["a"].first_from(from);
        assert_eq!(
            [one, none, two, three].map(first),
            [Some(0), Some(0), Some(1), Some(1)]
        );
        assert!(!known.contains_key("b"));
        let known = targets_by_name(&objects, &reference(None));
        assert_eq!(known["b"].first_from(one), Some(4));
    }
}

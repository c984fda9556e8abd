//! Which fields of which objects a transformer changes: kustomize's own configuration, and what `configurations:` adds to it.
//!
//! <https://github.com/kubernetes-sigs/kustomize/tree/master/examples/transformerconfigs>

use std::collections::BTreeMap;
use std::sync::Arc;

use yaml_tree::engine::Engine;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Node, Value};

use super::object::Object;

/// The fields of kustomize's own configuration, without those of workloads, whose templates nothing looks at.
const OWN: &str = "
namePrefix: [{path: metadata/name}]
nameSuffix: [{path: metadata/name}]
namespace: [{path: metadata/name, kind: Namespace, create: true}]
commonLabels: [{path: metadata/labels, create: true}]
templateLabels: [{path: metadata/labels, create: true}]
commonAnnotations: [{path: metadata/annotations, create: true}]
images:
- {path: 'spec/containers[]/image', create: true}
- {path: 'spec/initContainers[]/image', create: true}
- {path: 'spec/template/spec/containers[]/image', create: true}
- {path: 'spec/template/spec/initContainers[]/image', create: true}
replicas:
- {path: spec/replicas, create: true, kind: Deployment}
- {path: spec/replicas, create: true, kind: ReplicationController}
- {path: spec/replicas, create: true, kind: ReplicaSet}
- {path: spec/replicas, create: true, kind: StatefulSet}
varReference: [{path: metadata/labels}, {path: metadata/annotations}]
";

/// A field of the objects of a kind; a missing part means any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSpec {
    group: Option<Arc<str>>,
    version: Option<Arc<str>>,
    kind: Option<Arc<str>>,
    pub(super) path: Vec<Arc<str>>,
    creates: bool,
}

/// What is made where a field is missing that is to be created.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// Nothing, whatever the field says.
    Left,
    Map,
    Scalar,
}

/// What becomes of a field.
type Change<'c> = &'c mut dyn FnMut(&mut Node) -> Result<(), String>;

impl FieldSpec {
    /// The fields below a key of a configuration, or of a transformer.
    pub(super) fn read_all(node: &Node, key: &str) -> Vec<Self> {
        let part = |spec: &Node, key: &str| spec.nonempty_text(&[key]).map(Arc::from);
        let field = |spec: &Node| FieldSpec {
            group: part(spec, "group"),
            version: part(spec, "version"),
            kind: part(spec, "kind"),
            path: split(spec.text(&["path"]).unwrap_or_default()),
            creates: spec.flag(&["create"]),
        };
        node.items(&[key]).iter().map(field).collect()
    }

    /// That of every object at a path, which is created.
    pub(super) fn new(path: &str) -> Self {
        Self {
            path: split(path),
            creates: true,
            ..Self::default()
        }
    }

    /// Whether it is the field at a path.
    pub(super) fn leads_to(&self, path: &[&str]) -> bool {
        self.path.iter().map(|key| &**key).eq(path.iter().copied())
    }

    /// Whether it is of an object's kind.
    pub(super) fn is_of(&self, object: &Object) -> bool {
        let fits =
            |part: &Option<Arc<str>>, own: &str| part.as_ref().is_none_or(|part| **part == *own);
        fits(&self.group, object.group())
            && fits(&self.version, object.version())
            && fits(&self.kind, object.kind())
    }

    /// Changes the field of an object, through all lists on the way, if the object is of its kind.
    pub(super) fn change(
        &self,
        object: &mut Object,
        missing: Missing,
        change: Change<'_>,
    ) -> Result<(), String> {
        if !self.is_of(object) {
            return Ok(());
        }
        let missing = if self.creates { missing } else { Missing::Left };
        follow(&mut object.tree, &self.path, missing, change).map_err(|error| {
            format!(
                "the field `{}` of {}: {error}",
                self.path.join("/"),
                object.title()
            )
        })
    }

    /// Adds fields to others; one that is there stays.
    pub(super) fn merge(all: &mut Vec<Self>, more: &[Self]) -> Result<(), String> {
        for field in more {
            let covers =
                |part: &Option<Arc<str>>, other: &Option<Arc<str>>| part.is_none() || part == other;
            let mut like = all.iter().filter(|known| {
                known.path == field.path
                    && covers(&field.group, &known.group)
                    && covers(&field.version, &known.version)
                    && covers(&field.kind, &known.kind)
            });
            match like.next() {
                None => all.push(field.clone()),
                Some(known) if known.creates == field.creates => {}
                Some(_) => {
                    let path = field.path.join("/");
                    return Err(format!(
                        "`create` of the field `{path}` is said in two ways"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The keys of a path with `/` between them; `\/` is a part of a key.
pub(super) fn split(path: &str) -> Vec<Arc<str>> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let hidden = path.replace("\\/", "\0");
    let keys = hidden.split('/').map(|key| key.replace('\0', "/").into());
    keys.collect()
}

fn follow(
    node: &mut Node,
    path: &[Arc<str>],
    missing: Missing,
    change: Change<'_>,
) -> Result<(), String> {
    let Some((key, rest)) = path.split_first() else {
        return change(node);
    };
    match &mut node.value {
        Value::Null => Ok(()),
        Value::List(items) => Arc::make_mut(items)
            .iter_mut()
            .try_for_each(|item| follow(item, path, missing, change)),
        Value::Map(map) => {
            let map = Arc::make_mut(map);
            let (key, is_list) = match key.strip_suffix("[]") {
                Some(key) => (key, true),
                None => (&**key, false),
            };
            if missing != Missing::Left && !is_list {
                let is_scalar = missing == Missing::Scalar && rest.is_empty();
                if map.get(key).is_none() {
                    map.insert(Entry::from_value(key, Value::Null));
                }
                if let Some(field) = map.get_mut(key)
                    && field.value.is_null()
                    && !is_scalar
                {
                    field.value = Value::empty_map();
                }
            }
            match map.get_mut(key) {
                Some(field) => follow(field, rest, missing, change),
                None => Ok(()),
            }
        }
        other => Err(format!("`{key}` leads into {}", other.kind())),
    }
}

/// A declaration of a `configurations` file: fields of other objects hold the names of objects of a kind.
///
/// <https://github.com/kubernetes-sigs/kustomize/tree/master/examples/transformerconfigs#name-reference-transformer>
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// The kind of the objects that are referred to.
    pub(super) kind: Arc<str>,
    /// Their group; any where none is given.
    pub(super) group: Option<Arc<str>>,
    /// The fields with their names.
    pub(super) fields: Vec<FieldSpec>,
}

impl Reference {
    /// The references of a `configurations` file.
    fn read_all(configuration: &Node) -> Vec<Self> {
        let part = |node: &Node, key: &str| node.nonempty_text(&[key]).map(Arc::from);
        let reference = |reference: &Node| {
            Some(Self {
                kind: part(reference, "kind")?,
                group: part(reference, "group"),
                fields: FieldSpec::read_all(reference, "fieldSpecs"),
            })
        };
        let references = configuration.items(&["nameReference"]).iter();
        references.filter_map(reference).collect()
    }
}

/// The fields of all transformers, and the references that follow a name.
#[derive(Clone, Debug, Default)]
pub(super) struct Configuration {
    fields: BTreeMap<&'static str, Vec<FieldSpec>>,
    pub(super) references: Vec<Reference>,
}

/// The keys of a configuration that list fields.
const KEYS: [&str; 11] = [
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "templateLabels",
    "volumeClaimTemplateLabels",
    "commonAnnotations",
    "varReference",
    "images",
    "replicas",
];

impl Configuration {
    /// Kustomize's own.
    pub(super) fn own() -> Self {
        let read = yaml_tree::values(OWN, Place::NONE.file, Engine::Kubectl);
        let own = read.unwrap_or(Node::from_value(Value::Null));
        let fields = KEYS
            .iter()
            .map(|key| (*key, FieldSpec::read_all(&own, key)));
        Self {
            fields: fields.collect(),
            references: Vec::new(),
        }
    }

    /// The fields below a key.
    pub(super) fn fields(&self, key: &str) -> &[FieldSpec] {
        self.fields.get(key).map_or(&[], Vec::as_slice)
    }

    /// Adds what a `configurations` file says.
    pub(super) fn add_file(&mut self, file: &Node) -> Result<(), String> {
        for key in KEYS {
            let fields = self.fields.entry(key).or_default();
            FieldSpec::merge(fields, &FieldSpec::read_all(file, key))?;
        }
        self.add_references(Reference::read_all(file));
        Ok(())
    }

    /// Adds that of a base.
    pub(super) fn add(&mut self, base: &Self) -> Result<(), String> {
        for (key, more) in &base.fields {
            FieldSpec::merge(self.fields.entry(key).or_default(), more)?;
        }
        self.add_references(base.references.clone());
        Ok(())
    }

    fn add_references(&mut self, references: Vec<Reference>) {
        for reference in references {
            if !self.references.contains(&reference) {
                self.references.push(reference);
            }
        }
    }
}

//! A Kubernetes object during a build, and the names that it has had.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::secrets;
use yaml_tree::place::Sources;
use yaml_tree::value::{Map, Node, Value};

use crate::model::date::{Date, MIDNIGHT};

/// An object of the build.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// The object, with the places of its values.
    pub(super) tree: Node,
    /// Its names before overlays changed them; patches and generators still find it by these.
    previous: Vec<Named>,
    /// Whether its name will end in a hash of its content.
    pub(super) is_hashed: bool,
    /// Whether a JSON patch changed it, so that only the quotes are left that a text needs.
    pub(super) is_requoted: bool,
    /// The variables whose value it has.
    pub(super) variables: Vec<Arc<str>>,
    /// How the labels and annotations without a value are written, by field and key.
    nulls: BTreeMap<(&'static str, Arc<str>), Arc<str>>,
}

/// A name in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Named {
    pub(super) name: Arc<str>,
    /// `default` if none is set: kustomize treats these as equal.
    pub(super) namespace: Arc<str>,
}

impl Object {
    pub(super) fn new(tree: Node) -> Self {
        Self {
            tree,
            previous: Vec::new(),
            is_hashed: false,
            is_requoted: false,
            variables: Vec::new(),
            nulls: BTreeMap::new(),
        }
    }

    /// Its kind and name, for a message.
    pub(super) fn title(&self) -> String {
        format!("{} `{}`", self.kind(), self.name())
    }

    /// Makes labels and annotations texts, as kustomize does. What is null stays so, and selectors find it by its text.
    pub(super) fn spell_marks(&mut self, spell: impl Fn(&Node) -> Arc<str>) {
        let is_text = |node: &Node| !matches!(node.value, Value::Bool(_) | Value::Number(_));
        for field in ["labels", "annotations"] {
            let entries = self.tree.entries(&["metadata", field]);
            let nulls = entries.clone().filter(|entry| entry.node.value.is_null());
            let nulls = nulls.map(|entry| ((field, Arc::clone(&entry.key)), spell(&entry.node)));
            self.nulls.extend(nulls);
            if !entries.clone().all(|entry| is_text(&entry.node)) {
                let spelled = entries.map(|entry| match &entry.node {
                    node if is_text(node) => entry.clone(),
                    node => entry.with_node(Node::new(Value::String(spell(node)), node.place)),
                });
                let map: Map = spelled.collect();
                self.tree.set(&["metadata", field], map);
            }
        }
    }

    /// Puts labels in place of what patches and variables made of a Secret.
    pub(super) fn seal(&mut self, sources: &Sources) {
        if self.kind() == "Secret" {
            let file = sources.get(self.tree.place.file);
            let path = file.map_or("", |file| &file.path);
            secrets::seal_objects(&mut self.tree, path);
        }
    }

    pub(super) fn kind(&self) -> &str {
        self.tree.text(&["kind"]).unwrap_or_default()
    }

    /// The group of `apiVersion`; empty for the core group.
    pub(super) fn group(&self) -> &str {
        let version = self.tree.text(&["apiVersion"]).unwrap_or_default();
        version.split_once('/').map_or("", |(group, _)| group)
    }

    pub(super) fn version(&self) -> &str {
        let version = self.tree.text(&["apiVersion"]).unwrap_or_default();
        version
            .split_once('/')
            .map_or(version, |(_, version)| version)
    }

    pub(super) fn name(&self) -> &str {
        self.tree.text(&["metadata", "name"]).unwrap_or_default()
    }

    /// The namespace as written; empty if there is none.
    pub(super) fn namespace(&self) -> &str {
        self.tree
            .text(&["metadata", "namespace"])
            .unwrap_or_default()
    }

    /// All names, the current one last.
    pub(super) fn names(&self) -> impl Iterator<Item = Named> + '_ {
        self.previous.iter().cloned().chain([self.current()])
    }

    /// Its first name.
    pub(super) fn original(&self) -> Named {
        self.previous
            .first()
            .cloned()
            .unwrap_or_else(|| self.current())
    }

    pub(super) fn current(&self) -> Named {
        let namespace = match self.namespace() {
            "" => "default",
            namespace => namespace,
        };
        Named {
            name: self.name().into(),
            namespace: namespace.into(),
        }
    }

    /// Whether kustomize treats both as the same object: by kind, and any name that this one has had.
    pub(super) fn is_same_as(&self, other: &Object) -> bool {
        let named = other.current();
        self.is_kind_of(other) && self.names().any(|name| name == named)
    }

    pub(super) fn is_kind_of(&self, other: &Object) -> bool {
        self.kind() == other.kind()
            && self.group() == other.group()
            && self.version() == other.version()
    }

    /// Changes the name or namespace, and records the previous one.
    pub(super) fn rename(&mut self, field: &str, value: &str) {
        let current = self.current();
        if !self.previous.contains(&current) {
            self.previous.push(current);
        }
        self.tree.set(&["metadata", field], value);
    }

    /// Copies the names of the object that this one replaces, and whether the name gets a hash.
    pub(super) fn take_names_of(&mut self, other: &Object) {
        self.previous.clone_from(&other.previous);
        self.is_hashed = other.is_hashed;
        self.variables.clone_from(&other.variables);
        for field in ["name", "namespace"] {
            match other.tree.get_path(&["metadata", field]) {
                Some(node) => self.tree.set(&["metadata", field], node.value.clone()),
                None => self.tree.remove(&["metadata", field]),
            }
        }
    }

    /// The text of a label or an annotation, as selectors compare it; `field` is `labels` or `annotations`.
    pub(super) fn metadata(&self, field: &'static str, key: &str) -> Option<&str> {
        let node = self.tree.get_path(&["metadata", field, key])?;
        match &node.value {
            // A JSON patch writes the whole object again.
            Value::Null if self.is_requoted => Some("null"),
            Value::Null => Some(self.nulls.get(&(field, key.into())).map_or("", |text| text)),
            value => value
                .as_str()
                .map(|text| match text.strip_suffix(MIDNIGHT) {
                    // It is a date until a JSON patch writes it.
                    Some(day) if !self.is_requoted && Date::parse(day).is_some() => day,
                    _ => &**text,
                }),
        }
    }
}

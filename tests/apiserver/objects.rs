//! Objects of files, as they are sent to the server.

use serde_json::{Value, json};
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;

/// An object of a file.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// Its document, byte for byte, which the server reads itself. JSON for an item of a list.
    pub(super) text: String,
    /// The same as metalmark reads it.
    pub(super) json: Value,
}

impl Object {
    pub(super) fn of(json: Value) -> Self {
        let text = json.to_string();
        Self { text, json }
    }

    fn field(&self, pointer: &str) -> &str {
        let found = self.json.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_default()
    }

    pub(super) fn kind(&self) -> &str {
        self.field("/kind")
    }

    pub(super) fn name(&self) -> &str {
        self.field("/metadata/name")
    }

    pub(super) fn namespace(&self) -> &str {
        match self.field("/metadata/namespace") {
            "" => "default",
            other => other,
        }
    }

    pub(super) fn group_version(&self) -> (&str, &str) {
        let version = self.field("/apiVersion");
        version.split_once('/').unwrap_or(("", version))
    }

    /// Kind, namespace and name, for people.
    pub(super) fn title(&self) -> String {
        format!("{} {}/{}", self.kind(), self.namespace(), self.name())
    }
}

/// An object with a spec.
pub(super) fn object(
    version: &str,
    kind: &str,
    namespace: &str,
    name: &str,
    spec: &Value,
) -> Object {
    Object::of(json!({
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }))
}

/// What a values file says, or another file with one document.
pub(super) fn values(text: &str) -> Value {
    let tree = yaml_tree::values(text, FileId(0), Engine::Helm4).expect("YAML");
    serde_json::from_str(&to_json(&tree.value, Html::Plain)).expect("JSON")
}

/// The objects of a file, items of a `kind: List` included.
pub(super) fn objects(text: &str) -> Vec<Object> {
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl).expect("YAML");
    let parts = yaml_tree::parts(text).expect("documents");
    assert_eq!(parts.len(), read.documents.len());
    let mut found = Vec::new();
    for (part, document) in parts.into_iter().zip(&read.documents) {
        let json = to_json(&document.value, Html::Plain);
        let json: Value = serde_json::from_str(&json).expect("JSON");
        match (&json["kind"], &json["items"]) {
            (Value::String(kind), Value::Array(items)) if kind == "List" => {
                found.extend(items.iter().cloned().map(Object::of));
            }
            (Value::String(_), _) => found.push(Object {
                text: text[part].to_owned(),
                json,
            }),
            _ => {}
        }
    }
    found
}

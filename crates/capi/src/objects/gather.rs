//! The objects of a file: documents, items of lists, maps below other keys, and manifests in strings.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use yaml_tree::bytes::BASE64;
use yaml_tree::edit::Step;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source, Spot};
use yaml_tree::value::{Entry, Map, Node, Value};
use yaml_tree::{Notice, SyntaxError};

use super::text::Inner;
use super::{ManifestObject, Text};
use crate::secrets::{self, DEPTH};

/// What marks a text as one to be stamped.
pub const MARKER: &str = "metalmark:";

/// What a file holds.
#[derive(Default)]
pub struct Found {
    /// The objects, in their order; those below another one behind it.
    pub objects: Vec<ManifestObject>,
    /// Strings that look like manifests and cannot be read as such.
    pub unread: Vec<Unread>,
    /// What may surprise the file's author.
    pub notices: Vec<Notice>,
}

/// A string that looks like a manifest, and is no YAML.
pub struct Unread {
    /// Where.
    pub spot: Option<Spot>,
    /// The kinds that it names.
    pub kinds: Vec<String>,
    /// Whether it contains expressions of a template.
    pub has_expressions: bool,
    /// Why it cannot be read, without what that quotes of a secret.
    pub reason: String,
}

/// The annotation in which kubectl keeps what it applied: of an object, and none itself
/// (<https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-kubernetes-io-last-applied-configuration>).
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The objects of a file, in their order. Lists may be nested, and strings may contain manifests. A document that is no object
/// counts as one without kind where its text contains a marker, or where it refers to an object as a kustomization does.
///
/// # Errors
/// The file is no YAML as kubectl reads it.
pub fn objects(source: &Arc<Source>) -> Result<Found, SyntaxError> {
    let mut found = Found::default();
    found.notices = read_objects(&Text::from_file(Arc::clone(source)), &mut found)?;
    Ok(found)
}

fn read_objects(text: &Arc<Text>, found: &mut Found) -> Result<Vec<Notice>, SyntaxError> {
    let read = secrets::documents(&text.source, FileId(0), Engine::Kubectl)?;
    let strings = strings(&text.source);
    let is_marked = text.source.text.contains(MARKER);
    for (document, node) in read.documents.iter().enumerate() {
        let is_collection = matches!(node.value, Value::Map(_) | Value::List(_));
        if is_collection && !has_kind(node) && (is_marked || has_reference(node)) {
            found
                .objects
                .push(ManifestObject::new(text, document, &[], node.clone()));
        }
        let mut walk = Walk {
            text,
            document,
            steps: Vec::new(),
            is_of_transformer: node.text(&["apiVersion"]) == Some("builtin"),
            met: BTreeSet::new(),
            secret: None,
            strings: &strings,
            found,
        };
        walk.node(node);
    }
    Ok(read.notices)
}

/// The strings of a text with secrets, by where they start.
fn strings(source: &Source) -> HashMap<u32, Arc<str>> {
    fn collect(node: &Node, found: &mut HashMap<u32, Arc<str>>) {
        if let Value::String(text) = &node.value {
            found.insert(node.place.start, Arc::clone(text));
        }
        node.children().for_each(|child| collect(child, found));
    }
    let mut found = HashMap::new();
    if source.has_secrets() {
        let read = yaml_tree::read(&source.text, FileId(0), Engine::Kubectl);
        let documents = read.map_or_else(|_| Vec::new(), |read| read.documents);
        documents.iter().for_each(|node| collect(node, &mut found));
    }
    found
}

/// A way through a document.
struct Walk<'a> {
    text: &'a Arc<Text>,
    document: usize,
    steps: Vec<Step>,
    /// Whether the document is the configuration of one of kustomize's own transformers.
    is_of_transformer: bool,
    /// The places of objects and of strings with objects.
    met: BTreeSet<(u32, u32)>,
    /// The name of the Secret that the way leads through.
    secret: Option<Place>,
    /// The strings that hold secrets, as they are written, by where they start: what is edited is the text of the file.
    strings: &'a HashMap<u32, Arc<str>>,
    found: &'a mut Found,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node) {
        match &node.value {
            Value::Map(_) if let Some(items) = list_items(node) => {
                self.steps.push(Step::from("items"));
                for (index, item) in items.iter().enumerate() {
                    self.visit_child(Step::from(index), item);
                }
                self.steps.pop();
            }
            Value::Map(map) => {
                let around = self.secret;
                if self.is_object(node) && self.is_first(node.place) {
                    let object =
                        ManifestObject::new(self.text, self.document, &self.steps, node.clone());
                    self.secret = (&*object.kind == "Secret").then_some(object.name_place());
                    self.found.objects.push(object);
                }
                self.map(map);
                self.secret = around;
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.visit_child(Step::from(index), item);
                }
            }
            Value::String(value) => self.string(node.place, value),
            Value::Opaque(_) => {
                if let Some(value) = self.strings.get(&node.place.start).map(Arc::clone) {
                    self.string(node.place, &value);
                }
            }
            _ => {}
        }
    }

    /// Whether it is an object of its own. Below other keys it needs metadata or a spec: what has only a name is a reference.
    fn is_object(&self, node: &Node) -> bool {
        let is_map = |key: &str| {
            let below = node.get_path(&[key]);
            below.is_some_and(|below| below.value.as_map().is_some())
        };
        let is_item =
            matches!(&self.steps[..], [.., Step::Key(items), Step::Index(_)] if items == "items");
        let is_own = self.steps.is_empty() || is_item || is_map("metadata") || is_map("spec");
        has_kind(node) && is_own
    }

    /// Whether the place is met for the first time: an alias shows the same node again.
    fn is_first(&mut self, place: Place) -> bool {
        !place.is_known() || self.met.insert((place.start, place.end))
    }

    /// The entries in the order of the file.
    fn map(&mut self, map: &Map) {
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_by_key(|entry| entry.key_place.start);
        for entry in entries {
            self.visit_child(Step::from(&*entry.key), &entry.node);
        }
    }

    fn visit_child(&mut self, step: Step, node: &Node) {
        if matches!(&step, Step::Key(key) if &**key == LAST_APPLIED) {
            return;
        }
        if matches!(
            node.value,
            Value::Map(_) | Value::List(_) | Value::String(_) | Value::Opaque(_)
        ) {
            self.steps.push(step);
            self.node(node);
            self.steps.pop();
        }
    }

    /// A string that may hold manifests.
    fn string(&mut self, place: Place, value: &str) {
        let decoded = self.decode(value);
        let (value, is_encoded) = match &decoded {
            Some(text) => (text.as_str(), true),
            None => (value, false),
        };
        let looks_so = value.contains("apiVersion") || value.contains(MARKER);
        if !looks_so || !value.contains('\n') && !value.starts_with('{') {
            return;
        }
        if self.text.depth() >= DEPTH || !place.is_known() || !self.is_first(place) {
            return;
        }
        let inner = self.text.inner(Inner {
            at: (self.document, self.steps.clone()),
            place,
            value,
            secret: self.secret,
            is_of_transformer: self.is_of_transformer,
            is_encoded,
        });
        if let Err(error) = read_objects(&inner, self.found) {
            self.found
                .unread
                .extend(unreadable_string(&inner, value, error));
        }
    }

    /// What a Secret's `data` holds in base64.
    fn decode(&self, value: &str) -> Option<String> {
        self.secret?;
        let is_data =
            matches!(&self.steps[..], [.., Step::Key(data), Step::Key(_)] if data == "data");
        let bytes = is_data.then(|| BASE64.decode(value.as_bytes()).ok())??;
        String::from_utf8(bytes).ok()
    }
}

/// What is to be said of a string that cannot be read.
fn unreadable_string(text: &Text, value: &str, error: SyntaxError) -> Option<Unread> {
    let kinds = value.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches("- ");
        Some(line.strip_prefix("kind:")?.trim().to_owned())
    });
    let kinds: Vec<String> = kinds.collect();
    // A marker in it is reported where markers are read.
    (!value.contains(MARKER) && !kinds.is_empty()).then(|| Unread {
        spot: text.spot(error.place),
        kinds,
        has_expressions: value.contains("{{"),
        reason: if text.source.has_secrets() {
            error.message.seal().into()
        } else {
            error.message.into()
        },
    })
}

fn has_kind(node: &Node) -> bool {
    let is_text = |key: &str| node.text(&[key]).is_some_and(|text| !text.is_empty());
    is_text("apiVersion") && is_text("kind")
}

/// Whether a map at or below a node refers to an object by kind and name.
fn has_reference(node: &Node) -> bool {
    let is_text = |key: &str| {
        node.get_path(&[key])
            .is_some_and(|node| node.value.as_str().is_some())
    };
    is_text("kind") && is_text("name") || node.children().any(has_reference)
}

/// The items of a `kind: List`, which are the objects; none of another document. One without content has no items.
fn list_items(node: &Node) -> Option<Vec<Node>> {
    let kind = node.text(&["kind"])?.strip_suffix("List")?;
    let items = match &node.get_path(&["items"])?.value {
        Value::Null => &[],
        items => items.as_list()?,
    };
    let version = node.text(&["apiVersion"]).unwrap_or_default();
    let items = items.iter();
    Some(
        items
            .map(|item| complete_item(item, version, kind))
            .collect(),
    )
}

/// The objects that are applied of a document: itself, or the items of a list, which may be lists again.
pub fn unpack_lists(document: &Node) -> Vec<Node> {
    match list_items(document) {
        Some(items) => items.iter().flat_map(unpack_lists).collect(),
        None => vec![document.clone()],
    }
}

/// An item of a list of one kind, with what kubectl and Helm take from the list where it says neither.
fn complete_item(item: &Node, version: &str, kind: &str) -> Node {
    let has = |key: &str| item.get_path(&[key]).is_some();
    match item.value.as_map() {
        Some(map) if !kind.is_empty() && !has("apiVersion") && !has("kind") => {
            let mut map = Map::clone(map);
            map.insert(Entry::from_value("apiVersion", version));
            map.insert(Entry::from_value("kind", kind));
            Node {
                value: map.into(),
                place: item.place,
            }
        }
        _ => item.clone(),
    }
}

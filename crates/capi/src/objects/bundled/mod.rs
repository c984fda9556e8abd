//! The objects of a bundle's manifests: the name and place of each, without its content.
//!
//! A bundle may hold ten thousand objects; their files are read one after the other and let go.

mod order;
mod scope;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use go_template::root;
use yaml_tree::SyntaxError;
use yaml_tree::edit::Step;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source, Spot};
use yaml_tree::value::{Node, Value};

pub use order::{Order, rank};
pub use scope::is_cluster_scoped;

/// An object of a bundle.
#[derive(Clone, Debug)]
pub struct Bundled {
    /// The file, by its number among the bundle's.
    pub file: usize,
    /// The range of its document in the file, in bytes.
    pub document: Range<usize>,
    /// The number of the document, where there are several without a line between them: JSON may.
    pub number: usize,
    /// The way to it within the document: none, or to an item of a list.
    pub steps: Vec<Step>,
    /// Its `apiVersion`.
    pub api_version: Arc<str>,
    /// Its `kind`.
    pub kind: Arc<str>,
    /// Its `metadata.namespace`; empty where it has none.
    pub namespace: Arc<str>,
    /// Its `metadata.name`.
    pub name: Arc<str>,
    /// The range of its name in the file, in bytes.
    pub named: Range<usize>,
    /// What it makes known to the cluster: a CustomResourceDefinition.
    pub defines: Option<Defined>,
}

/// What identifies an object in a cluster, whatever its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity<'a> {
    /// The group.
    pub group: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The namespace; empty where it has none.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

/// What a CustomResourceDefinition makes known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    /// The group.
    pub group: Arc<str>,
    /// The kind.
    pub kind: Arc<str>,
    /// Whether its objects are the cluster's, and no namespace's.
    pub is_cluster_scoped: bool,
}

/// What rules see of a bundle of manifests.
pub struct Bundle<'a> {
    /// The objects, in the order of the files.
    pub objects: &'a [Bundled],
    /// The files that people see in places.
    pub files: &'a dyn BundleFiles,
    /// The order in which the consumer of the bundle applies its objects.
    pub order: Order,
    /// The objects that define kinds, by group and kind; of several the first one.
    definitions: BTreeMap<(&'a str, &'a str), &'a Bundled>,
}

/// The texts of a bundle's files, read again where a finding shows one.
pub trait BundleFiles {
    /// A file, by its number; none where it can no longer be read.
    fn source(&self, file: usize) -> Option<Arc<Source>>;
}

impl Bundled {
    /// The group of its `apiVersion`; empty for Kubernetes' first.
    pub fn group(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// Whether it is a Namespace, which others may be in.
    pub fn is_namespace(&self) -> bool {
        self.group().is_empty() && &*self.kind == "Namespace"
    }

    /// What identifies an object in the cluster.
    pub fn identity(&self) -> Identity<'_> {
        Identity {
            group: self.group(),
            kind: &self.kind,
            namespace: &self.namespace,
            name: &self.name,
        }
    }
}

/// As `kubectl` names it: `Deployment prod/web`.
impl std::fmt::Display for Bundled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.namespace.is_empty() {
            write!(f, "{} {}", self.kind, self.name)
        } else {
            write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
        }
    }
}

impl<'a> Bundle<'a> {
    /// The objects of these files.
    pub fn new(objects: &'a [Bundled], files: &'a dyn BundleFiles, order: Order) -> Self {
        let mut definitions = BTreeMap::new();
        for object in objects {
            if let Some(defined) = &object.defines {
                let key = (&*defined.group, &*defined.kind);
                definitions.entry(key).or_insert(object);
            }
        }
        Self {
            objects,
            files,
            order,
            definitions,
        }
    }

    /// The kinds of its objects that neither it nor Kubernetes defines, as `KIND.GROUP`.
    pub fn foreign_kinds(&self) -> BTreeSet<String> {
        let is_foreign = |object: &&Bundled| {
            !root::is_own_group(object.group()) && self.definition(object).is_none()
        };
        let foreign = self.objects.iter().filter(is_foreign);
        foreign
            .map(|object| format!("{}.{}", object.kind, object.group()))
            .collect()
    }

    /// The object of the bundle that defines an object's kind.
    pub fn definition(&self, object: &Bundled) -> Option<&'a Bundled> {
        self.definitions
            .get(&(object.group(), &*object.kind))
            .copied()
    }

    /// The place of an object's name.
    pub fn spot(&self, object: &Bundled) -> Option<Spot> {
        Some(Spot {
            source: self.files.source(object.file)?,
            start: object.named.start as u32,
            end: object.named.end as u32,
        })
    }

    /// Whether objects of that sort are the cluster's: Kubernetes' own, and those that the bundle defines.
    pub fn is_cluster_scoped(&self, object: &Bundled) -> bool {
        let defined = self.definition(object).and_then(|it| it.defines.as_ref());
        match defined {
            Some(defined) => defined.is_cluster_scoped,
            None => is_cluster_scoped(object.group(), &object.kind),
        }
    }
}

/// What the documents of a file are.
#[derive(Default)]
pub struct Indexed {
    /// The objects.
    pub objects: Vec<Bundled>,
    /// The documents that are not objects: their places and the problems.
    pub faults: Vec<(Range<usize>, String)>,
    /// Documents that a tool of kustomize's reads, and no cluster takes.
    pub inputs: usize,
}

/// The objects of a file's text, document by document, as kubectl reads it.
///
/// # Errors
/// The text is not read as YAML or JSON.
pub fn index(file: usize, text: &str) -> Result<Indexed, SyntaxError> {
    let mut found = Indexed::default();
    for part in yaml_tree::parts(text)? {
        let read = yaml_tree::read(&text[part.clone()], FileId(0), Engine::Kubectl)
            .map_err(|error| shift(error, part.start))?;
        for (number, node) in read.documents.iter().enumerate() {
            let gathering = Gathering {
                file,
                document: &part,
                number,
                found: &mut found,
            };
            gathering.document(node);
        }
    }
    Ok(found)
}

/// An error of a part of a text, at its place in the whole.
fn shift(mut error: SyntaxError, start: usize) -> SyntaxError {
    if error.place.is_known() {
        error.place.start += start as u32;
        error.place.end += start as u32;
    }
    error
}

struct Gathering<'a> {
    file: usize,
    document: &'a Range<usize>,
    number: usize,
    found: &'a mut Indexed,
}

impl Gathering<'_> {
    fn document(mut self, node: &Node) {
        match &node.value {
            Value::Null => {}
            Value::Map(_) => self.gather(node, Vec::new()),
            other => {
                let message = format!("an object is a map, and this is {}", other.kind());
                self.fault(node.place, message);
            }
        }
    }

    fn gather(&mut self, node: &Node, steps: Vec<Step>) {
        let text = |path: &[&str]| {
            let text = node.get_path(path).and_then(|node| node.value.as_str());
            text.map_or_else(|| Arc::from(""), Arc::clone)
        };
        let (api_version, kind) = (text(&["apiVersion"]), text(&["kind"]));
        let items = node
            .get_path(&["items"])
            .and_then(|items| items.value.as_list());
        if let Some(items) = items.filter(|_| kind.ends_with("List") && !api_version.is_empty()) {
            for (index, item) in items.iter().enumerate() {
                let below = [Step::from("items"), Step::from(index)];
                self.gather(item, steps.iter().cloned().chain(below).collect());
            }
            return;
        }
        if api_version.starts_with("kustomize.config.k8s.io/") {
            self.found.inputs += 1;
            return;
        }
        let name = text(&["metadata", "name"]);
        let fields = [
            (&api_version, "apiVersion"),
            (&kind, "kind"),
            (&name, "metadata.name"),
        ];
        if let Some((_, field)) = fields.iter().find(|(text, _)| text.is_empty()) {
            let message = format!("an object has a text `{field}`, and this has none");
            self.fault(node.place, message);
            return;
        }
        self.found.objects.push(Bundled {
            file: self.file,
            document: self.document.clone(),
            number: self.number,
            steps,
            defines: read_definition(node, &kind),
            api_version,
            kind,
            namespace: text(&["metadata", "namespace"]),
            name,
            named: self.range(node.place_at(&["metadata", "name"])),
        });
    }

    fn range(&self, place: Place) -> Range<usize> {
        if place.is_known() {
            let start = self.document.start;
            start + place.start as usize..start + place.end as usize
        } else {
            self.document.clone()
        }
    }

    fn fault(&mut self, place: Place, message: String) {
        let mut range = self.range(place);
        // The first line says where; the rest is the object.
        range.end = range.end.min(range.start + 1);
        self.found.faults.push((range, message));
    }
}

fn read_definition(node: &Node, kind: &str) -> Option<Defined> {
    let text = |path: &[&str]| {
        node.get_path(path)
            .and_then(|node| node.value.as_str())
            .cloned()
    };
    if kind != "CustomResourceDefinition" {
        return None;
    }
    Some(Defined {
        group: text(&["spec", "group"])?,
        kind: text(&["spec", "names", "kind"])?,
        is_cluster_scoped: text(&["spec", "scope"]).as_deref() == Some("Cluster"),
    })
}

#[cfg(test)]
mod tests {
    use super::index;

    #[test]
    fn objects_are_found_with_their_places() {
        let text = "# nothing\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n\
                    apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: b, namespace: shop}}\n";
        let found = index(3, text).expect("YAML");
        let reported: Vec<String> = found.objects.iter().map(ToString::to_string).collect();
        assert_eq!(reported, ["Secret a", "Secret shop/b"]);
        for object in &found.objects {
            assert_eq!(&text[object.named.clone()], &*object.name);
            assert_eq!(object.file, 3);
        }
        let json = r#"{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"}}"#;
        assert_eq!(index(0, json).expect("JSON").objects.len(), 1);
    }

    #[test]
    fn what_is_no_object_is_reported_with_its_line() {
        let text =
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\nkind: Secret\n---\n- 1\n";
        let found = index(0, text).expect("YAML");
        let starts: Vec<&str> = found
            .faults
            .iter()
            .map(|(range, _)| &text[range.clone()])
            .collect();
        assert_eq!(starts, ["k", "-"]);
        let error = index(0, "a: 1\n---\nb: [\n")
            .map(|_| ())
            .expect_err("no YAML");
        assert!(error.place.start >= 9, "{error:?}");
    }

    #[test]
    fn a_definition_says_what_it_makes_known() {
        let text = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.y}\n\
                    spec: {group: x.y, scope: Cluster, names: {kind: A}}\n";
        let found = index(0, text).expect("YAML");
        let defined = found.objects[0].defines.as_ref().expect("defined");
        assert!(defined.is_cluster_scoped && &*defined.kind == "A");
    }
}

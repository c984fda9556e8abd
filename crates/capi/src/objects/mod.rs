//! Kubernetes objects as written in a user's manifests: a document, an item of a `kind: List`, a map below another key
//! (Helm values), or one in a string (a ConfigMap, a HelmRelease's values).

pub mod bundled;
mod gather;
mod nearest;
mod references;
mod text;

use std::sync::Arc;

use yaml_tree::place::{Place, Source, Sources, Spot};
use yaml_tree::value::{Node, Value};
use yaml_tree::{Path, Step, children};

use crate::labels::Labels;
use crate::providers::cluster_api::{ANY_CONTROL_PLANE, REPEATED_VERSIONS, VERSIONS, VersionField};
use crate::providers::{Kind, PROVIDERS};
use crate::unknown::Unknown;

pub use gather::{Found, MARKER, Unread, objects, unpack_lists};
pub use nearest::{Name, Names};
pub use references::{Reference, references};
pub use text::{Host, Text};

/// The annotation of a template that is kept for machines of the past: nothing is stamped into it. It holds the name of the
/// template that took its place.
pub const KEPT_ANNOTATION: &str = "metalmark.dev/kept";

/// The label by which Cluster API's tools find a cluster's objects.
pub const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";

/// An object and its place.
#[derive(Clone, Debug)]
pub struct ManifestObject {
    /// The text that holds it: a file, or a string in one.
    pub text: Arc<Text>,
    /// The document in it, from 0.
    pub document: usize,
    /// The way to it within the document: none, or to an item of a list.
    pub steps: Vec<Step>,
    /// The object itself.
    pub node: Node,
    /// Its `apiVersion`.
    pub api_version: Arc<str>,
    /// Its `kind`.
    pub kind: Arc<str>,
    /// Its `metadata.namespace`; empty where it has none.
    pub namespace: Arc<str>,
    /// Its `metadata.name`; empty where it has none.
    pub name: Arc<str>,
    /// Whether it is none itself, but a patch that kustomize applies to the object of its kind and name.
    pub is_patch: bool,
    /// Whether a kustomization may give it another name.
    pub is_renamed: bool,
    /// Whether another file of the repository may fill in variables of it, those of its secrets too.
    pub may_be_filled: bool,
    /// Whether an operation of a JSON patch writes its name, without its kind, into a reference.
    pub is_named_alone: bool,
    /// Why nobody knows whether it is deployed as it is here.
    pub unknown: Option<Unknown>,
}

impl ManifestObject {
    /// The object at these steps of a document.
    pub fn new(text: &Arc<Text>, document: usize, steps: &[Step], node: Node) -> Self {
        let word = |path: &[&str]| {
            let text = node.get_path(path).and_then(|node| node.value.as_str());
            text.map_or_else(|| Arc::from(""), Arc::clone)
        };
        Self {
            text: Arc::clone(text),
            document,
            steps: steps.to_vec(),
            api_version: word(&["apiVersion"]),
            kind: word(&["kind"]),
            namespace: word(&["metadata", "namespace"]),
            name: word(&["metadata", "name"]),
            is_patch: text.holds_patch(steps),
            is_renamed: false,
            may_be_filled: false,
            is_named_alone: false,
            unknown: None,
            node,
        }
    }

    /// Whether it is in no other object of its text.
    pub fn is_outermost(&self) -> bool {
        text::is_outermost(&self.steps)
    }

    /// Whether a variable may be in it: `${NAME}`.
    pub fn may_have_variables(&self) -> bool {
        let Place { start, end, .. } = self.node.place;
        let own = self.text.source.text.get(start as usize..end as usize);
        self.text.is_build() || own.is_none_or(|own| own.contains("${"))
    }

    /// A place in its file.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        self.text.spot(place)
    }

    /// A value of it, with its places in these files.
    pub fn adopt_node(&self, node: &Node, sources: &mut Sources) -> Node {
        if self.text.is_file() {
            let file = sources.adopt(self.file());
            node.with_places(&mut |place| Place { file, ..place })
        } else {
            node.with_places(&mut |place| self.adopt_place(place, sources))
        }
    }

    /// A place of it in these files.
    pub fn adopt_place(&self, place: Place, sources: &mut Sources) -> Place {
        self.spot(place).map_or(Place::NONE, |spot| Place {
            file: sources.adopt(&spot.source),
            start: spot.start,
            end: spot.end,
        })
    }

    /// The file that holds it.
    pub fn file(&self) -> &Arc<Source> {
        self.text.file()
    }

    /// The folder of that file.
    pub fn folder(&self) -> &str {
        let path = &self.file().path;
        path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Its kind and name, for people.
    pub fn title(&self) -> String {
        match (&*self.kind, &*self.name) {
            ("", _) => format!("`{}`", self.file().path),
            (kind, "") => kind.to_owned(),
            (kind, name) => format!("{kind} `{name}`"),
        }
    }

    /// The way to its name in its document.
    pub fn name_steps(&self) -> Vec<Step> {
        let name = ["metadata", "name"].map(Step::from);
        self.steps.iter().cloned().chain(name).collect()
    }

    /// The place of its name.
    pub fn name_spot(&self) -> Option<Spot> {
        self.spot(self.name_place())
    }

    /// The same, as a place of its text.
    pub fn name_place(&self) -> Place {
        let name = self.node.get_path(&["metadata", "name"]);
        name.map_or(self.node.place, |name| name.place)
    }

    /// The group of its `apiVersion`; empty for Kubernetes' first.
    pub fn group(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// The version of its `apiVersion`, without its group.
    pub fn version(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or(&self.api_version, |(_, version)| version)
    }

    /// Its kind among those with an image in them, whether or not its API version is known.
    pub fn machine_kind(&self) -> Option<&'static Kind> {
        let group = self.group();
        let mut kinds = PROVIDERS.iter().flat_map(|provider| provider.data().kinds);
        kinds.find(|kind| kind.kind == &*self.kind && kind.group == group)
    }

    /// The cluster that it belongs to, by its field or its label.
    pub fn cluster_name(&self) -> Option<&str> {
        let field = self.node.text(&["spec", "clusterName"]);
        field.or_else(|| Some(self.label(CLUSTER_LABEL)?))
    }

    /// Whether it is another object of Cluster API that names its cluster, and that no other object need refer to. A label alone says
    /// so of Cluster API's own kinds only: machine templates of the past keep theirs.
    pub fn has_cluster_name(&self) -> bool {
        let group = self.group();
        let has_name = match group {
            "cluster.x-k8s.io" => &*self.kind != "Cluster" && self.cluster_name().is_some(),
            _ => {
                let field = self.node.get_path(&["spec", "clusterName"]);
                group.ends_with(".cluster.x-k8s.io") && field.is_some()
            }
        };
        has_name && !self.is_patch
    }

    /// Whether it is a template that other objects refer to by name, and whose changes do not reach the objects made from it.
    pub fn is_template(&self) -> bool {
        let group = self.group();
        let of_cluster_api = group.ends_with("cluster.x-k8s.io");
        self.kind.ends_with("Template") && of_cluster_api && !self.is_patch
    }

    /// Whether it is a template that is only kept for machines of the past.
    pub fn is_kept(&self) -> bool {
        let path = ["metadata", "annotations", KEPT_ANNOTATION];
        self.node.get_path(&path).is_some()
    }

    /// Its labels, as far as they are texts.
    pub fn labels(&self) -> Labels {
        let entries = self.node.entries(&["metadata", "labels"]);
        entries
            .filter_map(|entry| {
                Some((
                    Arc::clone(&entry.key),
                    Arc::clone(entry.node.value.as_str()?),
                ))
            })
            .collect()
    }

    /// The text of a label.
    pub fn label(&self, name: &str) -> Option<&Arc<str>> {
        self.node
            .get_path(&["metadata", "labels", name])?
            .value
            .as_str()
    }

    /// The nodes of a path as [`crate::providers::cluster_api`] writes it (`a.b[].c`), each with the way to it.
    pub fn nodes(&self, path: &str) -> Vec<(Vec<Step>, &Node)> {
        let found = Path::parse_fields(path).map(|path| path.nodes(&self.node));
        let below = |(steps, node): (Vec<Step>, _)| {
            let steps = self.steps.iter().cloned().chain(steps);
            (steps.collect(), node)
        };
        found.into_iter().flatten().map(below).collect()
    }

    /// The scalars below it, each with the way to it from the document's root, in the order of the file.
    pub fn scalars(&self) -> Vec<(Vec<Step>, &Node)> {
        let mut found = Vec::new();
        scalars(&self.node, self.steps.clone(), &mut found);
        found.sort_by_key(|(_, node)| node.place.start);
        found
    }
}

fn scalars<'n>(node: &'n Node, steps: Vec<Step>, found: &mut Vec<(Vec<Step>, &'n Node)>) {
    if !matches!(node.value, Value::Map(_) | Value::List(_)) {
        found.push((steps, node));
        return;
    }
    for (step, child) in children(node) {
        let steps = steps.iter().cloned().chain([step]).collect();
        scalars(child, steps, found);
    }
}

/// The Kubernetes version in an object; none where it is an expression, which another program evaluates.
pub fn version_node(object: &ManifestObject) -> Option<(Vec<Step>, &Node)> {
    find_versions(object, VERSIONS).into_iter().next()
}

/// Where an object says its Kubernetes version, each place that does.
pub fn version_nodes(object: &ManifestObject) -> Vec<(Vec<Step>, &Node)> {
    let mut found = find_versions(object, VERSIONS);
    found.append(&mut find_versions(object, REPEATED_VERSIONS));
    found
}

fn find_versions<'o>(
    object: &'o ManifestObject,
    fields: &[VersionField],
) -> Vec<(Vec<Step>, &'o Node)> {
    let group = object.group();
    let is_of_kind = |kind: &str| {
        kind == &*object.kind || kind == ANY_CONTROL_PLANE && object.kind.ends_with(kind)
    };
    let own = fields
        .iter()
        .filter(|field| is_of_kind(field.kind) && field.group == group)
        .take(1);
    let found = own.flat_map(|field| object.nodes(field.path));
    let is_said = |node: &Node| {
        let text = node.value.as_str();
        text.is_none_or(|text| !text.contains("{{") && !text.contains("${"))
    };
    found.filter(|(_, node)| is_said(node)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use super::{ManifestObject, objects};
    use yaml_tree::place::Source;

    pub(crate) fn read(text: &str) -> Vec<ManifestObject> {
        let found = objects(&Arc::new(Source::new("a.yaml", text)));
        found.expect("YAML").objects
    }

    #[test]
    fn documents_and_items_of_lists_are_objects() {
        let found = read(
            "# only a comment\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n\
             apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: b, namespace: prod}}\n\
             - apiVersion: v1\n  kind: ConfigMapList\n  items: [{apiVersion: v1, kind: ConfigMap}]\n---\nplain: 1\n",
        );
        let reported: Vec<String> = found
            .iter()
            .map(|object| format!("{} {} {}", object.kind, object.name, object.steps.len()))
            .collect();
        assert_eq!(reported, ["Secret a 0", "Secret b 2", "ConfigMap  4"]);
        assert_eq!(&*found[1].namespace, "prod");
    }

    #[test]
    fn a_path_reaches_every_item() {
        let found = read("apiVersion: v1\nkind: A\na: [{b: {c: 1}}, {}, {b: {c: 2}}]\n");
        assert_eq!(found[0].nodes("a[].b.c").len(), 2);
        assert_eq!(found[0].scalars().len(), 4);
    }
}

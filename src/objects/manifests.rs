//! All objects of a run together: which refers to which, which Kubernetes version each runs, and what stamping does to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::finding::Subject;
use crate::model::image::{Image, ImageKey, Images};
use crate::model::matching::Matching;
use crate::model::place::{Place, Spot};
use crate::model::value::Node;
use crate::providers::cluster_api::{ANY_CONTROL_PLANE, REPEATED_VERSIONS, VERSIONS, VersionField};
use crate::providers::{self, Change, Kind, PROVIDERS};
use crate::yaml::edit::Step;

use super::Standing;
use super::nearest::Names;
use super::references::{Reference, references};

/// The label by which Cluster API's tools find a cluster's objects.
const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";

/// The group of the bootstrap providers' templates, whose changes roll no machine either.
const BOOTSTRAP: &str = "bootstrap.cluster.x-k8s.io";
/// What machines are made from.
const MACHINE: &str = "spec.template.spec";

/// What a rule sees of manifests that stand in files.
pub struct Manifests<'a> {
    /// The objects, in the order of the files.
    pub objects: &'a [Standing],
    /// What each of them comes to, in the same order.
    pub choices: &'a [Choice],
    /// The catalog.
    pub images: &'a Images,
    /// How Kubernetes versions are compared.
    pub matching: Matching,
    /// The Kubernetes versions that this run writes, by the object's index.
    pub versions: &'a BTreeMap<usize, Arc<str>>,
}

/// What an object comes to.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Whether anything says which image it boots: a marker or the project file.
    pub is_made: bool,
    /// The images: more than one where fields are chosen one by one.
    pub images: Vec<ImageKey>,
    /// Where that is said.
    pub spot: Option<Spot>,
    /// Why nothing is stamped although it is said, each in one clause.
    pub problems: Vec<String>,
    /// The image fields that change.
    pub changes: Vec<FieldChange>,
    /// Whether it gets a new name with its new content.
    pub is_rotated: bool,
    /// What becomes of it since the commit that it is held against.
    pub since: Since,
}

/// What becomes of a template between a commit and the end of a run.
#[derive(Clone, Debug, Default)]
pub enum Since {
    /// There is no commit to hold it against.
    #[default]
    Unknown,
    /// It comes to be as it was, or it was not there.
    Same,
    /// It says something else under the same name.
    Changed(FieldChange),
}

/// An image field that changes.
#[derive(Clone, Debug)]
pub struct FieldChange {
    /// The field, from the object's root.
    pub path: String,
    /// Where it stands; none where it is added.
    pub spot: Option<Spot>,
    /// Whether it said something before.
    pub overwrites: bool,
}

impl<'a> Manifests<'a> {
    /// The objects that a provider's machines are made from, with their kind.
    pub fn machines(&self) -> impl Iterator<Item = (usize, &'a Standing, &'static Kind)> + use<'a> {
        let objects = self.objects.iter().enumerate();
        objects.filter_map(|(index, object)| {
            let (_, kind) = providers::of_object(&object.api_version, &object.kind)?;
            Some((index, object, kind))
        })
    }

    /// The objects of such a kind in an API version whose fields are not known.
    pub fn machines_of_other_versions(
        &self,
    ) -> impl Iterator<Item = (usize, &'a Standing, &'static Kind)> + use<'a> {
        let objects = self.objects.iter().enumerate();
        objects.filter_map(|(index, object)| {
            let kind = kind_of(object)?;
            let (_, version) = object.group_version();
            let is_machine = kind.is_template() || kind.kind.ends_with("MachinePool");
            (is_machine && !kind.versions.contains(&version)).then_some((index, object, kind))
        })
    }

    /// Below which path a change of an object under its own name does not reach its machines; none where it does, and for kinds
    /// that make none. Of Cluster API: <https://cluster-api.sigs.k8s.io/tasks/updating-machine-templates>.
    pub fn guarded(object: &Standing) -> Option<&'static str> {
        let (group, _) = object.group_version();
        if group == BOOTSTRAP && object.kind.ends_with("ConfigTemplate") {
            return Some(MACHINE);
        }
        let (_, kind) = providers::of_object(&object.api_version, &object.kind)?;
        match kind.change {
            Change::Rolls => None,
            Change::Ignored => kind.is_template().then_some(MACHINE),
            Change::Refused(path) => Some(path),
        }
    }

    /// Every reference from one object to another.
    pub fn references(&self) -> Vec<Reference<'a>> {
        references(self.objects)
    }

    /// The Clusters by name.
    pub fn clusters(&self) -> Names<'a> {
        let is_cluster = |object: &Standing| {
            &*object.kind == "Cluster" && object.group_version().0 == "cluster.x-k8s.io"
        };
        Names::only(self.objects, is_cluster)
    }

    /// The images that were chosen for an object.
    pub fn images(&self, index: usize) -> impl Iterator<Item = &'a Image> + use<'a> {
        let keys = self.choices[index].images.iter();
        keys.filter_map(|key| self.images.get(key))
    }

    /// Each image with an object that says what its machines run.
    pub fn pairs(&self) -> Vec<(&'a Image, usize, usize)> {
        let mut found = Vec::new();
        for (chosen, runners) in self.all_runners() {
            for runner in runners {
                let images = self.images(chosen);
                found.extend(images.map(|image| (image, chosen, runner)));
            }
        }
        found
    }

    /// The objects that say which Kubernetes version the machines of each template run: those that refer to it, and the
    /// clusters of the classes that do. What says a version runs its own images.
    pub fn all_runners(&self) -> BTreeMap<usize, Vec<usize>> {
        let says = |index: &usize| version_node(&self.objects[*index]).is_some();
        let own = (0..self.objects.len()).filter(says);
        let mut found: BTreeMap<usize, Vec<usize>> =
            own.map(|index| (index, vec![index])).collect();
        for reference in references(self.objects) {
            let Some(template) = reference.to else {
                continue;
            };
            let runners = found.entry(template).or_default();
            let from = &self.objects[reference.from];
            match &*from.kind {
                "ClusterClass" => runners.extend(clusters_of(self.objects, from)),
                _ => runners.push(reference.from),
            }
        }
        for runners in found.values_mut() {
            runners.sort_unstable();
            runners.dedup();
        }
        found
    }

    /// The Kubernetes version that an object says, after this run, and where.
    pub fn version(&self, index: usize) -> Option<(Arc<str>, Place)> {
        let (_, node) = version_node(&self.objects[index])?;
        let text = match self.versions.get(&index) {
            Some(text) => Arc::clone(text),
            None => Arc::clone(node.value.as_str()?),
        };
        Some((text, node.place))
    }

    /// The Kubernetes distribution that the machines of an object run, with the place of the word that says so.
    pub fn flavor(&self, index: usize) -> Option<(&'static str, Option<Spot>)> {
        let object = &self.objects[index];
        if let Some(flavor) = flavor_of(&object.kind) {
            return Some((flavor, object.name_spot()));
        }
        let from = match &*object.kind {
            "Cluster" => self.class(object).unwrap_or(object),
            _ => object,
        };
        let named = FLAVOR_PATHS.iter().flat_map(|path| from.nodes(path));
        let mut named = named.filter_map(|(_, node)| {
            let flavor = flavor_of(node.value.as_str()?)?;
            Some((flavor, from.spot(node.place)))
        });
        named.next()
    }

    /// The ClusterClass of a Cluster, if it is among the manifests.
    fn class(&self, cluster: &Standing) -> Option<&'a Standing> {
        let mut classes = self
            .objects
            .iter()
            .filter(|object| &*object.kind == "ClusterClass");
        classes.find(|class| is_of_class(cluster, class))
    }

    /// The cluster that an object belongs to, by its field or its label.
    pub fn cluster(&self, index: usize) -> Option<&'a str> {
        let object = &self.objects[index];
        let field = object.node.at(&["spec", "clusterName"]);
        let field = field.and_then(|node| node.value.as_str());
        let name = field.or_else(|| object.label(CLUSTER_LABEL))?;
        Some(name)
    }

    /// The subject of a finding about an object.
    pub fn subject(&self, index: usize) -> Subject {
        let object = &self.objects[index];
        Subject {
            cluster: self.cluster(index).map(str::to_owned),
            pool: Some(object.name.to_string()).filter(|name| !name.is_empty()),
            image: self.choices[index].images.first().map(ToString::to_string),
        }
    }
}

/// The kind of an object with an image in it, whether or not its API version is known.
pub fn kind_of(object: &Standing) -> Option<&'static Kind> {
    let (group, _) = object.group_version();
    let mut kinds = PROVIDERS.iter().flat_map(|provider| provider.kinds());
    kinds.find(|kind| kind.kind == &*object.kind && kind.group == group)
}

/// Where an object says its Kubernetes version; none where an expression stands there, which another program evaluates.
pub fn version_node(object: &Standing) -> Option<(Vec<Step>, &Node)> {
    said_in(object, VERSIONS).into_iter().next()
}

/// Where an object says its Kubernetes version, each place that does.
pub fn version_nodes(object: &Standing) -> Vec<(Vec<Step>, &Node)> {
    let mut found = said_in(object, VERSIONS);
    found.append(&mut said_in(object, REPEATED_VERSIONS));
    found
}

fn said_in<'o>(object: &'o Standing, fields: &[VersionField]) -> Vec<(Vec<Step>, &'o Node)> {
    let (group, _) = object.group_version();
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

/// Where the kind stands that bootstraps an object's machines.
const FLAVOR_PATHS: [&str; 4] = [
    "spec.template.spec.bootstrap.configRef.kind",
    "spec.controlPlaneRef.kind",
    "spec.controlPlane.ref.kind",
    "spec.controlPlane.templateRef.kind",
];

/// The distribution that a control plane's or a bootstrap configuration's kind is made for.
fn flavor_of(kind: &str) -> Option<&'static str> {
    let is_one = ["Config", "ControlPlane"]
        .iter()
        .any(|part| kind.contains(part));
    let known = [("Kubeadm", "kubeadm"), ("RKE2", "rke2"), ("KThrees", "k3s")];
    let found = known
        .into_iter()
        .find(|(prefix, _)| is_one && kind.starts_with(prefix));
    found.map(|(_, flavor)| flavor)
}

fn is_of_class(cluster: &Standing, class: &Standing) -> bool {
    let topology = |path: &[&str]| cluster.node.at(path).and_then(|node| node.value.as_str());
    let name = topology(&["spec", "topology", "class"])
        .or_else(|| topology(&["spec", "topology", "classRef", "name"]));
    &*cluster.kind == "Cluster" && name == Some(&class.name)
}

fn clusters_of(objects: &[Standing], class: &Standing) -> Vec<usize> {
    let clusters = objects.iter().enumerate();
    clusters
        .filter(|(_, object)| is_of_class(object, class))
        .map(|(index, _)| index)
        .collect()
}

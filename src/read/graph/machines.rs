//! The topology of a Cluster, and the machines that it describes.

use std::sync::Arc;

use capi::objects::ManifestObject;
use yaml_tree::value::Node;

/// The lists of workers, in a topology and in a class.
pub(super) const WORKERS: [&str; 2] = ["machineDeployments", "machinePools"];

/// The machines that a topology describes in one place.
#[derive(Clone, Copy)]
pub(super) enum Machines<'t> {
    ControlPlane(Option<&'t Node>),
    /// One worker, and the list that it is an item of.
    Workers(&'static str, &'t Node),
}

impl<'t> Machines<'t> {
    /// Its part of the topology; a topology may say nothing of its control plane.
    pub(super) fn node(self) -> Option<&'t Node> {
        match self {
            Self::ControlPlane(node) => node,
            Self::Workers(_, node) => Some(node),
        }
    }

    pub(super) fn text(self, key: &str) -> Option<&'t Arc<str>> {
        self.node()?.get_path(&[key])?.value.as_str()
    }
}

/// A Cluster's topology.
pub(super) struct Topology<'t> {
    /// The Cluster's index.
    pub(super) index: usize,
    /// The Cluster.
    pub(super) cluster: &'t ManifestObject,
    /// Its `spec.topology`.
    pub(super) node: &'t Node,
    /// The version of its machines.
    pub(super) version: Option<&'t Node>,
    /// The class's name.
    pub(super) class_name: &'t str,
    /// The class's namespace.
    pub(super) class_namespace: &'t str,
}

impl<'t> Topology<'t> {
    pub(super) fn from_cluster(objects: &'t [ManifestObject], index: usize) -> Option<Self> {
        let cluster = &objects[index];
        let node = cluster.node.get_path(&["spec", "topology"])?;
        let text = |path: &[&str]| node.text(path);
        let namespace = text(&["classNamespace"]).or_else(|| text(&["classRef", "namespace"]));
        Some(Self {
            index,
            cluster,
            node,
            version: node.get_path(&["version"]),
            class_name: text(&["class"]).or_else(|| text(&["classRef", "name"]))?,
            class_namespace: namespace.unwrap_or(&cluster.namespace),
        })
    }

    pub(super) fn machines(&self) -> impl Iterator<Item = Machines<'t>> {
        let node = self.node;
        let workers = WORKERS.into_iter().flat_map(move |list| {
            let items = node.items(&["workers", list]).iter();
            items.map(move |item| Machines::Workers(list, item))
        });
        std::iter::once(Machines::ControlPlane(node.get_path(&["controlPlane"]))).chain(workers)
    }
}

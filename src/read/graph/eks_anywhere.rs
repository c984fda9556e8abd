//! Clusters of EKS Anywhere, which makes Cluster API objects of its own ones.
//!
//! A Cluster names a machine configuration for the control plane and for each group of workers. A bare metal cluster may name one
//! image for all machines in its datacenter configuration.
//! (<https://anywhere.eks.amazonaws.com/docs/getting-started/baremetal/bare-spec/>)

use capi::objects::{ManifestObject, Name};
use yaml_tree::value::Node;

use crate::model::cluster::{Cluster, PoolName};

use super::pools::{PoolReader, current_image, pool};
use super::{EKS_ANYWHERE, Template, is_of_group};
use crate::read::tables::eks_anywhere;

/// Whether an object is a cluster of EKS Anywhere.
pub(super) fn is_cluster(object: &ManifestObject) -> bool {
    is_of_group(object, EKS_ANYWHERE) && &*object.kind == "Cluster"
}

impl PoolReader<'_, '_> {
    /// Adds the node pools of a cluster.
    pub(super) fn eks_anywhere(&mut self, index: usize, cluster: &mut Cluster) {
        let object = &self.graph.objects[index];
        let Some(spec) = object.node.get_path(&["spec"]) else {
            return;
        };
        let version = spec.get_path(&["kubernetesVersion"]);
        cluster.k8s_version = version.and_then(|node| self.text(object, node));
        let control_plane = spec.get_path(&["controlPlaneConfiguration"]);
        let of_control_plane = control_plane.map(|group| (PoolName::ControlPlane, group));
        let workers = spec.items(&["workerNodeGroupConfigurations"]).iter();
        let of_workers = workers.map(|group| {
            let name = group.text(&["name"]).unwrap_or_default();
            (PoolName::MachineDeployment(name.into()), group)
        });
        for (name, group) in of_control_plane.into_iter().chain(of_workers) {
            self.eks_group(index, spec, name, group, cluster);
        }
        self.require_fields(&eks_anywhere::CLUSTER, index, &mut cluster.pools);
    }

    fn eks_group(
        &mut self,
        index: usize,
        spec: &Node,
        name: PoolName,
        group: &Node,
        cluster: &mut Cluster,
    ) {
        let object = &self.graph.objects[index];
        let machines = self.eks_object(index, group.get_path(&["machineGroupRef"]));
        let datacenter = self.eks_object(index, spec.get_path(&["datacenterRef"]));
        let has_image = |template: &Template| {
            let found = template.index().map(|index| &self.graph.objects[index]);
            found.is_some_and(|object| current_image(object).is_some())
        };
        let of_all = Some(datacenter)
            .filter(|_| !has_image(&machines))
            .filter(has_image);
        let template = of_all.unwrap_or(machines);
        let made_from = [template.index(), None];
        let selection = self.selection(template);
        let version = group.get_path(&["kubernetesVersion"]);
        let version = version.and_then(|node| self.text(object, node));
        let place = self.place(object, group.place);
        let mut pool = pool(name, place, version, selection, false);
        pool.replicas = { group.get_path(&["count"]) }.and_then(|node| self.count(object, node));
        let before = cluster.pools.len();
        self.push(pool, made_from, cluster);
        let machines = Some(machines).filter(|machines| *machines != template);
        let read = [Some(template), machines].into_iter().flatten();
        for index in read.filter_map(Template::index) {
            self.require_fields(&eks_anywhere::MACHINES, index, &mut cluster.pools[before..]);
        }
    }

    /// The object that a cluster refers to.
    fn eks_object(&self, cluster: usize, reference: Option<&Node>) -> Template {
        let named = |key: &str| reference?.text(&[key]);
        let (Some(kind), Some(name)) = (named("kind"), named("name")) else {
            return Template::Unnamed;
        };
        let name = Name {
            kind,
            group: Some(EKS_ANYWHERE),
            namespace: &self.graph.objects[cluster].namespace,
            name,
        };
        self.graph.nearest(name, cluster)
    }
}

//! The objects that a cluster is made from: those that its own ones refer to, and what these refer to.

use std::collections::BTreeSet;
use std::ops::Range;

use capi::unknown::Unknown;
use yaml_tree::place::Place;
use yaml_tree::value::Node;
use yaml_tree::{Step, locate};

use crate::model::cluster::{Cluster, ClusterObject, Pool, PoolName};
use crate::read::installed::{find_installed, find_removable, find_talos_installers, find_unread};

use super::machines::{Machines, Topology};
use super::pools::{PoolReader, pool_name};
use super::{Graph, is_pool};

impl Graph<'_> {
    /// An object, and everything that it leads to, each once.
    fn closure(&self, roots: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut found: Vec<usize> = roots.into_iter().collect();
        let mut known: BTreeSet<usize> = found.iter().copied().collect();
        let mut next = 0;
        while let Some(from) = found.get(next) {
            let references = self.references.get(from).into_iter().flatten();
            let led_to = references.filter_map(|reference| reference.to);
            let is_part = |to: &usize| {
                let object = &self.objects[*to];
                &*object.kind != "Cluster" && !is_pool(object) && !object.is_patch
            };
            let new = led_to.filter(is_part).filter(|to| known.insert(*to));
            let new: Vec<usize> = new.collect();
            found.extend(new);
            next += 1;
        }
        found
    }
}

impl PoolReader<'_, '_> {
    /// Adds what a cluster is made from: its own object, if there is one, its node pools, and those that name it.
    pub(super) fn objects(
        &mut self,
        owner: Option<usize>,
        class: Option<usize>,
        members: &[usize],
        cluster: &mut Cluster,
    ) {
        let graph = self.graph;
        for member in members {
            let object = &graph.objects[*member];
            let pool = is_pool(object).then(|| pool_name(object));
            self.add(graph.closure([*member]), pool, false, cluster);
        }
        let topology = owner.and_then(|owner| Topology::from_cluster(graph.objects, owner));
        if let (Some(class), Some(topology)) = (class, topology) {
            for machines in topology.machines() {
                let pool = match machines {
                    Machines::ControlPlane(_) => Some(PoolName::ControlPlane),
                    Machines::Workers(..) => {
                        let name = machines.text("name").cloned();
                        name.map(PoolName::MachineDeployment)
                    }
                };
                let part = graph.class_part(class, machines);
                self.add(graph.closure(part), pool, true, cluster);
            }
            self.add(graph.closure([class]), None, true, cluster);
        }
        self.add(graph.closure(owner), None, false, cluster);
    }

    /// Reads what the machines of each pool do when they boot, as far as it decides which Kubernetes they run.
    pub(super) fn read_boot(&mut self, cluster: &mut Cluster) {
        // Of the others the version is not known.
        let is_versioned = |pool: &&mut Pool| {
            !matches!(
                pool.unknown,
                Some(Unknown::Secret | Unknown::Variable | Unknown::OddVersion | Unknown::Field)
            )
        };
        for pool in cluster.pools.iter_mut().filter(is_versioned) {
            let own = cluster.objects.iter();
            let own = own.filter(|it| it.pool.as_ref() == Some(&pool.name));
            let is_known = |it: &&ClusterObject| it.object.unknown.is_none();
            for ClusterObject { object, .. } in own.filter(is_known) {
                let mut place = |node: &Node, range: Range<usize>| {
                    let spot = object.spot(node.place)?;
                    let whole = object.adopt_place(node.place, &mut self.sources);
                    Some(match node.value.as_str() {
                        Some(text) => locate(&spot.source.text, whole, text, range),
                        None => whole,
                    })
                };
                pool.unread_boot
                    .extend(find_unread(&object.node, &mut place));
                let groups = [
                    "bootstrap.cluster.x-k8s.io",
                    "controlplane.cluster.x-k8s.io",
                ];
                if !groups.contains(&object.group()) {
                    continue;
                }
                // Of the others no CRD has such a field.
                let is_k3s = object.kind.starts_with("KThreesConfig");
                let version = if is_k3s { "k3s_version" } else { "" };
                pool.installed
                    .extend(find_installed(&object.node, version, &mut place));
                pool.removable
                    .extend(find_removable(&object.node, &mut place));
                pool.talos
                    .extend(find_talos_installers(&object.node, &mut place));
            }
        }
    }

    /// Adds objects; for the whole cluster those alone that no node pool has.
    fn add(
        &mut self,
        indexes: Vec<usize>,
        pool: Option<PoolName>,
        is_copied: bool,
        cluster: &mut Cluster,
    ) {
        for index in indexes {
            let object = &self.graph.objects[index];
            if pool.is_none() && !self.added.insert(index) {
                continue;
            }
            self.added.insert(index);
            let place = if object.is_template() && !is_copied {
                self.place(object, object.name_place())
            } else {
                Place::NONE
            };
            cluster.objects.push(ClusterObject {
                pool: pool.clone(),
                is_copied,
                place,
                object: object.clone(),
            });
        }
    }
}

impl Graph<'_> {
    /// What a class refers to for machines.
    fn class_part(&self, class: usize, machines: Machines<'_>) -> Vec<usize> {
        let object = &self.objects[class];
        let own: Vec<Step> = match machines {
            Machines::ControlPlane(_) => ["spec", "controlPlane"].map(Step::from).to_vec(),
            Machines::Workers(list, _) => {
                let name = machines.text("class").map(|name| &**name);
                let classes = object.node.items(&["spec", "workers", list]);
                let is_it = |item: &_| yaml_tree::value::Node::text(item, &["class"]) == name;
                let Some(index) = classes.iter().position(is_it) else {
                    return Vec::new();
                };
                let steps = ["spec", "workers", list].map(Step::from).into_iter();
                steps.chain([Step::Index(index)]).collect()
            }
        };
        let begin: Vec<Step> = object.steps.iter().cloned().chain(own).collect();
        let references = self.references.get(&class).into_iter().flatten();
        let own = references.filter(|reference| reference.steps.starts_with(&begin));
        own.filter_map(|reference| reference.to).collect()
    }
}

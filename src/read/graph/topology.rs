//! The node pools of a Cluster whose topology names a ClusterClass.
//!
//! <https://cluster-api.sigs.k8s.io/tasks/experimental-features/cluster-class/operate-cluster>

use std::sync::Arc;

use capi::objects::{Name, Reference};
use capi::unknown::Unknown;
use yaml_tree::place::{Located, Place};
use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::{Node, Value};

use crate::model::cluster::{Choice, Cluster, PoolName, UpgradeStep, Upgrades};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::model::version::Version;

use super::class_patches::Patches;
use super::machines::{Machines, Topology};
use super::pools::{Boots, PoolReader, is_variable_text, pool};
use super::{CLUSTER_API, Template};
use crate::read::tables::cluster_api::CLASS;

impl<'a> PoolReader<'_, 'a> {
    /// The pools of a Cluster whose topology names a class, and that class.
    pub(super) fn topology(&mut self, index: usize, cluster: &mut Cluster) -> Option<usize> {
        let topology = Topology::from_cluster(self.graph.objects, index)?;
        let name = Name {
            kind: "ClusterClass",
            group: Some(CLUSTER_API),
            namespace: topology.class_namespace,
            name: topology.class_name,
        };
        let class = self.graph.names.nearest(name, index);
        if let Some(class) = class {
            self.control_plane_kind(class, cluster);
            cluster.upgrades = self.upgrades(class);
        } else {
            let missing = self.find_misspelled_class(&topology);
            self.findings.extend(missing);
        }
        let patches = class.map(|class| Patches::new(self, class, &topology));
        let mut unknown = class.and_then(|class| self.graph.objects[class].unknown);
        // Several classes may have a name that a program fills in.
        let is_certain = unknown.is_none() && !is_variable_text(topology.class_name);
        if let Some(class) = class.filter(|_| is_certain)
            && self.compare_with_class(&topology, class)
        {
            unknown = Some(Unknown::TopologyRefused);
        }
        for machines in topology.machines() {
            self.machines(
                &topology,
                machines,
                class,
                (patches.as_ref(), unknown),
                cluster,
            );
        }
        if let Some(class) = class {
            self.require_fields(&CLASS, class, &mut cluster.pools);
            self.steps(&topology, class, &mut cluster.upgrades);
        }
        class
    }

    /// That a topology names a class that is not among the manifests, where one has almost that name: a class may be elsewhere.
    fn find_misspelled_class(&self, topology: &Topology<'_>) -> Option<Finding> {
        let name = topology.class_name;
        if is_variable_text(name) {
            return None;
        }
        let classes = { self.graph.objects.iter() }.filter(|object| {
            let is_class = &*object.kind == "ClusterClass" && !object.is_patch;
            is_class && *object.namespace == *topology.class_namespace
        });
        let digits = |name: &str| -> String { name.chars().filter(char::is_ascii_digit).collect() };
        let names = classes.map(|class| &*class.name);
        let near = did_you_mean(name, names.filter(|near| digits(near) == digits(name)))?;
        let cluster = topology.cluster;
        let message = format!(
            "{} refers to ClusterClass `{name}`, which is not there",
            cluster.title()
        );
        let mut paths = [&["class"][..], &["classRef", "name"]].into_iter();
        let class = paths.find_map(|path| topology.node.get_path(path));
        let finding = Finding::new(RuleId::ReferenceDangling, message)
            .with_label(class.and_then(|class| cluster.spot(class.place)), "")
            .help(format!("did you mean `{near}`?"));
        Some(finding.unless_set(Level::Warning))
    }

    fn machines(
        &mut self,
        topology: &Topology<'_>,
        machines: Machines<'_>,
        class: Option<usize>,
        (patches, unknown): (Option<&Patches<'_>>, Option<Unknown>),
        cluster: &mut Cluster,
    ) {
        let object = topology.cluster;
        let version = topology.node.get_path(&["version"]);
        let version = version.and_then(|node| self.version(topology.index, node));
        let name = match machines {
            Machines::ControlPlane(_) => PoolName::ControlPlane,
            Machines::Workers(..) => match machines.text("name") {
                Some(name) => PoolName::MachineDeployment(Arc::clone(name)),
                None => {
                    let place = machines
                        .node()
                        .map_or(topology.node.place, |node| node.place);
                    let place = self.place(object, place);
                    let name = PoolName::MachineDeployment("".into());
                    let unnamed = pool(name, place, version, Err(Unknown::NoName).into(), false);
                    cluster.pools.push(unnamed);
                    return;
                }
            },
        };
        let template = match class {
            Some(class) => self.class_template(class, machines),
            None => Template::Missing,
        };
        let is_leader = name == PoolName::ControlPlane;
        if is_leader && template == Template::Unnamed {
            // A hosted control plane, as in `PoolReader::object`.
            cluster.k8s_version = version;
            return;
        }
        let lacks_class = class.is_some_and(|class| {
            let class = &self.graph.objects[class].node;
            machines.text("class").is_some() && worker(class, machines).is_none()
        });
        let refused = lacks_class.then_some(Unknown::TopologyRefused);
        let (selection, own) = match patches {
            _ if let Some(why) = unknown.or(refused) => (Err(why).into(), None),
            Some(patches) => {
                let reference = class.and_then(|class| self.class_reference(class, machines));
                self.image_after_patches(patches, template, reference, machines)
            }
            None => (Err(Unknown::NoClass).into(), None),
        };
        let node = machines.node();
        let place = self.place(object, node.unwrap_or(topology.node).place);
        let mut pool = pool(name, place, version, selection, false);
        let replicas = node.and_then(|node| node.get_path(&["replicas"]));
        pool.replicas = replicas.and_then(|node| self.count(object, node));
        pool.bootstrap_provider = class.and_then(|class| self.worker_kind(class, machines));
        self.push(pool, [Some(topology.index), own], cluster);
        self.provider(template, cluster);
    }

    /// The image of a class's template, after the class's patches, and the template if they leave it its own image.
    fn image_after_patches(
        &mut self,
        patches: &Patches<'_>,
        template: Template,
        reference: Option<&Node>,
        machines: Machines<'_>,
    ) -> (Boots, Option<usize>) {
        let own = self.selection(template);
        let (Template::At(index), Some(reference)) = (template, reference) else {
            return (own, None);
        };
        let patched = match patches.with_reader(self).apply(index, reference, machines) {
            Ok(None) => return (own, Some(index)),
            Ok(Some(patched)) => self.image(&self.graph.objects[index].kind, &patched, None),
            Err(why) => Err(why).into(),
        };
        let image = |choice: &Choice| {
            let text = choice.url.as_ref().or(choice.name.as_ref());
            text.map(|text| Arc::clone(&text.value))
        };
        let is_same = patched.choice.as_ref().map(image) == own.choice.as_ref().map(image);
        (patched, Some(index).filter(|_| is_same))
    }

    /// What a class says of the versions of its Clusters.
    fn upgrades(&mut self, class: usize) -> Upgrades {
        let object = &self.graph.objects[class];
        let plan = &[
            "spec",
            "upgrade",
            "external",
            "generateUpgradePlanExtension",
        ];
        let listed = object.node.items(&["spec", "kubernetesVersions"]).iter();
        Upgrades {
            versions: listed.filter_map(|node| self.text(object, node)).collect(),
            steps: Vec::new(),
            is_planned: object.node.get_path(plan).is_some(),
        }
    }

    /// Adds what the control plane boots on the way through the versions that its class lists. What is wrong with the class is said of
    /// the cluster's own version.
    fn steps(&mut self, topology: &Topology<'_>, class: usize, upgrades: &mut Upgrades) {
        let parse = |node: &Node| Version::parse(node.value.as_str()?);
        let Some(last) = topology.version.and_then(parse) else {
            return;
        };
        let machines = Machines::ControlPlane(topology.node.get_path(&["controlPlane"]));
        let template = self.class_template(class, machines);
        let said = self.findings.len();
        let Upgrades {
            versions, steps, ..
        } = upgrades;
        for pair in versions.windows(2) {
            let [version, next] = pair else { continue };
            let [minor, next] =
                [version, next].map(|it| Version::parse(&it.value).map(|it| it.minor));
            if minor == next || minor >= Some(last.minor) {
                continue;
            }
            let place = topology.version.map_or(Place::NONE, |node| node.place);
            let node = Node::new(Value::String(Arc::clone(&version.value)), place);
            let step = Topology {
                version: Some(&node),
                ..*topology
            };
            let patches = Patches::new(self, class, &step);
            let reference = self.class_reference(class, machines);
            let (boots, _) = self.image_after_patches(&patches, template, reference, machines);
            let image = boots
                .choice
                .ok()
                .and_then(|choice| choice.url.or(choice.name));
            steps.extend(image.map(|image| UpgradeStep {
                version: version.clone(),
                image,
            }));
        }
        self.findings.truncate(said);
    }

    /// The provider of the control plane that a class makes from a template.
    fn control_plane_kind(&mut self, class: usize, cluster: &mut Cluster) {
        let object = &self.graph.objects[class];
        let control_plane = object.node.get_path(&["spec", "controlPlane"]);
        let kind = control_plane.and_then(|node| reference(node)?.get_path(&["kind"]));
        cluster.bootstrap_provider = kind.and_then(|kind| self.bootstrap_provider(object, kind));
    }

    /// The provider of the bootstrap configuration that a class makes for workers.
    fn worker_kind(&mut self, class: usize, machines: Machines<'_>) -> Option<Located<Arc<str>>> {
        let object = &self.graph.objects[class];
        let kind =
            reference(worker_part(&object.node, machines, "bootstrap")?)?.get_path(&["kind"])?;
        self.bootstrap_provider(object, kind)
    }

    /// A class's reference to the machine template of machines.
    fn class_reference(&self, class: usize, machines: Machines<'_>) -> Option<&'a Node> {
        let object = &self.graph.objects[class].node;
        let made_from = match machines {
            Machines::ControlPlane(_) => {
                object.get_path(&["spec", "controlPlane", "machineInfrastructure"])
            }
            Machines::Workers(..) => worker_part(object, machines, "infrastructure"),
        };
        reference(made_from?)
    }

    /// The machine template that a class names for machines.
    fn class_template(&self, class: usize, machines: Machines<'_>) -> Template {
        let reference = self.class_reference(class, machines);
        let name = reference.and_then(|reference| reference.get_path(&["name"]));
        name.map_or(Template::Unnamed, |name| {
            let is_it = |reference: &Reference<'_>| std::ptr::eq(reference.name, name);
            let reference = self.graph.reference(class, is_it);
            self.graph.template(class, reference)
        })
    }
}

/// A class's reference to a template: `ref` until v1beta1, `templateRef` since.
fn reference(holder: &Node) -> Option<&Node> {
    let old = holder.get_path(&["ref"]);
    old.or_else(|| holder.get_path(&["templateRef"]))
}

/// What a class says of workers.
fn worker<'n>(class: &'n Node, machines: Machines<'_>) -> Option<&'n Node> {
    let Machines::Workers(list, _) = machines else {
        return None;
    };
    let name = machines.text("class")?;
    let mut workers = class.items(&["spec", "workers", list]).iter();
    workers.find(|worker| worker.text(&["class"]) == Some(&**name))
}

/// A part of what a class says of workers: below `template` until v1beta1.
fn worker_part<'n>(class: &'n Node, machines: Machines<'_>, part: &str) -> Option<&'n Node> {
    let worker = worker(class, machines)?;
    let old = worker.get_path(&["template", part]);
    old.or_else(|| worker.get_path(&[part]))
}

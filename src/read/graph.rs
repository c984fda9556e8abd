//! Clusters of plain Cluster API manifests: objects joined by their references into clusters and node pools, with the image that
//! each pool's machine template already names.
//!
//! What a reference means is decided by [`crate::objects`]: kind, namespace and name, and of several objects the nearest by
//! folder, so that one cluster name in `dev/` and `prod/` is two clusters. What cannot be known is not guessed: the pool says
//! why its image is unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::catalog::Catalog;
use crate::model::cluster::{Choice, Cluster, ClusterOrigin, Pool, PoolName};
use crate::model::component_choice::BundleChoice;
use crate::model::place::{Located, Place, Sources};
use crate::model::signing::SigningKeys;
use crate::model::value::{Node, Number, Value};
use crate::model::workspace::ClusterRead;
use crate::objects::{Name, Names, Reference, Standing, references, version_node};
use crate::providers;
use crate::providers::named::{NamedBy, image_fields};
use crate::yaml::edit::Step;

/// Cluster API's own group.
const CLUSTER_API: &str = "cluster.x-k8s.io";
/// The group of control planes.
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
/// The label by which Cluster API's tools find a cluster's objects.
const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";

/// So many machine templates that are equally near are compared; more are taken for several.
const MOST_NEAR: usize = 100;

/// The keys of references to machine templates, in Cluster API's kinds and all control planes.
const TEMPLATE_KEYS: [&str; 2] = ["infrastructureRef", "infrastructureTemplate"];

/// Why the image of a pool is not known.
mod unknown {
    pub(super) const NO_TEMPLATE: &str = "no reference to a machine template";
    pub(super) const SEVERAL: &str = "several machine templates have its template's name";
    pub(super) const NO_CLASS: &str = "its ClusterClass is not among the manifests";
    pub(super) const NOT_HERE: &str = "its machine template is not among the manifests";
    pub(super) const NO_IMAGE: &str = "its machine template names no image";
    pub(super) const VARIABLE: &str = "its image or version is a variable";
    pub(super) const SECRET: &str = "its image or version is in a Secret";
    pub(super) const PATCHED: &str = "its ClusterClass patches the image";
}

/// The clusters among these objects, by name and then by folder.
pub(super) fn clusters(objects: &[Standing]) -> Vec<ClusterRead> {
    let graph = Graph::new(objects);
    let mut found: BTreeMap<Owner<'_>, Vec<usize>> = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        if is_of_group(object, CLUSTER_API) && &*object.kind == "Cluster" {
            found.entry(Owner::Object(index)).or_default();
        } else if is_pool(object) {
            found.entry(graph.owner(index)).or_default().push(index);
        }
    }
    let mut clusters: Vec<(Arc<str>, &str, ClusterRead)> = found
        .iter()
        .map(|(owner, pools)| {
            let (name, folder) = match owner {
                Owner::Object(index) => {
                    (Arc::clone(&objects[*index].name), objects[*index].folder())
                }
                Owner::Name(name, folder) => ((*name).into(), *folder),
            };
            (name, folder, graph.cluster(owner, pools))
        })
        .filter(|(_, _, read)| !read.cluster.pools.is_empty())
        .collect();
    clusters.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    with_names(clusters)
}

/// Names each cluster: by its own name, with its folder where several have that.
fn with_names(clusters: Vec<(Arc<str>, &str, ClusterRead)>) -> Vec<ClusterRead> {
    let mut known: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for (name, ..) in &clusters {
        *known.entry(Arc::clone(name)).or_default() += 1;
    }
    let mut taken = BTreeSet::new();
    let mut named = Vec::with_capacity(clusters.len());
    for (name, folder, mut read) in clusters {
        let mut full: Arc<str> = match known[&name] {
            1 => Arc::clone(&name),
            _ if folder.is_empty() => format!("./{name}").into(),
            _ => format!("{folder}/{name}").into(),
        };
        let mut number = 2;
        while !taken.insert(Arc::clone(&full)) {
            full = format!("{folder}/{name}#{number}").into();
            number += 1;
        }
        read.cluster.name = full;
        named.push(read);
    }
    named
}

/// The machine template that a pool refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Template {
    /// Nothing refers to one.
    Unnamed,
    /// It is not among the manifests.
    Missing,
    /// Several objects are equally near, as overlays beside their base are, and name different images.
    Several,
    At(usize),
}

impl Template {
    fn index(self) -> Option<usize> {
        match self {
            Self::At(index) => Some(index),
            Self::Unnamed | Self::Missing | Self::Several => None,
        }
    }
}

/// What a pool belongs to: a Cluster object, else a name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner<'a> {
    Object(usize),
    Name(&'a str, &'a str),
}

fn is_of_group(object: &Standing, group: &str) -> bool {
    object.group_version().0 == group
}

fn is_control_plane(object: &Standing) -> bool {
    is_of_group(object, CONTROL_PLANE) && object.kind.ends_with("ControlPlane")
}

fn is_pool(object: &Standing) -> bool {
    let workers = ["MachineDeployment", "MachineSet", "MachinePool"];
    is_control_plane(object) || is_of_group(object, CLUSTER_API) && workers.contains(&&*object.kind)
}

/// All objects, with the references between them.
struct Graph<'a> {
    objects: &'a [Standing],
    /// Those of each object.
    references: BTreeMap<usize, Vec<Reference<'a>>>,
    names: Names<'a>,
    /// The Cluster of each control plane.
    led: BTreeMap<usize, usize>,
}

impl<'a> Graph<'a> {
    fn new(objects: &'a [Standing]) -> Self {
        let mut by_object: BTreeMap<usize, Vec<Reference<'a>>> = BTreeMap::new();
        for reference in references(objects) {
            by_object.entry(reference.from).or_default().push(reference);
        }
        let mut led = BTreeMap::new();
        for (from, found) in &by_object {
            if &*objects[*from].kind != "Cluster" || !is_of_group(&objects[*from], CLUSTER_API) {
                continue;
            }
            let planes = found.iter().filter_map(|reference| reference.to);
            for plane in planes.filter(|to| is_control_plane(&objects[*to])) {
                led.insert(plane, *from);
            }
        }
        Self {
            objects,
            references: by_object,
            names: Names::only(objects, |_| true),
            led,
        }
    }

    /// What a pool belongs to: the Cluster that refers to it, else the nearest Cluster of the name that it says.
    fn owner(&self, pool: usize) -> Owner<'a> {
        if let Some(cluster) = self.led.get(&pool) {
            return Owner::Object(*cluster);
        }
        let object = &self.objects[pool];
        let field = object.node.at(&["spec", "clusterName"]);
        let field = field.and_then(|node| node.value.as_str());
        let said = field.or_else(|| object.label(CLUSTER_LABEL));
        let name: &str = said.map_or(&object.name, |name| name);
        let wanted = Name {
            kind: "Cluster",
            group: Some(CLUSTER_API),
            namespace: &object.namespace,
            name,
        };
        match self.names.nearest(wanted, pool) {
            Some(cluster) => Owner::Object(cluster),
            None => Owner::Name(name, object.folder()),
        }
    }

    fn cluster(&self, owner: &Owner<'_>, pools: &[usize]) -> ClusterRead {
        let mut reader = Reader {
            graph: self,
            sources: Sources::default(),
        };
        let mut cluster = Cluster {
            origin: ClusterOrigin::Manifests,
            ..Cluster::default()
        };
        match owner {
            Owner::Object(index) => {
                let object = &self.objects[*index];
                cluster.object_name = Arc::clone(&object.name);
                cluster.namespace = Arc::clone(&object.namespace);
                reader.topology(*index, &mut cluster);
            }
            Owner::Name(name, _) => cluster.object_name = (*name).into(),
        }
        for pool in pools {
            reader.pool(*pool, &mut cluster);
        }
        cluster
            .pools
            .sort_by(|a, b| (&a.name, a.place.start).cmp(&(&b.name, b.place.start)));
        ClusterRead {
            cluster,
            catalog: Arc::new(Catalog::default()),
            signing: SigningKeys::default(),
            sources: reader.sources,
            findings: Vec::new(),
        }
    }

    /// The machine template that a reference of an object leads to.
    fn template(&self, from: usize, is_it: impl Fn(&Reference<'_>) -> bool) -> Template {
        let mut found = self.references.get(&from).into_iter().flatten();
        let Some(reference) = found.find(|reference| is_it(reference)) else {
            return Template::Unnamed;
        };
        let (Some(first), Some(name)) = (reference.to, reference.name.value.as_str()) else {
            return Template::Missing;
        };
        let name = Name {
            kind: reference.kind,
            group: reference.group,
            namespace: reference.namespace,
            name,
        };
        let all = self.names.all_nearest(name, from, MOST_NEAR);
        let image = |index: usize| image_node(&self.objects[index]).map(|(node, _)| &node.value);
        let is_one = all.iter().all(|other| image(*other) == image(first));
        match is_one && all.len() < MOST_NEAR {
            true => Template::At(first),
            false => Template::Several,
        }
    }
}

/// Reads one cluster.
struct Reader<'g, 'a> {
    graph: &'g Graph<'a>,
    sources: Sources,
}

impl Reader<'_, '_> {
    /// A place of an object, in this cluster's files.
    fn place(&mut self, object: &Standing, place: Place) -> Place {
        match object.spot(place) {
            Some(spot) => Place {
                file: self.sources.adopt(&spot.source),
                start: spot.start,
                end: spot.end,
            },
            None => Place::NONE,
        }
    }

    fn text(&mut self, object: &Standing, node: &Node) -> Option<Located<Arc<str>>> {
        let text = Arc::clone(node.value.as_str()?);
        Some(Located::new(text, self.place(object, node.place)))
    }

    /// A control plane, a MachineDeployment, a MachineSet or a MachinePool.
    fn pool(&mut self, index: usize, cluster: &mut Cluster) {
        let object = &self.graph.objects[index];
        let is_template = |reference: &Reference<'_>| {
            let key = reference.steps.iter().rev().nth(1);
            matches!(key, Some(Step::Key(key)) if TEMPLATE_KEYS.contains(&&**key))
        };
        let template = self.graph.template(index, is_template);
        let is_leader = is_control_plane(object);
        if is_leader {
            cluster.bootstrap_provider = flavor_provider(&object.kind).map(|provider| {
                let place = object.name_place();
                Located::new(provider.into(), self.place(object, place))
            });
        }
        let name = match is_leader {
            true => PoolName::ControlPlane,
            false => PoolName::MachineDeployment(Arc::clone(&object.name)),
        };
        let version = version_node(object).map(|(_, node)| node.clone());
        let version = version.and_then(|node| self.text(object, &node));
        if is_leader && template == Template::Unnamed {
            // A hosted control plane has no machines of its own; its workers are compared with its version.
            cluster.k8s_version = version;
            return;
        }
        let replicas = object.node.at(&["spec", "replicas"]).cloned();
        let place = self.place(object, object.name_place());
        let is_variable = version.is_none() && has_variable_version(object);
        let pool = self.read(name, place, version, template, (false, is_variable));
        cluster.pools.push(Pool {
            replicas: replicas.and_then(|node| self.count(object, &node)),
            ..pool
        });
        self.provider(template, cluster);
    }

    fn count(&mut self, object: &Standing, node: &Node) -> Option<Located<u32>> {
        let Value::Number(Number::Int(count)) = node.value else {
            return None;
        };
        let count = u32::try_from(count).ok()?;
        Some(Located::new(count, self.place(object, node.place)))
    }

    fn provider(&mut self, template: Template, cluster: &mut Cluster) {
        let Some(template) = template.index() else {
            return;
        };
        let object = &self.graph.objects[template];
        let known = providers::of_kind(&object.kind).map(|provider| provider.name());
        if let Some(name) = known.filter(|_| cluster.infra_provider.is_none()) {
            cluster.infra_provider = Some(Located::new(name.into(), Place::NONE));
        }
    }

    /// A pool whose machines are made from a template.
    fn read(
        &mut self,
        name: PoolName,
        place: Place,
        version: Option<Located<Arc<str>>>,
        template: Template,
        (is_patched, is_variable): (bool, bool),
    ) -> Pool {
        let (mut choice, mut unknown) = (Choice::default(), None);
        match template {
            Template::Unnamed => unknown = Some(unknown::NO_TEMPLATE),
            Template::Missing => unknown = Some(unknown::NOT_HERE),
            Template::Several => unknown = Some(unknown::SEVERAL),
            Template::At(_) if is_patched => unknown = Some(unknown::PATCHED),
            Template::At(template) => match self.image(template) {
                Some(found) => choice = found,
                None => unknown = Some(unknown::NO_IMAGE),
            },
        }
        let texts = || { [&choice.name, &choice.url, &version].into_iter() }.flatten();
        let is_open = is_variable || texts().any(|text| self::is_variable(&text.value));
        // What is said of an image tells its name, or a part of it.
        let is_secret = texts().any(|text| self.sources.is_secret(text.place));
        if is_secret || is_open {
            let why = if is_secret {
                unknown::SECRET
            } else {
                unknown::VARIABLE
            };
            (choice, unknown) = (Choice::default(), Some(why));
        }
        Pool {
            name,
            choice,
            bundle: BundleChoice::default(),
            place,
            replicas: None,
            k8s_version: version,
            settings: Node::computed(Value::empty_map()),
            unknown,
        }
    }

    /// The image that a machine template names.
    fn image(&mut self, template: usize) -> Option<Choice> {
        let object = &self.graph.objects[template];
        let (node, by) = image_node(object)?;
        let named = self.text(object, node);
        let image = image_fields(&object.kind)?
            .spec(&object.node)?
            .at(&["image"]);
        let mut field = |name: &str| {
            let node = image?.at(&[name])?.clone();
            self.text(object, &node)
        };
        Some(match by {
            NamedBy::Name => Choice {
                name: named,
                ..Choice::default()
            },
            NamedBy::Url => Choice {
                format: field("format").or_else(|| field("diskFormat")),
                checksum: field("checksum"),
                checksum_type: field("checksumType"),
                url: named,
                ..Choice::default()
            },
        })
    }
}

/// The image that a machine template names.
fn image_node(template: &Standing) -> Option<(&Node, NamedBy)> {
    let fields = image_fields(&template.kind)?;
    fields.image(fields.spec(&template.node)?)
}

/// Whether the version that an object declares is filled in by another program.
fn has_variable_version(object: &Standing) -> bool {
    let paths = [
        &["spec", "version"][..],
        &["spec", "template", "spec", "version"],
    ];
    let texts = paths
        .iter()
        .filter_map(|path| object.node.at(path)?.value.as_str());
    texts.into_iter().any(|text| is_variable(text))
}

fn is_variable(text: &str) -> bool {
    text.contains("${") || text.contains("{{")
}

/// Sylva's name of the bootstrap provider that a control plane's kind belongs to.
fn flavor_provider(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "KubeadmControlPlane" | "KamajiControlPlane" => "cabpk",
        "RKE2ControlPlane" => "cabpr",
        "CK8sControlPlane" => "cabpck",
        "OpenshiftAssistedControlPlane" => "cabpoa",
        _ => return None,
    })
}

impl Reader<'_, '_> {
    /// The pools of a Cluster whose topology names a class.
    fn topology(&mut self, index: usize, cluster: &mut Cluster) {
        let object = &self.graph.objects[index];
        let Some(topology) = object.node.at(&["spec", "topology"]) else {
            return;
        };
        let text = |path: &[&str]| topology.at(path).and_then(|node| node.value.as_str());
        let Some(name) = text(&["class"]).or_else(|| text(&["classRef", "name"])) else {
            return;
        };
        let namespace = text(&["classNamespace"]).or_else(|| text(&["classRef", "namespace"]));
        let namespace: &str = namespace.map_or(&object.namespace, |name| name);
        let wanted = Name {
            kind: "ClusterClass",
            group: Some(CLUSTER_API),
            namespace,
            name,
        };
        let class = self.graph.names.nearest(wanted, index);
        let version = topology.at(&["version"]).cloned();
        let version = version.and_then(|node| self.text(object, &node));
        let place = self.place(object, topology.place);
        let leader = class.map_or(Template::Missing, |class| {
            let machines = ["spec", "controlPlane", "machineInfrastructure"];
            self.class_template(class, self.graph.objects[class].node.at(&machines))
        });
        self.of_class(
            PoolName::ControlPlane,
            place,
            &version,
            class,
            leader,
            cluster,
        );
        for list in ["machineDeployments", "machinePools"] {
            let workers = topology.at(&["workers", list]);
            let workers = workers.and_then(|node| node.value.as_list());
            for worker in workers.unwrap_or_default() {
                let text = |key: &str| worker.at(&[key]).and_then(|node| node.value.as_str());
                let Some((class_name, name)) = text("class").zip(text("name")) else {
                    continue;
                };
                let template = class.map_or(Template::Missing, |class| {
                    self.class_template(class, self.worker_class(class, list, class_name))
                });
                let place = self.place(object, worker.place);
                let name = PoolName::MachineDeployment(Arc::clone(name));
                self.of_class(name, place, &version, class, template, cluster);
            }
        }
    }

    fn of_class(
        &mut self,
        name: PoolName,
        place: Place,
        version: &Option<Located<Arc<str>>>,
        class: Option<usize>,
        template: Template,
        cluster: &mut Cluster,
    ) {
        let is_patched = class
            .zip(template.index())
            .is_some_and(|(class, template)| self.patches_image(class, template));
        let mut pool = self.read(name, place, version.clone(), template, (is_patched, false));
        if class.is_none() {
            pool.unknown = Some(unknown::NO_CLASS);
        }
        cluster.pools.push(pool);
        self.provider(template, cluster);
    }

    /// The machine template that a part of a class names: as `ref` until v1beta1, as `templateRef` since.
    fn class_template(&self, class: usize, machines: Option<&Node>) -> Template {
        let name = machines.and_then(|machines| {
            let old = machines.at(&["ref", "name"]);
            old.or_else(|| machines.at(&["templateRef", "name"]))
        });
        name.map_or(Template::Unnamed, |name| {
            let is_it = |reference: &Reference<'_>| std::ptr::eq(reference.name, name);
            self.graph.template(class, is_it)
        })
    }

    /// Where a class of workers says what their machines are made from: below `template` until v1beta1.
    fn worker_class(&self, class: usize, list: &str, name: &str) -> Option<&Node> {
        let object = &self.graph.objects[class];
        let workers = object
            .node
            .at(&["spec", "workers", list])?
            .value
            .as_list()?;
        let is_meant = |worker: &&Node| {
            let class = worker.at(&["class"]).and_then(|node| node.value.as_str());
            class.is_some_and(|class| **class == *name)
        };
        let worker = workers.iter().find(is_meant)?;
        let old = worker.at(&["template", "infrastructure"]);
        old.or_else(|| worker.at(&["infrastructure"]))
    }

    /// Whether a patch of a class may change the image of a machine template.
    fn patches_image(&self, class: usize, template: usize) -> bool {
        let (object, kind) = (
            &self.graph.objects[class],
            &self.graph.objects[template].kind,
        );
        let patches = object.node.at(&["spec", "patches"]);
        let patches = patches
            .and_then(|node| node.value.as_list())
            .unwrap_or_default();
        patches.iter().any(|patch| {
            let definitions = patch
                .at(&["definitions"])
                .and_then(|node| node.value.as_list());
            // A patch of a runtime extension may change anything.
            definitions.is_none_or(|definitions| {
                definitions
                    .iter()
                    .any(|definition| changes_image(definition, kind))
            })
        })
    }
}

/// Whether a patch's definition changes a path that may be the image of a kind.
fn changes_image(definition: &Node, kind: &str) -> bool {
    let selected = definition.at(&["selector", "kind"]);
    let selected = selected.and_then(|node| node.value.as_str());
    if selected.is_some_and(|selected| **selected != *kind) {
        return false;
    }
    let Some(fields) = image_fields(kind) else {
        return true;
    };
    let patches = definition
        .at(&["jsonPatches"])
        .and_then(|node| node.value.as_list());
    patches.unwrap_or_default().iter().any(|patch| {
        let path = patch.at(&["path"]).and_then(|node| node.value.as_str());
        path.is_none_or(|path| fields.may_change(path))
    })
}

//! Clusters of plain Cluster API manifests: objects joined by their references into clusters and node pools, with the image that
//! each pool's machine template already names.
//!
//! What a reference means is decided by [`capi::objects`]: kind, namespace and name, and of several objects the nearest by
//! folder, so that one cluster name in `dev/` and `prod/` is two clusters. What cannot be known is not guessed: the pool has
//! the reason.

mod class_patches;
mod closure;
mod dangling;
mod deployed;
mod duplicates;
mod eks_anywhere;
mod endpoint;
mod machines;
mod pairs;
mod pools;
mod refused;
mod seen;
mod topology;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::image::ImageKey;
use capi::objects::{ManifestObject, Name, Names, Reference, references};
use yaml_tree::engine::Engine;
use yaml_tree::place::{Source, Sources, Spot};

use crate::budget;
use crate::error::Error;
use crate::files::Files;
use crate::model::catalog::Catalog;
use crate::model::cluster::{Cluster, ClusterOrigin};
use crate::model::cluster_view::ClusterRead;
use crate::model::endpoint::Host;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::signing::SigningKeys;

use super::files::display;
use super::gitops::{DELIVERING, Delivery, OwnOutput, resolve_path};
use super::manifests;
use super::tables::cluster_api;
use class_patches::Templates;
use deployed::{Deployed, collect_objects, find_lacking_fields, mentions};
pub use pairs::has_pair;
pub(super) use pairs::read_pairs;
pub(super) use pools::current_image;
pub use pools::is_placeholder;
use pools::{PoolReader, find_illegal_labels};

/// Cluster API's own group.
const CLUSTER_API: &str = "cluster.x-k8s.io";
/// The group of EKS Anywhere.
const EKS_ANYWHERE: &str = "anywhere.eks.amazonaws.com";
/// The group of control planes.
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
/// The maximum number of equally near machine templates that are compared; more are taken for several. Also the maximum number
/// of names that are compared with one that is not there.
const MOST_NEAR: usize = 100;

/// The keys of references to machine templates, in Cluster API's kinds and all control planes.
const TEMPLATE_KEYS: [&str; 2] = ["infrastructureRef", "infrastructureTemplate"];

/// What `metalmark stamp` writes into objects, by the object's index.
#[derive(Debug, Default)]
pub struct Stamped {
    /// The images that an object boots, and where they are selected.
    pub images: BTreeMap<usize, (Vec<ImageKey>, Option<Spot>)>,
    /// The Kubernetes version of an object.
    pub versions: BTreeMap<usize, Arc<str>>,
}

/// The clusters of manifests that have a file below these paths, by name and then by folder. All manifests of the repository are
/// read, whatever folder of it, `root`, is the project's, so that each cluster is what it is from everywhere. What is wrong with
/// these clusters, or in a file below the paths, is among the findings. `engine` is the Helm that the project names.
///
/// # Errors
/// A path or file cannot be read.
pub(super) fn clusters(
    tree: &dyn Files,
    root: &Path,
    paths: &[PathBuf],
    engine: Option<Engine>,
    outputs: &OwnOutput,
    findings: &mut Vec<Finding>,
) -> Result<Clusters, Error> {
    let seen = Seen::new(tree, root, paths);
    let own_output = Arc::new(outputs.rebase(&seen.root));
    let mut found = Vec::new();
    let deployed = collect_objects(seen.tree(tree), &seen.read, engine, &own_output, &mut found)?;
    let Deployed {
        objects,
        mut unread,
    } = deployed;
    let _work = budget::enter("the references between manifests")?;
    let of_objects = find_lacking_fields(&objects);
    let mut clusters = read_clusters(&objects, None, &no_values(), of_objects, &mut found);
    // What makes machines may be in a file that is not read.
    let is_read = unread.is_empty();
    if let Some(selected) = &seen.selected {
        unread.retain(|path, _| is_below(selected, &path.to_string_lossy()));
        clusters.retain(|read| is_below(selected, &read.folder) || read.has_file_below(selected));
        let files: BTreeSet<_> = { clusters.iter().flat_map(|read| read.read.sources.all()) }
            .map(|source| Arc::clone(&source.path))
            .collect();
        found.retain(|finding| {
            let mut paths = finding.labels.iter().map(|label| &label.spot.source.path);
            finding.labels.is_empty()
                || paths.any(|path| files.contains(path) || is_below(selected, path))
        });
    }
    let unused_template = (is_read && clusters.is_empty())
        .then(|| find_unused_template(&objects, seen.selected.as_deref()))
        .flatten();
    let mut from_root = FromRoot::new(&seen.root);
    findings.extend(found.into_iter().map(|finding| from_root.finding(finding)));
    let unread = unread.into_iter();
    let unread_files = unread.map(|(path, why)| (relative_path(&seen.root, &path), why));
    for cluster in &mut clusters {
        cluster.folder = display(&relative_path(&seen.root, Path::new(&cluster.folder)));
    }
    let clusters = with_names(clusters).into_iter();
    Ok(Clusters {
        clusters: clusters.map(|read| from_root.read(read)).collect(),
        unread_files: unread_files.collect(),
        unused_template: unused_template.map(|finding| from_root.finding(finding)),
    })
}

/// What deploys the files of the repository that a project is in. `root` is the project's folder in it.
///
/// # Errors
/// A file cannot be read.
pub(super) fn delivery(
    tree: &Arc<dyn Files>,
    root: &Path,
    outputs: &OwnOutput,
) -> Result<Delivery, Error> {
    let all = [PathBuf::from(".")];
    let Seen { top, root, .. } = Seen::new(&**tree, root, &all);
    let files = top.unwrap_or_else(|| Arc::clone(tree));
    let own_output = Arc::new(outputs.rebase(&root));
    let is_meant = |text: &str| mentions(text, &DELIVERING);
    let found = manifests::collect(&*files, &all, &own_output, is_meant)?;
    let mut objects = found.objects;
    let is_template = |object: &ManifestObject| {
        let path = Path::new(&*object.file().path);
        let mut charts = found.charts.iter();
        charts.any(|chart| path.starts_with(chart.join("templates")))
    };
    objects.retain(|object| !object.is_patch && object.text.host.is_none() && !is_template(object));
    Delivery::read(files, root, objects, &found.kustomizations, &own_output)
}

/// The clusters of manifests.
pub(super) struct Clusters {
    pub(super) clusters: Vec<ClusterRead>,
    /// The files that mention clusters and are not read, with the reason.
    pub(super) unread_files: BTreeMap<PathBuf, &'static str>,
    /// Where there are none: that nothing makes machines of a template.
    pub(super) unused_template: Option<Finding>,
}

/// The first machine template below these paths that says what its machines have, and that no object of the repository refers to:
/// a ClusterClass makes machines of it once there is a Cluster.
fn find_unused_template(objects: &[ManifestObject], paths: Option<&[PathBuf]>) -> Option<Finding> {
    let references = references(objects);
    let known: BTreeSet<_> = { references.iter() }
        .filter_map(|reference| Some((reference.kind, &**reference.name.value.as_str()?)))
        .collect();
    let template = objects.iter().find(|object| {
        let is_meant = paths.is_none_or(|paths| is_below(paths, &object.file().path));
        let is_known = || known.contains(&(&*object.kind, &*object.name));
        is_meant && object.is_template() && object.machine_kind().is_some() && !is_known()
    })?;
    let message = format!(
        "{} is not used by a node pool yet: nothing makes machines from it",
        template.title()
    );
    let (kind, name) = (&template.kind, &template.name);
    let finding =
        Finding::new(RuleId::NothingChecked, message).with_label(template.name_spot(), "");
    Some(finding.help(format!(
            "add a MachineDeployment whose `spec.template.spec` has `clusterName`, `version` and `infrastructureRef: {{kind: {kind}, \
             name: {name}}}`: its version is what the template is compared with"
        )))
}

/// What of the repository is read, and which of it is meant.
struct Seen {
    /// The files from the top of the repository, where the project is in a folder of it.
    top: Option<Arc<dyn Files>>,
    /// The project's folder, from there.
    root: PathBuf,
    /// What is read.
    read: Vec<PathBuf>,
    /// The files and folders whose clusters are meant, if not all are.
    selected: Option<Vec<PathBuf>>,
}

impl Seen {
    fn new(tree: &dyn Files, root: &Path, paths: &[PathBuf]) -> Self {
        let top = Some(root).filter(|root| !root.as_os_str().is_empty());
        let top = top.and_then(|root| tree.repository_files(root));
        let root = if top.is_some() { root } else { Path::new("") };
        let from_top = |path: &PathBuf| {
            let path = resolve_path(root, &path.to_string_lossy())?;
            let is_top = path.as_os_str().is_empty();
            Some(if is_top { PathBuf::from(".") } else { path })
        };
        let selected = paths.iter().map(from_top);
        match selected.collect::<Option<Vec<PathBuf>>>() {
            Some(selected) if !selected.is_empty() => {
                let is_all = selected.iter().any(|path| path.as_os_str() == ".");
                Self {
                    top,
                    root: root.to_owned(),
                    // What is named first: it is read whatever it is called.
                    read: selected.iter().cloned().chain([".".into()]).collect(),
                    selected: Some(selected).filter(|_| !is_all),
                }
            }
            // Nothing is meant, or what lies elsewhere.
            _ => Self {
                top: None,
                root: PathBuf::new(),
                read: paths.to_vec(),
                selected: None,
            },
        }
    }

    fn tree<'t>(&'t self, tree: &'t dyn Files) -> &'t dyn Files {
        self.top.as_deref().unwrap_or(tree)
    }
}

/// Whether a path is one of these, or in a folder that is.
fn is_below(paths: &[PathBuf], path: &str) -> bool {
    paths
        .iter()
        .any(|folder| Path::new(path).starts_with(folder))
}

/// Spells paths from the top of a repository as seen from a folder in it.
struct FromRoot<'r> {
    root: &'r Path,
    /// The files that were spelled, by where they are in memory.
    known: HashMap<*const Source, Arc<Source>>,
}

impl<'r> FromRoot<'r> {
    fn new(root: &'r Path) -> Self {
        Self {
            root,
            known: HashMap::new(),
        }
    }

    fn source(&mut self, source: &Arc<Source>) -> Arc<Source> {
        let spell = || {
            let path = relative_path(self.root, Path::new(&*source.path));
            Arc::new(source.with_path(display(&path)))
        };
        Arc::clone(self.known.entry(Arc::as_ptr(source)).or_insert_with(spell))
    }

    fn finding(&mut self, mut finding: Finding) -> Finding {
        if !self.root.as_os_str().is_empty() {
            for label in &mut finding.labels {
                label.spot.source = self.source(&label.spot.source);
            }
        }
        finding
    }

    fn read(&mut self, read: ClusterRead) -> ClusterRead {
        if self.root.as_os_str().is_empty() {
            return read;
        }
        let findings = read.findings.into_iter();
        ClusterRead {
            findings: findings.map(|finding| self.finding(finding)).collect(),
            sources: read.sources.map(|source| self.source(source)),
            ..read
        }
    }
}

/// A path from the top as seen from a folder.
fn relative_path(from: &Path, path: &Path) -> PathBuf {
    let common = from
        .iter()
        .zip(path.iter())
        .take_while(|(one, other)| one == other);
    let common = common.count();
    let up = from.iter().skip(common).map(|_| OsStr::new(".."));
    up.chain(path.iter().skip(common)).collect()
}

/// The name of a cluster whose object has none. No object has this one.
const NO_NAME: &str = "(no name)";

/// A cluster without its full name, and the name and folder of what owns it.
struct FoundCluster {
    name: Arc<str>,
    folder: String,
    read: ClusterRead,
    /// The objects that it is made from.
    objects: BTreeSet<usize>,
}

impl FoundCluster {
    fn has_file_below(&self, paths: &[PathBuf]) -> bool {
        let mut files = self.read.sources.all();
        files.any(|source| is_below(paths, &source.path))
    }
}

/// The clusters of objects, by name and then by folder, each with what is wrong with its objects. The dangling references of other objects are among the findings. Once they are stamped, the
/// image of an object that gets none is not looked at: it is not this run's. `shared` is what each cluster starts from: a catalog, and the
/// files that its places point into.
pub fn clusters_of_objects(
    objects: &[ManifestObject],
    stamped: Option<&Stamped>,
    shared: &ClusterRead,
    findings: &mut Vec<Finding>,
) -> Vec<ClusterRead> {
    let none = BTreeMap::new();
    with_names(read_clusters(objects, stamped, shared, none, findings))
}

fn read_clusters(
    objects: &[ManifestObject],
    stamped: Option<&Stamped>,
    shared: &ClusterRead,
    mut of_objects: BTreeMap<usize, Vec<Finding>>,
    findings: &mut Vec<Finding>,
) -> Vec<FoundCluster> {
    let graph = Graph::new(objects, stamped, shared);
    let mut found: BTreeMap<Owner<'_>, Vec<usize>> = BTreeMap::new();
    let mut named: BTreeMap<Owner<'_>, Vec<usize>> = BTreeMap::new();
    let own = objects.iter().enumerate();
    for (index, object) in own.filter(|(_, object)| !object.is_patch) {
        let is_cluster = is_of_group(object, CLUSTER_API) && &*object.kind == "Cluster";
        if is_cluster || eks_anywhere::is_cluster(object) {
            found.entry(Owner::Object(index)).or_default();
        } else if is_pool(object) {
            found.entry(graph.owner(index)).or_default().push(index);
        } else if object.has_cluster_name() {
            named.entry(graph.owner(index)).or_default().push(index);
        }
    }
    let mut clusters: Vec<FoundCluster> = found
        .iter()
        .map(|(owner, pools)| {
            graph.cluster(owner, pools, named.get(owner).map_or(&[], Vec::as_slice))
        })
        .filter(|found| !found.read.cluster.pools.is_empty())
        .collect();
    clusters.sort_by(|a, b| (&a.name, &a.folder).cmp(&(&b.name, &b.folder)));
    for (from, dangling) in graph.dangling() {
        of_objects.entry(from).or_default().extend(dangling);
    }
    let mut owned = BTreeSet::new();
    for FoundCluster { objects, read, .. } in &mut clusters {
        let own = objects.iter().filter_map(|index| of_objects.get(index));
        read.findings.extend(own.flatten().cloned());
        owned.extend(objects.iter().copied());
    }
    of_objects.retain(|index, _| !owned.contains(index));
    findings.extend(of_objects.into_values().flatten());
    clusters
}

/// What a cluster starts from that no values make.
fn no_values() -> ClusterRead {
    ClusterRead {
        cluster: Cluster::default(),
        catalog: Arc::new(Catalog::default()),
        signing: SigningKeys::default(),
        sources: Sources::default(),
        folder: None,
        findings: Vec::new(),
    }
}

/// Names each cluster: by its own name, with its folder where several have that.
fn with_names(clusters: Vec<FoundCluster>) -> Vec<ClusterRead> {
    let mut known: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for found in &clusters {
        *known.entry(Arc::clone(&found.name)).or_default() += 1;
    }
    let mut taken = BTreeSet::new();
    let mut numbers: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    let mut named = Vec::with_capacity(clusters.len());
    for found in clusters {
        let FoundCluster {
            name,
            folder,
            mut read,
            ..
        } = found;
        let mut full: Arc<str> = match known[&name] {
            1 => Arc::clone(&name),
            _ if folder.is_empty() => format!("./{name}").into(),
            _ => format!("{folder}/{name}").into(),
        };
        // Those before it of that name have the numbers up to here.
        let number = numbers.entry(Arc::clone(&full)).or_insert(1);
        let base = Arc::clone(&full);
        while !taken.insert(Arc::clone(&full)) {
            *number += 1;
            full = format!("{base}#{number}").into();
        }
        for finding in &mut read.findings {
            finding.subject.cluster = Some(full.to_string());
        }
        read.cluster.name = full;
        read.folder = Some(folder.into());
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

/// What a pool belongs to: a Cluster object, else a name in a namespace and folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner<'a> {
    Object(usize),
    Name {
        name: &'a str,
        folder: &'a str,
        namespace: &'a str,
    },
}

fn is_of_group(object: &ManifestObject, group: &str) -> bool {
    object.group() == group
}

fn is_control_plane(object: &ManifestObject) -> bool {
    is_of_group(object, CONTROL_PLANE) && object.kind.ends_with("ControlPlane")
}

fn is_pool(object: &ManifestObject) -> bool {
    let workers = ["MachineDeployment", "MachineSet", "MachinePool", "Machine"];
    is_control_plane(object) || is_of_group(object, CLUSTER_API) && workers.contains(&&*object.kind)
}

/// All objects, with the references between them.
struct Graph<'a> {
    objects: &'a [ManifestObject],
    stamped: Option<&'a Stamped>,
    /// What each cluster starts from.
    shared: &'a ClusterRead,
    /// Those of each object.
    references: BTreeMap<usize, Vec<Reference<'a>>>,
    names: Names<'a>,
    /// The Cluster of each control plane.
    led: BTreeMap<usize, usize>,
    templates: Templates,
    /// What installs CAPM3.
    capm3: Vec<&'a ManifestObject>,
    /// The hosts of each namespace, once an endpoint is blank.
    hosts: OnceCell<BTreeMap<&'a str, Vec<Host>>>,
}

impl<'a> Graph<'a> {
    fn new(
        objects: &'a [ManifestObject],
        stamped: Option<&'a Stamped>,
        shared: &'a ClusterRead,
    ) -> Self {
        let mut by_object: BTreeMap<usize, Vec<Reference<'a>>> = BTreeMap::new();
        for reference in references(objects) {
            by_object.entry(reference.from).or_default().push(reference);
        }
        let mut led = BTreeMap::new();
        for (from, found) in &by_object {
            let object = &objects[*from];
            if &*object.kind != "Cluster" || !is_of_group(object, CLUSTER_API) || object.is_patch {
                continue;
            }
            let planes = found.iter().filter_map(|reference| reference.to);
            for plane in planes.filter(|to| is_control_plane(&objects[*to])) {
                led.insert(plane, *from);
            }
        }
        Self {
            objects,
            stamped,
            shared,
            references: by_object,
            names: Names::only(objects, |_| true),
            led,
            templates: Templates::default(),
            capm3: objects.iter().filter(endpoint::is_capm3).collect(),
            hosts: OnceCell::new(),
        }
    }

    /// The Kubernetes version that is stamped into an object.
    fn version_after_stamp(&self, index: usize) -> Option<&Arc<str>> {
        self.stamped?.versions.get(&index)
    }

    /// What a pool belongs to: the Cluster that refers to it, else the nearest Cluster of the name that it gives.
    fn owner(&self, pool: usize) -> Owner<'a> {
        if let Some(cluster) = self.led.get(&pool) {
            return Owner::Object(*cluster);
        }
        let object = &self.objects[pool];
        let name = object.cluster_name().unwrap_or(&object.name);
        let wanted = Name {
            kind: "Cluster",
            group: Some(CLUSTER_API),
            namespace: &object.namespace,
            name,
        };
        match self.names.nearest(wanted, pool) {
            Some(cluster) => Owner::Object(cluster),
            None => Owner::Name {
                name,
                folder: object.folder(),
                namespace: &object.namespace,
            },
        }
    }

    /// A cluster of its owner, its node pools, and other objects that name it.
    fn cluster(&self, owner: &Owner<'_>, pools: &[usize], named: &[usize]) -> FoundCluster {
        let mut reader = PoolReader {
            graph: self,
            sources: self.shared.sources.clone(),
            findings: Vec::new(),
            added: BTreeSet::new(),
        };
        let mut class = None;
        let mut cluster = Cluster {
            origin: ClusterOrigin::Manifests,
            ..Cluster::default()
        };
        match owner {
            Owner::Object(index) => {
                let object = &self.objects[*index];
                cluster.object_name = Arc::clone(&object.name);
                cluster.namespace = Arc::clone(&object.namespace);
                cluster.labels = object.labels();
                reader.findings.extend(find_illegal_labels(object));
                if eks_anywhere::is_cluster(object) {
                    reader.eks_anywhere(*index, &mut cluster)
                } else {
                    cluster.endpoint = Some(Box::new(reader.endpoint(*index)));
                    class = reader.topology(*index, &mut cluster);
                    reader.require_fields(&cluster_api::CLUSTER, *index, &mut cluster.pools);
                }
            }
            Owner::Name { name, .. } => cluster.object_name = (*name).into(),
        }
        cluster.capm3 = reader.capm3();
        for pool in pools {
            reader.object(*pool, &mut cluster);
        }
        if let Owner::Object(index) = owner
            && cluster.pools.is_empty()
        {
            reader.push_unknown(*index, &mut cluster);
        }
        let members = [pools, named].concat();
        let own = match owner {
            Owner::Object(index) => Some(*index),
            Owner::Name { .. } => None,
        };
        reader.objects(own, class, &members, &mut cluster);
        reader.read_boot(&mut cluster);
        cluster
            .pools
            .sort_by(|a, b| (&a.name, a.place.start).cmp(&(&b.name, b.place.start)));
        let (name, folder) = match owner {
            Owner::Object(index) => (&*self.objects[*index].name, self.objects[*index].folder()),
            Owner::Name { name, folder, .. } => (*name, *folder),
        };
        FoundCluster {
            name: if name.is_empty() { NO_NAME } else { name }.into(),
            folder: folder.to_owned(),
            read: ClusterRead {
                cluster,
                sources: reader.sources,
                findings: reader.findings,
                ..self.shared.clone()
            },
            objects: reader.added,
        }
    }

    /// The first reference of an object that is the wanted one.
    fn reference(
        &self,
        from: usize,
        is_it: impl Fn(&Reference<'_>) -> bool,
    ) -> Option<&Reference<'_>> {
        let mut found = self.references.get(&from).into_iter().flatten();
        found.find(|reference| is_it(reference))
    }

    /// The machine template that a reference of an object leads to.
    fn template(&self, from: usize, reference: Option<&Reference<'_>>) -> Template {
        let Some(reference) = reference else {
            return Template::Unnamed;
        };
        let target = reference.target();
        target.map_or(Template::Missing, |target| self.nearest(target, from))
    }

    /// The machine template of a name. Several that are equally near are one if they name one image.
    fn nearest(&self, name: Name<'_>, from: usize) -> Template {
        let all = self.names.all_nearest(name, from, MOST_NEAR);
        let Some(first) = all.first().copied() else {
            return Template::Missing;
        };
        let image = |index: usize| current_image(&self.objects[index]).map(|image| image.text);
        let is_one = all.iter().all(|other| image(*other) == image(first));
        if is_one && all.len() < MOST_NEAR {
            Template::At(first)
        } else {
            Template::Several
        }
    }
}

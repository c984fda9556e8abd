//! What deploys the files of a repository: Flux's Kustomizations and HelmReleases, and Argo CD's Applications, as they are written.
//!
//! What one deploys no longer is deleted where it prunes
//! (<https://fluxcd.io/flux/components/kustomize/kustomizations/#prune>, <https://argo-cd.readthedocs.io/en/stable/user-guide/auto_sync/#automatic-pruning>),
//! but for the last of what Argo CD deploys without `allowEmpty`
//! (<https://argo-cd.readthedocs.io/en/stable/user-guide/auto_sync/#automatic-pruning-with-allow-empty-v18>), and what one deploys
//! goes with it where its finalizer says so (<https://argo-cd.readthedocs.io/en/stable/user-guide/app_deletion/>).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use capi::changes::machine_parts;
use capi::objects::ManifestObject;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::Sources;
use yaml_tree::value::Node;

use crate::error::Error;
use crate::files::{Files, KUSTOMIZATIONS, is_kustomization, is_yaml};

use super::application::SourceType;
use super::builds::find_repositories;
use super::deployments::{self, Deploying};
use super::files::{print_folder, resolve_path};
use super::kustomization::{self, is_remote};
use super::reader::LayerReader;
use super::targets::{file_path, find_address, find_folder, find_source, inputs};
use super::{FLUX, Options, OwnOutput};
use crate::read::error::catch_finding;

/// The group of Flux's sources.
pub(in crate::read) const SOURCES: &str = "source.toolkit.fluxcd.io";

/// The kinds of everything that deploys, or is a source of what does.
pub(in crate::read) const DELIVERING: [&str; 5] = [
    FLUX,
    SOURCES,
    "HelmRelease",
    "Application",
    "ApplicationSet",
];

/// What deploys the files of a repository.
pub struct Delivery {
    files: Arc<dyn Files>,
    /// The project's folder.
    root: PathBuf,
    /// The paths of all files.
    paths: OnceLock<Vec<PathBuf>>,
    deliverers: Vec<Deliverer>,
    by_title: HashMap<String, usize>,
    /// Those in a file.
    by_file: BTreeMap<PathBuf, Vec<usize>>,
    /// Those that reach a file or a folder, by each path that they name.
    by_path: HashMap<PathBuf, Vec<usize>>,
    /// Flux's sources.
    sources: Vec<ManifestObject>,
    /// What is deployed and not read, with what is known of it, by its name.
    unseen: BTreeMap<String, String>,
}

/// An object that deploys others.
pub struct Deliverer {
    /// Its kind, namespace and name.
    pub title: String,
    /// The object, as it is written; of an Application of a set, as it is generated.
    pub object: ManifestObject,
    /// Whether it deletes what it deploys no longer.
    pub prunes: bool,
    /// Whether it deletes the last of what it deploys too.
    pub empties: bool,
    /// Whether what it deploys goes with it.
    pub cascades: bool,
    reach: Reach,
    /// Whether a file in its reach has an object; looked up when it is needed.
    has_objects: OnceLock<bool>,
}

/// The files and folders that something deploys.
#[derive(Default)]
struct Reach {
    /// By name.
    named: BTreeSet<PathBuf>,
    /// With everything in them, but for what is in the folders behind them.
    below: Vec<(PathBuf, Vec<PathBuf>)>,
}

impl Reach {
    fn has(&self, path: &Path) -> bool {
        let is_below = |(folder, but): &(PathBuf, Vec<PathBuf>)| {
            path.starts_with(folder) && !but.iter().any(|inner| path.starts_with(inner))
        };
        self.named.contains(path) || self.below.iter().any(is_below)
    }
}

impl Deliverer {
    /// One that deletes whatever it deploys no longer.
    fn new(object: ManifestObject, reach: Reach) -> Self {
        Self {
            title: title(&object),
            object,
            prunes: true,
            empties: true,
            cascades: true,
            reach,
            has_objects: OnceLock::new(),
        }
    }

    /// Whether it waits for somebody before it deploys anything.
    pub fn is_held(&self) -> bool {
        is_held(&self.object)
    }
}

/// Whether an object deploys nothing until somebody lets it.
pub fn is_held(object: &ManifestObject) -> bool {
    let automated = object.node.get_path(&["spec", "syncPolicy", "automated"]);
    let is_off = |automated: &Node| {
        let enabled = automated.get_path(&["enabled"]);
        automated.value.is_null() || enabled.is_some() && !automated.flag(&["enabled"])
    };
    match &*object.kind {
        "Application" => automated.is_none_or(is_off),
        _ => object.node.flag(&["spec", "suspend"]),
    }
}

fn title(object: &ManifestObject) -> String {
    let (kind, name) = (&object.kind, &object.name);
    match &*object.namespace {
        "" => format!("{kind} {name}"),
        namespace => format!("{kind} {namespace}/{name}"),
    }
}

impl Delivery {
    fn new(files: Arc<dyn Files>) -> Self {
        Self {
            files,
            root: PathBuf::new(),
            paths: OnceLock::new(),
            deliverers: Vec::new(),
            by_title: HashMap::new(),
            by_file: BTreeMap::new(),
            by_path: HashMap::new(),
            sources: Vec::new(),
            unseen: BTreeMap::new(),
        }
    }

    /// One of files of which one cannot be read.
    pub(in crate::read) fn unreadable(files: &Arc<dyn Files>) -> Self {
        let what = "what deploys the objects".to_owned();
        Self {
            unseen: BTreeMap::from([(what, String::new())]),
            ..Self::new(Arc::clone(files))
        }
    }

    /// Reads what these objects, and the kustomizations in these folders, deploy. `root` is the project's folder.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(in crate::read) fn read(
        files: Arc<dyn Files>,
        root: PathBuf,
        objects: Vec<ManifestObject>,
        folders: &BTreeSet<PathBuf>,
        own_output: &Arc<OwnOutput>,
    ) -> Result<Self, Error> {
        let options = Options {
            own_output: Arc::clone(own_output),
            ..Options::default()
        };
        let mut sources = Sources::default();
        let mut reader = LayerReader::new(&*files, &options, &mut sources);
        let is_argo = |object: &&ManifestObject| Deploying::is_argo(object.group(), &object.kind);
        let of_argo = { objects.iter().filter(is_argo) }.map(|object| file_path(object).to_owned());
        let of_argo: BTreeSet<PathBuf> = of_argo.collect();
        let is_source = |object: &&ManifestObject| object.group() == SOURCES;
        let sources_of_flux: Vec<&ManifestObject> = objects.iter().filter(is_source).collect();
        let is_flux =
            |object: &&ManifestObject| object.group() == FLUX && &*object.kind == "Kustomization";
        let flux = objects.iter().filter(is_flux);
        reader.repositories = find_repositories(&mut reader, &of_argo, flux, &sources_of_flux);
        let mut found = Reading {
            reader,
            folders,
            sources: &sources_of_flux,
            deliverers: Vec::new(),
            unseen: BTreeMap::new(),
        };
        found.remote_resources()?;
        for object in &objects {
            match &*object.kind {
                "Kustomization" if is_flux(&object) => found.kustomization(object)?,
                "HelmRelease" => found.release(object)?,
                _ if is_argo(&object) => found.applications(object)?,
                _ => {}
            }
        }
        let Reading {
            deliverers,
            mut unseen,
            ..
        } = found;
        for deliverer in &deliverers {
            if let Some(known) = unseen.get_mut(&deliverer.title) {
                let source = find_source(&sources_of_flux, &deliverer.object);
                known.extend(source.into_iter().map(print));
            }
        }
        let sources = sources_of_flux.into_iter().cloned().collect();
        let mut delivery = Self {
            root,
            sources,
            unseen,
            ..Self::new(files)
        };
        for (index, deliverer) in deliverers.iter().enumerate() {
            let file = file_path(&deliverer.object).to_owned();
            delivery.by_file.entry(file).or_default().push(index);
            delivery.by_title.insert(deliverer.title.clone(), index);
            let Reach { named, below } = &deliverer.reach;
            let below = below.iter().map(|(folder, _)| folder);
            for path in named.iter().chain(below) {
                let reaching = delivery.by_path.entry(path.clone()).or_default();
                reaching.push(index);
            }
        }
        delivery.deliverers = deliverers;
        Ok(delivery)
    }

    /// What deploys an object itself. What a chart or a kustomization makes is where that is declared.
    pub fn find_for_object(&self, object: &ManifestObject) -> Vec<&Deliverer> {
        let file = Path::new(&*object.file().path);
        if !object.text.is_build() {
            return self.find_for_path(file);
        }
        if is_kustomization(file) {
            return self.find_for_path(file.parent().unwrap_or(Path::new("")));
        }
        let origin = object.spot(object.node.place);
        let origin = origin.map(|spot| PathBuf::from(&*spot.source.path));
        let own = || self.find_declared(file).into_iter();
        let is_its = |one: &&Deliverer| origin.as_ref().is_some_and(|path| one.reach.has(path));
        let its: Vec<&Deliverer> = own().filter(is_its).collect();
        if its.is_empty() {
            self.find_for_path(file)
        } else {
            its
        }
    }

    /// What deploys a file or a folder itself.
    pub fn find_for_path(&self, path: &Path) -> Vec<&Deliverer> {
        let above = path.ancestors();
        let indexes = above.filter_map(|path| self.by_path.get(path)).flatten();
        let indexes: BTreeSet<usize> = indexes.copied().collect();
        let deliverers = indexes.into_iter().map(|index| &self.deliverers[index]);
        deliverers.filter(|one| one.reach.has(path)).collect()
    }

    /// What deploys an object that deploys others.
    pub fn find_above(&self, deliverer: &Deliverer) -> Vec<&Deliverer> {
        let mut above = self.find_for_path(file_path(&deliverer.object));
        above.retain(|other| other.title != deliverer.title);
        above
    }

    /// Those in a file, or in the files of a folder.
    pub fn find_declared(&self, path: &Path) -> Vec<&Deliverer> {
        let files = self.by_file.range(path.to_owned()..);
        let files = files.take_while(|(file, _)| file.starts_with(path));
        let indexes = files.flat_map(|(_, indexes)| indexes);
        indexes.map(|index| &self.deliverers[*index]).collect()
    }

    /// A path of the project in the repository.
    pub fn path(&self, path: &Path) -> PathBuf {
        resolve_path(&self.root, &path.to_string_lossy()).unwrap_or_default()
    }

    /// The one of a title.
    pub fn find(&self, title: &str) -> Option<&Deliverer> {
        Some(&self.deliverers[*self.by_title.get(title)?])
    }

    /// Where Flux takes from what an object deploys.
    pub fn source(&self, deliverer: &Deliverer) -> Option<&ManifestObject> {
        let sources: Vec<&ManifestObject> = self.sources.iter().collect();
        find_source(&sources, &deliverer.object)
    }

    /// What is deployed and not read, with what is known of it, by its name.
    pub fn unseen(&self) -> &BTreeMap<String, String> {
        &self.unseen
    }

    /// Digests of every file that an object may be made of, where nobody knows of which: what its kustomization names, what is in its
    /// folder, and what deploys it.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn inputs(&self, object: &ManifestObject) -> Result<BTreeMap<PathBuf, Vec<u8>>, Error> {
        let file = Path::new(&*object.file().path);
        let folder = file.parent().unwrap_or(Path::new(""));
        let own = self.find_for_object(object);
        let mut reaches: Vec<&Reach> = own.iter().map(|one| &one.reach).collect();
        let (options, mut sources) = (Options::default(), Sources::default());
        let mut reader = LayerReader::new(&*self.files, &options, &mut sources);
        let own = Reach {
            named: closure(&mut reader, folder, &collect_paths)?,
            below: vec![(folder.to_owned(), Vec::new())],
        };
        reaches.push(&own);
        let read = self
            .paths()?
            .iter()
            .filter(|path| reaches.iter().any(|reach| reach.has(path)));
        let read = read.map(|path| (path.clone(), digest(&*self.files, path)));
        Ok(read.collect())
    }

    fn paths(&self) -> Result<&[PathBuf], Error> {
        if let Some(paths) = self.paths.get() {
            return Ok(paths);
        }
        let paths = self.files.list_recursive(Path::new("."))?;
        Ok(self.paths.get_or_init(|| paths))
    }

    /// Whether a file that something deploys is known to have an object. What generators make is not counted.
    pub fn has_objects(&self, deliverer: &Deliverer) -> bool {
        *deliverer.has_objects.get_or_init(|| {
            let (options, mut sources) = (Options::default(), Sources::default());
            let mut reader = LayerReader::new(&*self.files, &options, &mut sources);
            let mut paths = self.paths().unwrap_or_default().iter();
            paths.any(|path| {
                let is_its = deliverer.reach.has(path) && is_yaml(path) && !is_kustomization(path);
                let objects = is_its.then(|| reader.objects(path).ok().flatten());
                let objects = objects.flatten().unwrap_or_default();
                objects
                    .iter()
                    .any(|node| node.get_path(&["kind"]).is_some())
            })
        })
    }
}

/// A digest of a file, or why it is not read.
pub(in crate::read) fn digest(files: &dyn Files, path: &Path) -> Vec<u8> {
    match files.content(path) {
        Ok(content) => content.digest().to_vec(),
        Err(error) => error.to_string().into_bytes(),
    }
}

/// What is known of an object that is not carried out.
fn print(object: &ManifestObject) -> String {
    to_json(&machine_parts(object).value, Html::Plain)
}

/// What is read of a repository until now.
struct Reading<'f> {
    reader: LayerReader<'f>,
    folders: &'f BTreeSet<PathBuf>,
    /// Flux's sources.
    sources: &'f [&'f ManifestObject],
    deliverers: Vec<Deliverer>,
    unseen: BTreeMap<String, String>,
}

impl Reading<'_> {
    /// Adds the resources of kustomizations that are elsewhere.
    fn remote_resources(&mut self) -> Result<(), Error> {
        for folder in self.folders {
            let mut remote = Vec::new();
            for node in kustomizations(&mut self.reader, folder)? {
                let lists = ["resources", "bases", "components"];
                let items = lists.iter().flat_map(|key| node.items(&[key]));
                let texts = items.filter_map(|item| item.text(&[]));
                remote.extend(texts.filter(|text| is_remote(text)).map(str::to_owned));
            }
            if !remote.is_empty() {
                let name = format!("what `{}` takes from elsewhere", print_folder(folder));
                self.unseen.insert(name, remote.join(" "));
            }
        }
        Ok(())
    }

    fn kustomization(&mut self, object: &ManifestObject) -> Result<(), Error> {
        let address = find_address(self.sources, object);
        let repositories = &self.reader.repositories;
        let is_other = address.is_some_and(|address| repositories.is_other_address(address));
        let folder = find_folder(object).filter(|_| !is_other);
        let reach = match folder.filter(|folder| self.reader.files.is_folder(folder)) {
            Some(folder) => self.folder(&folder)?,
            None => Reach::default(),
        };
        let policy = object.node.text(&["spec", "deletionPolicy"]);
        let prunes = object.node.flag(&["spec", "prune"]);
        self.add(Deliverer {
            prunes,
            cascades: match policy {
                Some("Orphan") => false,
                Some("Delete" | "WaitForTermination") => true,
                _ => prunes,
            },
            ..Deliverer::new(object.clone(), reach)
        });
        Ok(())
    }

    fn release(&mut self, object: &ManifestObject) -> Result<(), Error> {
        let chart = ["spec", "chart", "spec", "chart"];
        let chart = object.node.text(&chart).unwrap_or_default();
        let folder = resolve_path(Path::new(""), chart.trim_start_matches('/'));
        let is_chart = |folder: &PathBuf| self.reader.files.is_file(&folder.join("Chart.yaml"));
        let below = folder.filter(is_chart).map(|folder| (folder, Vec::new()));
        let reach = Reach {
            named: BTreeSet::new(),
            below: below.into_iter().collect(),
        };
        self.add(Deliverer::new(object.clone(), reach));
        Ok(())
    }

    /// Adds an Application, or those of an ApplicationSet.
    fn applications(&mut self, object: &ManifestObject) -> Result<(), Error> {
        let is_set = &*object.kind == "ApplicationSet";
        let mut made: BTreeMap<String, Deliverer> = BTreeMap::new();
        for applied in deployments::find_applied(&mut self.reader, file_path(object))? {
            let node = applied.application.tree.clone();
            let application = ManifestObject::new(&object.text, object.document, &[], node);
            let owner = is_set && applied.application.kind() == "Application";
            if !owner && application.name != object.name {
                continue;
            }
            let reach = self.source(&applied.folder, &applied.source)?;
            let one = { made.entry(title(&application)) }
                .or_insert_with(|| deliverer(application, owner.then_some(object)));
            one.reach.named.extend(reach.named);
            one.reach.below.extend(reach.below);
        }
        if made.is_empty() {
            made.insert(String::new(), deliverer(object.clone(), None));
        }
        made.into_values().for_each(|one| self.add(one));
        Ok(())
    }

    /// Adds one, and whether what it deploys is not read.
    fn add(&mut self, deliverer: Deliverer) {
        let Reach { named, below } = &deliverer.reach;
        if named.is_empty() && below.is_empty() {
            let known = print(&deliverer.object);
            self.unseen.insert(deliverer.title.clone(), known);
        }
        self.deliverers.push(deliverer);
    }

    /// What Argo CD deploys of a folder.
    fn source(&mut self, folder: &Path, source: &Node) -> Result<Reach, Error> {
        if !self.reader.files.is_folder(folder) {
            return Ok(Reach::default());
        }
        let set = SourceType::from_source(&self.reader, source);
        let source_type = set.unwrap_or_else(|| SourceType::discover(&self.reader, folder));
        if source_type == SourceType::Kustomize && self.folders.contains(folder) {
            return self.folder(folder);
        }
        let mut inner = Vec::new();
        if source_type != SourceType::Helm && !source.flag(&["directory", "recurse"]) {
            let names = self.reader.files.folder(folder)?.unwrap_or_default();
            let inside = names.iter().map(|name| folder.join(name));
            inner.extend(inside.filter(|path| self.reader.files.is_folder(path)));
        }
        Ok(Reach {
            named: BTreeSet::new(),
            below: vec![(folder.to_owned(), inner)],
        })
    }

    /// What Flux deploys of a folder: what its kustomization names, else every file in it and every kustomization.
    fn folder(&mut self, folder: &Path) -> Result<Reach, Error> {
        if self.folders.contains(folder) {
            return Ok(Reach {
                named: closure(&mut self.reader, folder, &inputs)?,
                below: Vec::new(),
            });
        }
        let mut inner: Vec<PathBuf> = Vec::new();
        for below in self
            .folders
            .iter()
            .filter(|below| below.starts_with(folder))
        {
            if !inner.iter().any(|outer| below.starts_with(outer)) {
                inner.push(below.clone());
            }
        }
        let mut named = BTreeSet::new();
        for below in &inner {
            named.extend(closure(&mut self.reader, below, &inputs)?);
        }
        Ok(Reach {
            named,
            below: vec![(folder.to_owned(), inner)],
        })
    }
}

/// An Application, and the set that generates it.
fn deliverer(application: ManifestObject, set: Option<&ManifestObject>) -> Deliverer {
    let spec = |path: &[&str]| application.node.get_path(path);
    let automated = spec(&["spec", "syncPolicy", "automated"]);
    let options = application
        .node
        .items(&["spec", "syncPolicy", "syncOptions"]);
    let mut options = options.iter().filter_map(|option| option.text(&[]));
    let finalizers = application.node.items(&["metadata", "finalizers"]);
    let mut finalizers = finalizers.iter().filter_map(|one| one.text(&[]));
    Deliverer {
        prunes: automated.is_some_and(|automated| automated.flag(&["prune"]))
            && !options.any(|option| option.starts_with("Prune=")),
        empties: automated.is_some_and(|automated| automated.flag(&["allowEmpty"])),
        cascades: match set {
            Some(set) => !set
                .node
                .flag(&["spec", "syncPolicy", "preserveResourcesOnDeletion"]),
            None => finalizers.any(|one| one.starts_with("resources-finalizer.argocd.argoproj.io")),
        },
        ..Deliverer::new(application.clone(), Reach::default())
    }
}

/// The kustomizations in a folder, as far as they are YAML.
fn kustomizations(reader: &mut LayerReader<'_>, folder: &Path) -> Result<Vec<Node>, Error> {
    Ok(catch_finding(kustomization::find_all(reader, folder))?.unwrap_or_default())
}

/// The paths that a kustomization in a folder names.
type NamedBy<'n> = &'n dyn Fn(&mut LayerReader<'_>, &Path, &Node) -> Result<Vec<PathBuf>, Error>;

/// A folder with a kustomization, and what that leads to.
fn closure(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    named_by: NamedBy<'_>,
) -> Result<BTreeSet<PathBuf>, Error> {
    let mut found = BTreeSet::from([folder.to_owned()]);
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let own = KUSTOMIZATIONS.iter().map(|name| folder.join(name));
        found.extend(own.filter(|path| reader.files.is_file(path)));
        for node in kustomizations(reader, &folder)? {
            for path in named_by(reader, &folder, &node)? {
                if found.insert(path.clone()) && reader.files.is_folder(&path) {
                    open.push(path);
                }
            }
        }
    }
    Ok(found)
}

/// Every file and folder that a text of a kustomization may name.
fn collect_paths(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    node: &Node,
) -> Result<Vec<PathBuf>, Error> {
    let own = node.value.as_str().into_iter().flat_map(|text| {
        let path = text.rsplit('=').next().unwrap_or_default();
        resolve_path(folder, path)
    });
    let mut found: Vec<PathBuf> = own.filter(|path| reader.files.is_there(path)).collect();
    for child in node.children() {
        found.extend(collect_paths(reader, folder, child)?);
    }
    Ok(found)
}

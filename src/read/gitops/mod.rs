//! Composes clusters as Flux and Argo CD do: the values layers of a folder or file with a HelmRelease or an Application.
//!
//! Each field of kustomize's, Flux's and Argo CD's objects is carried out, has no effect on what is read, or makes what is behind it
//! unknown (`read::tables`).

mod application;
mod application_set;
mod builds;
mod configuration;
mod delivery;
mod deployments;
mod depth;
mod envsubst;
mod files;
mod generator;
mod inflation;
mod json_patch;
mod kustomization;
mod names;
mod object;
mod overlay;
mod overrides;
mod patch;
mod patches;
mod reader;
mod release;
mod replacements;
mod repositories;
mod selector;
mod set;
mod set_template;
mod strategic;
mod targets;
mod transformers;
mod variables;
mod vars;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use yaml_tree::engine::Engine;
use yaml_tree::merge::Layer;
use yaml_tree::place::{Place, Sources};
use yaml_tree::value::{Entry, Node, Value};

use crate::error::Error;
use crate::files::KUSTOMIZATIONS;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

pub use crate::files::{Disk, Files, Found};

pub use super::own_output::OwnOutput;

pub(in crate::read) use builds::builds;
pub(in crate::read) use delivery::{DELIVERING, SOURCES, digest};
pub use delivery::{Deliverer, Delivery, is_held};
pub(in crate::read) use deployments::Deploying;
pub(in crate::read) use envsubst::Variables;
pub use files::matches;
pub(in crate::read) use files::resolve_path;
pub(in crate::read) use inflation::{Inflation, chart_folder};
pub(in crate::read) use json_patch::{Dialect, apply as apply_json_patch};
pub(in crate::read) use patches::Patches;
pub(in crate::read) use targets::Input;
pub(in crate::read) use variables::substitute;

use crate::read::error::{ReadError, catch_finding};
use object::Object;
use reader::{LayerReader, Loads};
use transformers::Transformer;

/// The group of Flux Kustomizations.
pub(in crate::read) const FLUX: &str = "kustomize.toolkit.fluxcd.io";

/// The rule for what a real build would refuse.
const FAILED: RuleId = RuleId::CompositionFailed;

/// The rule for what is not implemented here.
const UNSUPPORTED: RuleId = RuleId::CompositionUnsupported;

/// Objects that exist only at run time, given as files below the root: `ConfigMap/NAME` and `Secret/NAME` map to the object's
/// manifest or to a file of its values, `HelmChart/NAME` to the folder of a chart. Its clones know together which of them are used.
#[derive(Clone, Debug, Default)]
pub struct State {
    files: BTreeMap<String, PathBuf>,
    used: Arc<Mutex<BTreeSet<String>>>,
}

impl State {
    /// The objects with these files.
    pub fn new(files: BTreeMap<String, PathBuf>) -> Self {
        Self {
            files,
            used: Arc::default(),
        }
    }

    /// The file of an object, which is used now.
    fn get(&self, object: &str) -> Option<&PathBuf> {
        let file = self.files.get(object)?;
        self.used.lock().insert(object.to_owned());
        Some(file)
    }

    /// Whether a composition has required an object.
    pub(in crate::read) fn is_used(&self, object: &str) -> bool {
        self.used.lock().contains(object)
    }
}

/// The options for composing clusters.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The engine whose reading of values applies.
    pub engine: Engine,
    /// Objects that exist only at run time.
    pub state: State,
    /// Files that were read for all clusters.
    pub shared: Shared,
    /// The files that metalmark renders, which compositions do not read.
    pub own_output: Arc<OwnOutput>,
}

/// Files that many clusters share, read once: see [`share`].
#[derive(Clone, Debug, Default)]
pub struct Shared {
    loads: Loads,
}

/// A program that deploys charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deployer {
    /// By a HelmRelease.
    Flux,
    /// By an Application.
    ArgoCd,
}

/// One release and the layers of its values.
#[derive(Clone, Debug)]
pub struct Composition {
    /// The release's name.
    pub name: String,
    /// The namespace of the installation.
    pub namespace: String,
    /// Where it is declared.
    pub place: Place,
    /// What deploys it.
    pub deployer: Deployer,
    /// The names that its HelmRelease has had, its own last; none where Argo CD deploys it.
    pub helm_release: Vec<Arc<str>>,
    /// The chart's folder, if it is in this repository.
    pub chart: Option<PathBuf>,
    /// What changes its objects after they were rendered: `postRenderers`.
    pub post_renderers: Vec<Node>,
    /// Its values, lowest first.
    pub layers: Vec<Layer>,
    /// What it needs and the repository does not contain.
    pub missing: Vec<MissingSource>,
    /// The findings. If composing failed, there are no layers.
    pub findings: Vec<Finding>,
}

/// An object or a chart that exists only at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingSource {
    /// `ConfigMap`, `Secret` or `HelmChart`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The required key, or the chart's file.
    pub key: String,
    /// The place of the requirement.
    pub place: Place,
}

/// Provides the content of run-time objects, where the repository declares it elsewhere.
pub trait RunTime {
    /// The values under a key of a ConfigMap or Secret that is neither built nor given in the state; none if they are not known.
    /// Their places refer to `sources`, to which the files are added.
    ///
    /// # Errors
    /// An I/O error.
    fn values(
        &self,
        kind: &str,
        name: &str,
        key: &str,
        sources: &mut Sources,
    ) -> Result<Option<Node>, Error>;
}

/// The one release of the folder or file at `path`, below the root of `files`; none if it deploys nothing. Several are a
/// finding, since none of them is known to be the cluster's of that `name`. `run_time` knows the content of objects that exist only
/// in a running cluster.
///
/// # Errors
/// A file exists and cannot be read.
pub fn cluster(
    files: &dyn Files,
    path: &Path,
    name: &str,
    options: &Options,
    run_time: Option<&dyn RunTime>,
    sources: &mut Sources,
) -> Result<Option<Composition>, Error> {
    let mut reader = LayerReader::new(files, options, sources);
    (reader.run_time, reader.cluster) = (run_time, Some(name));
    let mut all = compositions(&mut reader, path, options)?;
    if all.len() > 1 {
        let message = format!(
            "there are several releases, `{}` and `{}`",
            all[0].name, all[1].name
        );
        let finding = Finding::new(UNSUPPORTED, message)
            .with_label(sources.resolve(all[0].place), "")
            .with_label(sources.resolve(all[1].place), "the other one")
            .help("name the file or folder of the one that is the cluster's");
        all[0].layers.clear();
        all[0].findings.push(finding);
    }
    Ok(all.into_iter().next())
}

/// All releases of a folder or file: each HelmRelease and Application, including those of an ApplicationSet.
///
/// # Errors
/// As [`cluster`].
pub fn clusters(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut Sources,
) -> Result<Vec<Composition>, Error> {
    let mut reader = LayerReader::new(files, options, sources);
    compositions(&mut reader, path, options)
}

/// Reads the files that a cluster shares with others, which are all files outside its own folder, into shared sources.
///
/// # Errors
/// As [`cluster`].
pub fn share(
    files: &dyn Files,
    path: &Path,
    options: &mut Options,
    sources: &mut Sources,
) -> Result<(), Error> {
    let mut reader = LayerReader::new(files, options, sources);
    compositions(&mut reader, path, options)?;
    let loads = reader.loads.into_iter();
    let common: Loads = loads.filter(|(file, _)| !file.starts_with(path)).collect();
    options.shared.loads.extend(common);
    Ok(())
}

/// Sylva's chart, below the folder of sylva-core.
pub const CHART: &str = "charts/sylva-units";
/// The folders that are environments of Sylva, whatever they deploy.
const ENVIRONMENTS: [&str; 2] = [
    "environment-values/workload-clusters/*/",
    "environment-values/*/",
];

/// Sylva's environments: the folders that compose one release of its chart, wherever they are. Those of a sylva-core that is kept in a
/// folder are its examples where there are others. All are built together, because one may be the base of another.
///
/// # Errors
/// A file or folder cannot be read.
pub fn environments(files: &dyn Files) -> Result<Vec<Discovered>, Error> {
    let (mut usual, mut folders) = (Vec::new(), kustomizations(files));
    for pattern in ENVIRONMENTS {
        usual.extend(matches(files, pattern)?);
    }
    let chart = CHART.rsplit('/').next().unwrap_or(CHART);
    if !folders.iter().any(|folder| mentions(files, folder, chart)) {
        folders.clear();
    }
    folders.extend(usual.iter().cloned());
    folders.sort();
    folders.dedup();
    let mut found = discover(files, folders, &Arc::default())?.deploying;
    found
        .retain(|one| usual.contains(&one.path) || one.releases == 1 && one.charts.contains(chart));
    drop_parts(&mut found);
    let is_example = |one: &Discovered| {
        let mut above = one.path.ancestors().skip(1);
        above.any(|above| above != Path::new("") && files.is_folder(&above.join(CHART)))
    };
    if !found.iter().all(is_example) {
        found.retain(|one| !is_example(one));
    }
    Ok(found)
}

/// Whether a manifest in a folder has a word in its text.
fn mentions(files: &dyn Files, folder: &Path, word: &str) -> bool {
    let names = files.folder(folder).ok().flatten().unwrap_or_default();
    let inside = names.iter().map(|name| folder.join(name));
    let mut manifests = inside.filter(|file| deployments::is_manifest(file));
    manifests.any(|file| {
        let bytes = files.read_file(&file).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(word)
    })
}

/// The folders with a kustomization, sorted, but for hidden ones.
pub(in crate::read) fn kustomizations(files: &dyn Files) -> Vec<PathBuf> {
    let all = files.paths_named(KUSTOMIZATIONS).into_iter();
    let plain = all.filter(|file| !is_hidden(file));
    let folders = plain.filter_map(|file| Some(file.parent()?.to_owned()));
    let folders: BTreeSet<PathBuf> = folders.collect();
    folders.into_iter().collect()
}

/// Whether a part of a path is hidden.
pub(in crate::read) fn is_hidden(path: &Path) -> bool {
    let mut parts = path.iter().map(|part| part.to_string_lossy());
    parts.any(|part| part.starts_with('.') && part != ".")
}

/// A folder or file that deploys something.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// Where it is.
    pub path: PathBuf,
    /// How many objects it has that deploy charts.
    pub(in crate::read) releases: usize,
    /// The names of these charts; none of a folder that fails to build.
    pub charts: BTreeSet<String>,
    /// The folders that it builds on.
    pub(in crate::read) parts: Vec<PathBuf>,
}

/// What is discovered among folders and files.
#[derive(Clone, Debug, Default)]
pub(in crate::read) struct Discovery {
    /// Those that deploy something, and those that fail to build, so that composing them reports the error.
    pub(in crate::read) deploying: Vec<Discovered>,
    /// The files that were read.
    pub(in crate::read) files: BTreeSet<PathBuf>,
}

impl Discovery {
    /// Adds what else was discovered.
    pub(in crate::read) fn add(&mut self, other: Self) {
        self.deploying.extend(other.deploying);
        self.files.extend(other.files);
    }
}

/// The folders and files among these that deploy something.
///
/// # Errors
/// As [`cluster`].
pub(in crate::read) fn discover(
    files: &dyn Files,
    paths: Vec<PathBuf>,
    own_output: &Arc<OwnOutput>,
) -> Result<Discovery, Error> {
    let (mut options, mut sources) = (Options::default(), Sources::default());
    options.own_output = Arc::clone(own_output);
    let mut reader = LayerReader::new(files, &options, &mut sources);
    // Discovery ends early only on an I/O error.
    let deploying = catch_finding(deploying(&mut reader, &paths))?.unwrap_or_default();
    // Where a folder has no kustomization, each file was looked at, and none is read.
    let built = { deploying.iter() }.flat_map(|one| one.parts.iter().chain([&one.path]));
    let built: BTreeSet<&Path> = built.map(PathBuf::as_path).collect();
    let plain: BTreeSet<&Path> = { paths.iter().map(PathBuf::as_path) }
        .filter(|path| !built.contains(path))
        .collect();
    let is_looked_at = |file: &PathBuf| file.parent().is_some_and(|folder| plain.contains(folder));
    let files = reader.loads.into_keys();
    Ok(Discovery {
        files: files.filter(|file| !is_looked_at(file)).collect(),
        deploying,
    })
}

/// The clusters that a pattern of folders matches.
///
/// # Errors
/// As [`cluster`].
pub fn clusters_in(files: &dyn Files, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let matched = matches(files, pattern)?.into_iter();
    let folders = matched.filter(|path| files.is_folder(path));
    let mut found = discover(files, folders.collect(), &Arc::default())?.deploying;
    drop_parts(&mut found);
    Ok(found.into_iter().map(|one| one.path).collect())
}

/// Drops those that another one builds on: a base, a component.
pub(in crate::read) fn drop_parts(found: &mut Vec<Discovered>) {
    let parts = found.iter().flat_map(|one| one.parts.iter().cloned());
    let parts: BTreeSet<PathBuf> = parts.collect();
    found.retain(|one| !parts.contains(&one.path));
}

/// The objects that a folder or file builds to, as `kubectl kustomize` prints them, or the error of the build.
///
/// # Errors
/// As [`cluster`].
pub fn objects(
    files: &dyn Files,
    path: &Path,
    sources: &mut Sources,
) -> Result<Result<Vec<Node>, Finding>, Error> {
    let options = Options::default();
    let mut reader = LayerReader::new(files, &options, sources);
    let built = catch_finding(deployments::build(&mut reader, path))?;
    Ok(built.map(|built| {
        let objects = built.unwrap_or_default().objects.into_iter();
        objects.map(|object| object.tree).collect()
    }))
}

/// The objects of a chart as the `postRenderers` of its release change them, or why that is not known.
///
/// # Errors
/// As [`cluster`].
pub(in crate::read) fn post_render(
    files: &dyn Files,
    renderers: &[Node],
    objects: Vec<Node>,
    sources: &mut Sources,
) -> Result<Result<Vec<Node>, Finding>, Error> {
    let options = Options::default();
    let mut reader = LayerReader::new(files, &options, sources);
    let mut objects: Vec<Object> = objects.into_iter().map(Object::new).collect();
    let mut renderers = renderers.iter();
    let changed = renderers.try_for_each(|one| change_rendered(&mut reader, one, &mut objects));
    let changed = catch_finding(changed)?;
    Ok(changed.map(|()| objects.into_iter().map(|object| object.tree).collect()))
}

/// Carries out one item of `postRenderers`.
fn change_rendered(
    reader: &mut LayerReader<'_>,
    renderer: &Node,
    objects: &mut Vec<Object>,
) -> Result<(), ReadError> {
    let none = Node::from_value(Value::Null);
    let kustomize = renderer.get_path(&["kustomize"]).unwrap_or(&none);
    let is_known = |entry: &Entry| ["patches", "images"].contains(&&*entry.key);
    if !kustomize.entries(&[]).all(is_known) {
        let message = "of `postRenderers`, only `patches` and `images` are carried out here";
        let finding = reader.finding(UNSUPPORTED, message, renderer.place);
        return Err(finding.into());
    }
    let transformers = Transformer::read_fields(kustomize, &reader.configuration);
    let transformers = transformers.map_err(|why| reader.refusal(why, renderer.place))?;
    for transformer in transformers {
        transformer.apply(reader, Path::new(""), objects)?;
    }
    Ok(())
}

fn compositions(
    reader: &mut LayerReader<'_>,
    path: &Path,
    options: &Options,
) -> Result<Vec<Composition>, Error> {
    let composed = deployments::compose_path(reader, &options.state, path);
    let mut all = match catch_finding(composed)? {
        Ok(all) => all,
        Err(finding) => {
            reader.findings.push(finding);
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            vec![Composition::empty(name.into_owned(), Place::NONE)]
        }
    };
    if let Some(first) = all.first_mut() {
        first.findings.append(&mut reader.findings);
    }
    Ok(all)
}

impl Composition {
    /// One without a chart and without values yet; that is all of one that failed.
    fn empty(name: String, place: Place) -> Self {
        Self {
            name,
            namespace: String::new(),
            place,
            deployer: Deployer::Flux,
            helm_release: Vec::new(),
            chart: None,
            post_renderers: Vec::new(),
            layers: Vec::new(),
            missing: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn add_missing(&mut self, kind: &str, name: &str, key: &str, place: Place) {
        let [kind, name, key] = [kind, name, key].map(str::to_owned);
        self.missing.push(MissingSource {
            kind,
            name,
            key,
            place,
        });
    }
}

/// Those of these paths that deploy something, in their order.
fn deploying(
    reader: &mut LayerReader<'_>,
    paths: &[PathBuf],
) -> Result<Vec<Discovered>, ReadError> {
    let mut found = Vec::new();
    for path in paths.iter().cloned() {
        let built = match catch_finding(kustomization::build(reader, &path))? {
            Ok(Some(built)) => built,
            Ok(None) => {
                let is_component = kustomization::find(reader, &path)?.is_some();
                match deployments::build(reader, &path)? {
                    Some(built) if !is_component => built,
                    _ => continue,
                }
            }
            Err(_) => {
                found.push(Discovered {
                    path,
                    releases: 0,
                    charts: BTreeSet::new(),
                    parts: Vec::new(),
                });
                continue;
            }
        };
        let objects = built.objects.iter();
        let objects: Vec<_> = objects
            .filter(|object| deployments::is_deploying(object))
            .collect();
        if !objects.is_empty() {
            found.push(Discovered {
                path,
                releases: objects.len(),
                charts: objects.into_iter().flat_map(chart_names).collect(),
                parts: built.folders.iter().skip(1).cloned().collect(),
            });
        }
    }
    Ok(found)
}

/// The names of the charts that an object deploys, without their folders.
fn chart_names(object: &Object) -> impl Iterator<Item = String> + use<'_> {
    const PATHS: [&[&str]; 5] = [
        &["spec", "chart", "spec", "chart"],
        &["spec", "source", "path"],
        &["spec", "source", "chart"],
        &["spec", "template", "spec", "source", "path"],
        &["spec", "template", "spec", "source", "chart"],
    ];
    let names = PATHS.iter().filter_map(|path| object.tree.text(path));
    names.filter_map(|chart| Some(chart.trim_end_matches('/').rsplit('/').next()?.to_owned()))
}

//! The objects of a repository as they are deployed: as kustomize, Flux and Helm make them, with their variables filled in.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::fields::find_lacking;
use capi::objects::{ManifestObject, Text, version_nodes};
use capi::unknown::Unknown;
use yaml_tree::engine::Engine;
use yaml_tree::opaque::label;
use yaml_tree::place::{Located, Place, Sources};
use yaml_tree::value::{Map, Node, Value};

use crate::error::Error;
use crate::files::{Files, Found};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::read::tables::{self, Table, argo_cd, find_fault};

use super::super::environment;
use super::super::files::source;
use super::super::gitops::{
    self, Deploying, FLUX, Input, OwnOutput, SOURCES, Variables, substitute,
};
use super::super::helm_charts::{GROUPS, HelmCharts, MadeRelease, Pins};
use super::super::manifests::{self, ManifestFiles};
use super::duplicates::find_duplicates;
use super::pools::{current_image, wrong_type};
use super::{CLUSTER_API, EKS_ANYWHERE};

/// The objects below these paths. Folders that do not build are among the findings.
///
/// # Errors
/// A path or file cannot be read.
pub(super) fn collect_objects(
    tree: &dyn Files,
    paths: &[PathBuf],
    engine: Option<Engine>,
    own_output: &Arc<OwnOutput>,
    findings: &mut Vec<Finding>,
) -> Result<Deployed, Error> {
    let mut sources = Sources::default();
    let read = Repository::read(tree, paths, engine, own_output, &mut sources)?;
    let is_template = |path: &Path| read.charts.has_template(path);
    findings.extend(read.found.syntax_findings(is_template));
    read.check_names(findings);
    let misspelled = read.find_misspelled_fields();
    let unread = read.omissions();
    let elsewhere = read.releases_elsewhere(tree);
    let options = gitops::Options {
        engine: read.pins.newest_engine(),
        own_output: Arc::clone(own_output),
        ..gitops::Options::default()
    };
    let built = gitops::builds(tree, &read.input(), &options, &mut sources)?;
    let Repository {
        found,
        charts,
        texts,
        pins,
        ..
    } = read;
    let is_template = |object: &ManifestObject| charts.has_template(path(object));
    let is_part = |object: &ManifestObject| is_whole(&object) && built.parts.contains(path(object));
    let is_file = |object: &ManifestObject| object.text.host.is_none() && object.is_outermost();
    let is_applied = |object: &ManifestObject| built.parts.contains(path(object));
    let is_left = |object: &ManifestObject| {
        object.is_patch && is_file(object) && !is_applied(object) && !is_template(object)
    };
    let (left, mut objects): (Vec<_>, Vec<_>) = found.objects.into_iter().partition(is_left);
    objects.retain(|object| !object.is_patch && !is_part(object) && !is_template(object));
    findings.extend(find_duplicates(
        objects.iter().filter(|object| is_file(object)),
    ));
    let releases = charts.render(
        tree,
        &built.compositions,
        &built.inflations,
        &texts,
        &pins,
        &mut sources,
    )?;
    // Why a folder does not build is said once, and not of each chart that it deploys.
    let ends = |finding: &Finding, why: &str| finding.message.ends_with(why);
    let follows = |finding: &Finding| built.refusals.iter().any(|why| ends(finding, why));
    let of_charts = { releases.findings.into_iter() }.filter(|finding| !follows(finding));
    let is_known = |finding: &Finding| misspelled.iter().any(|one| ends(finding, &one.message));
    let composed = built.findings.into_iter().chain(of_charts);
    let composed: Vec<Finding> = composed.filter(|finding| !is_known(finding)).collect();
    let sources = Arc::new(sources);
    let builds = built.builds.into_iter().map(|build| {
        let why = build.refusal.map(|_| Unknown::NotBuilt);
        (build.source, build.objects, why)
    });
    let releases_made = { releases.made.into_iter().chain(elsewhere) }
        .map(|release| (release.source, release.objects, release.unknown));
    for (source, nodes, unknown) in builds.chain(releases_made) {
        let text = Text::from_build(source, Arc::clone(&sources));
        let of_text = |node| ManifestObject {
            unknown,
            ..ManifestObject::new(&text, 0, &[], node)
        };
        objects.extend(nodes.into_iter().map(of_text));
    }
    objects.extend(keep_unapplied(left, &objects));
    let mut environment = Environment {
        tree,
        known: BTreeMap::new(),
    };
    for object in &mut objects {
        environment.fill(object)?;
    }
    findings.extend(misspelled.into_iter().chain(composed));
    Ok(Deployed { objects, unread })
}

/// What a repository holds of clusters and of what deploys them, as it is written.
struct Repository {
    found: ManifestFiles,
    /// The ConfigMaps, if a Flux Kustomization takes variables from one.
    config_maps: Vec<ManifestObject>,
    /// The objects of the kinds that deploy charts, if there are any, or anything to deploy.
    deploying: Vec<ManifestObject>,
    charts: HelmCharts,
    /// The files that may name a chart.
    texts: BTreeSet<PathBuf>,
    /// The versions of what deploys charts.
    pins: Pins,
}

impl Repository {
    fn read(
        tree: &dyn Files,
        paths: &[PathBuf],
        engine: Option<Engine>,
        own_output: &OwnOutput,
        sources: &mut Sources,
    ) -> Result<Self, Error> {
        let has_deploying = Cell::new(false);
        let collect = |words: &[&str]| {
            manifests::collect(tree, paths, own_output, |text| {
                let is_known = has_deploying.get();
                has_deploying.set(is_known || mentions(text, &[ARGO_CD, HELM]));
                mentions(text, words)
            })
        };
        let found = collect(&["cluster.x-k8s.io", EKS_ANYWHERE, FLUX, SOURCES])?;
        let from = ["spec", "postBuild", "substituteFrom"];
        let has_variables = flux(&found).any(|flux| !flux.node.items(&from).is_empty());
        let maps = has_variables.then(|| collect(&["ConfigMap"])).transpose()?;
        let texts = if found.charts.is_empty() {
            BTreeSet::new()
        } else {
            manifests::texts(tree, paths, own_output)?
        };
        let pins = Pins::read(tree, &texts, engine)?;
        let charts = HelmCharts::load(tree, &found.charts, pins.newest_engine(), sources)?;
        let is_any = charts.folders().next().is_some() || !found.kustomizations.is_empty();
        let is_deployed = is_any || has_deploying.get();
        let deploying = is_deployed
            .then(|| collect(&Deploying::KINDS))
            .transpose()?;
        Ok(Self {
            found,
            config_maps: maps.map_or_else(Vec::new, |maps| maps.objects),
            deploying: deploying.map_or_else(Vec::new, |deploying| deploying.objects),
            charts,
            texts,
            pins,
        })
    }

    /// The releases of charts elsewhere that may make clusters.
    fn releases_elsewhere(&self, tree: &dyn Files) -> Vec<MadeRelease> {
        let deploying = self.deploying.iter().filter(is_whole);
        let charts: Vec<_> = { self.found.objects.iter() }
            .filter(|object| object.group() == SOURCES)
            .collect();
        let kustomizations = self.found.kustomizations.iter();
        self.charts
            .releases_elsewhere(tree, deploying, &charts, kustomizations)
    }

    /// The files that mention clusters and are not read, with the reason.
    fn omissions(&self) -> BTreeMap<PathBuf, &'static str> {
        let mut unread = self.found.unread.clone();
        unread.retain(|path, _| !self.charts.has_template(path));
        unread
    }

    /// Names and labels that YAML takes for no text.
    fn check_names(&self, findings: &mut Vec<Finding>) {
        let is_checked = |object: &&ManifestObject| {
            GROUPS.contains(&object.group()) && !self.charts.has_template(path(object))
        };
        for object in self.found.objects.iter().filter(is_checked) {
            let mut names = Vec::new();
            collect_odd_names(&object.node, &mut names);
            let labels = object.node.entries(&["metadata", "labels"]);
            // kustomize makes them texts in a patch, and prints them as they are in an object.
            let labels = labels.filter(|entry| !object.is_patch && is_odd(&entry.node));
            let labels = labels.map(|entry| (&entry.node, "a label"));
            let names = names.into_iter().map(|name| (name, "a name"));
            findings.extend(names.chain(labels).map(|(node, what)| {
                let problem = format!("{}, and {what} is a text", node.value.kind());
                wrong_type(object, node.place, &problem).help("quote it")
            }));
        }
    }

    /// The fields of objects that deploy others which their kinds do not have, and almost have.
    fn find_misspelled_fields(&self) -> Vec<Finding> {
        let deploying = self.deploying.iter().filter(is_whole);
        let all = deploying.chain(flux(&self.found));
        let is_template = |object: &ManifestObject| self.charts.has_template(path(object));
        let mut found = Vec::new();
        for object in all.filter(|object| !is_template(object)) {
            for (table, node) in deployer_tables(object) {
                let fault = find_fault(table, &object.title(), node);
                found.extend(fault.and_then(|fault| {
                    let finding = Finding::new(RuleId::KeyMisspelled, fault.message);
                    let finding = finding.with_label(object.spot(fault.place), "");
                    Some(finding.help(fault.help?).unless_set(Level::Warning))
                }));
            }
        }
        found
    }

    /// What is built.
    fn input(&self) -> Input<'_> {
        let files = |is_meant: &dyn Fn(&ManifestObject) -> bool| -> BTreeSet<PathBuf> {
            let objects = self.deploying.iter().filter(is_whole);
            let meant = objects.filter(|object| is_meant(object));
            meant.map(|object| path(object).to_owned()).collect()
        };
        let deployments = files(&|object| self.charts.may_be_deployed_by(object));
        let applications = files(&|object| Deploying::is_argo(object.group(), &object.kind));
        let whole = self.found.objects.iter().filter(is_whole);
        let sources = whole.clone().filter(|object| object.group() == SOURCES);
        let sources = sources.collect();
        let of_pools = whole.filter(|object| GROUPS.contains(&object.group()));
        let of_pools = of_pools.map(|object| path(object).to_owned());
        Input {
            folders: self.found.kustomizations.clone(),
            files: of_pools.chain(deployments.iter().cloned()).collect(),
            charts: self.charts.folders().cloned().collect(),
            deployments,
            applications,
            flux: flux(&self.found).collect(),
            sources,
            config_maps: &self.config_maps,
        }
    }
}

/// The tables of an object that deploys others, each with the part of the object that it is of.
fn deployer_tables(object: &ManifestObject) -> Vec<(&'static Table, &Node)> {
    let node = &object.node;
    let own = match Deploying::from_kind(object.group(), &object.kind) {
        Some(Deploying::Application) => &argo_cd::APPLICATION,
        Some(Deploying::ApplicationSet) => &argo_cd::APPLICATION_SET,
        Some(Deploying::Release) => &tables::flux::HELM_RELEASE,
        None if object.group() == FLUX => &tables::flux::KUSTOMIZATION,
        None => return Vec::new(),
    };
    let generators = node.items(&["spec", "generators"]).iter();
    let specs = [&["spec"][..], &["spec", "template", "spec"]].into_iter();
    let specs = specs.filter_map(|path| node.get_path(path));
    let sources = specs.flat_map(|spec| {
        let several = spec.items(&["sources"]).iter();
        spec.get_path(&["source"]).into_iter().chain(several)
    });
    let parts = { generators.map(|part| (&argo_cd::GENERATOR, part)) }
        .chain(sources.map(|part| (&argo_cd::SOURCE, part)))
        .filter(|_| Deploying::is_argo(object.group(), &object.kind));
    [(own, node)].into_iter().chain(parts).collect()
}

fn is_whole(object: &&ManifestObject) -> bool {
    object.text.host.is_none() && !object.is_patch
}

/// The group of HelmReleases.
const HELM: &str = "helm.toolkit.fluxcd.io";

/// The group of Argo CD's objects.
const ARGO_CD: &str = "argoproj.io";

/// The Flux Kustomizations.
fn flux(found: &ManifestFiles) -> impl Iterator<Item = &ManifestObject> {
    let whole = found.objects.iter().filter(is_whole);
    whole.filter(|object| object.group() == FLUX && &*object.kind == "Kustomization")
}

/// The objects of a repository, and what of it is not read.
pub(super) struct Deployed {
    pub(super) objects: Vec<ManifestObject>,
    /// The files that mention clusters, with the reason why they are not read.
    pub(super) unread: BTreeMap<PathBuf, &'static str>,
}

/// The fields of objects that their versions lack, by the object.
pub(super) fn find_lacking_fields(objects: &[ManifestObject]) -> BTreeMap<usize, Vec<Finding>> {
    let mut found: BTreeMap<usize, Vec<Finding>> = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        for field in find_lacking(object) {
            // What a transformer adds is nowhere in the object.
            let spot = object.spot(field.entry.key_place);
            let spot = spot.or_else(|| object.name_spot());
            let (title, version) = (object.title(), &object.api_version);
            let message = format!("{title} has `{}`, which `{version}` lacks", field.path);
            let help = match field.instead {
                Some(instead) => format!("write `{instead}`"),
                None => "remove it: the API server refuses it, or drops it".to_owned(),
            };
            let finding = Finding::new(RuleId::FieldNotInVersion, message);
            let finding = finding.with_label(spot, "").help(help);
            found.entry(index).or_default().push(finding);
        }
    }
    found
}

/// Whether YAML takes a value for a number or the like.
fn is_odd(node: &Node) -> bool {
    matches!(node.value, Value::Number(_) | Value::Bool(_))
}

/// The names of an object, and in its references, that are numbers or the like. The API server refuses them.
fn collect_odd_names<'n>(node: &'n Node, found: &mut Vec<&'n Node>) {
    if node.get_path(&["kind"]).is_some() {
        let names = [&["name"][..], &["metadata", "name"]];
        let names = names.into_iter().filter_map(|path| node.get_path(path));
        found.extend(names.filter(|it| is_odd(it)));
    }
    for child in node.children() {
        collect_odd_names(child, found);
    }
}

/// Whether a text may hold one of these words, which escapes in double quotes may spell: those of letters, and of line ends.
pub(super) fn mentions(text: &str, words: &[&str]) -> bool {
    const ESCAPES: [&str; 5] = ["\\x", "\\u", "\\U", "\\\n", "\\\r"];
    let has_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has_any(words) || text.contains('"') && has_any(&ESCAPES)
}

/// Of what only kustomizations that do not build name as patches, the clusters that exist nowhere else, with what is beside them.
/// They are objects, and nobody knows of what.
fn keep_unapplied(left: Vec<ManifestObject>, objects: &[ManifestObject]) -> Vec<ManifestObject> {
    let identity = |object: &ManifestObject| (Arc::clone(&object.kind), Arc::clone(&object.name));
    let known: BTreeSet<_> = objects.iter().map(identity).collect();
    let left = left.into_iter();
    let left: Vec<_> = left.filter(|one| !known.contains(&identity(one))).collect();
    let is_cluster = |object: &&ManifestObject| {
        &*object.kind == "Cluster" && [CLUSTER_API, EKS_ANYWHERE].contains(&object.group())
    };
    let folder = |object: &ManifestObject| object.folder().to_owned();
    let folders: BTreeSet<_> = left.iter().filter(is_cluster).map(folder).collect();
    let beside = left
        .into_iter()
        .filter(|one| folders.contains(one.folder()));
    let object = |one| ManifestObject {
        is_patch: false,
        unknown: Some(Unknown::NotApplied),
        ..one
    };
    beside.map(object).collect()
}

fn path(object: &ManifestObject) -> &Path {
    Path::new(&*object.file().path)
}

/// The variables of `.env` files, which people read into the environment of clusterctl and envsubst.
struct Environment<'t> {
    tree: &'t dyn Files,
    /// By folder, those of the folders above included.
    known: BTreeMap<PathBuf, Arc<Values>>,
}

impl Environment<'_> {
    /// Fills in the variables of an object.
    fn fill(&mut self, object: &mut ManifestObject) -> Result<(), Error> {
        if !object.may_have_variables() {
            return Ok(());
        }
        let Values { known, sealed } = &*self.load(Path::new(object.folder()))?;
        object.may_be_filled = !known.known.is_empty();
        let Some(node) = substitute(&object.node, known) else {
            return Ok(());
        };
        let sealed = substitute(&object.node, sealed);
        let with_node = |node| ManifestObject {
            is_renamed: object.is_renamed,
            may_be_filled: object.may_be_filled,
            unknown: object.unknown,
            ..ManifestObject::new(&object.text, object.document, &object.steps, node)
        };
        let filled = with_node(node);
        let versions = version_nodes(&filled).into_iter().map(|(_, node)| node);
        let image = current_image(&filled).map(|image| image.node);
        let used: Vec<&Node> = versions.chain(image).collect();
        let node = unseal(sealed.as_ref().unwrap_or(&object.node), &filled.node, &used);
        *object = with_node(node);
        Ok(())
    }

    fn load(&mut self, folder: &Path) -> Result<Arc<Values>, Error> {
        if let Some(known) = self.known.get(folder) {
            return Ok(Arc::clone(known));
        }
        let mut values = match folder.parent() {
            Some(parent) => self.load(parent)?,
            None => Arc::default(),
        };
        let file = folder.join(".env");
        if let Found::File(content) = self.tree.file(&file)?
            && let Ok(source) = source(&file, &content, Engine::Kubectl)
        {
            let values = Arc::make_mut(&mut values);
            for (name, value) in environment::variables(&source, Place::NONE.file) {
                // A finding points to the manifest, so that no line of the environment is shown.
                let placed = |text: Arc<str>| Located::new(text, Place::NONE);
                let label = placed(label(&source.path, &name).into());
                values.sealed.known.insert(Arc::clone(&name), label);
                values.known.known.insert(name, placed(value.value));
            }
        }
        self.known.insert(folder.to_owned(), Arc::clone(&values));
        Ok(values)
    }
}

/// The variables of a folder, as they are and with labels: each may be a secret.
#[derive(Clone, Default)]
struct Values {
    known: Variables,
    sealed: Variables,
}

/// A tree in which variables are labels, with what is known of the names that objects are found by, of numbers of machines, and of
/// the nodes that are used.
fn unseal(sealed: &Node, known: &Node, used: &[&Node]) -> Node {
    let is_used = used.iter().any(|used| std::ptr::eq(*used, known));
    let value = match (&sealed.value, &known.value) {
        _ if is_used => return known.clone(),
        (Value::Map(sealed), Value::Map(map)) => {
            let is_object = known.text(&["kind"]).is_some();
            let entries = map.iter().map(|entry| {
                let is_name = match &*entry.key {
                    "clusterName" | "replicas" => true,
                    "metadata" | "name" | "namespace" => is_object,
                    _ => false,
                };
                let sealed = sealed.get(&entry.key).filter(|_| !is_name);
                let node = sealed.map(|sealed| unseal(sealed, &entry.node, used));
                entry.with_node(node.unwrap_or_else(|| entry.node.clone()))
            });
            Value::from(entries.collect::<Map>())
        }
        (Value::List(sealed), Value::List(items)) => {
            let items = sealed.iter().zip(items.iter());
            let items = items.map(|(sealed, item)| unseal(sealed, item, used));
            Value::from(items.collect::<Vec<Node>>())
        }
        (sealed, _) => sealed.clone(),
    };
    Node::new(value, sealed.place)
}

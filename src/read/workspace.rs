//! Reads the workspace: the project file, and what all its clusters share.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::schema::Schemas;
use oci_artifacts::registries::RegistrySettings;
use yaml_tree::engine::Engine;
use yaml_tree::place::{Source, Sources, Spot};
use yaml_tree::suggest::did_you_mean;

use crate::budget;
use crate::error::Error;
use crate::files::{Disk, Files, Guarded, Repository, Tracked, is_yaml};
use crate::model::cluster_view::ClusterRead;
use crate::model::finding::Finding;
use crate::model::lock::LOCK_FILE;
use crate::model::name::NameSchemes;
use crate::model::part::Part;
use crate::model::rule::{Level, RuleId};
use crate::model::settings::PROJECT_FILE_NAME;
use crate::model::stamping::StampEntry;
use crate::model::written::WrittenImage;

use super::location::MISNAMED;
use super::management::Management;
use super::manifests::path_from_root;
use super::places::{Places, Problems};
use super::project::{HelmVersion, ProjectFile};
use super::settings;
use super::{
    ClusterEntry, Flags, Location, Request, Shared, Workspace, chart, files, fleet, graph, layers,
    record, stamps, typed, unknown,
};
use crate::read::gitops;
use crate::read::gitops::{Discovered, OwnOutput};

/// Reads the project and everything that its clusters share.
///
/// # Errors
/// No project and no flags that replace one; a file that cannot be read.
pub fn workspace(request: &Request) -> Result<Workspace, Error> {
    let location = super::location(request)?;
    let disk = Disk::with_scope(&location.root, super::scope(request, &location.root)?)?;
    let mut files: Arc<dyn Files> = Arc::new(disk);
    let mut tracked = None;
    if request.flags.tracked {
        let new = Repository::find(&location.root)?.new_files()?;
        files = Arc::clone(tracked.insert(Arc::new(Tracked::new(files, new)))) as _;
    }
    let mut workspace = workspace_in(request, &location, files)?;
    if let Some(tracked) = tracked {
        workspace
            .findings
            .extend(new_files_finding(&tracked.misses()));
    }
    if is_without_project(request, &location) && is_blank(&workspace) {
        let environments = gitops::environments(&*workspace.files)?;
        let first = environments.first().map(|one| files::display(&one.path));
        return Err(super::location::no_project(request, first.as_deref()));
    }
    Ok(workspace)
}

/// Whether nothing says where clusters are, so that the manifests do.
fn is_without_project(request: &Request, location: &Location) -> bool {
    let flags = &request.flags;
    let has_flags = !flags.values.is_empty() || !flags.clusters.is_empty();
    location.file.is_none() && flags.discovers && !has_flags
}

/// Whether there is nothing to say of the manifests.
fn is_blank(workspace: &Workspace) -> bool {
    let is_read = workspace.unread_files.is_empty() && workspace.unused_template.is_none();
    workspace.clusters.is_empty() && workspace.findings.is_empty() && is_read
}

/// That a file is called nearly as a project file is, so that nothing reads it.
fn name_finding(name: &str) -> Finding {
    let message = format!("nothing reads `{name}`: a project file is called `{PROJECT_FILE_NAME}`");
    Finding::new(RuleId::ProjectFile, message)
        .with_label(Some(Spot::from_path(name)), "")
        .help("rename it, or remove it")
        .unless_set(Level::Warning)
}

/// Manifests need no project file, and values do: that there are some, so that what was checked is not taken for all.
fn environments_finding(environments: &[Discovered]) -> Option<Finding> {
    let folders = environments.iter().map(|one| one.path.clone());
    let first = first_of(&folders.collect::<Vec<_>>())?;
    let message = format!("without a project file, the values in {first} are not read");
    let finding = Finding::new(RuleId::ProjectFile, message);
    let help = "`metalmark init` writes one for them and the manifests";
    Some(finding.help(help).unless_set(Level::Warning))
}

/// The first of some files, and how many more there are.
fn first_of(missed: &[PathBuf]) -> Option<String> {
    let first = files::display(missed.first()?);
    Some(match missed.len() - 1 {
        0 => format!("`{first}`"),
        more => format!("`{first}` and {more} more"),
    })
}

/// What nobody knows because git has not checked it out. It is an error of a run over all clusters: those that are not there would
/// count as gone.
pub(super) fn absence_finding(missed: &[PathBuf], level: Level) -> Option<Finding> {
    let files = first_of(missed)?;
    let message = format!("git has not checked out {files}, so not all clusters are known");
    let finding = Finding::new(RuleId::ProjectFile, message).help(LEFT_OUT);
    Some(finding.unless_set(level))
}

const LEFT_OUT: &str = "check them out (`git sparse-checkout add`, `git submodule update --init`, `git restore`), or name the clusters that are here: \
     `metalmark check CLUSTER…`";

/// What is left out because git does not track it.
fn new_files_finding(missed: &[PathBuf]) -> Option<Finding> {
    let first = files::display(missed.first()?);
    let files = first_of(missed)?;
    let message = format!("git does not track {files}, which this run leaves out");
    let help = format!("`git add {first}` where it belongs to this commit");
    let finding = Finding::new(RuleId::ProjectFile, message).help(help);
    Some(finding.unless_set(Level::Warning))
}

/// Reads the project and everything that its clusters share from these files, which replace those at its place.
///
/// # Errors
/// A file cannot be read; the project file is no YAML.
pub fn workspace_in(
    request: &Request,
    location: &Location,
    tree: Arc<dyn Files>,
) -> Result<Workspace, Error> {
    let mut workspace = read_by(open_valid, request, location, tree)?;
    if request.project.is_none() {
        let names = MISNAMED.iter();
        let there = names.filter(|name| workspace.files.is_file(Path::new(name)));
        let found: Vec<Finding> = there.map(|name| name_finding(name)).collect();
        workspace.findings.extend(found);
    }
    if is_without_project(request, location) && !is_blank(&workspace) {
        let environments = gitops::environments(&*workspace.files)?;
        workspace
            .findings
            .extend(environments_finding(&environments));
    }
    Ok(workspace)
}

/// The same for an editor, where a project file is broken while it is typed: an empty project then, with the finding that says where.
///
/// # Errors
/// A file cannot be read.
pub fn workspace_while_typed(
    request: &Request,
    location: &Location,
    tree: Arc<dyn Files>,
) -> Result<Workspace, Error> {
    read_by(open, request, location, tree)
}

fn read_by(
    open: fn(&Location, &dyn Files) -> Result<Project, Error>,
    request: &Request,
    location: &Location,
    tree: Arc<dyn Files>,
) -> Result<Workspace, Error> {
    let flags = &request.flags;
    // A host that confines the run shows nothing above the folder.
    let root = match flags.confined {
        Some(_) => String::new(),
        None => super::folder_in_repository(&location.root),
    };
    let tree: Arc<dyn Files> = Arc::new(Guarded::new(tree, &location.root, Path::new(&root)));
    let mut project = open(location, &*tree)?;
    let places = Places {
        tree: project.tree.as_ref(),
        source: project.source.as_ref(),
    };
    let findings = &mut project.findings;
    let mut problems = Problems {
        places: &places,
        findings,
    };
    let (root_folder, file) = (&location.root, &project.file);
    let mut settings = settings::settings(root_folder, file, flags, &*tree, &mut problems);
    let name = location.file.as_deref().map(files::display);
    settings.project = name
        .filter(|name| name != PROJECT_FILE_NAME)
        .unwrap_or_default();
    findings.extend(unknown::names(&settings, &places));

    let HelmVersion(engine) = project.file.helm;
    let engine = engine.unwrap_or_default();
    let outputs = settings.outputs.iter().map(|output| &*output.path);
    let own_output = Arc::new(OwnOutput::new(outputs));
    let absent = (project.file.values.iter().enumerate()).find_map(|(index, path)| {
        let missing = fleet::require_path(&*tree, Path::new(path)).err()?;
        Some(missing.with_label(places.item(&["values"], index), ""))
    });
    if let Some(absent) = absent {
        return Err(Error::Project {
            finding: Box::new(absent),
            root: location.root.clone(),
        });
    }
    project.file.state.retain(|object, path| {
        let missing = fleet::require_path(&*tree, Path::new(path)).err();
        let spot = || places.spot(&["state", object]);
        findings.extend(missing.iter().map(|one| one.clone().with_label(spot(), "")));
        missing.is_none()
    });
    let values = flags.values.iter().chain(&project.file.values);
    let values: Vec<PathBuf> = values.map(PathBuf::from).collect();
    let stated = Stated {
        file: &project.file,
        root: Path::new(&root),
        flags,
        places: &places,
        discovers: flags.discovers && values.is_empty() && !project.file.has_clusters(),
    };
    let fleet = clusters(&*tree, &stated, &own_output, findings)?;
    budget::set_clusters(fleet.clusters.len());
    let composing = composing(&project.file, engine, own_output);
    let example = fleet.clusters.first();
    let example = example.map_or(&[][..], |cluster| &cluster.layers);
    let shared = layers::read_shared(&tree, &values, example, composing, findings)?;
    let (lock, facts) = fact_files(&*tree, &stated, &shared, findings)?;
    let is_required = !settings.policy.signatures.is_empty();
    let checks_signers = is_required || facts.first() == Some(&lock);
    let templates = flags.templates.as_ref().or(project.file.templates.as_ref());
    let templates = templates.map(|folder| texts(&*tree, &location.root, folder, |_| true));
    let schemas = schemas(&*tree, &location.root, &stated, findings)?;
    settings.capm3_demands_checksum = schemas.as_ref().and_then(|schemas| {
        let image = ["spec", "template", "spec", "image"];
        let group = "infrastructure.cluster.x-k8s.io";
        schemas.requires(group, "Metal3MachineTemplate", &image, "checksum")
    });
    let mut part = part(request, &location.root, &fleet)?;
    let missed = tree.absent_paths();
    if !missed.is_empty() {
        // Objects of one cluster may be in any manifest.
        let is_of_values = fleet.of_manifests.is_empty();
        let level = match part {
            Part::Named(_) if is_of_values => Level::Warning,
            _ => Level::Error,
        };
        findings.extend(absence_finding(&missed, level));
        // The clusters that are not read keep what they have.
        if part == Part::Whole {
            let known = fleet.clusters.iter().map(|entry| Arc::clone(&entry.name));
            part = Part::Named(known.collect());
        }
    }
    let state = project.file.state.keys();
    let unused_state = state
        .map(|object| (object.clone(), state_finding(object, &places)))
        .collect();
    Ok(Workspace {
        engine,
        unused_state,
        evaluation: project.file.evaluation,
        library: project.file.sylva_library.as_deref().map(chart::library_of),
        shared,
        of_manifests: fleet.of_manifests,
        unread_files: fleet.unread_files,
        unused_template: fleet.unused_template,
        root: PathBuf::from(root),
        part,
        clusters: fleet.clusters,
        omissions: fleet.omissions,
        management: Management::default(),
        out: flags.out.as_ref().map(PathBuf::from),
        records: records(&project),
        facts,
        checks_signers,
        lock,
        templates: templates.transpose()?.unwrap_or_default(),
        schemas,
        manifests: fleet.manifests,
        stamps: fleet.stamps,
        settings,
        files: tree,
        left_out: missed.len(),
        findings: project.findings,
    })
}

/// That no composition requires an object of `state`.
fn state_finding(object: &str, places: &Places<'_>) -> Finding {
    let message = format!("no cluster needs `{object}`");
    places
        .finding(message, &["state", object])
        .help("write the kind and name of an object that a release names and the repository does not build, or `HelmChart/` and the chart as a release names it")
        .unless_set(Level::Warning)
}

/// What the project file and the flags say, as they are written.
struct Stated<'a> {
    file: &'a ProjectFile,
    flags: &'a Flags,
    places: &'a Places<'a>,
    /// The project's folder in its repository.
    root: &'a Path,
    /// Whether clusters are searched in the manifests below the folder, where neither names any.
    discovers: bool,
}

/// The clusters, and what they are made of beside values.
struct Fleet {
    clusters: Vec<ClusterEntry>,
    omissions: BTreeSet<PathBuf>,
    of_manifests: BTreeMap<Arc<str>, ClusterRead>,
    unread_files: BTreeMap<PathBuf, &'static str>,
    unused_template: Option<Finding>,
    manifests: Vec<PathBuf>,
    stamps: Vec<StampEntry>,
}

/// The clusters that are listed, then those of manifests and pairs that have no values of their own.
fn clusters(
    tree: &dyn Files,
    stated: &Stated<'_>,
    own_output: &Arc<OwnOutput>,
    findings: &mut Vec<Finding>,
) -> Result<Fleet, Error> {
    let Stated {
        file,
        flags,
        places,
        ..
    } = *stated;
    let listed = fleet::entries(tree, file, &flags.clusters, places, own_output, findings)?;
    let mut clusters = listed.entries;
    let stamps = stamps::entries(file, &mut Problems { places, findings });
    let mut manifests = Vec::new();
    for (index, path) in file.manifests.iter().enumerate() {
        match fleet::require_path(tree, Path::new(path)) {
            Ok(()) => manifests.push(PathBuf::from(path)),
            Err(finding) => {
                let spot = places.item(&["manifests"], index);
                findings.push(finding.with_label(spot, ""));
            }
        }
    }
    let of_manifests = flags.manifests || !manifests.is_empty() || !stamps.is_empty();
    let discovers = stated.discovers && clusters.is_empty();
    let looked_at = if discovers {
        vec![PathBuf::from(".")]
    } else {
        manifests.clone()
    };
    let HelmVersion(engine) = file.helm;
    let read = graph::clusters(tree, stated.root, &looked_at, engine, own_output, findings)?;
    let pairs = graph::read_pairs(tree, &file.pairs, places, findings)?;
    let mut graph: BTreeMap<_, _> = { read.clusters.into_iter().chain(pairs) }
        .map(|read| (Arc::clone(&read.cluster.name), read))
        .collect();
    // Of a cluster that values make, the objects beside them are a part.
    let is_of_values = |name: &Arc<str>| clusters.iter().any(|entry| entry.name == *name);
    graph.retain(|name, read| !is_of_values(name) && !is_of_values(&read.cluster.object_name));
    let named = graph.keys().cloned().map(ClusterEntry::new);
    clusters.extend(named);
    if clusters.is_empty()
        && findings.is_empty()
        && !of_manifests
        && (!discovers || places.source.is_some())
    {
        findings.push(fleet::no_cluster(places));
    }
    Ok(Fleet {
        clusters,
        omissions: listed.omissions,
        of_manifests: graph,
        unread_files: read.unread_files,
        unused_template: read.unused_template,
        manifests,
        stamps,
    })
}

/// The part of the clusters that the flags name: by name, or by a path below which a cluster has a file of its own.
fn part(request: &Request, root: &Path, fleet: &Fleet) -> Result<Part, Error> {
    if request.flags.selected.is_empty() {
        return Ok(Part::Whole);
    }
    let mut part = BTreeSet::new();
    for selected in &request.flags.selected {
        let find = |entry: &&ClusterEntry| *entry.name == **selected;
        if let Some(entry) = fleet.clusters.iter().find(find) {
            part.insert(Arc::clone(&entry.name));
            continue;
        }
        let Ok(path) = path_from_root(request, root, Path::new(selected)) else {
            return Err(no_cluster(selected, &fleet.clusters));
        };
        let inside = { fleet.clusters.iter() }.filter(|entry| fleet.is_inside(entry, &path));
        let inside: Vec<_> = inside.map(|entry| Arc::clone(&entry.name)).collect();
        if inside.is_empty() {
            return Err(Error::usage(format!(
                "no cluster has a file in `{selected}`"
            )));
        }
        part.extend(inside);
    }
    Ok(Part::Named(part))
}

impl Fleet {
    /// Whether a file of the cluster's own is this one, or in this folder.
    fn is_inside(&self, entry: &ClusterEntry, path: &Path) -> bool {
        let is_inside = |file: &Path| path == Path::new(".") || file.starts_with(path);
        let read = self.of_manifests.get(&entry.name);
        let folder = read.and_then(|read| read.folder.as_deref());
        let mut files = read.into_iter().flat_map(|read| read.sources.all());
        entry.layers.iter().any(|layer| is_inside(layer))
            || folder.is_some_and(is_inside)
            || files.any(|source| is_inside(Path::new(&*source.path)))
    }
}

/// The error for a name that is no cluster's.
pub fn no_cluster(name: &str, clusters: &[ClusterEntry]) -> Error {
    let names: Vec<&str> = clusters.iter().map(|entry| &*entry.name).collect();
    let list = || names[..names.len().min(MOST_LISTED)].join(", ");
    let near = did_you_mean(name, names.iter().copied());
    let help = match (near, names.len().saturating_sub(MOST_LISTED)) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, 0) => format!("the clusters are {}", list()),
        (None, more) => format!("the clusters are {} and {more} more", list()),
    };
    Error::usage(format!("there is no cluster `{name}`\nhelp: {help}"))
}

/// The most clusters that a help lists.
const MOST_LISTED: usize = 20;

/// The path of the lock, and the files with image facts without those that metalmark renders, the lock first.
fn fact_files(
    tree: &dyn Files,
    stated: &Stated<'_>,
    shared: &Shared,
    findings: &mut Vec<Finding>,
) -> Result<(PathBuf, Vec<PathBuf>), Error> {
    let named = if stated.flags.info.is_empty() {
        &stated.file.images.facts
    } else {
        &stated.flags.info
    };
    let (lock, named) = with_lock(tree, named);
    let (mut facts, mut known) = (Vec::new(), HashSet::new());
    for file in named {
        if !known.insert(file.clone()) {
            continue;
        }
        if shared.own_output().has(tree, &file)? {
            findings.push(layers::omission(&file, "facts"));
        } else if let Err(finding) = require_facts(tree, &file, stated) {
            findings.push(*finding);
        } else {
            facts.push(file);
        }
    }
    Ok((lock, facts))
}

/// That a file with facts that the project file names is there. A layout or a page is named by more than a path, and a lock may be made later.
fn require_facts(tree: &dyn Files, file: &Path, stated: &Stated<'_>) -> Result<(), Box<Finding>> {
    let named = stated.file.images.facts.iter();
    let index = { named.enumerate() }.find(|(_, named)| Path::new(named) == file);
    let is_lock = file.extension().is_some_and(|ending| ending == "lock");
    let Some((index, named)) = index.filter(|(_, named)| !named.contains(':') && !is_lock) else {
        return Ok(());
    };
    fleet::require_path(tree, Path::new(named)).map_err(|finding| {
        let spot = stated.places.item(&["images", "facts"], index);
        Box::new(finding.with_label(spot, ""))
    })
}

/// The schemas that objects are validated against, where a folder with them is named.
fn schemas(
    tree: &dyn Files,
    root: &Path,
    stated: &Stated<'_>,
    findings: &mut Vec<Finding>,
) -> Result<Option<Schemas>, Error> {
    let named = { stated.flags.schemas.as_ref() }.or(stated.file.schemas.as_ref());
    let Some(folder) = named else {
        return Ok(None);
    };
    let schemas = Schemas::new(texts(tree, root, folder, is_yaml)?.into_values());
    if schemas.is_empty() {
        findings.push(no_schema(folder, stated.places));
    }
    Ok(Some(schemas))
}

/// What a folder's layers are composed with.
fn composing(file: &ProjectFile, engine: Engine, own_output: Arc<OwnOutput>) -> gitops::Options {
    let state = file.state.iter();
    gitops::Options {
        engine,
        own_output,
        state: gitops::State::new(
            state
                .map(|(object, file)| (object.clone(), PathBuf::from(file)))
                .collect(),
        ),
        ..gitops::Options::default()
    }
}

/// The project file's own records of images, and the file; none where it has none.
fn records(project: &Project) -> Option<(Vec<WrittenImage>, Arc<Source>)> {
    let records = &project.file.images.records;
    let source = project.source.as_ref().filter(|_| !records.is_empty())?;
    let written = record::images(records, project.tree.as_ref());
    Some((written, Arc::clone(source)))
}

/// The path of the lock, and the files with image facts, the lock first. It is the file in `images.facts` that has the name of a
/// lock, else the one beside the project file, if it exists.
fn with_lock(tree: &dyn Files, facts: &[String]) -> (PathBuf, Vec<PathBuf>) {
    let mut facts: Vec<PathBuf> = facts.iter().map(PathBuf::from).collect();
    let is_lock = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "lock")
    };
    let named = facts.iter().position(is_lock);
    let lock = named.map_or_else(|| PathBuf::from(LOCK_FILE), |index| facts.remove(index));
    if named.is_some() || tree.is_file(&lock) {
        facts.insert(0, lock.clone());
    }
    (lock, facts)
}

/// How registries are queried from there, and the folder that relative paths start from; the usual way where there is no project
/// file.
///
/// # Errors
/// The project file cannot be read, or says something wrong of registries: a mirror left out would let the wrong one be queried.
pub fn registries(request: &Request) -> Result<(PathBuf, RegistrySettings), Error> {
    read_part(request, |root, file, problems| {
        super::registries::registries(root, &file.registries, problems)
    })
}

/// The project's own naming schemes alone; none where there is no project.
///
/// # Errors
/// A project file that cannot be relied on.
pub fn name_schemes(request: &Request) -> Result<NameSchemes, Error> {
    let read = read_part(request, |_, file, problems| {
        settings::schemes(&file.names, problems)
    });
    Ok(read?.1)
}

/// A part of the project file, and the project's folder.
fn read_part<T: Default>(
    request: &Request,
    read: impl FnOnce(&Path, &ProjectFile, &mut Problems<'_>) -> T,
) -> Result<(PathBuf, T), Error> {
    let start = request.directory.as_deref().unwrap_or(Path::new("."));
    if request.project.is_none() && super::project_file(start, None).is_none() {
        return Ok((start.to_owned(), T::default()));
    }
    let location = super::location(request)?;
    let mut project = open_valid(&location, &Disk::new(&location.root)?)?;
    let places = Places {
        tree: project.tree.as_ref(),
        source: project.source.as_ref(),
    };
    let mut problems = Problems {
        places: &places,
        findings: &mut project.findings,
    };
    let part = read(&location.root, &project.file, &mut problems);
    match project.findings.first() {
        None => Ok((location.root, part)),
        Some(finding) => Err(Error::Usage {
            message: format!(
                "the project file cannot be relied on: {}\nhelp: `metalmark check` shows where",
                finding.message
            ),
        }),
    }
}

/// The project file as found, or an empty one where flags replace it.
#[derive(Default)]
struct Project {
    file: ProjectFile,
    tree: Option<yaml_tree::value::Node>,
    source: Option<Arc<Source>>,
    findings: Vec<Finding>,
}

/// The project file, which is YAML.
fn open_valid(location: &Location, tree: &dyn Files) -> Result<Project, Error> {
    let project = open(location, tree)?;
    let mut findings = project.findings.iter();
    match findings.find(|finding| finding.rule == RuleId::YamlSyntax) {
        None => Ok(project),
        Some(fault) => Err(Error::Project {
            finding: Box::new(fault.clone()),
            root: location.root.clone(),
        }),
    }
}

fn open(location: &Location, tree: &dyn Files) -> Result<Project, Error> {
    let Some(name) = &location.file else {
        return Ok(Project::default());
    };
    let mut sources = Sources::default();
    let mut findings = Vec::new();
    let tree = files::values(tree, name, Engine::Helm3, &mut sources, &mut findings)?;
    // `off` is a level here, whatever YAML 1.1 makes of the word.
    findings.retain(|finding| finding.rule != RuleId::ValueSurprising);
    for finding in &mut findings {
        let message = &mut finding.message;
        *message = message.replace("values are a map", "the project file is a map");
    }
    let source = sources.get(yaml_tree::place::FileId(0)).cloned();
    let typed = |source| typed::project(&tree, source, &mut findings);
    let file = source.as_ref().map(typed).unwrap_or_default();
    Ok(Project {
        file,
        tree: Some(tree),
        source,
        findings,
    })
}

fn no_schema(folder: &str, places: &Places<'_>) -> Finding {
    let message =
        format!("there is no CustomResourceDefinition in `{folder}`, so nothing is validated");
    places
        .finding(message, &["schemas"])
        .help("put the CRDs of the cluster's controllers there: `kubectl get crd -o yaml`")
}

/// The wanted files below a folder by their path, with slashes.
fn texts(
    tree: &dyn Files,
    root: &Path,
    folder: &str,
    wanted: fn(&Path) -> bool,
) -> Result<BTreeMap<String, Arc<Source>>, Error> {
    let mut texts = BTreeMap::new();
    let folder = Path::new(folder);
    for below in tree.list_recursive(folder)? {
        let path = folder.join(&below);
        if !wanted(&path) {
            continue;
        }
        let text = String::from_utf8(tree.read_file(&path)?).map_err(|_| Error::Read {
            path: root.join(&path),
            cause: std::io::Error::other("it is not text in UTF-8"),
        })?;
        let source = Source::new(files::display(&root.join(&path)), text);
        texts.insert(files::display(&below), Arc::new(source));
    }
    Ok(texts)
}

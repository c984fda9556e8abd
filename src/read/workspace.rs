//! Where the project is, what it says, and what all its clusters share.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use walkdir::WalkDir;

use crate::error::Error;
use crate::model::engine::Engine;
use crate::model::finding::{Finding, Level};
use crate::model::place::{Source, Sources, Spot};
use crate::model::suggest::did_you_mean;
use crate::rules;
use crate::schema::Schemas;
use crate::targets;

use super::clusters::{self, ClusterEntry};
use super::management::Management;
use super::project::{ClusterSource, HelmVersion, ProjectFile};
use super::settings::{self, PROJECT_FILE, Places};
use super::{Request, Workspace, compose, files, layers, typed};

/// The project file's name.
const FILE: &str = "metalmark.yaml";

/// Reads the project and everything that its clusters share.
///
/// # Errors
/// No project and no flags that stand for one; a file that cannot be read.
pub fn workspace(request: &Request) -> Result<Workspace, Error> {
    let start = request
        .directory
        .clone()
        .unwrap_or_else(|| PathBuf::from("."));
    if request.directory.is_some() {
        is_folder(&start)?;
    }
    let mut project = open(request, &start)?;
    let root = project.root.clone();
    let places = Places {
        tree: project.tree.as_ref(),
        source: project.source.as_ref(),
    };
    let (mut settings, found) = settings::settings(&root, &project.file, &request.flags, &places);
    project.findings.extend(found);
    project.findings.extend(unknown_names(&settings, &places));
    // A waiver of no rule is told as that, not as unused too.
    let waivers = &mut settings.policy.waivers;
    waivers.retain(|waiver| rules::rule(&waiver.rule).is_some());

    let flags = &request.flags;
    let engine = match project.file.helm {
        HelmVersion::Three => Engine::Helm3,
        HelmVersion::Four => Engine::Helm4,
    };
    let values = flags
        .values
        .iter()
        .chain(&project.file.values)
        .map(PathBuf::from)
        .collect::<Vec<_>>();
    let (clusters, found) = entries(&root, &project.file, &flags.clusters, &places)?;
    project.findings.extend(found);
    if clusters.is_empty() && project.findings.is_empty() {
        project.findings.push(no_cluster(&places));
    }
    let state = project.file.state.iter();
    let composing = compose::Options {
        engine,
        state: state
            .map(|(object, file)| (object.clone(), PathBuf::from(file)))
            .collect(),
        ..compose::Options::default()
    };
    let example = clusters.first().map_or(&[][..], |cluster| &cluster.layers);
    let (shared, found) = layers::shared(&root, &values, example, composing)?;
    project.findings.extend(found);
    let facts = if flags.info.is_empty() {
        &project.file.images.facts
    } else {
        &flags.info
    };
    let templates = flags.templates.as_ref().or(project.file.templates.as_ref());
    let schemas = flags.schemas.as_ref().or(project.file.schemas.as_ref());
    let schemas = match schemas {
        Some(folder) => {
            let files = texts(&root.join(folder), is_yaml)?;
            let schemas = Schemas::new(files.into_values());
            if schemas.is_empty() {
                project.findings.push(no_schema(folder, &places));
            }
            Some(schemas)
        }
        None => None,
    };
    Ok(Workspace {
        settings,
        engine,
        evaluation: project.file.evaluation,
        shared,
        clusters,
        management: Management::default(),
        out: flags.out.as_ref().map(PathBuf::from),
        facts: facts.iter().map(PathBuf::from).collect(),
        templates: templates
            .map(|folder| texts(&root.join(folder), |_| true))
            .transpose()?
            .unwrap_or_default(),
        schemas,
        findings: project.findings,
    })
}

/// The project file as found, or an empty one where flags stand for it.
struct Project {
    root: PathBuf,
    file: ProjectFile,
    tree: Option<crate::model::value::Node>,
    source: Option<Arc<Source>>,
    findings: Vec<Finding>,
}

fn open(request: &Request, start: &Path) -> Result<Project, Error> {
    let path = match &request.project {
        Some(named) => Some(start.join(named)),
        None if has_flags(request) => None,
        None => Some(upwards(start).ok_or_else(no_project)?),
    };
    let Some(path) = path else {
        return Ok(Project {
            root: start.to_owned(),
            file: ProjectFile::default(),
            tree: None,
            source: None,
            findings: Vec::new(),
        });
    };
    let root = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
        .to_owned();
    let name = PathBuf::from(path.file_name().unwrap_or(FILE.as_ref()));
    let mut sources = Sources::default();
    let (tree, mut findings) = files::values(&root, &name, Engine::Helm3, &mut sources)?;
    // `off` is a level here, whatever YAML 1.1 makes of the word.
    findings.retain(|finding| finding.rule != "value-surprising");
    for finding in &mut findings {
        let message = &mut finding.message;
        *message = message.replace("values are a map", "the project file is a map");
    }
    let source = sources.get(crate::model::place::FileId(0)).cloned();
    let file = match &source {
        Some(source) => {
            let (file, found) = typed::project(&tree, source);
            findings.extend(found);
            file
        }
        None => ProjectFile::default(),
    };
    Ok(Project {
        root,
        file,
        tree: Some(tree),
        source,
        findings,
    })
}

/// That the folder to start in is one.
fn is_folder(start: &Path) -> Result<(), Error> {
    let error = |cause| Error::Read {
        path: start.to_owned(),
        cause,
    };
    match std::fs::metadata(start).map_err(error)?.is_dir() {
        true => Ok(()),
        false => Err(error(std::io::ErrorKind::NotADirectory.into())),
    }
}

fn has_flags(request: &Request) -> bool {
    !request.flags.values.is_empty() || !request.flags.clusters.is_empty()
}

/// The nearest project file, in this folder or above it.
fn upwards(start: &Path) -> Option<PathBuf> {
    let mut folder = start.to_owned();
    // A relative folder's parents are not spelt in it: `..` walks up until the file system ends.
    let limit = std::path::absolute(start).map_or(0, |path| path.components().count());
    for _ in 0..=limit {
        let file = folder.join(FILE);
        if file.is_file() {
            return Some(file);
        }
        folder.push("..");
    }
    None
}

fn no_project() -> Error {
    Error::Usage {
        message: format!(
            "there is no `{FILE}` here or in a folder above\n\
             help: name what to read: --values values.yaml --clusters 'clusters/*/values.yaml', or write a `{FILE}`"
        ),
    }
}

/// The clusters of the flags, else of the project file, in order; those of one pattern by name.
fn entries(
    root: &Path,
    file: &ProjectFile,
    flags: &[String],
    places: &Places<'_>,
) -> Result<(Vec<ClusterEntry>, Vec<Finding>), Error> {
    let typed = flags.iter().map(|pattern| ClusterSource {
        each: Some(pattern.clone()),
        ..ClusterSource::default()
    });
    let sources: Vec<ClusterSource> = if flags.is_empty() {
        file.clusters.clone()
    } else {
        typed.collect()
    };
    let (mut entries, mut spots, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    for (index, source) in sources.iter().enumerate() {
        let spot = match flags {
            [] => places.item(&["clusters"], index),
            _ => None,
        };
        let mut found = Vec::new();
        match of_source(root, source, &mut found)? {
            Ok(()) => {}
            Err(finding) => findings.push(finding.at(spot.clone(), "")),
        }
        spots.resize(entries.len() + found.len(), spot);
        entries.extend(found);
    }
    findings.extend(shared_names(&entries, &spots));
    findings.extend(illegal_names(&mut entries, &spots));
    findings.extend(unknown_management(&entries));
    Ok((entries, findings))
}

/// The clusters of one entry, or what is wrong with it.
fn of_source(
    root: &Path,
    source: &ClusterSource,
    entries: &mut Vec<ClusterEntry>,
) -> Result<Result<(), Finding>, Error> {
    let paths = || source.values.iter().map(PathBuf::from);
    match (&source.name, &source.each) {
        (Some(name), None) => entries.push(entry(name, source, paths().collect())),
        (None, Some(pattern)) => {
            let files = clusters::matches(root, pattern)?;
            if files.is_empty() {
                let message = format!("`{pattern}` matches no file");
                let help = "a pattern names values files, such as `clusters/*/values.yaml`";
                return Ok(Err(Finding::new(PROJECT_FILE, message).help(help)));
            }
            let names = clusters::names(pattern, &files);
            let each = names.into_iter().zip(files);
            entries.extend(
                each.map(|(name, file)| entry(&name, source, paths().chain([file]).collect())),
            );
        }
        _ => {
            let message = "a cluster has either `name` and `values`, or `each`";
            let help = "write `{name: …, values: […]}`, or `{each: clusters/*/values.yaml}`";
            return Ok(Err(Finding::new(PROJECT_FILE, message).help(help)));
        }
    }
    Ok(Ok(()))
}

/// Names that several clusters have.
fn shared_names(entries: &[ClusterEntry], spots: &[Option<Spot>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for found in clusters::doubles(entries) {
        let name = &entries[found[0]].name;
        let message = format!("{} clusters have the name `{name}`", found.len());
        let mut finding = Finding::new(PROJECT_FILE, message);
        let mut told: Vec<&Spot> = Vec::new();
        for spot in found.iter().filter_map(|index| spots[*index].as_ref()) {
            if told.iter().all(|known| known.start != spot.start) {
                finding = finding.at(Some(spot.clone()), "");
                told.push(spot);
            }
        }
        let files = found
            .iter()
            .filter_map(|index| entries[*index].layers.last());
        let files: Vec<String> = files
            .map(|file| format!("`{}`", files::display(file)))
            .collect();
        let help = format!("give each its own entry with `name`: {}", files.join(", "));
        findings.push(finding.help(help));
    }
    findings
}

/// Clusters whose names name no file, which are left out.
fn illegal_names(entries: &mut Vec<ClusterEntry>, spots: &[Option<Spot>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut spots = spots.iter();
    entries.retain(|entry| {
        let spot = spots.next().cloned().flatten();
        let Some(fault) = clusters::name_fault(&entry.name) else {
            return true;
        };
        let message = format!("the cluster name `{}` {fault}", entry.name.escape_debug());
        let finding = Finding::new(PROJECT_FILE, message).at(spot, "");
        findings
            .push(finding.help("a name of letters, digits and `-` serves files and objects alike"));
        false
    });
    findings
}

/// Nothing is checked, which shall not pass for "nothing is wrong".
fn no_cluster(places: &Places<'_>) -> Finding {
    Finding::new(PROJECT_FILE, "there are no clusters, so nothing is checked")
        .at(places.spot(&["clusters"]), "")
        .help("name their values files: `--clusters 'clusters/*/values.yaml'`, or `clusters: [{each: clusters/*/values.yaml}]` in metalmark.yaml")
        .unless_set(Level::Warning)
}

/// What is wrong with the management clusters that entries name.
fn unknown_management(entries: &[ClusterEntry]) -> Vec<Finding> {
    let names: BTreeSet<&str> = entries.iter().map(|entry| &*entry.name).collect();
    let named: BTreeSet<&str> = entries
        .iter()
        .filter_map(|entry| entry.management.as_deref())
        .collect();
    let names: Vec<&str> = names.into_iter().collect();
    let unknown = named.into_iter().filter(|name| !names.contains(name));
    unknown
        .map(|name| {
            let message = format!("there is no cluster `{name}` to be the management cluster");
            let help = suggestion(name, &names, "`management` names a cluster of this project");
            Finding::new(PROJECT_FILE, message).help(help)
        })
        .collect()
}

fn entry(name: &str, source: &ClusterSource, layers: Vec<PathBuf>) -> ClusterEntry {
    let name: Arc<str> = name.into();
    let namespace = source.namespace.as_deref().map(Arc::from);
    ClusterEntry {
        name,
        namespace,
        layers,
        management: source.management.as_deref().map(Arc::from),
    }
}

/// Rules and targets that the settings name and nobody knows.
fn unknown_names(
    settings: &crate::model::workspace::Settings,
    places: &Places<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let policy = &settings.policy;
    let scoped = policy.scoped.iter().flat_map(|scope| scope.rules.keys());
    let named = policy
        .rules
        .keys()
        .chain(scoped)
        .chain(policy.waivers.iter().map(|waiver| &waiver.rule));
    let ids: Vec<&str> = rules::RULES.iter().map(|rule| rule.id()).collect();
    for id in named.filter(|id| rules::rule(id).is_none()) {
        let finding =
            Finding::new(PROJECT_FILE, format!("there is no rule `{id}`")).at(places.word(id), "");
        findings.push(finding.help(suggestion(id, &ids, "README.md lists the rules")));
    }
    findings.extend(unknown_options(settings, places));
    let names: Vec<&str> = targets::TARGETS
        .iter()
        .map(|target| target.name())
        .collect();
    for output in settings
        .outputs
        .iter()
        .filter(|output| !names.contains(&&*output.target))
    {
        let message = format!("there is no target `{}`", output.target);
        let help = suggestion(
            &output.target,
            &names,
            &format!("the targets are {}", names.join(", ")),
        );
        findings.push(
            Finding::new(PROJECT_FILE, message)
                .at(output.spot.as_ref().and(places.word(&output.target)), "")
                .help(help),
        );
    }
    findings
}

/// Options of outputs that their targets do not have.
fn unknown_options(
    settings: &crate::model::workspace::Settings,
    places: &Places<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, output) in settings.outputs.iter().enumerate() {
        let Some(target) = targets::find(&output.target) else {
            continue;
        };
        let known: Vec<&str> = target.options().iter().map(|(name, _)| *name).collect();
        let unknown = output.options.keys();
        for name in unknown.filter(|name| !known.contains(&name.as_str())) {
            let message = format!("target `{}` has no option `{name}`", output.target);
            let all = format!("its options are {}", known.join(", "));
            let finding = Finding::new(PROJECT_FILE, message)
                .at(places.key_of_item(&["outputs"], index, name), "")
                .help(suggestion(name, &known, &all));
            findings.push(finding);
        }
    }
    findings
}

fn suggestion(word: &str, known: &[&str], otherwise: &str) -> String {
    did_you_mean(word, known.iter().copied()).map_or_else(
        || otherwise.to_owned(),
        |name| format!("did you mean `{name}`?"),
    )
}

fn no_schema(folder: &str, places: &Places<'_>) -> Finding {
    let message =
        format!("there is no CustomResourceDefinition in `{folder}`, so nothing is validated");
    Finding::new(PROJECT_FILE, message)
        .at(places.spot(&["schemas"]), "")
        .help("put the CRDs of the cluster's controllers there: `kubectl get crd -o yaml`")
}

fn is_yaml(file: &Path) -> bool {
    let extension = file.extension().unwrap_or_default();
    ["yaml", "yml", "json"]
        .iter()
        .any(|known| extension == *known)
}

/// The wanted files below a folder by their path, with slashes.
fn texts(folder: &Path, wanted: fn(&Path) -> bool) -> Result<BTreeMap<String, Arc<Source>>, Error> {
    let mut texts = BTreeMap::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(|error| Error::Read {
            path: error.path().unwrap_or(folder).to_owned(),
            cause: error
                .into_io_error()
                .unwrap_or_else(|| std::io::Error::other("the links below it are a circle")),
        })?;
        let below = entry.path().strip_prefix(folder);
        let (true, Ok(below)) = (entry.file_type().is_file() && wanted(entry.path()), below) else {
            continue;
        };
        let text = std::fs::read_to_string(entry.path()).map_err(|cause| Error::Read {
            path: entry.path().to_owned(),
            cause,
        })?;
        let source = Source::new(files::display(entry.path()), text);
        texts.insert(files::display(below), Arc::new(source));
    }
    Ok(texts)
}

//! Where the project is, what it says, and what all its clusters share.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use walkdir::WalkDir;

use crate::error::Error;
use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::place::{Source, Sources};
use crate::model::suggest::did_you_mean;
use crate::rules;
use crate::schema::Schemas;
use crate::targets;

use super::clusters::{self, ClusterEntry};
use super::compose;
use super::management::Management;
use super::project::{ClusterSource, HelmVersion, ProjectFile};
use super::settings::{self, PROJECT_FILE, Places};
use super::{Request, Workspace, files, layers, typed};

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
    let mut project = open(request, &start)?;
    let root = project.root.clone();
    let places = Places {
        tree: project.tree.as_ref(),
        source: project.source.as_ref(),
    };
    let (settings, found) = settings::settings(&root, &project.file, &request.flags, &places);
    project.findings.extend(found);
    project.findings.extend(unknown_names(&settings, &places));

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
    let clusters = entries(&root, &project.file, &flags.clusters, &mut project.findings)?;
    let composing = compose::Options {
        engine,
        state: project
            .file
            .state
            .iter()
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
            .map(|folder| texts(&root.join(folder)))
            .transpose()?
            .unwrap_or_default(),
        schemas: schemas
            .map(|folder| texts(&root.join(folder)))
            .transpose()?
            .map(|files| Schemas::new(files.into_values())),
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
    findings: &mut Vec<Finding>,
) -> Result<Vec<ClusterEntry>, Error> {
    let typed = flags.iter().map(|pattern| ClusterSource {
        each: Some(pattern.clone()),
        ..ClusterSource::default()
    });
    let sources: Vec<ClusterSource> = if flags.is_empty() {
        file.clusters.clone()
    } else {
        typed.collect()
    };
    let mut entries = Vec::new();
    for source in &sources {
        match (&source.name, &source.each) {
            (Some(name), None) => entries.push(entry(
                name,
                source,
                source.values.iter().map(PathBuf::from).collect(),
            )),
            (None, Some(pattern)) => {
                let files = clusters::matches(root, pattern)?;
                if files.is_empty() {
                    let finding =
                        Finding::new(PROJECT_FILE, format!("`{pattern}` matches no file"));
                    findings
                        .push(finding.help(
                            "a pattern names values files, such as `clusters/*/values.yaml`",
                        ));
                }
                for (name, file) in clusters::names(&files, pattern).into_iter().zip(files) {
                    let below = source
                        .values
                        .iter()
                        .map(PathBuf::from)
                        .chain([file])
                        .collect();
                    entries.push(entry(&name, source, below));
                }
            }
            _ => findings.push(Finding::new(
                PROJECT_FILE,
                "a cluster has either `name` and `values`, or `each`",
            )),
        }
    }
    for (name, files) in clusters::doubles(&entries) {
        let files: Vec<String> = files
            .iter()
            .map(|file| format!("`{}`", files::display(file)))
            .collect();
        let finding = Finding::new(
            PROJECT_FILE,
            format!("{} clusters have the name `{name}`", files.len()),
        );
        findings.push(finding.help(format!(
            "give each its own entry with `name`: {}",
            files.join(", ")
        )));
    }
    findings.extend(unknown_management(&entries));
    Ok(entries)
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
                .at(places.word(&output.target), "")
                .help(help),
        );
    }
    findings
}

fn suggestion(word: &str, known: &[&str], otherwise: &str) -> String {
    did_you_mean(word, known.iter().copied()).map_or_else(
        || otherwise.to_owned(),
        |name| format!("did you mean `{name}`?"),
    )
}

/// The files below a folder by their path, with slashes.
fn texts(folder: &Path) -> Result<BTreeMap<String, Arc<Source>>, Error> {
    let mut texts = BTreeMap::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(|error| Error::Read {
            path: folder.to_owned(),
            cause: error.into(),
        })?;
        if let (true, Ok(below)) = (
            entry.file_type().is_file(),
            entry.path().strip_prefix(folder),
        ) {
            let text = std::fs::read_to_string(entry.path()).map_err(|cause| Error::Read {
                path: entry.path().to_owned(),
                cause,
            })?;
            texts.insert(
                files::display(below),
                Arc::new(Source::new(files::display(entry.path()), text)),
            );
        }
    }
    Ok(texts)
}

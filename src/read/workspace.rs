//! Where the project is, what it says, and what all its clusters share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use walkdir::WalkDir;

use crate::error::Error;
use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::place::{Source, Sources};
use crate::rules;
use crate::schema::Schemas;

use super::management::Management;
use super::project::{HelmVersion, ProjectFile};
use super::settings::{self, PROJECT_FILE, Places};
use super::{Request, Workspace, compose, files, fleet, layers, record, typed, unknown};

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
    project.findings.extend(unknown::names(&settings, &places));
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
    let (clusters, found) = fleet::entries(&root, &project.file, &flags.clusters, &places)?;
    project.findings.extend(found);
    if clusters.is_empty() && project.findings.is_empty() {
        project.findings.push(fleet::no_cluster(&places));
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
    let records = &project.file.images.records;
    let records = project
        .source
        .as_ref()
        .filter(|_| !records.is_empty())
        .map(|source| {
            (
                record::written(records, project.tree.as_ref()),
                Arc::clone(source),
            )
        });
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
        records,
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

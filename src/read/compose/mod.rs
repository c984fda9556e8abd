//! A cluster as Flux or Argo CD composes it: the values layers of a folder or file that holds a HelmRelease or an Application.
//!
//! The part of kustomize that shapes those objects is done here. What else touches them is a finding that names it.

mod base64;
mod files;
mod generator;
mod json_patch;
mod kustomization;
mod names;
mod object;
mod overrides;
mod patch;
mod reader;
mod release;
mod selector;
mod set;
mod strategic;
mod unsupported;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::merge::Layer;
use crate::model::place::{Place, Sources};
use crate::model::value::Node;

pub use files::{Disk, Files, Found};

use kustomization::Built;
use object::{Object, text};
use reader::{Loads, Reader, Stop};

/// The rule of what a real build would refuse.
const FAILED: &str = "composition-failed";

/// The rule of what is not built here.
const UNSUPPORTED: &str = "composition-unsupported";

/// What exists only at run time, given as files below the root: `ConfigMap/NAME` and `Secret/NAME` stand for the object's
/// manifest or for a file of its values, `HelmChart/NAME` for the folder of a chart that comes from a registry.
pub type State = BTreeMap<String, PathBuf>;

/// How clusters are composed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Who reads the values.
    pub engine: Engine,
    /// What exists only at run time.
    pub state: State,
    /// Files that were read for all clusters.
    pub shared: Shared,
}

/// Files that many clusters have in common, read once: see [`share`].
#[derive(Clone, Debug, Default)]
pub struct Shared {
    loads: Loads,
}

/// One release and the layers of its values.
#[derive(Clone, Debug, Default)]
pub struct Composition {
    /// The release's name.
    pub name: String,
    /// The namespace that it is installed into.
    pub namespace: String,
    /// Its values, lowest first.
    pub layers: Vec<Layer>,
    /// What it needs and the repository does not hold.
    pub missing: Vec<MissingSource>,
    /// What is wrong. Where composing had to end, there are no layers.
    pub findings: Vec<Finding>,
}

/// An object or a chart that exists only at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingSource {
    /// `ConfigMap`, `Secret` or `HelmChart`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The key, or the chart's file, that is asked for.
    pub key: String,
    /// Where it is asked for.
    pub place: Place,
}

/// What the folder or file at `path` below `root` deploys; none if it holds no HelmRelease.
///
/// # Errors
/// A file that is there and cannot be read.
pub fn cluster(
    root: &Path,
    path: &Path,
    options: &Options,
    sources: &mut Sources,
) -> Result<Option<Composition>, Error> {
    Ok(compose(&Disk::new(root)?, path, options, sources)?.composition)
}

/// As [`cluster`], from any files.
///
/// # Errors
/// As [`cluster`].
pub fn cluster_of(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut Sources,
) -> Result<Option<Composition>, Error> {
    Ok(compose(files, path, options, sources)?.composition)
}

struct Composing {
    composition: Option<Composition>,
    loads: Loads,
}

fn compose(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut Sources,
) -> Result<Composing, Error> {
    let mut reader = Reader {
        files,
        engine: options.engine,
        sources,
        findings: Vec::new(),
        shared: &options.shared.loads,
        loads: Loads::new(),
    };
    let composition = match composed(&mut reader, path, &options.state) {
        Ok(composition) => composition,
        Err(Stop::Error(error)) => return Err(error),
        Err(Stop::Finding(finding)) => {
            reader.findings.push(*finding);
            Some(Composition {
                name: name_of(path),
                ..Composition::default()
            })
        }
    };
    let findings = std::mem::take(&mut reader.findings);
    let loads = std::mem::take(&mut reader.loads);
    let composition = composition.map(|mut composition| {
        composition.findings.extend(findings);
        composition
    });
    Ok(Composing { composition, loads })
}

/// The objects that a folder or file builds to, as `kubectl kustomize` prints them, or what it refuses.
///
/// # Errors
/// A file that is there and cannot be read.
pub fn objects(
    root: &Path,
    path: &Path,
    sources: &mut Sources,
) -> Result<Result<Vec<Node>, Finding>, Error> {
    let (disk, shared) = (Disk::new(root)?, Loads::new());
    let mut reader = Reader {
        files: &disk,
        engine: Engine::Kubectl,
        sources,
        findings: Vec::new(),
        shared: &shared,
        loads: Loads::new(),
    };
    match built(&mut reader, path) {
        Ok(built) => {
            let objects = built.map(|built| built.objects).unwrap_or_default();
            Ok(Ok(objects.into_iter().map(|object| object.tree).collect()))
        }
        Err(Stop::Finding(finding)) => Ok(Err(*finding)),
        Err(Stop::Error(error)) => Err(error),
    }
}

fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn composed(
    reader: &mut Reader<'_>,
    path: &Path,
    state: &State,
) -> Result<Option<Composition>, Stop> {
    let Some(built) = built(reader, path)? else {
        return Ok(None);
    };
    let is_release = |object: &&Object| {
        object.kind() == "HelmRelease" && object.group() == "helm.toolkit.fluxcd.io"
    };
    let mut releases = built.objects.iter().filter(is_release);
    let Some(release) = releases.next() else {
        return Ok(None);
    };
    if let Some(other) = releases.next() {
        let message = format!(
            "there are several HelmReleases, `{}` and `{}`",
            release.name(),
            other.name()
        );
        let finding = reader.finding(UNSUPPORTED, message, release.tree.place);
        let other = reader.sources.resolve(other.tree.place);
        let help = "name the file or folder of the one that is the cluster's";
        return Err(finding.at(other, "the other one").help(help).into());
    }
    let composed = release::compose(reader, state, &built, release)?;
    if composed
        .missing
        .iter()
        .any(|missing| missing.kind != "HelmChart")
    {
        reader.findings.extend(built.unknown.iter().cloned());
    }
    let spec = |field: &str| text(&release.tree, &["spec", field]).filter(|text| !text.is_empty());
    Ok(Some(Composition {
        name: spec("releaseName").unwrap_or(release.name()).to_owned(),
        namespace: spec("targetNamespace")
            .unwrap_or(release.namespace())
            .to_owned(),
        layers: composed.layers,
        missing: composed.missing,
        findings: Vec::new(),
    }))
}

/// The objects of a folder with a kustomization, of a folder of plain files, or of one file; none if nothing is there.
fn built(reader: &mut Reader<'_>, path: &Path) -> Result<Option<Built>, Stop> {
    if let Some(built) = kustomization::build(reader, path)? {
        return Ok(Some(built));
    }
    if kustomization::find(reader, path)?.is_some() {
        return Ok(None);
    }
    let mut objects = Vec::new();
    let files = match reader.files.folder(path)? {
        Some(names) => names.iter().map(|name| path.join(name)).collect(),
        None => vec![path.to_owned()],
    };
    for file in files.iter().filter(|file| is_manifest(file)) {
        // Values files stand beside manifests; what is wrong in them is told when they are read as values.
        if !reader.mentions(file, "kind:")? {
            continue;
        }
        for document in reader
            .objects(file)?
            .iter()
            .flat_map(|documents| documents.iter())
        {
            if document.at(&["apiVersion"]).is_some() && document.at(&["kind"]).is_some() {
                kustomization::add(&mut objects, document);
            }
        }
    }
    Ok((!objects.is_empty()).then(|| Built {
        objects,
        ..Built::default()
    }))
}

fn is_manifest(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Reads once what a cluster has in common with others: all of its files outside of its own folder, into sources that are
/// to be shared.
///
/// # Errors
/// As [`cluster`].
pub fn share(
    root: &Path,
    path: &Path,
    options: &mut Options,
    sources: &mut Sources,
) -> Result<(), Error> {
    let composing = compose(&Disk::new(root)?, path, options, sources)?;
    let common = composing
        .loads
        .into_iter()
        .filter(|(file, _)| !file.starts_with(path));
    options.shared.loads.extend(common);
    Ok(())
}

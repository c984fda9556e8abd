//! A cluster as Flux or Argo CD composes it: the values layers of a folder or file that holds a HelmRelease or an Application.
//!
//! The part of kustomize that shapes those objects is done here. What else touches them is a finding that names it.

mod application;
mod application_set;
mod base64;
mod deployments;
mod discover;
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
mod work;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::merge::Layer;
use crate::model::place::{Place, Sources};
use crate::model::value::Node;

pub use crate::files::{Disk, Files, Found};

pub use super::own_output::OwnOutput;

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
    /// What metalmark renders, which no composition reads.
    pub own_output: Arc<OwnOutput>,
}

/// Files that many clusters have in common, read once: see [`share`].
#[derive(Clone, Debug, Default)]
pub struct Shared {
    loads: Loads,
}

/// One release and the layers of its values.
#[derive(Clone, Debug)]
pub struct Composition {
    /// The release's name.
    pub name: String,
    /// The namespace that it is installed into.
    pub namespace: String,
    /// Where it is declared.
    pub place: Place,
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

/// Knows what objects of the run time will hold, where the repository tells it elsewhere.
pub trait RunTime {
    /// The values under a key of a ConfigMap or Secret that nothing here makes and no file stands for; none where that is
    /// not known. Their places point into `sources`, which takes the files.
    ///
    /// # Errors
    /// The world failed.
    fn values(
        &self,
        kind: &str,
        name: &str,
        key: &str,
        sources: &mut Sources,
    ) -> Result<Option<Node>, Error>;
}

/// The one release of the folder or file at `path`, below the root of `files`; none if it deploys nothing. Several are a
/// finding: nobody says which one is the cluster's.
///
/// # Errors
/// A file that is there and cannot be read.
pub fn cluster(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut Sources,
) -> Result<Option<Composition>, Error> {
    one(files, path, options, None, sources)
}

/// As [`cluster`], with what is known of the run time.
///
/// # Errors
/// As [`cluster`].
pub fn cluster_with(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    run_time: &dyn RunTime,
    sources: &mut Sources,
) -> Result<Option<Composition>, Error> {
    one(files, path, options, Some(run_time), sources)
}

fn one(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    run_time: Option<&dyn RunTime>,
    sources: &mut Sources,
) -> Result<Option<Composition>, Error> {
    let mut reader = Reader::new(files, options, sources);
    reader.run_time = run_time;
    let mut all = compositions(&mut reader, path, options)?;
    if all.len() > 1 {
        let message = format!(
            "there are several releases, `{}` and `{}`",
            all[0].name, all[1].name
        );
        let finding = Finding::new(UNSUPPORTED, message)
            .at(sources.resolve(all[0].place), "")
            .at(sources.resolve(all[1].place), "the other one")
            .help("name the file or folder of the one that is the cluster's");
        all[0].layers.clear();
        all[0].findings.push(finding);
    }
    Ok(all.into_iter().next())
}

/// Every release of a folder or file: each HelmRelease, Application, and Application that an
/// ApplicationSet makes.
///
/// # Errors
/// As [`cluster`].
pub fn clusters(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut Sources,
) -> Result<Vec<Composition>, Error> {
    let mut reader = Reader::new(files, options, sources);
    compositions(&mut reader, path, options)
}

/// Reads once what a cluster has in common with others, all of its files outside of its own folder, into sources that are
/// to be shared.
///
/// # Errors
/// As [`cluster`].
pub fn share(
    files: &dyn Files,
    path: &Path,
    options: &mut Options,
    sources: &mut Sources,
) -> Result<(), Error> {
    let mut reader = Reader::new(files, options, sources);
    compositions(&mut reader, path, options)?;
    let loads = reader.loads.into_iter();
    let common: Loads = loads.filter(|(file, _)| !file.starts_with(path)).collect();
    options.shared.loads.extend(common);
    Ok(())
}

/// The folders and files that patterns match and that are clusters: they deploy something, and no other one of them is
/// built on them. A folder that does not build is kept, so that composing it reports why.
///
/// # Errors
/// As [`cluster`].
pub fn discover(
    files: &dyn Files,
    patterns: &[&str],
    own_output: &Arc<OwnOutput>,
) -> Result<Vec<PathBuf>, Error> {
    let mut matched = Vec::new();
    for pattern in patterns {
        matched.extend(files::matches(files, pattern)?);
    }
    let (mut options, mut sources) = (Options::default(), Sources::default());
    options.own_output = Arc::clone(own_output);
    let mut reader = Reader::new(files, &options, &mut sources);
    match discover::clusters(&mut reader, matched) {
        Ok(found) => Ok(found),
        Err(Stop::Error(error)) => Err(error),
        // Only the world ends a discovery.
        Err(Stop::Finding(_)) => Ok(Vec::new()),
    }
}

/// The paths that a pattern may match, in no order: those whose last name has no wildcard are not looked for.
///
/// # Errors
/// As [`cluster`].
pub fn matches(files: &dyn Files, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    files::matches(files, pattern)
}

/// The objects that a folder or file builds to, as `kubectl kustomize` prints them, or what it refuses.
///
/// # Errors
/// As [`cluster`].
pub fn objects(
    files: &dyn Files,
    path: &Path,
    sources: &mut Sources,
) -> Result<Result<Vec<Node>, Finding>, Error> {
    let options = Options::default();
    let mut reader = Reader::new(files, &options, sources);
    match deployments::built(&mut reader, path) {
        Ok(built) => {
            let objects = built.map(|built| built.objects).unwrap_or_default();
            Ok(Ok(objects.into_iter().map(|object| object.tree).collect()))
        }
        Err(Stop::Finding(finding)) => Ok(Err(*finding)),
        Err(Stop::Error(error)) => Err(error),
    }
}

fn compositions(
    reader: &mut Reader<'_>,
    path: &Path,
    options: &Options,
) -> Result<Vec<Composition>, Error> {
    let mut all = match deployments::all(reader, &options.state, path) {
        Ok(all) => all,
        Err(Stop::Error(error)) => return Err(error),
        Err(Stop::Finding(finding)) => {
            reader.findings.push(*finding);
            vec![unfinished(path)]
        }
    };
    if let Some(first) = all.first_mut() {
        first.findings.append(&mut reader.findings);
    }
    Ok(all)
}

/// What is known of a cluster whose composing had to end.
fn unfinished(path: &Path) -> Composition {
    let name = path.file_stem().unwrap_or_default();
    Composition {
        name: name.to_string_lossy().into_owned(),
        namespace: String::new(),
        place: Place::NONE,
        layers: Vec::new(),
        missing: Vec::new(),
        findings: Vec::new(),
    }
}

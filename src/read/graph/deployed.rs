//! The objects of a repository as they are deployed: as kustomize, Flux and Helm make them, with their variables filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::objects::{ManifestObject, Text};
use yaml_tree::place::{Located, Place, Sources};

use crate::error::Error;
use crate::files::{Files, Found};
use crate::model::finding::Finding;

use super::super::environment;
use super::super::gitops::{self, FLUX, Input, OwnOutput, Variables, Work, substitute};
use super::super::helm_charts::{DEPLOYING, HelmCharts};
use super::super::manifests;
use super::eks_anywhere::EKS_ANYWHERE;
use super::{CLUSTER_API, CONTROL_PLANE};

/// The groups of objects that make clusters and node pools.
const GROUPS: [&str; 4] = [
    CLUSTER_API,
    CONTROL_PLANE,
    "infrastructure.cluster.x-k8s.io",
    EKS_ANYWHERE,
];

/// The objects below these paths. Folders that do not build are among the findings.
///
/// # Errors
/// A path or file cannot be read.
pub(super) fn collect_objects(
    tree: &dyn Files,
    paths: &[PathBuf],
    own_output: &Arc<OwnOutput>,
    findings: &mut Vec<Finding>,
) -> Result<Vec<ManifestObject>, Error> {
    let is_meant = |text: &str| mentions(text, &["cluster.x-k8s.io", EKS_ANYWHERE, FLUX]);
    let found = manifests::collect(tree, paths, own_output, is_meant)?;
    let is_whole = |object: &&ManifestObject| object.text.host.is_none() && !object.is_patch;
    let is_flux =
        |object: &&ManifestObject| object.group() == FLUX && &*object.kind == "Kustomization";
    let flux: Vec<&ManifestObject> = { found.objects.iter() }
        .filter(|object| is_whole(object) && is_flux(object))
        .collect();
    let from = ["spec", "postBuild", "substituteFrom"];
    let config_maps = if flux.iter().any(|flux| !flux.node.items(&from).is_empty()) {
        manifests::collect(tree, paths, own_output, |text| {
            mentions(text, &["ConfigMap"])
        })?
        .objects
    } else {
        Vec::new()
    };
    let mut sources = Sources::default();
    let charts = HelmCharts::load(tree, &found.charts, &mut sources)?;
    findings.extend(found.syntax_findings(|path| charts.has_template(path)));
    let deploying = if charts.is_empty() && found.kustomizations.is_empty() {
        Vec::new()
    } else {
        let kinds = DEPLOYING.map(|(_, kind)| kind);
        manifests::collect(tree, paths, own_output, |text| mentions(text, &kinds))?.objects
    };
    let is_deploying = |object: &&ManifestObject| charts.may_be_deployed_by(object);
    let is_of_pools = |object: &&ManifestObject| GROUPS.contains(&object.group());
    let whole = found.objects.iter().filter(is_whole).filter(is_of_pools);
    let files = |objects: &mut dyn Iterator<Item = &ManifestObject>| -> BTreeSet<PathBuf> {
        objects.map(|object| path(object).to_owned()).collect()
    };
    let deploying = || deploying.iter().filter(is_whole);
    let deployments = files(&mut deploying().filter(is_deploying));
    let is_argo = |object: &&ManifestObject| object.group() == "argoproj.io";
    let applications = files(&mut deploying().filter(is_argo));
    let input = Input {
        folders: found.kustomizations,
        files: whole
            .map(|object| path(object).to_owned())
            .chain(deployments.iter().cloned())
            .collect(),
        deployments,
        applications,
        flux,
        config_maps: &config_maps,
    };
    let options = gitops::Options {
        own_output: Arc::clone(own_output),
        ..gitops::Options::default()
    };
    let built = gitops::builds(tree, &input, &options, &mut sources)?;
    let is_template = |object: &ManifestObject| charts.has_template(path(object));
    let is_part = |object: &ManifestObject| is_whole(&object) && built.parts.contains(path(object));
    let mut objects = found.objects;
    objects.retain(|object| !object.is_patch && !is_part(object) && !is_template(object));
    let releases = charts.render(tree, &built.compositions, &mut sources)?;
    let sources = Arc::new(sources);
    let builds = built
        .builds
        .into_iter()
        .map(|build| (build.source, build.objects));
    for (source, nodes) in builds.chain(releases.objects) {
        let text = Text::from_build(source, Arc::clone(&sources));
        let of_text = |node| ManifestObject::new(&text, 0, &[], node);
        objects.extend(nodes.into_iter().map(of_text));
    }
    let mut environment = Environment {
        tree,
        known: BTreeMap::new(),
        work: Work::default(),
    };
    for object in &mut objects {
        environment.fill(object)?;
    }
    findings.extend(built.findings.into_iter().chain(releases.findings));
    Ok(objects)
}

/// Whether a text may hold one of these words, which escapes in double quotes may spell.
fn mentions(text: &str, words: &[&str]) -> bool {
    let is_escaped = |line: &str| {
        let quoted = line.find('"').map_or("", |quote| &line[quote..]);
        quoted.ends_with('\\')
            || ["\\x", "\\u", "\\U"]
                .iter()
                .any(|escape| quoted.contains(escape))
    };
    words.iter().any(|word| text.contains(word)) || text.lines().any(is_escaped)
}

fn path(object: &ManifestObject) -> &Path {
    Path::new(&*object.file().path)
}

/// The variables of `.env` files, which people read into the environment of clusterctl and envsubst.
struct Environment<'t> {
    tree: &'t dyn Files,
    /// By folder, those of the folders above included.
    known: BTreeMap<PathBuf, Arc<Variables>>,
    work: Work,
}

impl Environment<'_> {
    /// Fills in the variables of an object.
    fn fill(&mut self, object: &mut ManifestObject) -> Result<(), Error> {
        if !object.may_have_variables() {
            return Ok(());
        }
        let variables = self.load(Path::new(object.folder()))?;
        if let Some(node) = substitute(&object.node, &variables, &self.work) {
            *object = ManifestObject {
                is_renamed: object.is_renamed,
                ..ManifestObject::new(&object.text, object.document, &object.steps, node)
            };
        }
        Ok(())
    }

    fn load(&mut self, folder: &Path) -> Result<Arc<Variables>, Error> {
        if let Some(known) = self.known.get(folder) {
            return Ok(Arc::clone(known));
        }
        let mut variables = match folder.parent() {
            Some(parent) => self.load(parent)?,
            None => Arc::default(),
        };
        if let Found::File(bytes) = self.tree.file(&folder.join(".env"))? {
            let text = String::from_utf8_lossy(&bytes);
            let own = environment::variables(&text, Place::NONE.file).into_iter();
            // A finding points to the manifest, so that no line of the environment is shown.
            let own = own.map(|(name, value)| (name, Located::new(value.value, Place::NONE)));
            Arc::make_mut(&mut variables).extend(own);
        }
        self.known.insert(folder.to_owned(), Arc::clone(&variables));
        Ok(variables)
    }
}

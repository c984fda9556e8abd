//! The objects of a repository as they are deployed: as kustomize and Flux build them, with their variables filled in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::files::{Files, Found};
use crate::model::finding::Finding;
use crate::model::place::{Located, Place};
use crate::objects::{Standing, Text};

use super::super::environment;
use super::super::gitops::{self, FLUX, Input, OwnOutput, Variables, Work, items, substituted};
use super::super::manifests;
use super::{CLUSTER_API, CONTROL_PLANE};

/// The groups of objects that make clusters and node pools.
const GROUPS: [&str; 3] = [
    CLUSTER_API,
    CONTROL_PLANE,
    "infrastructure.cluster.x-k8s.io",
];

/// The objects below these paths, and the findings about folders that do not build.
///
/// # Errors
/// A path or file cannot be read.
pub(super) fn deployed(
    tree: &dyn Files,
    paths: &[PathBuf],
    own_output: &Arc<OwnOutput>,
) -> Result<(Vec<Standing>, Vec<Finding>), Error> {
    let is_meant = |text: &str| text.contains("cluster.x-k8s.io") || text.contains(FLUX);
    let found = manifests::below(tree, paths, is_meant)?;
    let is_whole = |object: &&Standing| object.text.host.is_none();
    let is_flux =
        |object: &&Standing| object.group_version().0 == FLUX && &*object.kind == "Kustomization";
    let flux: Vec<&Standing> = { found.objects.iter() }
        .filter(|object| is_whole(object) && is_flux(object))
        .collect();
    let from = ["spec", "postBuild", "substituteFrom"];
    let config_maps = match flux.iter().any(|flux| !items(&flux.node, &from).is_empty()) {
        true => manifests::below(tree, paths, |text| text.contains("ConfigMap"))?.objects,
        false => Vec::new(),
    };
    let is_of_pools = |object: &&Standing| GROUPS.contains(&object.group_version().0);
    let whole = found.objects.iter().filter(is_whole).filter(is_of_pools);
    let input = Input {
        folders: found.kustomizations,
        files: whole.map(|object| path(object).to_owned()).collect(),
        flux,
        config_maps: &config_maps,
    };
    let options = gitops::Options {
        own_output: Arc::clone(own_output),
        ..gitops::Options::default()
    };
    let built = gitops::builds(tree, &input, &options)?;
    let is_part = |object: &Standing| is_whole(&object) && built.parts.contains(path(object));
    let mut objects = found.objects;
    objects.retain(|object| !is_part(object));
    let sources = Arc::new(built.sources);
    for build in built.builds {
        let text = Text::of_build(build.source, Arc::clone(&sources));
        let of_text = |node| Standing::new(&text, 0, &[], node);
        objects.extend(build.objects.into_iter().map(of_text));
    }
    let mut environment = Environment {
        tree,
        known: BTreeMap::new(),
        work: Work::default(),
    };
    for object in &mut objects {
        environment.fill(object)?;
    }
    Ok((objects, built.findings))
}

fn path(object: &Standing) -> &Path {
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
    fn fill(&mut self, object: &mut Standing) -> Result<(), Error> {
        if !object.may_have_variables() {
            return Ok(());
        }
        let variables = self.of(Path::new(object.folder()))?;
        if let Some(node) = substituted(&object.node, &variables, &self.work) {
            *object = Standing::new(&object.text, object.document, &object.steps, node);
        }
        Ok(())
    }

    fn of(&mut self, folder: &Path) -> Result<Arc<Variables>, Error> {
        if let Some(known) = self.known.get(folder) {
            return Ok(Arc::clone(known));
        }
        let mut variables = match folder.parent() {
            Some(parent) => self.of(parent)?,
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

//! The folders that are built: those with a kustomization, and those that a Flux Kustomization or an Application deploys, which may change
//! what they deploy (<https://fluxcd.io/flux/components/kustomize/kustomizations/>).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::objects::ManifestObject;
use yaml_tree::place::{Located, Place, Sources};
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::rule::Level;

use super::super::files::{display, nearest_path};
use super::application::Environment;
use super::deployments::{self, Applied};
use super::envsubst::Variables;
use super::files::{print_folder, resolve_path};
use super::inflation::Inflation;
use super::kustomization::{self, Built};
use super::object::Object;
use super::overlay::Overlay;
use super::reader::LayerReader;
use super::variables::substitute;
use super::{FAILED, UNSUPPORTED, patches};
use crate::read::error::{ReadError, catch_finding};
use crate::read::tables::flux::KUSTOMIZATION;
use crate::read::tables::{find_fault, kustomize};

/// What is built.
#[derive(Default)]
pub(in crate::read) struct Input<'i> {
    /// The folders with a kustomization.
    pub(in crate::read) folders: BTreeSet<PathBuf>,
    /// The files of interest.
    pub(in crate::read) files: BTreeSet<PathBuf>,
    /// The folders of charts of interest.
    pub(in crate::read) charts: BTreeSet<PathBuf>,
    /// Those with a HelmRelease, an Application or an ApplicationSet.
    pub(in crate::read) deployments: BTreeSet<PathBuf>,
    /// Those with an Application or an ApplicationSet.
    pub(in crate::read) applications: BTreeSet<PathBuf>,
    /// The Flux Kustomizations.
    pub(in crate::read) flux: Vec<&'i ManifestObject>,
    /// Flux's sources.
    pub(in crate::read) sources: Vec<&'i ManifestObject>,
    /// The ConfigMaps with their variables.
    pub(in crate::read) config_maps: &'i [ManifestObject],
}

/// The source that a Kustomization or a HelmRelease of Flux names.
pub(super) fn find_source<'s>(
    sources: &[&'s ManifestObject],
    object: &ManifestObject,
) -> Option<&'s ManifestObject> {
    let paths = [
        &["spec", "sourceRef"][..],
        &["spec", "chartRef"],
        &["spec", "chart", "spec", "sourceRef"],
    ];
    let named = paths.iter().find_map(|path| object.node.get_path(path))?;
    let namespace = named.text(&["namespace"]).unwrap_or(&object.namespace);
    let is_it = |source: &&&ManifestObject| {
        named.text(&["kind"]) == Some(&*source.kind)
            && named.text(&["name"]) == Some(&*source.name)
            && *source.namespace == *namespace
    };
    sources.iter().find(is_it).copied()
}

/// The address of the repository that a Kustomization is in.
pub(super) fn find_address<'s>(
    sources: &[&'s ManifestObject],
    object: &ManifestObject,
) -> Option<&'s str> {
    let source = find_source(sources, object)?;
    source.node.text(&["spec", "url"])
}

/// Why nothing is deployed by a Kustomization of Flux: the folder that it names in this repository is not there.
pub(super) fn find_missing_folder(
    reader: &mut LayerReader<'_>,
    input: &Input<'_>,
    folders: &Folders,
    object: &ManifestObject,
) -> Result<Option<Finding>, Error> {
    let reference = |object: &ManifestObject| {
        let field = |field: &str| {
            object
                .node
                .text(&["spec", "sourceRef", field])
                .map(Arc::from)
        };
        [field("kind"), field("name")]
    };
    let own: [Option<Arc<str>>; 2] = reference(object);
    let source = find_source(&input.sources, object);
    let is_included =
        source.is_some_and(|source| !source.node.items(&["spec", "include"]).is_empty());
    let (Some(folder), Some("GitRepository")) = (find_folder(object), own[0].as_deref()) else {
        return Ok(None);
    };
    if is_included || folders.changed.contains_key(file_path(object)) {
        return Ok(None);
    }
    let is_beside = |other: &&ManifestObject| {
        let folder = find_folder(other).filter(|folder| folder != Path::new(""));
        reference(other) == own && folder.is_some_and(|folder| reader.files.is_folder(&folder))
    };
    let is_own = match find_address(&input.sources, object) {
        Some(address) if reader.repositories.is_other_address(address) => return Ok(None),
        Some(address) => reader.repositories.is_own_address(address),
        None => input.flux.iter().copied().any(|other| is_beside(&other)),
    };
    let flux = object.adopt_node(&object.node, reader.sources);
    let Some(path) = flux.get_path(&["spec", "path"]) else {
        return Ok(None);
    };
    check_folder(reader, &folder, path, is_own)
}

/// The finding where a folder of this repository is not there. If nobody knows whether it would be of this one, a near name says so.
pub(super) fn check_folder(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    named: &Node,
    is_own: bool,
) -> Result<Option<Finding>, Error> {
    let is_filled = named.text(&[]).is_none_or(|path| path.contains(['$', '{']));
    let is_here = is_filled || reader.files.is_there(folder);
    if is_here || catch_finding(reader.is_own_object(folder, named.place))?.unwrap_or(true) {
        return Ok(None);
    }
    let message = format!(
        "there is no folder `{}`: nothing is deployed",
        display(folder)
    );
    let finding = reader.finding(FAILED, message, named.place);
    Ok(match nearest_path(reader.files, folder) {
        Some(near) => Some(finding.help(format!("did you mean `{}`?", display(&near)))),
        None => is_own.then(|| finding.help("name a folder of this repository")),
    })
}

/// The folder that a Kustomization deploys.
pub(super) fn find_folder(object: &ManifestObject) -> Option<PathBuf> {
    let path = object.node.text(&["spec", "path"]).unwrap_or(".");
    resolve_path(Path::new(""), path.trim_start_matches('/'))
}

pub(super) fn file_path(object: &ManifestObject) -> &Path {
    Path::new(&*object.file().path)
}

/// A kustomization, and the files and folders that it names.
struct Known {
    node: Node,
    inputs: Vec<PathBuf>,
    /// Why it does not build, whatever it holds: another one is beside it.
    refusal: Option<Finding>,
}

/// The folders with a kustomization.
pub(super) struct Folders {
    known: BTreeMap<PathBuf, Known>,
    /// Those that lead to a file of interest.
    leading: BTreeSet<PathBuf>,
    /// What any folder with a kustomization names.
    parts: BTreeSet<PathBuf>,
    /// The files with what deploys others, which a build changes, or which it refuses for this reason.
    pub(super) changed: BTreeMap<PathBuf, Option<Finding>>,
}

impl Folders {
    pub(super) fn read(reader: &mut LayerReader<'_>, input: &Input<'_>) -> Result<Self, Error> {
        let mut known = BTreeMap::new();
        for folder in &input.folders {
            // What is no kustomization is reported by what names it.
            let Ok(all) = catch_finding(kustomization::find_all(reader, folder))? else {
                continue;
            };
            let refusal = catch_finding(kustomization::find(reader, folder))?.err();
            let resources = all.iter().flat_map(|node| node.items(&["resources"]));
            let resources: Vec<Node> = resources.cloned().collect();
            if let Some(mut node) = all.into_iter().next() {
                if refusal.is_some() {
                    node.set(&["resources"], resources);
                }
                let inputs = inputs(reader, folder, &node)?;
                let one = Known {
                    node,
                    inputs,
                    refusal,
                };
                known.insert(folder.clone(), one);
            }
        }
        let mut named_by: BTreeMap<&Path, Vec<&PathBuf>> = BTreeMap::new();
        for (folder, Known { inputs, .. }) in &known {
            for named in inputs {
                named_by.entry(named).or_default().push(folder);
            }
        }
        let mut leading = BTreeSet::new();
        let mut open: Vec<&PathBuf> = input.files.iter().chain(&input.charts).collect();
        while let Some(path) = open.pop() {
            let by = named_by.get(&**path).into_iter().flatten();
            open.extend(by.filter(|folder| leading.insert((**folder).clone())));
        }
        let parts = named_by.into_keys().map(Path::to_owned).collect();
        Ok(Self {
            known,
            leading,
            parts,
            changed: BTreeMap::new(),
        })
    }

    /// The slips for which folders lead to no file of interest: what they name is not there, or in a field that a kustomization does not
    /// have, and almost is.
    pub(super) fn find_slips(&self, reader: &LayerReader<'_>, input: &Input<'_>) -> Vec<Finding> {
        let leads = |path: &PathBuf| self.leading.contains(path) || input.files.contains(path);
        let others = self
            .known
            .iter()
            .filter(|(folder, _)| !self.leading.contains(*folder));
        let slip = |(folder, Known { node, .. }): (&PathBuf, &Known)| {
            let is_named = |text: &str| resolve_path(folder, text).is_some_and(|path| leads(&path));
            let fault = find_fault(&kustomize::KUSTOMIZATION, "its kustomization", node);
            let fault = fault.filter(|fault| fault.help.is_some());
            let (place, why, help) = match fault {
                Some(fault) if find_text(node, &is_named).is_some() => {
                    (fault.place, fault.message, fault.help?)
                }
                _ => {
                    let mut named = patches::resources(folder, node).into_iter();
                    let (path, near) = named.find_map(|path| {
                        let missing = Some(&path).filter(|path| !reader.files.is_there(path))?;
                        let near = nearest_path(reader.files, missing).filter(|it| leads(it))?;
                        Some((path, near))
                    })?;
                    let is_it = |text: &str| resolve_path(folder, text).as_ref() == Some(&path);
                    (
                        find_text(node, &is_it).unwrap_or(node.place),
                        format!("there is no `{}`", display(&path)),
                        format!("did you mean `{}`?", display(&near)),
                    )
                }
            };
            let message = format!("`{}` does not build: {why}", print_folder(folder));
            let finding = reader.finding(FAILED, message, place).help(help);
            Some(finding.unless_set(Level::Warning))
        };
        others.filter_map(slip).collect()
    }

    /// Why a folder does not build, whatever it holds.
    fn refusal(&self, folder: &Path) -> Option<Finding> {
        self.known.get(folder)?.refusal.clone()
    }

    /// Why nobody knows what an object in this file deploys, if a build changes it.
    pub(super) fn change(
        &self,
        reader: &LayerReader<'_>,
        file: &Path,
        place: Place,
    ) -> Option<Finding> {
        let message = "a kustomization changes what deploys it, which is not carried out here";
        let finding = || reader.finding(UNSUPPORTED, message, place);
        Some(self.changed.get(file)?.clone().unwrap_or_else(finding))
    }

    /// Those that lead to a file of interest, each before what it names. Of some that name one another the first by name is first.
    pub(super) fn build_order(&self) -> Vec<&PathBuf> {
        let inputs = |folder: &PathBuf| self.known[folder].inputs.iter();
        let mut named: BTreeMap<&PathBuf, usize> = BTreeMap::new();
        for path in self.leading.iter().flat_map(inputs) {
            *named.entry(path).or_default() += 1;
        }
        let mut left: BTreeSet<&PathBuf> = self.leading.iter().collect();
        let free = left.iter().filter(|folder| !named.contains_key(**folder));
        let mut free: BTreeSet<&PathBuf> = free.copied().collect();
        let mut ordered = Vec::with_capacity(left.len());
        while let Some(next) = free.pop_first().or_else(|| left.first().copied()) {
            left.remove(next);
            ordered.push(next);
            for path in inputs(next) {
                let Some(count) = named.get_mut(path) else {
                    continue;
                };
                *count -= 1;
                if *count == 0 {
                    free.extend(left.get(path));
                }
            }
        }
        ordered
    }

    /// The files beside one in a folder without a kustomization that may hold values of what it deploys: Flux deploys them with it.
    pub(super) fn find_value_files(
        &self,
        reader: &mut LayerReader<'_>,
        file: &Path,
    ) -> Result<Vec<PathBuf>, Error> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut found = Vec::new();
        if self.known.contains_key(folder) {
            return Ok(found);
        }
        let is_of_values = |text: &str| {
            let mut kinds = text.lines().filter_map(|line| line.strip_prefix("kind:"));
            kinds.any(|kind| ["ConfigMap", "Secret"].contains(&kind.trim()))
        };
        for name in reader.files.folder(folder)?.unwrap_or_default() {
            let path = folder.join(name);
            let is_other = path != file && deployments::is_manifest(&path);
            // What leads out of the repository is reported where manifests are read.
            if is_other && reader.has_text(&path, is_of_values).unwrap_or(false) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// The kustomization of a folder, or what Argo CD makes of the files in one without; none if no file of interest is there.
    fn find_applied(&self, applied: &Applied, input: &Input<'_>) -> Option<Node> {
        let folder = &applied.folder;
        if let Some(known) = self.known.get(folder) {
            return Some(known.node.clone()).filter(|_| self.leading.contains(folder));
        }
        let is_deep = applied.source.flag(&["directory", "recurse"]);
        let is_in = |path: &Path| path.parent() == Some(folder) || is_deep;
        list_resources(&input.files, folder, &is_in)
    }

    /// The kustomization that Flux makes for a folder without one; none if no file of interest is below it.
    fn generate(
        &self,
        reader: &mut LayerReader<'_>,
        folder: &Path,
        input: &Input<'_>,
    ) -> Result<Option<Node>, Error> {
        let is_outer = |path: &Path| {
            let mut between = path.ancestors().skip(1);
            let mut between = between.by_ref().take_while(|above| *above != folder);
            !between.any(|above| self.known.contains_key(above))
        };
        let paths = folder_paths(&self.leading, folder).chain(folder_paths(&input.files, folder));
        let paths = paths.filter(|path| is_outer(path)).cloned();
        let mut paths: BTreeSet<PathBuf> = paths.collect();
        for file in folder_paths(&input.deployments, folder).filter(|path| is_outer(path)) {
            paths.extend(self.find_value_files(reader, file)?);
        }
        Ok(list_resources(&paths, folder, &|_| true))
    }
}

/// A kustomization of those of these paths below a folder that are meant; none if there are none.
fn list_resources(
    paths: &BTreeSet<PathBuf>,
    folder: &Path,
    is_meant: &dyn Fn(&Path) -> bool,
) -> Option<Node> {
    let paths = folder_paths(paths, folder).filter(|path| is_meant(path));
    let resources = paths.filter_map(|path| path.strip_prefix(folder).ok());
    let resources = resources.map(|path| Node::from_value(display(path)));
    let resources: Vec<Node> = resources.collect();
    let is_any = !resources.is_empty();
    let mut kustomization = Node::from_value(Value::empty_map());
    kustomization.set(&["resources"], resources);
    is_any.then_some(kustomization)
}

/// The paths below a folder.
fn folder_paths<'p>(
    paths: &'p BTreeSet<PathBuf>,
    folder: &Path,
) -> impl Iterator<Item = &'p PathBuf> {
    let from = paths.range(folder.to_owned()..);
    from.take_while(move |path| path.starts_with(folder))
}

/// The files and folders that a kustomization names, those of charts included.
pub(super) fn inputs(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
) -> Result<Vec<PathBuf>, Error> {
    let mut paths = patches::resources(folder, kustomization);
    let inflations = kustomization::inflations(reader, folder, kustomization);
    paths.extend(inflations.into_iter().map(|one| one.chart));
    paths.extend(patches::files(reader, folder, kustomization)?);
    Ok(paths)
}

/// The place of the first text below a node that is meant.
fn find_text(node: &Node, is_meant: &dyn Fn(&str) -> bool) -> Option<Place> {
    let own = node.text(&[]).filter(|text| is_meant(text));
    let mut below = node.children();
    own.map(|_| node.place)
        .or_else(|| below.find_map(|child| find_text(child, is_meant)))
}

/// A folder to build.
pub(super) struct Target<'t> {
    pub(super) folder: PathBuf,
    /// The kustomization with what Flux adds to it.
    pub(super) kustomization: Node,
    /// Where the build is declared.
    pub(super) place: Place,
    /// The Flux Kustomization that fills in variables.
    flux: Option<(Node, &'t ManifestObject)>,
    /// Why nobody knows what it makes.
    refusal: Option<Finding>,
}

impl<'t> Target<'t> {
    pub(super) fn from_folder(folders: &Folders, folder: &Path) -> Self {
        let known = &folders.known[folder];
        Self {
            folder: folder.to_owned(),
            place: known.node.place,
            kustomization: known.node.clone(),
            flux: None,
            refusal: known.refusal.clone(),
        }
    }

    /// The folder that an Application changes before it deploys it, or that nobody knows how it is deployed; none if it is deployed as
    /// it is.
    pub(super) fn from_argo(
        reader: &mut LayerReader<'_>,
        folders: &Folders,
        input: &Input<'_>,
        applied: &Applied,
    ) -> Result<Option<Self>, Error> {
        let kustomize = applied.source.get_path(&["kustomize"]);
        // What no kustomization names is checked as it is, also where nothing deploys it.
        let is_known = applied.is_guess && !folders.parts.contains(&applied.folder);
        let finding = applied.finding.clone().filter(|_| !is_known);
        if kustomize.is_none() && finding.is_none() {
            return Ok(None);
        }
        let Some(kustomization) = folders.find_applied(applied, input) else {
            return Ok(None);
        };
        let mut overlay = Overlay {
            folder: &applied.folder,
            kustomization,
        };
        let environment = Environment {
            application: &applied.application,
            source: &applied.source,
        };
        let none = Node::from_value(Value::Null);
        let added = overlay.add_argo(reader, kustomize.unwrap_or(&none), &environment);
        let own = folders.refusal(&applied.folder);
        let refusal = catch_finding(added)?.err().or(own).or(finding);
        Ok(Some(Self {
            folder: applied.folder.clone(),
            kustomization: overlay.kustomization,
            place: applied.application.tree.place,
            flux: None,
            refusal,
        }))
    }

    /// Whether both make the same objects of one folder.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_known = self.refusal.is_none() == other.refusal.is_none();
        let (own, others) = (&self.kustomization.value, &other.kustomization.value);
        is_known && own.same(others)
    }

    /// The folder that a Flux Kustomization deploys; none if it is not here or leads to no file of interest.
    pub(super) fn from_flux(
        reader: &mut LayerReader<'_>,
        folders: &Folders,
        input: &Input<'_>,
        object: &'t ManifestObject,
    ) -> Result<Option<Self>, Error> {
        let flux = object.adopt_node(&object.node, reader.sources);
        let address = find_address(&input.sources, object);
        let is_other = address.is_some_and(|address| reader.repositories.is_other_address(address));
        let Some(folder) = find_folder(object).filter(|_| !is_other) else {
            return Ok(None);
        };
        let (kustomization, place) = match folders.known.get(&folder) {
            Some(Known { node, .. }) if folders.leading.contains(&folder) => {
                (node.clone(), node.place)
            }
            Some(_) => return Ok(None),
            None => match folders.generate(reader, &folder, input)? {
                Some(generated) => (generated, flux.place),
                None => return Ok(None),
            },
        };
        let mut overlay = Overlay {
            folder: &folder,
            kustomization,
        };
        let none = Node::from_value(Value::Null);
        let added = overlay.add_flux(reader, flux.get_path(&["spec"]).unwrap_or(&none));
        let title = format!("Kustomization `{}`", object.name);
        let checked = added.and_then(|()| reader.check_fields(&KUSTOMIZATION, &title, &flux));
        let kustomization = overlay.kustomization;
        let own = folders.refusal(&folder);
        let refusal = { catch_finding(checked)?.err().or(own) }
            .or_else(|| folders.change(reader, file_path(object), flux.place));
        Ok(Some(Self {
            folder,
            kustomization,
            place,
            flux: Some((flux, object)),
            refusal,
        }))
    }

    /// The objects, and the files and folders that they are built from.
    pub(super) fn build(
        &self,
        reader: &mut LayerReader<'_>,
        folders: &Folders,
        input: &Input<'_>,
    ) -> Result<(Built, BTreeSet<PathBuf>), ReadError> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone().into());
        }
        let built = kustomization::build_of(reader, &self.folder, &self.kustomization);
        reader.findings.clear();
        let mut built = built?;
        let mut parts: BTreeSet<PathBuf> = built.folders.iter().cloned().collect();
        for folder in &built.folders {
            let inputs = match folders.known.get(folder) {
                Some(known) if *folder != self.folder => known.inputs.clone(),
                _ => inputs(reader, folder, &self.kustomization)?,
            };
            let files = inputs
                .into_iter()
                .filter(|path| !folders.known.contains_key(path));
            parts.extend(files);
        }
        if let Some((flux, object)) = &self.flux {
            if !built.inflations.is_empty() {
                let message = "Flux renders no `helmCharts`: it runs kustomize without Helm";
                return Err(reader.refusal(message, flux.place));
            }
            let variables = variables(flux, object, input, &folders.changed, reader.sources);
            for object in &mut built.objects {
                let filled = substitute(&object.tree, &variables);
                object.tree = filled.unwrap_or_else(|| object.tree.clone());
                object.seal(reader.sources);
            }
            for object in &mut built.objects {
                for field in ["labels", "annotations"] {
                    for entry in flux.entries(&["spec", "commonMetadata", field]) {
                        let value = entry.node.value.clone();
                        object.tree.set(&["metadata", field, &*entry.key], value);
                    }
                }
            }
        }
        Ok((built, parts))
    }
}

/// What a folder names that does not build.
pub(super) struct Left {
    pub(super) objects: Vec<Object>,
    /// Its files and folders.
    pub(super) parts: BTreeSet<PathBuf>,
    /// The charts that it would render.
    pub(super) inflations: BTreeSet<Inflation>,
}

impl Left {
    /// The objects that a folder with this kustomization takes from its files and from other folders, in any order.
    pub(super) fn read(
        reader: &mut LayerReader<'_>,
        folders: &Folders,
        folder: &Path,
        kustomization: &Node,
    ) -> Result<Self, Error> {
        let mut objects = Vec::new();
        let mut parts = BTreeSet::from([folder.to_owned()]);
        let mut inflations = kustomization::inflations(reader, folder, kustomization);
        let mut open = VecDeque::from(patches::resources(folder, kustomization));
        while let Some(path) = open.pop_front() {
            if parts.contains(&path) {
                continue;
            }
            if let Some(known) = folders.known.get(&path) {
                open.extend(patches::resources(&path, &known.node));
                inflations.extend(kustomization::inflations(reader, &path, &known.node));
                parts.insert(path);
                continue;
            }
            // What is no YAML is reported where manifests are read.
            if let Ok(Some(documents)) = catch_finding(reader.objects(&path))? {
                kustomization::add(reader, &mut objects, &*documents);
                parts.insert(path);
            }
        }
        Ok(Self {
            objects,
            parts,
            inflations,
        })
    }
}

/// The variables of a Flux Kustomization. Those of a ConfigMap or Secret that is not here are not known.
fn variables(
    flux: &Node,
    object: &ManifestObject,
    input: &Input<'_>,
    changed: &BTreeMap<PathBuf, Option<Finding>>,
    sources: &mut Sources,
) -> Variables {
    let config_maps = input.config_maps;
    let (mut known, mut has_more) = (BTreeMap::new(), false);
    let mut add = |node: &Node, path: &[&str]| {
        for entry in node.entries(path) {
            if let Some(value) = entry.node.value.as_str() {
                let value = Located::new(Arc::clone(value), entry.node.place);
                known.insert(Arc::clone(&entry.key), value);
            }
        }
    };
    for from in flux.items(&["spec", "postBuild", "substituteFrom"]) {
        let is_meant = |map: &&ManifestObject| {
            let is_open = map.namespace.is_empty() || object.namespace.is_empty();
            from.text(&["kind"]) == Some("ConfigMap")
                && from.text(&["name"]) == Some(&*map.name)
                && (is_open || map.namespace == object.namespace)
        };
        let common = |map: &&ManifestObject| {
            let folders = map.folder().split('/').zip(object.folder().split('/'));
            folders.take_while(|(a, b)| a == b).count()
        };
        let nearest = config_maps
            .iter()
            .filter(is_meant)
            .map(|map| common(&map))
            .max();
        let is_nearest = |map: &&ManifestObject| Some(common(map)) == nearest;
        let mut meant = config_maps.iter().filter(is_meant).filter(is_nearest);
        match (meant.next(), meant.next()) {
            (Some(map), None) if !changed.contains_key(file_path(map)) => {
                add(&map.adopt_node(&map.node, sources), &["data"])
            }
            // Of several, as of two management clusters, nobody knows which; one that is optional may be there; and a build may
            // change it.
            _ => has_more = true,
        }
    }
    add(flux, &["spec", "postBuild", "substitute"]);
    Variables { known, has_more }
}

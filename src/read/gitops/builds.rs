//! The objects that kustomize and Flux make of a repository's manifests.
//!
//! Each folder with a kustomization is built, unless it is a part of another one that builds. One that a Flux Kustomization or
//! an Application deploys is no mere part. What does not build is a build as well, of objects that are not known: none of its files
//! is looked at as it is, unless another build has it. The own patches, names and variables of a Flux Kustomization apply
//! (<https://fluxcd.io/flux/components/kustomize/kustomizations/>). Only folders that lead to a file of interest are built.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::objects::ManifestObject;
use yaml_tree::place::{Located, Place, Source, Sources};
use yaml_tree::value::{Node, Value};

use crate::budget;
use crate::error::Error;
use crate::files::Files;
use crate::model::finding::Finding;
use crate::model::rule::Level;

use super::super::files::display;
use super::application::Environment;
use super::deployments::Applied;
use super::envsubst::{MORE, Variables};
use super::files::resolve_path;
use super::kustomization::{self, Built};
use super::object::{Object, set};
use super::overlay::Overlay;
use super::patches;
use super::reader::LayerReader;
use super::variables::substitute;
use super::{Composition, Options, State, UNSUPPORTED, deployments};
use crate::read::error::ReadError;
use crate::read::tables::flux::KUSTOMIZATION;

/// What one folder builds to.
pub(in crate::read) struct Build {
    /// The file that declares what is built: a kustomization, or one with a Flux Kustomization.
    pub(in crate::read) source: Arc<Source>,
    /// The objects. Of what does not build, those that it names, as they are there.
    pub(in crate::read) objects: Vec<Node>,
    /// Whether it does not build, so that nobody knows what is deployed.
    pub(in crate::read) is_refused: bool,
}

/// What the folders of a repository build to.
#[derive(Default)]
pub(in crate::read) struct Builds {
    pub(in crate::read) builds: Vec<Build>,
    /// The files that were built.
    pub(in crate::read) parts: BTreeSet<PathBuf>,
    /// The charts that are deployed.
    pub(in crate::read) compositions: Vec<Composition>,
    /// The folders that do not build.
    pub(in crate::read) findings: Vec<Finding>,
}

/// What is built.
pub(in crate::read) struct Input<'i> {
    /// The folders with a kustomization.
    pub(in crate::read) folders: BTreeSet<PathBuf>,
    /// The files of interest.
    pub(in crate::read) files: BTreeSet<PathBuf>,
    /// Those with a HelmRelease, an Application or an ApplicationSet.
    pub(in crate::read) deployments: BTreeSet<PathBuf>,
    /// Those with an Application or an ApplicationSet.
    pub(in crate::read) applications: BTreeSet<PathBuf>,
    /// The Flux Kustomizations.
    pub(in crate::read) flux: Vec<&'i ManifestObject>,
    /// The ConfigMaps with their variables.
    pub(in crate::read) config_maps: &'i [ManifestObject],
}

/// Builds each folder that leads to a file of interest. All places are in `sources`.
///
/// # Errors
/// A file exists and cannot be read.
pub(in crate::read) fn builds(
    files: &dyn Files,
    input: &Input<'_>,
    options: &Options,
    sources: &mut Sources,
) -> Result<Builds, Error> {
    let mut reader = LayerReader::new(files, options, sources);
    let changed = find_changed(&mut reader, input)?;
    let folders = Folders::read(&mut reader, input)?;
    build_all(&mut reader, &Folders { changed, ..folders }, input)
}

/// The files with an object that deploys others, or a ConfigMap with variables, that a build changes: what is deployed with them is
/// not known here.
fn find_changed(
    reader: &mut LayerReader<'_>,
    input: &Input<'_>,
) -> Result<BTreeSet<PathBuf>, Error> {
    let from = ["spec", "postBuild", "substituteFrom"];
    let from = input.flux.iter().flat_map(|flux| flux.node.items(&from));
    let names: BTreeSet<&str> = from.filter_map(|from| from.text(&["name"])).collect();
    let maps = input.config_maps.iter();
    let maps = maps.filter(|map| names.contains(&*map.name));
    let objects = input.flux.iter().copied().chain(maps);
    let files = objects.map(|object| file_path(object).to_owned());
    let first = Input {
        folders: input.folders.clone(),
        files: files.chain(input.applications.iter().cloned()).collect(),
        deployments: BTreeSet::new(),
        applications: BTreeSet::new(),
        flux: input.flux.clone(),
        config_maps: input.config_maps,
    };
    let folders = Folders::read(reader, &first)?;
    let made = build_all(reader, &folders, &first)?;
    let mut changed = BTreeSet::new();
    for file in &first.files {
        let documents = match reader.objects(file) {
            Err(ReadError::Error(error)) => return Err(error),
            read => read.ok().flatten().unwrap_or_default(),
        };
        let is_changed = |document: &Node| {
            let is_same = |built: &Node, path: &[&str]| built.text(path) == document.text(path);
            let differs = |built: &Node, key: &str| {
                let content = |node: &Node| node.get_path(&[key]).map(|node| node.value.clone());
                match (content(built), content(document)) {
                    (Some(built), Some(own)) => !built.same(&own),
                    (built, own) => built.is_some() != own.is_some(),
                }
            };
            made.builds.iter().any(|build| {
                build.objects.iter().any(|built| {
                    let is_other = || differs(built, "spec") || differs(built, "data");
                    is_same(built, &["kind"])
                        && is_same(built, &["metadata", "name"])
                        && (build.is_refused || is_other())
                })
            })
        };
        if documents.iter().any(is_changed) {
            changed.insert(file.clone());
        }
    }
    Ok(changed)
}

fn file_path(object: &ManifestObject) -> &Path {
    Path::new(&*object.file().path)
}

fn build_all(
    reader: &mut LayerReader<'_>,
    folders: &Folders,
    input: &Input<'_>,
) -> Result<Builds, Error> {
    let mut made = Builds::default();
    let mut refused = Refused::default();
    let mut of_flux: Vec<Target<'_>> = Vec::new();
    for flux in &input.flux {
        of_flux.extend(Target::from_flux(reader, folders, input, flux)?);
    }
    let mut applied = BTreeSet::new();
    let mut of_argo: Vec<Target<'_>> = Vec::new();
    for file in &input.applications {
        for mut one in deployments::find_applied(reader, file)? {
            let place = one.application.tree.place;
            one.finding = one.finding.or_else(|| folders.change(reader, file, place));
            match Target::from_argo(reader, folders, &one)? {
                Some(target) => {
                    if !of_argo.iter().any(|other| other.is_same(&target)) {
                        of_argo.push(target);
                    }
                }
                None => drop(applied.insert(one.folder)),
            }
        }
    }
    let deployed: BTreeSet<PathBuf> = of_flux.iter().map(|one| one.folder.clone()).collect();
    for target in of_flux.into_iter().chain(of_argo) {
        target.add(reader, folders, input, &mut made, &mut refused)?;
    }
    for folder in folders.build_order() {
        let is_built =
            deployed.contains(folder) || made.parts.contains(folder) && !applied.contains(folder);
        if !is_built {
            let target = Target::from_folder(folders, folder);
            target.add(reader, folders, input, &mut made, &mut refused)?;
        }
    }
    for file in input.deployments.difference(&made.parts) {
        let compositions = match deployments::build(reader, file) {
            Ok(Some(built)) => deployments::each_of_built(reader, &State::default(), &built)?,
            Err(ReadError::Error(error)) => return Err(error),
            // What is no YAML is reported where manifests are read.
            Ok(None) | Err(ReadError::Finding(_)) => Vec::new(),
        };
        made.compositions.extend(compositions);
    }
    made.findings = group_by_cause(refused.found);
    Ok(made)
}

/// The folders that do not build.
#[derive(Default)]
struct Refused {
    /// Those that are reported.
    found: Vec<(Finding, PathBuf)>,
    /// What they all name, with what is wrong.
    named: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl Refused {
    /// Adds a folder. It is not reported where what names it has the same fault, nor is a component, which may need what
    /// is missing there.
    fn add(
        &mut self,
        finding: Finding,
        folder: PathBuf,
        kustomization: &Node,
        inputs: Vec<PathBuf>,
    ) {
        let is_component = kustomization.text(&["kind"]) == Some("Component");
        let known = self.named.get(&folder);
        let is_said = known.is_some_and(|said| is_component || said.contains(&finding.message));
        for path in inputs {
            let said = self.named.entry(path).or_default();
            said.insert(finding.message.clone());
        }
        if !is_said {
            self.found.push((finding, folder));
        }
    }
}

/// One finding for each cause: folders often fail for what is wrong with their base.
fn group_by_cause(refused: Vec<(Finding, PathBuf)>) -> Vec<Finding> {
    let mut causes: BTreeMap<(String, String), (Finding, PathBuf, usize)> = BTreeMap::new();
    for (finding, folder) in refused {
        let place = finding.labels.first().map(|label| label.spot.to_string());
        let cause = (place.unwrap_or_default(), finding.message.clone());
        let (.., count) = causes.entry(cause).or_insert((finding, folder, 0));
        *count += 1;
    }
    let finding = |(mut finding, folder, count): (Finding, PathBuf, usize)| {
        let folder = match &*display(&folder) {
            "" => ".".to_owned(),
            folder => folder.to_owned(),
        };
        finding.message = match count {
            1 => format!("`{folder}` does not build: {}", finding.message),
            2 => format!(
                "`{folder}` and another folder do not build: {}",
                finding.message
            ),
            _ => {
                let others = count - 1;
                format!(
                    "`{folder}` and {others} other folders do not build: {}",
                    finding.message
                )
            }
        };
        let help = "the node pools that it deploys are not checked";
        finding.help(help).unless_set(Level::Warning)
    };
    causes.into_values().map(finding).collect()
}

/// A kustomization, and the files and folders that it names.
struct Known {
    node: Node,
    inputs: Vec<PathBuf>,
}

/// The folders with a kustomization.
struct Folders {
    known: BTreeMap<PathBuf, Known>,
    /// Those that lead to a file of interest.
    leading: BTreeSet<PathBuf>,
    /// The files with what deploys others, which a build changes.
    changed: BTreeSet<PathBuf>,
}

impl Folders {
    fn read(reader: &mut LayerReader<'_>, input: &Input<'_>) -> Result<Self, Error> {
        let mut known = BTreeMap::new();
        for folder in &input.folders {
            match kustomization::find(reader, folder) {
                Ok(None) => {}
                Ok(Some(node)) => {
                    let inputs = inputs(reader, folder, &node)?;
                    known.insert(folder.clone(), Known { node, inputs });
                }
                Err(ReadError::Error(error)) => return Err(error),
                // What is no kustomization is reported by what names it.
                Err(ReadError::Finding(_)) => {}
            }
        }
        let mut named_by: BTreeMap<&Path, Vec<&PathBuf>> = BTreeMap::new();
        for (folder, Known { inputs, .. }) in &known {
            for named in inputs {
                named_by.entry(named).or_default().push(folder);
            }
        }
        let mut leading = BTreeSet::new();
        let mut open: Vec<&PathBuf> = input.files.iter().collect();
        while let Some(path) = open.pop() {
            let by = named_by.get(&**path).into_iter().flatten();
            open.extend(by.filter(|folder| leading.insert((**folder).clone())));
        }
        Ok(Self {
            known,
            leading,
            changed: BTreeSet::new(),
        })
    }

    /// Why nobody knows what an object in this file deploys, if a build changes it.
    fn change(&self, reader: &LayerReader<'_>, file: &Path, place: Place) -> Option<Finding> {
        let message = "a kustomization changes what deploys it, which is not carried out here";
        let finding = || reader.finding(UNSUPPORTED, message.to_owned(), place);
        self.changed.contains(file).then(finding)
    }

    /// Those that lead to a file of interest, each before what it names. Of some that name one another the first by name is first.
    fn build_order(&self) -> Vec<&PathBuf> {
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

    /// The kustomization that Flux makes for a folder without one; none if no file of interest is below it.
    fn generate(&self, folder: &Path, input: &Input<'_>) -> Option<Node> {
        fn folder_paths<'p>(
            paths: &'p BTreeSet<PathBuf>,
            folder: &Path,
        ) -> impl Iterator<Item = &'p PathBuf> {
            let from = paths.range(folder.to_owned()..);
            from.take_while(move |path| path.starts_with(folder))
        }
        let is_outer = |path: &Path| {
            let mut between = path.ancestors().skip(1);
            let mut between = between.by_ref().take_while(|above| *above != folder);
            !between.any(|above| self.known.contains_key(above))
        };
        let paths = folder_paths(&self.leading, folder).chain(folder_paths(&input.files, folder));
        let paths = paths.filter(|path| is_outer(path));
        let resources = paths.filter_map(|path| path.strip_prefix(folder).ok());
        let resources: Vec<Node> = resources
            .map(|path| Node::from_value(display(path)))
            .collect();
        let mut kustomization = Node::from_value(Value::empty_map());
        set(&mut kustomization, &["resources"], Value::from(resources));
        (!kustomization.items(&["resources"]).is_empty()).then_some(kustomization)
    }
}

/// The files and folders that a kustomization names.
fn inputs(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
) -> Result<Vec<PathBuf>, Error> {
    let mut paths = patches::resources(folder, kustomization);
    paths.extend(patches::files(reader, folder, kustomization)?);
    Ok(paths)
}

/// A folder to build.
struct Target<'t> {
    folder: PathBuf,
    /// The kustomization with what Flux adds to it.
    kustomization: Node,
    /// Where the build is declared.
    place: Place,
    /// The Flux Kustomization that fills in variables.
    flux: Option<(Node, &'t ManifestObject)>,
    /// Why nobody knows what it makes.
    refusal: Option<Finding>,
}

impl<'t> Target<'t> {
    fn from_folder(folders: &Folders, folder: &Path) -> Self {
        let kustomization = folders.known[folder].node.clone();
        Self {
            folder: folder.to_owned(),
            place: kustomization.place,
            kustomization,
            flux: None,
            refusal: None,
        }
    }

    /// The folder that an Application changes before it deploys it; none if it deploys it as it is.
    fn from_argo(
        reader: &mut LayerReader<'_>,
        folders: &Folders,
        applied: &Applied,
    ) -> Result<Option<Self>, Error> {
        let kustomize = applied.source.get_path(&["kustomize"]);
        let is_changed = kustomize.is_some() || applied.finding.is_some();
        let known = folders.known.get(&applied.folder);
        let is_leading = folders.leading.contains(&applied.folder);
        let Some(known) = known.filter(|_| is_changed && is_leading) else {
            return Ok(None);
        };
        let mut overlay = Overlay {
            folder: &applied.folder,
            kustomization: known.node.clone(),
        };
        let environment = Environment {
            application: &applied.application,
            source: &applied.source,
        };
        let none = Node::from_value(Value::Null);
        let added = overlay.add_argo(reader, kustomize.unwrap_or(&none), &environment);
        let refusal = match added {
            Err(ReadError::Error(error)) => return Err(error),
            Err(ReadError::Finding(finding)) => Some(*finding),
            Ok(()) => applied.finding.clone(),
        };
        Ok(Some(Self {
            folder: applied.folder.clone(),
            kustomization: overlay.kustomization,
            place: applied.application.tree.place,
            flux: None,
            refusal,
        }))
    }

    /// Whether both make the same objects.
    fn is_same(&self, other: &Self) -> bool {
        let is_known = self.refusal.is_none() == other.refusal.is_none();
        let (own, others) = (&self.kustomization.value, &other.kustomization.value);
        self.folder == other.folder && is_known && own.same(others)
    }

    /// The folder that a Flux Kustomization deploys; none if it is not here or leads to no file of interest.
    fn from_flux(
        reader: &mut LayerReader<'_>,
        folders: &Folders,
        input: &Input<'_>,
        object: &'t ManifestObject,
    ) -> Result<Option<Self>, Error> {
        let flux = object.adopt_node(&object.node, reader.sources);
        let path = flux.text(&["spec", "path"]).unwrap_or(".");
        let Some(folder) = resolve_path(Path::new(""), path.trim_start_matches('/')) else {
            return Ok(None);
        };
        let (kustomization, place) = match folders.known.get(&folder) {
            Some(Known { node, .. }) if folders.leading.contains(&folder) => {
                (node.clone(), node.place)
            }
            Some(_) => return Ok(None),
            None => match folders.generate(&folder, input) {
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
        let refusal = match checked {
            Err(ReadError::Error(error)) => return Err(error),
            Err(ReadError::Finding(finding)) => Some(*finding),
            Ok(()) => folders.change(reader, file_path(object), flux.place),
        };
        Ok(Some(Self {
            folder,
            kustomization,
            place,
            flux: Some((flux, object)),
            refusal,
        }))
    }

    /// Builds the folder, and adds what it makes or why it does not build.
    fn add(
        self,
        reader: &mut LayerReader<'_>,
        folders: &Folders,
        input: &Input<'_>,
        made: &mut Builds,
        refused: &mut Refused,
    ) -> Result<(), Error> {
        let _work = budget::enter(format!("the build of `{}`", display(&self.folder)))?;
        match self.build(reader, folders, input) {
            Ok((built, parts)) => {
                made.parts.extend(parts);
                let source = reader.source(self.place.file);
                if !input.deployments.is_empty() {
                    let compositions =
                        deployments::each_of_built(reader, &State::default(), &built);
                    made.compositions.extend(compositions?);
                }
                let objects = built.objects.into_iter().map(|object| object.tree);
                let objects: Vec<Node> = objects.collect();
                made.builds.push(Build {
                    source,
                    objects,
                    is_refused: false,
                });
            }
            Err(ReadError::Error(error)) => return Err(error),
            Err(ReadError::Finding(finding)) => {
                let left = Left::read(reader, folders, &self.folder, &self.kustomization)?;
                if !input.deployments.is_empty() {
                    let failed = deployments::compose_failed(reader, &left.objects, &finding)?;
                    made.compositions.extend(failed);
                }
                let objects = left.objects.into_iter().map(|object| object.tree);
                made.builds.push(Build {
                    source: reader.source(self.place.file),
                    objects: objects.collect(),
                    is_refused: true,
                });
                made.parts.extend(left.parts);
                let inputs = inputs(reader, &self.folder, &self.kustomization)?;
                refused.add(*finding, self.folder, &self.kustomization, inputs);
            }
        }
        Ok(())
    }

    /// The objects, and the files and folders that they are built from.
    fn build(
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
            let variables = variables(flux, object, input, &folders.changed, reader.sources);
            let is_disabled = |object: &Object| {
                let of = |field| object.metadata(field, "kustomize.toolkit.fluxcd.io/substitute");
                ["labels", "annotations"]
                    .map(of)
                    .contains(&Some("disabled"))
            };
            for object in { built.objects.iter_mut() }.filter(|object| !is_disabled(object)) {
                let filled = substitute(&object.tree, &variables);
                object.tree = filled.unwrap_or_else(|| object.tree.clone());
                object.seal(reader.sources);
            }
            for object in &mut built.objects {
                for field in ["labels", "annotations"] {
                    for entry in flux.entries(&["spec", "commonMetadata", field]) {
                        let value = entry.node.value.clone();
                        set(&mut object.tree, &["metadata", field, &*entry.key], value);
                    }
                }
            }
        }
        Ok((built, parts))
    }
}

/// What a folder names that does not build.
struct Left {
    objects: Vec<Object>,
    /// Its files and folders.
    parts: BTreeSet<PathBuf>,
}

impl Left {
    /// The objects that a folder with this kustomization takes from its files and from other folders, in any order.
    fn read(
        reader: &mut LayerReader<'_>,
        folders: &Folders,
        folder: &Path,
        kustomization: &Node,
    ) -> Result<Self, Error> {
        let mut objects = Vec::new();
        let mut parts = BTreeSet::from([folder.to_owned()]);
        let mut open = VecDeque::from(patches::resources(folder, kustomization));
        while let Some(path) = open.pop_front() {
            if parts.contains(&path) {
                continue;
            }
            if let Some(known) = folders.known.get(&path) {
                open.extend(patches::resources(&path, &known.node));
                parts.insert(path);
                continue;
            }
            match reader.objects(&path) {
                Ok(Some(documents)) => {
                    for document in documents.iter() {
                        kustomization::add(reader, &mut objects, document);
                    }
                    parts.insert(path);
                }
                Err(ReadError::Error(error)) => return Err(error),
                // What is no YAML is reported where manifests are read.
                Ok(None) | Err(ReadError::Finding(_)) => {}
            }
        }
        Ok(Self { objects, parts })
    }
}

/// The variables of a Flux Kustomization. Those of a ConfigMap or Secret that is not here are not known.
fn variables(
    flux: &Node,
    object: &ManifestObject,
    input: &Input<'_>,
    changed: &BTreeSet<PathBuf>,
    sources: &mut Sources,
) -> Variables {
    let config_maps = input.config_maps;
    let (mut variables, mut has_more) = (Variables::new(), false);
    let mut add = |node: &Node, path: &[&str]| {
        for entry in node.entries(path) {
            if let Some(value) = entry.node.value.as_str() {
                let value = Located::new(Arc::clone(value), entry.node.place);
                variables.insert(Arc::clone(&entry.key), value);
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
        let mut known = config_maps.iter().filter(is_meant).filter(is_nearest);
        match (known.next(), known.next()) {
            (Some(map), None) if !changed.contains(file_path(map)) => {
                add(&map.adopt_node(&map.node, sources), &["data"])
            }
            // Of several, as of two management clusters, nobody knows which; one that is optional may be there; and a build may
            // change it.
            _ => has_more = true,
        }
    }
    add(flux, &["spec", "postBuild", "substitute"]);
    if has_more {
        variables.insert(MORE.into(), Located::new("".into(), Place::NONE));
    }
    variables
}

//! The objects that kustomize and Flux make of a repository's manifests.
//!
//! Each folder with a kustomization is built, unless it is a part of another one that builds. One that a Flux Kustomization or
//! an Application deploys is no mere part. What does not build is a build as well, of objects that are not known: none of its files
//! is looked at as it is, unless another build has it. The own patches, names and variables of a Flux Kustomization apply
//! (<https://fluxcd.io/flux/components/kustomize/kustomizations/>). Only folders that lead to a file of interest are built.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::objects::ManifestObject;
use yaml_tree::place::{Source, Sources};
use yaml_tree::value::Node;

use crate::budget;
use crate::error::Error;
use crate::files::Files;
use crate::model::finding::Finding;
use crate::model::rule::Level;

use super::super::files::display;
use super::files::print_folder;
use super::inflation::Inflation;
use super::object::Object;
use super::reader::LayerReader;
use super::repositories::{Repositories, repository_name};
use super::targets::{
    Folders, Input, Left, Target, check_folder, file_path, find_address, find_folder,
    find_missing_folder, inputs,
};
use super::{Composition, Options, State, application, deployments, kustomization};
use crate::read::error::catch_finding;

/// What one folder builds to.
pub(in crate::read) struct Build {
    /// The file that declares what is built: a kustomization, or one with a Flux Kustomization.
    pub(in crate::read) source: Arc<Source>,
    /// The objects. Of what does not build, those that it names, as they are there.
    pub(in crate::read) objects: Vec<Node>,
    /// Why it does not build, so that nobody knows what is deployed.
    pub(in crate::read) refusal: Option<Finding>,
}

/// What the folders of a repository build to.
#[derive(Default)]
pub(in crate::read) struct Builds {
    pub(in crate::read) builds: Vec<Build>,
    /// The files that were built.
    pub(in crate::read) parts: BTreeSet<PathBuf>,
    /// The charts that are deployed.
    pub(in crate::read) compositions: Vec<Composition>,
    /// The charts that kustomizations render, each in all that they build.
    pub(in crate::read) inflations: BTreeSet<Inflation>,
    /// The folders that do not build.
    pub(in crate::read) findings: Vec<Finding>,
    /// Why they do not.
    pub(in crate::read) refusals: BTreeSet<String>,
}

impl Builds {
    /// Adds files that were built, with what links among them lead to.
    fn add_parts(&mut self, reader: &LayerReader<'_>, parts: BTreeSet<PathBuf>) {
        let targets = parts.iter().filter_map(|path| reader.files.leads_to(path));
        self.parts.extend(targets);
        self.parts.extend(parts);
    }
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
    let (flux, sources) = (input.flux.iter().copied(), &input.sources);
    reader.repositories = find_repositories(&mut reader, &input.applications, flux, sources);
    let changed = find_changed(&mut reader, input)?;
    let mut folders = Folders::read(&mut reader, input)?;
    folders.changed = changed;
    build_all(&mut reader, &folders, input)
}

/// What the Applications in these files, and the sources of these Kustomizations, call this repository.
pub(super) fn find_repositories<'o>(
    reader: &mut LayerReader<'_>,
    files: &BTreeSet<PathBuf>,
    flux: impl Iterator<Item = &'o ManifestObject>,
    sources: &[&ManifestObject],
) -> Repositories {
    let mut paths: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |address: Option<&str>, folder: Option<PathBuf>, files: &dyn Files| {
        if let Some(name) = address.and_then(repository_name)
            && let Some(folder) = folder.filter(|folder| folder != Path::new(""))
        {
            *paths.entry(name).or_default() += usize::from(files.is_folder(&folder));
        }
    };
    for object in flux {
        add(
            find_address(sources, object),
            find_folder(object),
            reader.files,
        );
    }
    for file in files {
        for object in valid_objects(reader, file) {
            for source in deployments::sources(&object) {
                let address = source.text(&["repoURL"]);
                add(address, application::folder(source), reader.files);
            }
        }
    }
    Repositories::new(paths, &reader.files.remotes())
}

/// The objects of a file, those of lists included; none of what cannot be read, which is reported where manifests are read.
fn valid_objects(reader: &mut LayerReader<'_>, file: &Path) -> Vec<Object> {
    let documents = reader.objects(file).ok().flatten().unwrap_or_default();
    let mut objects = Vec::new();
    kustomization::add(reader, &mut objects, &*documents);
    objects
}

/// The files with an object that deploys others, or a ConfigMap with variables, that a build changes: what is deployed with them is
/// not known here. What refuses a build is why.
fn find_changed(
    reader: &mut LayerReader<'_>,
    input: &Input<'_>,
) -> Result<BTreeMap<PathBuf, Option<Finding>>, Error> {
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
        flux: input.flux.clone(),
        sources: input.sources.clone(),
        config_maps: input.config_maps,
        ..Input::default()
    };
    let folders = Folders::read(reader, &first)?;
    let made = build_all(reader, &folders, &first)?;
    let mut changed = BTreeMap::new();
    for file in &first.files {
        let change = |object: &Object| {
            let document = &object.tree;
            let is_same = |built: &Node, path: &[&str]| built.text(path) == document.text(path);
            let differs = |built: &Node, key: &str| {
                let content = |node: &Node| node.get_path(&[key]).map(|node| node.value.clone());
                match (content(built), content(document)) {
                    (Some(built), Some(own)) => !built.same(&own),
                    (built, own) => built.is_some() != own.is_some(),
                }
            };
            made.builds.iter().find(|build| {
                build.objects.iter().any(|built| {
                    let is_other = || differs(built, "spec") || differs(built, "data");
                    is_same(built, &["kind"])
                        && is_same(built, &["metadata", "name"])
                        && (build.refusal.is_some() || is_other())
                })
            })
        };
        if let Some(build) = valid_objects(reader, file).iter().find_map(change) {
            changed.insert(file.clone(), build.refusal.clone());
        }
    }
    Ok(changed)
}

fn build_all(
    reader: &mut LayerReader<'_>,
    folders: &Folders,
    input: &Input<'_>,
) -> Result<Builds, Error> {
    let mut made = Builds::default();
    let mut refused = Refused::default();
    let (mut of_flux, mut missing): (Vec<Target<'_>>, Vec<Finding>) = Default::default();
    for flux in &input.flux {
        of_flux.extend(Target::from_flux(reader, folders, input, flux)?);
        missing.extend(find_missing_folder(reader, input, folders, flux)?);
    }
    let mut applied = BTreeSet::new();
    let mut of_argo: Vec<Target<'_>> = Vec::new();
    let mut of_folder: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    for file in &input.applications {
        for mut one in deployments::find_applied(reader, file)? {
            let place = one.application.tree.place;
            one.finding = one.finding.or_else(|| folders.change(reader, file, place));
            if let (None, Some(path)) = (&one.finding, one.source.get_path(&["path"])) {
                let address = one.source.text(&["repoURL"]).unwrap_or_default();
                let is_own = reader.repositories.is_own_address(address);
                missing.extend(check_folder(reader, &one.folder, path, is_own)?);
            }
            match Target::from_argo(reader, folders, input, &one)? {
                Some(target) => {
                    let others = of_folder.entry(target.folder.clone()).or_default();
                    if !others.iter().any(|other| of_argo[*other].is_same(&target)) {
                        others.push(of_argo.len());
                        of_argo.push(target);
                    }
                }
                None if one.is_guess => {}
                None => drop(applied.insert(one.folder)),
            }
        }
    }
    let deployed: BTreeSet<PathBuf> = of_flux.iter().map(|one| one.folder.clone()).collect();
    for target in of_flux.into_iter().chain(of_argo) {
        add(target, reader, folders, input, &mut made, &mut refused)?;
    }
    for folder in folders.build_order() {
        let is_built =
            deployed.contains(folder) || made.parts.contains(folder) && !applied.contains(folder);
        if !is_built {
            let target = Target::from_folder(folders, folder);
            add(target, reader, folders, input, &mut made, &mut refused)?;
        }
    }
    for file in input.deployments.difference(&made.parts) {
        // What is no YAML is reported where manifests are read.
        let Ok(Some(mut built)) = catch_finding(deployments::build(reader, file))? else {
            continue;
        };
        for path in folders.find_value_files(reader, file)? {
            let beside = valid_objects(reader, &path).into_iter();
            let beside = beside.filter(|object| !deployments::is_deploying(object));
            built.objects.extend(beside);
        }
        let compositions = deployments::compose_each(reader, &State::default(), &built)?;
        made.compositions.extend(compositions);
    }
    let messages = refused
        .found
        .iter()
        .map(|(finding, _)| finding.message.clone());
    made.refusals = messages.collect();
    made.inflations
        .retain(|one| !refused.inflations.contains(one));
    made.findings = group_by_cause(refused.found);
    made.findings.append(&mut missing);
    made.findings.extend(folders.find_slips(reader, input));
    Ok(made)
}

/// Builds the folder, and adds what it makes or why it does not build.
fn add(
    target: Target<'_>,
    reader: &mut LayerReader<'_>,
    folders: &Folders,
    input: &Input<'_>,
    made: &mut Builds,
    refused: &mut Refused,
) -> Result<(), Error> {
    let _work = budget::enter(format!("the build of `{}`", display(&target.folder)))?;
    let (objects, refusal) = match catch_finding(target.build(reader, folders, input))? {
        Ok((mut built, parts)) => {
            made.add_parts(reader, parts);
            made.inflations.append(&mut built.inflations);
            if !input.deployments.is_empty() {
                let compositions = deployments::compose_each(reader, &State::default(), &built);
                made.compositions.extend(compositions?);
            }
            (built.objects, None)
        }
        Err(finding) => {
            let left = Left::read(reader, folders, &target.folder, &target.kustomization)?;
            if !input.deployments.is_empty() {
                let failed = deployments::compose_failed(reader, &left.objects, &finding)?;
                made.compositions.extend(failed);
            }
            made.add_parts(reader, left.parts);
            refused.inflations.extend(left.inflations);
            let inputs = inputs(reader, &target.folder, &target.kustomization)?;
            refused.add(
                finding.clone(),
                target.folder,
                &target.kustomization,
                inputs,
            );
            (left.objects, Some(finding))
        }
    };
    made.builds.push(Build {
        source: reader.source(target.place.file),
        objects: objects.into_iter().map(|object| object.tree).collect(),
        refusal,
    });
    Ok(())
}

/// The folders that do not build.
#[derive(Default)]
struct Refused {
    /// Those that are reported.
    found: Vec<(Finding, PathBuf)>,
    /// What they all name, with what is wrong.
    named: BTreeMap<PathBuf, BTreeSet<String>>,
    /// The charts that they would render.
    inflations: BTreeSet<Inflation>,
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
        let folder = print_folder(&folder);
        let (others, verb) = match count {
            1 => (String::new(), "does"),
            2 => (" and another folder".to_owned(), "do"),
            _ => (format!(" and {} other folders", count - 1), "do"),
        };
        finding.message = format!("`{folder}`{others} {verb} not build: {}", finding.message);
        let help = "the node pools that it deploys are not checked";
        finding.help(help).unless_set(Level::Warning)
    };
    causes.into_values().map(finding).collect()
}

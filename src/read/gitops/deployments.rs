//! Finds the HelmReleases and Applications that a folder or file deploys, including those of ApplicationSets.

use std::path::{Path, PathBuf};

use capi::secrets::Holders;
use yaml_tree::place::Place;
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use crate::model::finding::Finding;

use super::super::files::display;
use super::application::SourceType;
use super::files::{matches, print_folder};
use super::kustomization::{self, Built};
use super::object::Object;
use super::reader::LayerReader;
use super::{Composition, State, application, application_set, release};
use crate::read::error::{ReadError, catch_finding};
use crate::read::tables::{argo_cd, flux};

/// An object that deploys charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Deploying {
    Release,
    Application,
    ApplicationSet,
}

impl Deploying {
    /// The kinds of all.
    pub(in crate::read) const KINDS: [&str; 3] = ["HelmRelease", "Application", "ApplicationSet"];

    /// What an object of a group and a kind is; none if it deploys no chart.
    pub(in crate::read) fn from_kind(group: &str, kind: &str) -> Option<Self> {
        match (group, kind) {
            ("helm.toolkit.fluxcd.io", "HelmRelease") => Some(Self::Release),
            ("argoproj.io", "Application") => Some(Self::Application),
            ("argoproj.io", "ApplicationSet") => Some(Self::ApplicationSet),
            _ => None,
        }
    }

    /// Whether an object of a group and a kind is Argo CD's.
    pub(in crate::read) fn is_argo(group: &str, kind: &str) -> bool {
        Self::from_kind(group, kind).is_some_and(|deploying| deploying != Self::Release)
    }

    fn from_object(object: &Object) -> Option<Self> {
        Self::from_kind(object.group(), object.kind())
    }
}

/// Whether an object deploys a chart.
pub(super) fn is_deploying(object: &Object) -> bool {
    Deploying::from_object(object).is_some()
}

fn is_release(object: &Object) -> bool {
    Deploying::from_object(object) == Some(Deploying::Release)
}

fn is_set(object: &Object) -> bool {
    Deploying::from_object(object) == Some(Deploying::ApplicationSet)
}

/// Composes everything that a path deploys, in the order of its objects.
pub(super) fn compose_path(
    reader: &mut LayerReader<'_>,
    state: &State,
    path: &Path,
) -> Result<Vec<Composition>, ReadError> {
    match build(reader, path)? {
        Some(built) => compose_built(reader, state, &built),
        None => Ok(Vec::new()),
    }
}

/// Composes everything that these objects deploy, in their order. Of several charts of an Application the one with values counts.
pub(super) fn compose_built(
    reader: &mut LayerReader<'_>,
    state: &State,
    built: &Built,
) -> Result<Vec<Composition>, ReadError> {
    let mut all = Vec::new();
    for object in built.objects.iter().filter(|object| is_deploying(object)) {
        for one in expand(reader, object)? {
            let composed = match one {
                Ok(one) if is_release(&one) => release::compose(reader, state, built, &one)?,
                Ok(one) => {
                    let charts = application::charts(reader, &one);
                    let with_values = |source: &&&Node| source.get_path(&["helm"]).is_some();
                    let chart = { charts.iter() }.find(with_values).or(charts.first());
                    match chart {
                        Some(chart) => application::compose(reader, state, &one, chart)?,
                        None => Composition::empty(one.name().to_owned(), one.tree.place),
                    }
                }
                Err(finding) => {
                    reader.findings.push(finding);
                    Composition::empty(object.name().to_owned(), object.tree.place)
                }
            };
            all.push(with_findings(composed, reader));
        }
    }
    Ok(all)
}

/// As [`compose_built`], but of each chart, and what does not compose, or has a field that is not carried out, is one composition with
/// the finding for each chart that it may deploy, so that the others are composed all the same.
pub(super) fn compose_each(
    reader: &mut LayerReader<'_>,
    state: &State,
    built: &Built,
) -> Result<Vec<Composition>, Error> {
    let mut all = Vec::new();
    for object in built.objects.iter().filter(|object| is_deploying(object)) {
        for one in expand_known(reader, object)? {
            let (deploying, composed) = match one {
                Ok(one) => {
                    let composed = catch_finding(compose_known(reader, state, built, &one))?;
                    (one, composed)
                }
                Err(finding) => (object.clone(), Err(finding)),
            };
            match composed {
                Ok(composed) => all.extend(composed),
                Err(finding) => {
                    reader.findings.clear();
                    all.extend(failures(reader, &deploying, &finding)?);
                }
            }
        }
    }
    Ok(all)
}

/// What a HelmRelease or an Application deploys, if all of its fields are carried out.
fn compose_known(
    reader: &mut LayerReader<'_>,
    state: &State,
    built: &Built,
    object: &Object,
) -> Result<Vec<Composition>, ReadError> {
    if is_release(object) {
        reader.check_fields(&flux::HELM_RELEASE, &object.title(), &object.tree)?;
        let composed = release::compose(reader, state, built, object)?;
        return Ok(vec![with_findings(composed, reader)]);
    }
    reader.check_fields(&argo_cd::APPLICATION, &object.title(), &object.tree)?;
    let mut all = Vec::new();
    for source in application::charts(reader, object) {
        check_source(reader, object, source)?;
        let composed = application::compose(reader, state, object, source)?;
        all.push(with_findings(composed, reader));
    }
    Ok(all)
}

/// Refuses a source of an Application with a field that is not carried out, or with a file that Argo CD merges over it
/// (<https://argo-cd.readthedocs.io/en/stable/user-guide/parameters/#store-overrides-in-git>).
fn check_source(
    reader: &LayerReader<'_>,
    application: &Object,
    source: &Node,
) -> Result<(), ReadError> {
    reader.check_fields(&argo_cd::SOURCE, &application.title(), source)?;
    check_type(reader, source)?;
    let own = format!(".argocd-source-{}.yaml", application.name());
    let names = [".argocd-source.yaml", &own];
    let folder = application::folder(source);
    let paths = folder
        .iter()
        .flat_map(|folder| names.map(|name| folder.join(name)));
    let mut paths = paths.filter(|path| reader.files.is_file(path));
    paths.next().map_or(Ok(()), |path| {
        let message = format!(
            "`{}` changes the Application, and is not read here",
            display(&path)
        );
        Err(reader.support_error(message, source.place))
    })
}

/// Refuses a source whose settings are those of another type than its folder is, as Argo CD does but for `directory`, with which it
/// deploys the files of a chart or a kustomization as they are.
fn check_type(reader: &LayerReader<'_>, source: &Node) -> Result<(), ReadError> {
    let message = match &SourceType::settings(source)[..] {
        [first, second, ..] => {
            let (first, second) = (first.field(), second.field());
            format!("a source has `{first}` and `{second}`, and Argo CD refuses two types")
        }
        [one] => {
            let folder = application::folder(source);
            let Some(folder) = folder.filter(|folder| reader.files.is_folder(folder)) else {
                return Ok(());
            };
            let is_its = match one {
                SourceType::Helm => reader.has_chart(Some(&folder)),
                other => SourceType::discover(reader, &folder) == *other,
            };
            if is_its {
                return Ok(());
            }
            let (shown, field) = (print_folder(&folder), one.field());
            format!(
                "a source has `{field}`, so Argo CD takes `{shown}` for another type than it is"
            )
        }
        [] => return Ok(()),
    };
    Err(reader.support_error(message, source.place))
}

/// The HelmRelease or Application that an object is, or the Applications of an ApplicationSet.
fn expand(
    reader: &mut LayerReader<'_>,
    object: &Object,
) -> Result<Vec<Result<Object, Finding>>, ReadError> {
    if is_set(object) {
        application_set::applications(reader, object)
    } else {
        Ok(vec![Ok(object.clone())])
    }
}

/// As [`expand`], where a set that is refused is one Application that is not known.
fn expand_known(
    reader: &mut LayerReader<'_>,
    object: &Object,
) -> Result<Vec<Result<Object, Finding>>, Error> {
    let expanded = catch_finding(expand(reader, object))?;
    Ok(expanded.unwrap_or_else(|finding| vec![Err(finding)]))
}

/// What these objects deploy, where nobody knows with which values.
pub(super) fn compose_failed(
    reader: &LayerReader<'_>,
    objects: &[Object],
    finding: &Finding,
) -> Result<Vec<Composition>, Error> {
    let mut all = Vec::new();
    for object in objects.iter().filter(|object| is_deploying(object)) {
        all.extend(failures(reader, object, finding)?);
    }
    Ok(all)
}

/// A composition that failed, for each chart that an object may deploy.
fn failures(
    reader: &LayerReader<'_>,
    object: &Object,
    finding: &Finding,
) -> Result<Vec<Composition>, Error> {
    let mut all = Vec::new();
    for pattern in patterns(object) {
        for metadata in matches(reader.files, &format!("{pattern}/Chart.yaml"))? {
            all.push(Composition {
                chart: metadata.parent().map(Path::to_owned),
                findings: vec![finding.clone()],
                ..Composition::empty(object.name().to_owned(), object.tree.place)
            });
        }
    }
    Ok(all)
}

/// A folder that an Application deploys.
pub(super) struct Applied {
    pub(super) folder: PathBuf,
    pub(super) application: Object,
    pub(super) source: Node,
    /// Why nobody knows what it makes of the folder.
    pub(super) finding: Option<Finding>,
    /// Whether nobody knows if it deploys the folder: as it is, if it does.
    pub(super) is_guess: bool,
}

/// The folders that the Applications in a file deploy, those of ApplicationSets included.
pub(super) fn find_applied(
    reader: &mut LayerReader<'_>,
    file: &Path,
) -> Result<Vec<Applied>, Error> {
    let found = find_applied_in(reader, file);
    reader.findings.clear();
    // What is wrong with a file is reported where manifests are read.
    Ok(catch_finding(found)?.unwrap_or_default())
}

fn find_applied_in(reader: &mut LayerReader<'_>, file: &Path) -> Result<Vec<Applied>, ReadError> {
    let mut all = Vec::new();
    let built = build(reader, file)?;
    let objects = built.iter().flat_map(|built| &built.objects);
    for object in objects.filter(|object| is_deploying(object) && !is_release(object)) {
        for one in expand_known(reader, object)? {
            match one {
                Ok(application) => {
                    let sources = application::sources(&application).into_iter();
                    for source in sources.filter(|source| !reader.repositories.is_other(source)) {
                        let checked = check_source(reader, &application, source);
                        let finding = catch_finding(checked)?.err();
                        all.extend(application::folder(source).map(|folder| Applied {
                            folder,
                            application: application.clone(),
                            source: source.clone(),
                            finding,
                            is_guess: false,
                        }));
                    }
                }
                Err(finding) => {
                    let effect = Effect::from_set(object);
                    for pattern in patterns(object) {
                        let is_any = effect == Effect::AsIs && pattern.contains('*');
                        let folders = matches(reader.files, &pattern)?.into_iter();
                        all.extend(folders.map(|folder| {
                            Applied {
                                folder,
                                application: object.clone(),
                                source: Node::from_value(Value::Null),
                                finding: Some(finding.clone())
                                    .filter(|_| is_any || effect == Effect::Changed),
                                is_guess: is_any || effect == Effect::Charts,
                            }
                        }));
                    }
                }
            }
        }
    }
    Ok(all)
}

/// What an ApplicationSet that is not evaluated does with a folder that it deploys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It renders the chart there.
    Charts,
    /// It deploys the folder as it is, by however many Applications.
    AsIs,
    /// It changes what is there, or nobody knows.
    Changed,
}

impl Effect {
    fn from_set(object: &Object) -> Self {
        let is_patched = object.tree.get_path(&["spec", "templatePatch"]).is_some();
        let with_path = sources(object).filter(|source| source.text(&["path"]).is_some());
        let types = with_path.map(|source| SourceType::settings(source).first().copied());
        let types: Vec<Option<SourceType>> = types.collect();
        let is_all = |meant: Option<SourceType>| types.iter().all(|one| *one == meant);
        if !is_patched && is_all(None) {
            Self::AsIs
        } else if !is_patched && is_all(Some(SourceType::Helm)) {
            Self::Charts
        } else {
            Self::Changed
        }
    }
}

/// The sources that an Application, or any template of an ApplicationSet, names.
pub(super) fn sources(object: &Object) -> impl Iterator<Item = &Node> {
    let generators = object.tree.items(&["spec", "generators"]).iter();
    let of_generators = generators.flat_map(|generator| generator.entries(&[]));
    let of_generators = of_generators.filter_map(|kind| kind.node.get_path(&["template"]));
    let own = object.tree.get_path(&["spec", "template"]);
    let all = own.into_iter().chain(of_generators).chain([&object.tree]);
    all.flat_map(|one| {
        let source = one.get_path(&["spec", "source"]);
        source.into_iter().chain(one.items(&["spec", "sources"]))
    })
}

/// The folders that an object may deploy: what a template fills in may be anything.
fn patterns(object: &Object) -> Vec<String> {
    let chart = object.tree.text(&["spec", "chart", "spec", "chart"]);
    let named = chart
        .into_iter()
        .chain(sources(object).filter_map(|source| source.text(&["path"])));
    let patch = object.tree.text(&["spec", "templatePatch"]);
    let any = patch
        .filter(|patch| patch.contains("path"))
        .map(|_| "**".to_owned());
    let pattern = |path: &str| {
        let mut parts = path.split("{{");
        let mut pattern = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let behind = part.split_once("}}").map_or("", |(_, behind)| behind);
            pattern.push('*');
            pattern.push_str(behind);
        }
        let folders = pattern.trim_matches('/').split('/');
        let folders = folders.map(|folder| if folder == "*" { "**" } else { folder });
        folders.collect::<Vec<&str>>().join("/")
    };
    named.map(pattern).chain(any).collect()
}

/// The composition with the findings that were collected meanwhile, and without the secrets that its layers make together.
fn with_findings(mut composition: Composition, reader: &mut LayerReader<'_>) -> Composition {
    composition.findings.append(&mut reader.findings);
    let mut holders = Holders::default();
    composition
        .layers
        .iter()
        .for_each(|layer| holders.add(&layer.tree));
    holders.seal(&mut composition.layers, reader.sources);
    composition
}

/// The objects of a folder with a kustomization, of a folder of plain files, or of one file; none if there are none.
pub(super) fn build(reader: &mut LayerReader<'_>, path: &Path) -> Result<Option<Built>, ReadError> {
    if let Some(built) = kustomization::build(reader, path)? {
        return Ok(Some(built));
    }
    if kustomization::find(reader, path)?.is_some() {
        return Ok(None);
    }
    let mut objects = Vec::new();
    let files: Vec<PathBuf> = match reader.files.folder(path)? {
        Some(names) => {
            let inside = names.iter().map(|name| path.join(name));
            inside.filter(|file| is_manifest(file)).collect()
        }
        None => vec![path.to_owned()],
    };
    for file in &files {
        if reader.is_own_object(file, Place::NONE)? {
            continue;
        }
        // Values files may be beside manifests; their errors are reported when they are read as values.
        let has_kind = |text: &str| {
            text.trim_start().starts_with('{') || text.lines().any(|line| line.starts_with("kind:"))
        };
        if !reader.has_text(file, has_kind)? {
            continue;
        }
        let documents = reader.objects(file)?.unwrap_or_default();
        let has = |document: &Node, key| document.get_path(&[key]).is_some();
        let is_object = |one: &&Node| has(one, "apiVersion") && has(one, "kind");
        kustomization::add(reader, &mut objects, documents.iter().filter(is_object));
    }
    Ok((!objects.is_empty()).then(|| Built {
        objects,
        ..Built::default()
    }))
}

pub(super) fn is_manifest(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "yaml" || extension == "yml")
}

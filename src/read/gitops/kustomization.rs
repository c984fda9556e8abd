//! Builds a Kustomization in the order of kustomize: resources, generators, components, patches, names.
//!
//! Files may be anywhere in the repository, as in Flux, which builds without kustomize's restriction to the folder
//! (<https://github.com/fluxcd/kustomize-controller/blob/main/docs/spec/v1/kustomizations.md>).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use yaml_tree::place::Place;
use yaml_tree::value::Node;

use crate::model::finding::Finding;

use super::UNSUPPORTED;
use super::files::resolve_path;
use super::generator;
use super::names::{self, Reference};
use super::object::Object;
use super::patch;
use super::reader::{LayerReader, NAMES};
use super::replacements;
use crate::read::error::ReadError;

/// The deepest nesting of kustomizations.
const DEEPEST: usize = 50;

/// The most kustomizations in one build: without it, ten that each name the next one twice would cause a thousand.
const MOST: usize = 2_000;

/// The result of building a folder.
#[derive(Default)]
pub(super) struct Built {
    pub(super) objects: Vec<Object>,
    /// Findings about what could not be built, which may explain missing objects.
    pub(super) unknown: Vec<Finding>,
    /// The folders that were built.
    pub(super) folders: Vec<PathBuf>,
}

/// Builds the kustomization in a folder; none if there is none.
pub(super) fn build(
    reader: &mut LayerReader<'_>,
    folder: &Path,
) -> Result<Option<Built>, ReadError> {
    let Some(kustomization) = find(reader, folder)? else {
        return Ok(None);
    };
    if kustomization.text(&["kind"]) == Some("Component") {
        return Ok(None);
    }
    build_of(reader, folder, &kustomization).map(Some)
}

/// Builds a folder with this kustomization.
pub(super) fn build_of(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
) -> Result<Built, ReadError> {
    let mut build = Build {
        reader,
        references: Vec::new(),
        unknown: Vec::new(),
        folders: Vec::new(),
        within: Vec::new(),
    };
    let built = build.target(folder, kustomization, Vec::new());
    let Build {
        references,
        unknown,
        folders,
        ..
    } = build;
    let mut objects = built.map_err(|error| with_cause(error, &unknown))?;
    names::finish(&mut objects, &references);
    Ok(Built {
        objects,
        unknown,
        folders,
    })
}

/// An error with what is not built here, which may be what the build lacks.
fn with_cause(error: ReadError, unknown: &[Finding]) -> ReadError {
    let label = unknown.first().and_then(|cause| {
        let spot = cause.labels.first()?.spot.clone();
        Some((spot, cause.message.clone()))
    });
    match (error, label) {
        (ReadError::Finding(finding), Some((spot, text))) => {
            finding.with_label(Some(spot), text).into()
        }
        (error, _) => error,
    }
}

/// The kustomization in a folder, if there is one.
pub(super) fn find(reader: &mut LayerReader<'_>, folder: &Path) -> Result<Option<Node>, ReadError> {
    let mut found: Option<Node> = None;
    for name in NAMES {
        let Some(documents) = reader.objects(&folder.join(name))? else {
            continue;
        };
        let Some(document) = documents.first() else {
            continue;
        };
        if found.is_some() {
            let message = "the folder holds several kustomizations".to_owned();
            return Err(reader.refusal(message, document.place));
        }
        found = Some(document.clone());
    }
    Ok(found)
}

struct Build<'b, 'r> {
    reader: &'b mut LayerReader<'r>,
    references: Vec<Reference>,
    unknown: Vec<Finding>,
    folders: Vec<PathBuf>,
    within: Vec<PathBuf>,
}

impl Build<'_, '_> {
    /// Builds one kustomization. `objects` are those of the parent for a component, otherwise none.
    fn target(
        &mut self,
        folder: &Path,
        kustomization: &Node,
        mut objects: Vec<Object>,
    ) -> Result<Vec<Object>, ReadError> {
        self.enter(folder, kustomization.place)?;
        let resources = [
            kustomization.items(&["resources"]),
            kustomization.items(&["bases"]),
        ];
        for resource in resources.into_iter().flatten() {
            self.resource(folder, resource, &mut objects)?;
        }
        self.check_names(&objects)?;
        self.configurations(folder, kustomization)?;
        generator::generate_all(self.reader, folder, kustomization, &mut objects)?;
        for component in kustomization.items(&["components"]) {
            objects = self.component(folder, component, objects)?;
        }
        patch::merge_patches(self.reader, folder, kustomization, &mut objects)?;
        names::rename(kustomization, &mut objects);
        patch::json_patches(self.reader, folder, kustomization, &mut objects)?;
        objects
            .iter_mut()
            .for_each(|object| object.seal(self.reader));
        replacements::replace(self.reader, folder, kustomization, &mut objects)?;
        check_unsupported(
            self.reader,
            folder,
            kustomization,
            &objects,
            &mut self.unknown,
        )?;
        self.check_names(&objects)?;
        self.within.pop();
        Ok(objects)
    }

    fn enter(&mut self, folder: &Path, place: Place) -> Result<(), ReadError> {
        if self.within.iter().any(|outer| outer == folder) {
            let message = format!("`{}` is built into itself", folder.display());
            return Err(self.reader.refusal(message, place));
        }
        if self.within.len() >= DEEPEST || self.folders.len() >= MOST {
            let message = "kustomizations are nested too deeply, or too many".to_owned();
            return Err(self.reader.finding(UNSUPPORTED, message, place).into());
        }
        self.within.push(folder.to_owned());
        self.folders.push(folder.to_owned());
        Ok(())
    }

    /// Adds a file of objects, or a folder with a kustomization.
    fn resource(
        &mut self,
        folder: &Path,
        resource: &Node,
        objects: &mut Vec<Object>,
    ) -> Result<(), ReadError> {
        let Some(named) = resource.value.as_str() else {
            return Ok(());
        };
        let Some(path) = self.path(folder, named, resource.place)? else {
            return Ok(());
        };
        if self.reader.is_own_output(&path, resource.place)? {
            return Ok(());
        }
        if let Some(documents) = self.reader.objects(&path)? {
            for document in documents.iter() {
                add(objects, document);
            }
            return Ok(());
        }
        let kustomization = self.kustomization(&path, named, resource.place)?;
        if kustomization.text(&["kind"]) == Some("Component") {
            let message = format!("`{named}` is a Component: name it under `components`");
            return Err(self.reader.refusal(message, resource.place));
        }
        let built = self.target(&path, &kustomization, Vec::new())?;
        objects.extend(built);
        Ok(())
    }

    fn component(
        &mut self,
        folder: &Path,
        component: &Node,
        objects: Vec<Object>,
    ) -> Result<Vec<Object>, ReadError> {
        let Some(named) = component.value.as_str() else {
            return Ok(objects);
        };
        let Some(path) = self.path(folder, named, component.place)? else {
            return Ok(objects);
        };
        if self.reader.is_own_output(&path, component.place)? {
            return Ok(objects);
        }
        let kustomization = self.kustomization(&path, named, component.place)?;
        if kustomization.text(&["kind"]) != Some("Component") {
            let message = format!("`{named}` is not a Component: name it under `resources`");
            return Err(self.reader.refusal(message, component.place));
        }
        self.target(&path, &kustomization, objects)
    }

    fn kustomization(&mut self, path: &Path, named: &str, place: Place) -> Result<Node, ReadError> {
        match find(self.reader, path)? {
            Some(kustomization) => Ok(kustomization),
            None => {
                let message =
                    format!("`{named}` is neither a file nor a folder with a kustomization");
                Err(self.reader.refusal(message, place))
            }
        }
    }

    /// A path below the root; none for a remote resource, which is reported.
    fn path(
        &mut self,
        folder: &Path,
        named: &str,
        place: Place,
    ) -> Result<Option<PathBuf>, ReadError> {
        if is_remote(named) {
            let message = format!("`{named}` is remote and not built here");
            self.unknown
                .push(self.reader.finding(UNSUPPORTED, message, place));
            return Ok(None);
        }
        match resolve_path(folder, named) {
            Some(path) => Ok(Some(path)),
            None => Err(self
                .reader
                .refusal(format!("`{named}` lies outside of the repository"), place)),
        }
    }

    fn configurations(&mut self, folder: &Path, kustomization: &Node) -> Result<(), ReadError> {
        for item in kustomization.items(&["configurations"]) {
            let Some(named) = item.value.as_str() else {
                continue;
            };
            let Some(path) = self.path(folder, named, item.place)? else {
                continue;
            };
            let Some(documents) = self.reader.objects(&path)? else {
                return Err(self
                    .reader
                    .refusal(format!("there is no file `{named}`"), item.place));
            };
            for reference in documents.iter().flat_map(Reference::read_all) {
                if !self.references.contains(&reference) {
                    self.references.push(reference);
                }
            }
        }
        Ok(())
    }

    /// Refuses two objects with the same name.
    fn check_names(&self, objects: &[Object]) -> Result<(), ReadError> {
        let mut known = HashMap::with_capacity(objects.len());
        for object in objects {
            let kind = (object.kind(), object.group(), object.version());
            if let Some(first) = known.insert((kind, object.current()), object) {
                let message = format!("two objects are {} `{}`", object.kind(), object.name());
                let finding = self
                    .reader
                    .finding(super::FAILED, message, object.tree.place);
                let first = self.reader.sources.resolve(first.tree.place);
                return Err(finding.with_label(first, "the other one").into());
            }
        }
        Ok(())
    }
}

/// Adds a document: an object, or each item of a List.
pub(super) fn add(objects: &mut Vec<Object>, document: &Node) {
    let is_list = document
        .text(&["kind"])
        .is_some_and(|kind| kind.ends_with("List"));
    match is_list.then(|| document.get_path(&["items"])).flatten() {
        Some(list) => objects.extend(
            list.value
                .as_list()
                .unwrap_or_default()
                .iter()
                .cloned()
                .map(Object::new),
        ),
        None => objects.push(Object::new(document.clone())),
    }
}

/// Whether a resource is a URL or a repository, in the forms that kustomize supports.
fn is_remote(named: &str) -> bool {
    named.contains("://")
        || named.starts_with("git@")
        || named.starts_with("github.com")
        || named.contains("?ref=")
}

/// Kinds that affect a cluster's values.
const SHAPING: &[&str] = &[
    "HelmRelease",
    "ConfigMap",
    "Secret",
    "Application",
    "ApplicationSet",
];

/// Fields that create objects not known here. They are reported only if an object is missing in the end.
const MAKERS: &[&str] = &["generators", "helmCharts", "helmChartInflationGenerator"];

/// Reports features that change the objects that affect values; those that may create objects go into `unknown`.
fn check_unsupported(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
    objects: &[Object],
    unknown: &mut Vec<Finding>,
) -> Result<(), ReadError> {
    let shaping: Vec<&Object> = objects
        .iter()
        .filter(|object| SHAPING.contains(&object.kind()))
        .collect();
    for field in MAKERS {
        for item in kustomization.items(&[field]) {
            let message = format!("`{field}` of a kustomization is not built here");
            unknown.push(reader.finding(UNSUPPORTED, message, item.place));
        }
    }
    if shaping.is_empty() {
        return Ok(());
    }
    for item in kustomization.items(&["transformers"]) {
        transformer(reader, folder, item, &shaping)?;
    }
    Ok(())
}

/// Transformers that do not change values.
const HARMLESS: &[&str] = &[
    "LabelTransformer",
    "AnnotationsTransformer",
    "ImageTagTransformer",
    "ReplicaCountTransformer",
];

fn transformer(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    item: &Node,
    shaping: &[&Object],
) -> Result<(), ReadError> {
    let named = item
        .value
        .as_str()
        .map(|text| text.to_string())
        .unwrap_or_default();
    let documents = match resolve_path(folder, &named) {
        Some(path) => reader.objects(&path)?,
        None => None,
    };
    let is_harmless = documents.is_some_and(|documents| {
        documents.iter().all(|document| {
            document
                .text(&["kind"])
                .is_some_and(|kind| HARMLESS.contains(&kind))
        })
    });
    if !is_harmless {
        let object = shaping[0];
        let message = format!(
            "a transformer may change {} `{}` and is not built here",
            object.kind(),
            object.name()
        );
        let finding = reader.finding(UNSUPPORTED, message, item.place);
        reader.findings.push(finding);
    }
    Ok(())
}

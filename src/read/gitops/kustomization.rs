//! Builds a Kustomization in the order of kustomize: resources, generators, components, transformers, variables.
//!
//! Files may be anywhere in the repository, as in Flux, which builds without kustomize's restriction to the folder
//! (<https://github.com/fluxcd/kustomize-controller/blob/main/docs/spec/v1/kustomizations.md>).

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::slice;

use capi::objects::unpack_lists;
use yaml_tree::place::Place;
use yaml_tree::value::Node;

use crate::files::KUSTOMIZATIONS;
use crate::model::finding::Finding;

use super::configuration::Configuration;
use super::inflation::{self, Inflation};
use super::object::Object;
use super::reader::LayerReader;
use super::transformers::Transformer;
use super::vars::{self, Var};
use super::{UNSUPPORTED, generator, names};
use crate::read::error::ReadError;
use crate::read::tables::kustomize::KUSTOMIZATION;

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
    /// The charts that were rendered.
    pub(super) inflations: BTreeSet<Inflation>,
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
    let mut build = Build::new(reader);
    let made = build.target(folder, kustomization, Accumulated::default());
    let Build { reader, built, .. } = build;
    let made = made.map_err(|error| with_cause(error, &built.unknown))?;
    let (mut objects, configuration) = (made.objects, made.configuration);
    names::finish(&mut objects, &configuration.references);
    let resolved = vars::resolve(&made.vars, &mut objects, &configuration);
    resolved.map_err(|error| reader.refuse(error))?;
    let is_local = |object: &Object| {
        let mark = object.metadata("annotations", "config.kubernetes.io/local-config");
        mark.is_some_and(|mark| mark != "false")
    };
    objects.retain(|object| !is_local(object));
    Ok(Built { objects, ..built })
}

/// The charts of a kustomization in `folder` and of its generators, whether they are there or not.
pub(super) fn inflations(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
) -> BTreeSet<Inflation> {
    let mut found = BTreeSet::from_iter(inflation::own_inflations(reader, folder, kustomization));
    for item in kustomization.items(&["generators"]) {
        let mut build = Build::new(reader);
        // What cannot be read is said where it is built.
        let files = build.plugins(folder, slice::from_ref(item));
        found.append(&mut build.built.inflations);
        for charts in { files.iter().flatten() }.filter_map(inflation::parse_generator) {
            found.extend(inflation::own_inflations(reader, folder, &charts));
        }
    }
    found
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
    let mut all = find_all(reader, folder)?;
    if let Some(second) = all.get(1) {
        let message = "the folder holds several kustomizations";
        return Err(reader.refusal(message, second.place));
    }
    Ok(all.pop())
}

/// All kustomizations in a folder: kustomize refuses several.
pub(super) fn find_all(
    reader: &mut LayerReader<'_>,
    folder: &Path,
) -> Result<Vec<Node>, ReadError> {
    let mut found = Vec::new();
    for name in KUSTOMIZATIONS {
        let documents = reader.objects(&folder.join(name))?;
        found.extend(documents.and_then(|documents| documents.first().cloned()));
    }
    Ok(found)
}

/// What the kustomizations of a build have made until now.
#[derive(Default)]
struct Accumulated {
    objects: Vec<Object>,
    configuration: Configuration,
    vars: Vec<Var>,
}

struct Build<'b, 'r> {
    reader: &'b mut LayerReader<'r>,
    /// All but the objects.
    built: Built,
    within: Vec<PathBuf>,
}

impl<'b, 'r> Build<'b, 'r> {
    fn new(reader: &'b mut LayerReader<'r>) -> Self {
        Self {
            reader,
            built: Built::default(),
            within: Vec::new(),
        }
    }

    /// Builds one kustomization, in kustomize's order. What is accumulated is that of the parent for a component, otherwise nothing.
    fn target(
        &mut self,
        folder: &Path,
        kustomization: &Node,
        mut made: Accumulated,
    ) -> Result<Accumulated, ReadError> {
        self.enter(folder, kustomization.place)?;
        self.check(kustomization)?;
        let lists = ["resources", "bases"].into_iter();
        for resource in lists.flat_map(|key| kustomization.items(&[key])) {
            self.resource(folder, resource, &mut made)?;
        }
        self.check_names(&made.objects)?;
        self.configurations(folder, kustomization, &mut made.configuration)?;
        generator::generate_all(self.reader, folder, kustomization, &mut made.objects)?;
        self.inflate(folder, kustomization, &mut made.objects)?;
        for file in self.plugins(folder, kustomization.items(&["generators"]))? {
            let objects = &mut made.objects;
            if let Some(charts) = inflation::parse_generator(&file) {
                let title = "a HelmChartInflationGenerator";
                self.reader.check_fields(&KUSTOMIZATION, title, &charts)?;
                self.inflate(folder, &charts, objects)?;
            } else if !generator::generate_of_file(self.reader, folder, &file, objects)? {
                return Err(self.plugin_error(&file));
            }
        }
        for component in kustomization.items(&["components"]) {
            made = self.component(folder, component, made)?;
        }
        let of_fields = Transformer::read_fields(kustomization, &made.configuration);
        let place = kustomization.place;
        let of_fields = of_fields.map_err(|message| self.reader.refusal(message, place))?;
        for transformer in of_fields {
            transformer.apply(self.reader, folder, &mut made.objects)?;
        }
        for file in self.plugins(folder, kustomization.items(&["transformers"]))? {
            let read = Transformer::read_file(&file);
            let read = read.map_err(|message| self.reader.refusal(message, file.place))?;
            let transformer = read.ok_or_else(|| self.plugin_error(&file))?;
            transformer.apply(self.reader, folder, &mut made.objects)?;
        }
        let vars = Var::read_all(kustomization, &mut made.objects);
        let vars = vars.and_then(|vars| Var::merge(&mut made.vars, vars));
        vars.map_err(|message| self.reader.refusal(message, place))?;
        self.check_names(&made.objects)?;
        self.within.pop();
        Ok(made)
    }

    /// Adds what the charts of a kustomization make.
    fn inflate(
        &mut self,
        folder: &Path,
        kustomization: &Node,
        objects: &mut Vec<Object>,
    ) -> Result<(), ReadError> {
        let made = inflation::inflate_all(self.reader, folder, kustomization)?;
        add(self.reader, objects, &made);
        let own = inflation::own_inflations(self.reader, folder, kustomization);
        self.built.inflations.extend(own);
        Ok(())
    }

    /// Refuses what kustomize refuses, and fields that are not carried out here.
    fn check(&self, kustomization: &Node) -> Result<(), ReadError> {
        let place = kustomization.place;
        let kind = kustomization.nonempty_text(&["kind"]);
        let kind = kind.unwrap_or("Kustomization");
        let wanted = match kind {
            "Kustomization" => "kustomize.config.k8s.io/v1beta1",
            "Component" => "kustomize.config.k8s.io/v1alpha1",
            _ => {
                let message = "a kustomization is of kind Kustomization or Component";
                return Err(self.reader.refusal(message, place));
            }
        };
        if let Some(version) = kustomization.text(&["apiVersion"])
            && !["", wanted].contains(&version)
        {
            let message = format!("the `apiVersion` of a {kind} is `{wanted}`, not `{version}`");
            return Err(self.reader.refusal(message, place));
        }
        let fields = kustomization.entries(&[]);
        let own = ["apiVersion", "kind"];
        if fields.clone().all(|field| own.contains(&&*field.key)) {
            let message = "the kustomization is empty";
            return Err(self.reader.refusal(message, place));
        }
        let title = format!("a {kind}");
        self.reader
            .check_fields(&KUSTOMIZATION, &title, kustomization)?;
        let message = "what kustomize notes about the origin of objects is not known here";
        match find_origin(kustomization) {
            Some(node) => Err(self.reader.support_error(message, node.place)),
            None => Ok(()),
        }
    }

    /// The objects of generators or transformers: texts, files, or folders with a kustomization.
    fn plugins(&mut self, folder: &Path, items: &[Node]) -> Result<Vec<Node>, ReadError> {
        let mut made = Accumulated::default();
        for item in items {
            let text = self.reader.path_text(item)?;
            if text.contains('\n') {
                let documents = self.reader.inline(text, item.place)?;
                add(self.reader, &mut made.objects, &documents);
            } else {
                self.path(folder, item)?;
                self.resource(folder, item, &mut made)?;
            }
        }
        self.check_names(&made.objects)?;
        Ok(made.objects.into_iter().map(|object| object.tree).collect())
    }

    /// The error for a generator or transformer that is not built in.
    fn plugin_error(&self, file: &Node) -> ReadError {
        let message = format!(
            "a {} is not run here",
            file.text(&["kind"]).unwrap_or("plugin")
        );
        self.reader.support_error(message, file.place)
    }

    /// What is said of a resource that is elsewhere.
    fn remote(&self, named: &str, place: Place) -> Finding {
        let message = format!("`{named}` is remote and not built here");
        self.reader.finding(UNSUPPORTED, message, place)
    }

    fn enter(&mut self, folder: &Path, place: Place) -> Result<(), ReadError> {
        if self.within.iter().any(|outer| outer == folder) {
            let message = format!("`{}` is built into itself", folder.display());
            return Err(self.reader.refusal(message, place));
        }
        if self.within.len() >= DEEPEST || self.built.folders.len() >= MOST {
            let message = "kustomizations are nested too deeply, or too many";
            return Err(self.reader.support_error(message, place));
        }
        self.within.push(folder.to_owned());
        self.built.folders.push(folder.to_owned());
        Ok(())
    }

    /// Adds a file of objects, or a folder with a kustomization.
    fn resource(
        &mut self,
        folder: &Path,
        resource: &Node,
        made: &mut Accumulated,
    ) -> Result<(), ReadError> {
        let named = self.reader.path_text(resource)?;
        if is_remote(named) {
            self.built.unknown.push(self.remote(named, resource.place));
            return Ok(());
        }
        let path = self.path(folder, resource)?;
        if self.reader.is_own_object(&path, resource.place)? {
            return Ok(());
        }
        if let Some(documents) = self.reader.objects(&path)? {
            add(self.reader, &mut made.objects, &*documents);
            return Ok(());
        }
        let kustomization = self.kustomization(&path, resource)?;
        if kustomization.text(&["kind"]) == Some("Component") {
            let message = format!("`{named}` is a Component: name it under `components`");
            return Err(self.reader.refusal(message, resource.place));
        }
        let built = self.target(&path, &kustomization, Accumulated::default())?;
        made.objects.extend(built.objects);
        let merged = made.configuration.add(&built.configuration);
        let merged = merged.and_then(|()| Var::merge(&mut made.vars, built.vars));
        merged.map_err(|message| self.reader.refusal(message, resource.place))
    }

    fn component(
        &mut self,
        folder: &Path,
        component: &Node,
        made: Accumulated,
    ) -> Result<Accumulated, ReadError> {
        let named = self.reader.path_text(component)?;
        let path = self.path(folder, component)?;
        if self.reader.is_own_output(&path, component.place)? {
            return Ok(made);
        }
        let kustomization = self.kustomization(&path, component)?;
        if kustomization.text(&["kind"]) != Some("Component") {
            let message = format!("`{named}` is not a Component: name it under `resources`");
            return Err(self.reader.refusal(message, component.place));
        }
        self.target(&path, &kustomization, made)
    }

    fn kustomization(&mut self, path: &Path, item: &Node) -> Result<Node, ReadError> {
        let (found, named) = (find(self.reader, path)?, self.reader.path_text(item)?);
        let message = || format!("`{named}` is neither a file nor a folder with a kustomization");
        found.ok_or_else(|| self.reader.absence_error(message(), path, item.place))
    }

    /// The path below the root of what an item names here.
    fn path(&self, folder: &Path, item: &Node) -> Result<PathBuf, ReadError> {
        let named = self.reader.path_text(item)?;
        if is_remote(named) {
            return Err(self.remote(named, item.place).into());
        }
        self.reader.path(folder, named, item.place)
    }

    fn configurations(
        &mut self,
        folder: &Path,
        kustomization: &Node,
        configuration: &mut Configuration,
    ) -> Result<(), ReadError> {
        let own = configuration.add(&self.reader.configuration);
        own.map_err(|message| self.reader.refusal(message, kustomization.place))?;
        for item in kustomization.items(&["configurations"]) {
            let path = self.path(folder, item)?;
            let named = self.reader.path_text(item)?;
            let documents = self.reader.objects(&path)?;
            let documents =
                documents.ok_or_else(|| self.reader.missing_file(named, &path, item.place))?;
            for document in documents.iter() {
                let added = configuration.add_file(document);
                added.map_err(|message| self.reader.refusal(message, item.place))?;
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

/// Adds documents: objects, and those of lists.
pub(super) fn add<'n>(
    reader: &LayerReader<'_>,
    objects: &mut Vec<Object>,
    documents: impl IntoIterator<Item = &'n Node>,
) {
    let object = |tree: &Node| {
        let spelled = reader.spell_object(tree);
        let mut object = Object::new(spelled.unwrap_or_else(|| tree.clone()));
        object.spell_marks(|node| reader.spelling(node));
        object
    };
    let all = documents.into_iter().flat_map(unpack_lists);
    objects.extend(all.map(|tree| object(&tree)));
}

/// The text of a kustomization that looks at an annotation of `buildMetadata`.
fn find_origin(node: &Node) -> Option<&Node> {
    let marks = [
        "config.kubernetes.io/origin",
        "config.kubernetes.io/transformations",
    ];
    match node.value.as_str() {
        Some(text) => marks.iter().any(|mark| text.contains(mark)).then_some(node),
        None => node.children().find_map(find_origin),
    }
}

/// Whether a resource is a URL or a repository, in the forms that kustomize supports.
pub(super) fn is_remote(named: &str) -> bool {
    named.contains("://")
        || named.starts_with("git@")
        || named.starts_with("github.com")
        || named.contains("?ref=")
}

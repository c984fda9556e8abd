//! Helm charts that make Cluster API objects, rendered as they are deployed.
//!
//! A chart is rendered for each HelmRelease and Application of the repository that deploys it. Without any it is rendered with
//! each `ci/*-values.yaml`, as chart-testing does, or with its own values. Positions in the output are those of the value that
//! a text comes from, else of the template.

mod load;
mod origins;
mod releases;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use capi::objects::ManifestObject;
use capi::secrets;
use go_template::{Budget, ErrorClass, Limits, Rendered};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source, Sources};
use yaml_tree::value::{Node, Value};

use crate::budget;
use crate::error::Error;
use crate::evaluate::{Release, RenderedFile};
use crate::files::Files;
use crate::model::finding::Finding;

use super::error::ReadError;
use super::files::display;
use super::gitops::{Composition, resolve_path};
use load::{Chart, mentions_cluster_api};
use releases::{Input, Unchecked, chart_inputs, composition_input, namespace};

/// What the groups of Cluster API end with.
const CLUSTER_API: &str = "cluster.x-k8s.io";

/// The groups and kinds of objects that deploy charts.
pub(super) const DEPLOYING: [(&str, &str); 3] = [
    ("helm.toolkit.fluxcd.io", "HelmRelease"),
    ("argoproj.io", "Application"),
    ("argoproj.io", "ApplicationSet"),
];

/// What charts behave like.
const ENGINE: Engine = Engine::Helm4;

/// The charts of a repository that make Cluster API objects, by folder.
#[derive(Default)]
pub(super) struct HelmCharts {
    charts: BTreeMap<PathBuf, Chart>,
    /// The folders of all charts.
    folders: BTreeSet<PathBuf>,
    /// The charts that others depend on.
    parts: BTreeSet<PathBuf>,
    findings: Vec<Finding>,
}

/// What the releases of charts make.
#[derive(Default)]
pub(super) struct Releases {
    pub(super) made: Vec<MadeRelease>,
    /// The charts that cannot be rendered.
    pub(super) findings: Vec<Finding>,
}

/// The objects of a release.
pub(super) struct MadeRelease {
    /// The file that declares it, or Chart.yaml.
    pub(super) source: Arc<Source>,
    /// Their places are in the files of the repository.
    pub(super) objects: Vec<Node>,
    /// Whether Helm refuses the chart, so that none of them is ever deployed.
    pub(super) is_refused: bool,
}

impl HelmCharts {
    /// Loads the charts in these folders that make Cluster API objects.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn load(
        tree: &dyn Files,
        folders: &BTreeSet<PathBuf>,
        sources: &mut Sources,
    ) -> Result<Self, Error> {
        let mut loaded = Self {
            folders: folders.clone(),
            ..Self::default()
        };
        for folder in folders {
            match load::chart(tree, folder, sources) {
                Ok(None) => {}
                Ok(Some(chart)) => drop(loaded.charts.insert(folder.clone(), chart)),
                Err(ReadError::Finding(finding)) => loaded.findings.push(*finding),
                Err(ReadError::Error(error)) => return Err(error),
            }
        }
        let is_inside = |folder: &&PathBuf| {
            let outer = folder.parent().filter(|charts| charts.ends_with("charts"));
            outer
                .and_then(Path::parent)
                .is_some_and(|outer| folders.contains(outer))
        };
        let inside = folders.iter().filter(is_inside);
        let used = loaded.charts.values().flat_map(|chart| &chart.folders[1..]);
        loaded.parts = inside.chain(used).cloned().collect();
        Ok(loaded)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.charts.is_empty()
    }

    /// Whether an object may deploy one of the charts: it names the folder, or computes it.
    pub(super) fn may_be_deployed_by(&self, object: &ManifestObject) -> bool {
        let kind = (object.group(), &*object.kind);
        let is_chart = |text: &Arc<str>| {
            let folder = resolve_path(Path::new(""), text.trim_start_matches('/'));
            folder.is_some_and(|folder| self.charts.contains_key(&folder))
        };
        let scalars = object.scalars().into_iter();
        let mut texts = scalars.filter_map(|(_, node)| node.value.as_str());
        DEPLOYING.contains(&kind) && (kind.1 == "ApplicationSet" || texts.any(is_chart))
    }

    /// Whether a file is a template of a chart.
    pub(super) fn has_template(&self, file: &Path) -> bool {
        let mut above = file.ancestors().skip(1);
        above.any(|folder| {
            let chart = folder.parent().filter(|_| folder.ends_with("templates"));
            chart.is_some_and(|chart| self.folders.contains(chart))
        })
    }

    /// Renders the charts as these releases deploy them. A chart that is part of another one is not rendered by itself.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn render(
        self,
        tree: &dyn Files,
        compositions: &[Composition],
        sources: &mut Sources,
    ) -> Result<Releases, Error> {
        let mut made = Releases {
            findings: self.findings,
            ..Releases::default()
        };
        let mut deployed: BTreeMap<&Path, Vec<&Composition>> = BTreeMap::new();
        for composition in compositions {
            if let Some(folder) = &composition.chart {
                deployed.entry(folder).or_default().push(composition);
            }
        }
        let mut inputs = Vec::new();
        for (folder, chart) in &self.charts {
            match deployed.get(&**folder) {
                Some(compositions) => {
                    let input = |one: &&Composition| (chart, composition_input(chart, one));
                    inputs.extend(compositions.iter().map(input));
                }
                None if self.parts.contains(folder) || chart.is_library => {}
                None => {
                    let own = chart_inputs(tree, folder, chart, sources, &mut made.findings)?;
                    inputs.extend(own.into_iter().map(|one| (chart, Ok(one))));
                }
            }
        }
        let mut causes: BTreeMap<Unchecked, Vec<String>> = BTreeMap::new();
        for (chart, input) in inputs {
            let _work = budget::enter(format!("the chart `{}`", display(&chart.folders[0])))?;
            let budget = Rc::new(Budget::new(Limits::default()));
            let mut is_refused = false;
            if let (Ok(input), Some(schema)) = (&input, &chart.schema) {
                let found = schema.check(&input.chart.values, sources);
                is_refused = found.iter().any(|finding| finding.unless_set.is_none());
                made.findings.extend(found);
            }
            let mut report = |unchecked, by| causes.entry(unchecked).or_default().push(by);
            let input = match input {
                Ok(input) => input,
                Err((unchecked, by)) => {
                    report(unchecked, by);
                    continue;
                }
            };
            let Outputs { files, refusal } = chart.outputs(&input, sources, &budget);
            is_refused |= refusal.is_some();
            if let Some(refusal) = refusal {
                report(refusal, input.by.clone());
            }
            let source = sources.get(input.file).filter(|_| !files.is_empty());
            made.made.extend(source.map(|source| MadeRelease {
                source: Arc::clone(source),
                objects: chart.objects(&files, &input, sources, &budget),
                is_refused,
            }));
        }
        let finding = |(unchecked, by): (Unchecked, Vec<String>)| unchecked.finding(&by, sources);
        made.findings.extend(causes.into_iter().map(finding));
        Ok(made)
    }
}

/// What each template of a chart renders to, by its name.
pub type RenderedTexts = Vec<(Arc<str>, Result<String, go_template::Error>)>;

/// The files that the chart in a folder renders with a user's values, by the names of the templates; none if it makes no Cluster
/// API objects.
///
/// # Errors
/// A file cannot be read.
pub fn render_chart(
    tree: &dyn Files,
    folder: &Path,
    user: &Node,
    engine: Engine,
) -> Result<Option<RenderedTexts>, Error> {
    let mut sources = Sources::default();
    let chart = match load::chart(tree, folder, &mut sources) {
        Ok(Some(chart)) => chart,
        Ok(None) | Err(ReadError::Finding(_)) => return Ok(None),
        Err(ReadError::Error(error)) => return Err(error),
    };
    let made = chart.tree.with_values(&chart.tree.values, user, engine);
    let release = chart.own_release();
    let budget = Rc::new(Budget::new(Limits::default()));
    let values = &made.values;
    let rendered = made
        .chart
        .render(values, &release, engine, &budget, |_| true);
    let printed = |file: &RenderedFile<'_>| !is_notes(&file.template.name);
    let text = |file: RenderedFile<'_>| {
        let text = file.result.map(|rendered| rendered.text);
        (Arc::clone(&file.template.name), text)
    };
    let rendered = rendered.into_iter().filter(printed);
    Ok(Some(rendered.map(text).collect()))
}

/// What the chart of a release renders.
struct Outputs {
    /// The files with Cluster API objects.
    files: Vec<Output>,
    /// Why Helm refuses the chart.
    refusal: Option<Unchecked>,
}

/// A file that a chart renders.
struct Output {
    /// The template.
    template: FileId,
    rendered: Rendered,
    /// The objects in it, with places in the text that was rendered.
    objects: Vec<Node>,
}

impl Chart {
    /// The release of a chart that nothing deploys.
    fn own_release(&self) -> Release {
        Release {
            name: Arc::clone(&self.tree.chart.name),
            namespace: namespace("").into(),
        }
    }

    fn cannot_check(&self, why: String, place: Place) -> Unchecked {
        let chart = display(&self.folders[0]);
        Unchecked {
            chart,
            why,
            place,
            help: None,
        }
    }

    /// The objects of a release's files, with places in the files of the repository.
    fn objects(
        &self,
        files: &[Output],
        input: &Input,
        sources: &Sources,
        budget: &Rc<Budget>,
    ) -> Vec<Node> {
        // Others make no difference, but for those that change the values.
        let made: BTreeSet<FileId> = files.iter().map(|output| output.template).collect();
        let is_made = |template| made.contains(&template) || changes_values(template, sources);
        let outputs_of = |values: &Node| {
            let rendered = self.render(input, values, budget, is_made);
            let read = rendered.into_iter().map(|file| self.read(file));
            let outputs: Vec<Output> = read
                .filter_map(Result::ok)
                .filter(Output::is_kept)
                .collect();
            (outputs.len() == files.len()).then_some(outputs)
        };
        let origins = origins::origins(files, &input.chart.values, outputs_of);
        let mut objects = Vec::new();
        for output in files {
            let mut place = |place: Place| {
                let origin = origins.get(&(output.template, place.start, place.end));
                origin.copied().unwrap_or_else(|| output.place(place))
            };
            objects.extend({ output.objects.iter() }.map(|object| object.with_places(&mut place)));
        }
        objects
    }

    /// What the chart of a release renders with its values.
    fn outputs(&self, input: &Input, sources: &Sources, budget: &Rc<Budget>) -> Outputs {
        let (mut files, mut refusal) = (Vec::new(), None);
        for file in self.render(input, &input.chart.values, budget, |_| true) {
            let template = self.templates[&file.template.name];
            match self.read(file) {
                Ok(output) => files.extend(Some(output).filter(Output::is_kept)),
                Err(failure) if self.may_succeed(template, &failure, sources) => {}
                Err(failure) => {
                    refusal.get_or_insert_with(|| self.render_failure(input, template, failure));
                }
            }
        }
        if files.is_empty() {
            let none = || {
                let why = "they make no Cluster API objects".to_owned();
                self.render_failure(input, self.metadata, RenderFailure::new(why, 0..0))
            };
            refusal.get_or_insert_with(none);
        }
        Outputs { files, refusal }
    }

    fn render<'c>(
        &self,
        input: &'c Input,
        values: &Node,
        budget: &Rc<Budget>,
        is_wanted: impl Fn(FileId) -> bool,
    ) -> Vec<RenderedFile<'c>> {
        let is_wanted = |name: &str| is_wanted(self.templates[name]);
        let chart = &input.chart.chart;
        chart.render(values, &input.release, ENGINE, budget, is_wanted)
    }

    /// The objects of a file. Helm installs nothing of a chart where it cannot render or read a file.
    fn read(&self, file: RenderedFile<'_>) -> Result<Output, RenderFailure> {
        let rendered = file.result.map_err(|error| RenderFailure {
            class: Some(error.class),
            ..RenderFailure::new(error.message, error.span)
        })?;
        let failure = |message: String, Place { start, end, .. }: Place| {
            let span = rendered.span(start as usize..end as usize);
            RenderFailure::new(message, span)
        };
        let objects = if is_notes(&file.template.name) {
            Vec::new()
        } else {
            // What starts with `{` is JSON for kubectl, and not in the middle of what a chart renders.
            let is_flow = rendered.text.trim_start().starts_with('{');
            let engine = if is_flow { ENGINE } else { Engine::Kubectl };
            let made = secrets::output_source(Arc::clone(&file.template.name), &*rendered.text);
            secrets::documents(&made, FileId(0), engine)
                .map_err(|error| failure(error.message, error.place))?
                .documents
        };
        let is_object = |node: &Node| {
            let has = |key| node.text(&[key]).is_some();
            node.value == Value::Null || has("apiVersion") && has("kind")
        };
        if let Some(other) = objects.iter().find(|node| !is_object(node)) {
            let why = "it makes YAML that is no object".to_owned();
            return Err(failure(why, other.place));
        }
        Ok(Output {
            template: self.templates[&file.template.name],
            rendered,
            objects,
        })
    }

    /// Whether Helm may render a template that fails here, and the Cluster API objects do not depend on it: its text differs from
    /// run to run, it looks at a secret, or what it includes is in a dependency that is not here.
    fn may_succeed(&self, template: FileId, failure: &RenderFailure, sources: &Sources) -> bool {
        let is_ours = match failure.class {
            Some(ErrorClass::Refused | ErrorClass::Secret) => true,
            Some(ErrorClass::MissingTemplate) => !self.missing.is_empty(),
            _ => false,
        };
        is_ours && !self.may_make_clusters(template, sources)
    }

    /// Whether a template, or one that it may include, has Cluster API objects.
    fn may_make_clusters(&self, template: FileId, sources: &Sources) -> bool {
        let text = |file: FileId| sources.get(file).map_or("", |source| &source.text);
        let mentions = |file: FileId| mentions_cluster_api(text(file));
        let includes = ["include", "template"]
            .iter()
            .any(|word| text(template).contains(word));
        let is_partial = |name: &str| name.contains("/_") || name.ends_with(".tpl");
        let mut partials = self.templates.iter().filter(|(name, _)| is_partial(name));
        mentions(template) || includes && partials.any(|(_, file)| mentions(*file))
    }

    fn render_failure(&self, input: &Input, file: FileId, failure: RenderFailure) -> Unchecked {
        let RenderFailure { why, span, .. } = failure;
        let place = Place {
            file,
            start: span.start as u32,
            end: span.end as u32,
        };
        let unread = self.unread.first();
        let help = match &self.missing[..] {
            _ if unread.is_some() => unread.cloned(),
            [] if input.file == self.metadata => Some(
                "add `ci/NAME-values.yaml` beside Chart.yaml, with values to check it with"
                    .to_owned(),
            ),
            [] => None,
            missing => {
                let missing = missing.join("`, `");
                Some(format!(
                    "run `helm dependency build`: `{missing}` is not in `charts/`"
                ))
            }
        };
        Unchecked {
            help,
            ..self.cannot_check(why, place)
        }
    }
}

/// Whether a template may change values, which affects the templates after it.
fn changes_values(template: FileId, sources: &Sources) -> bool {
    let text = sources.get(template).map_or("", |source| &source.text);
    ["set ", "unset ", "merge"]
        .iter()
        .any(|word| text.contains(word))
}

/// Whether a file is printed after an installation, and makes no objects.
fn is_notes(name: &str) -> bool {
    name.ends_with("NOTES.txt")
}

/// Why a file of a chart makes no objects.
struct RenderFailure {
    why: String,
    /// In the template.
    span: Range<usize>,
    /// What failed; none where it is what the template made.
    class: Option<ErrorClass>,
}

impl RenderFailure {
    fn new(why: String, span: Range<usize>) -> Self {
        Self {
            why,
            span,
            class: None,
        }
    }
}

impl Output {
    /// Whether it has Cluster API objects.
    fn is_kept(&self) -> bool {
        let is_of_cluster_api = |node: &Node| {
            let version = node.text(&["apiVersion"]);
            version.is_some_and(|version| version.contains(CLUSTER_API))
        };
        self.objects.iter().any(is_of_cluster_api)
    }

    /// A place of the text that was rendered as one of the template.
    fn place(&self, place: Place) -> Place {
        let span = self.rendered.span(place.start as usize..place.end as usize);
        Place {
            file: self.template,
            start: span.start as u32,
            end: span.end as u32,
        }
    }
}

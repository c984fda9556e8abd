//! Helm charts that make Cluster API objects, rendered as they are deployed.
//!
//! A chart is rendered for each HelmRelease and Application of the repository that deploys it. One that nothing names is rendered with
//! each `ci/*-values.yaml`, as chart-testing does, or with its own values. Where Helm refuses a release, or its values are not
//! known, its node pools are not either. Positions in the output are those of the value that
//! a text comes from, else of the template.

mod kinds;
mod load;
mod named;
mod origins;
mod pinned;
mod releases;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use capi::changes::machine_parts;
use capi::objects::{ManifestObject, Text};
use capi::secrets;
use capi::unknown::Unknown;
use go_template::{Budget, ErrorClass, Limits, Reads, Rendered};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source, Sources};
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::budget;
use crate::error::Error;
use crate::evaluate::{ChartRelease, ChartTree, Dependency, Release, RenderedFile, Served};
use crate::files::Files;
use crate::model::finding::Finding;

use super::error::ReadError;
use super::files::display;
use super::gitops::{self, Composition, Deploying, resolve_path};
pub(super) use kinds::{GROUPS, is_of_cluster_api};
use kinds::{has_pools, makes_clusters};
use load::Chart;
use named::{Naming, namings};
pub(super) use pinned::Pins;
use releases::{Input, Unchecked, chart_inputs, composition_input, namespace, naming_input};

/// The minors of Kubernetes that management clusters may run.
const MINORS: RangeInclusive<u32> = 28..=36;

/// What their versions may end with: the first of a minor, and those of vendors.
const PATCHES: [&str; 3] = [".0", ".9+rke2r1", ".9-gke.1000"];

/// The charts of a repository that make Cluster API objects, by folder.
#[derive(Default)]
pub(super) struct HelmCharts {
    charts: BTreeMap<PathBuf, Chart>,
    /// The folders of all charts.
    folders: BTreeSet<PathBuf>,
    /// The charts that others depend on.
    parts: BTreeSet<PathBuf>,
    /// The Chart.yaml of those that cannot be loaded.
    broken: Vec<PathBuf>,
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
    /// Why nobody knows whether they are deployed like this.
    pub(super) unknown: Option<Unknown>,
}

impl HelmCharts {
    /// Loads the charts in these folders that make Cluster API objects.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn load(
        tree: &dyn Files,
        folders: &BTreeSet<PathBuf>,
        engine: Engine,
        sources: &mut Sources,
    ) -> Result<Self, Error> {
        let mut loaded = Self {
            folders: folders.clone(),
            ..Self::default()
        };
        for folder in folders {
            match load::chart(tree, folder, engine, sources) {
                Ok(None) => {}
                Ok(Some(chart)) => drop(loaded.charts.insert(folder.clone(), chart)),
                Err(ReadError::Finding(finding)) => {
                    loaded.findings.push(*finding);
                    loaded.broken.push(folder.join("Chart.yaml"));
                }
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
        let is_chart = |text: &Arc<str>| {
            let folder = resolve_path(Path::new(""), text.trim_start_matches('/'));
            folder.is_some_and(|folder| self.charts.contains_key(&folder))
        };
        let scalars = object.scalars().into_iter();
        let mut texts = scalars.filter_map(|(_, node)| node.value.as_str());
        Deploying::from_kind(object.group(), &object.kind)
            .is_some_and(|deploying| deploying == Deploying::ApplicationSet || texts.any(is_chart))
    }

    /// Whether a file is a template of a chart.
    pub(super) fn has_template(&self, file: &Path) -> bool {
        let mut above = file.ancestors().skip(1);
        above.any(|folder| {
            let chart = folder.parent().filter(|_| folder.ends_with("templates"));
            chart.is_some_and(|chart| self.folders.contains(chart))
        })
    }

    /// Renders the charts as these releases deploy them. `files` are those that may name one. A chart that is part of another one is
    /// not rendered by itself.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn render(
        self,
        tree: &dyn Files,
        compositions: &[Composition],
        files: &BTreeSet<PathBuf>,
        pins: &Pins,
        sources: &mut Sources,
    ) -> Result<Releases, Error> {
        let mut made = Releases {
            findings: self.findings,
            ..Releases::default()
        };
        made.made.extend(self.broken.iter().map(|file| {
            let name = file.parent().and_then(Path::file_name).unwrap_or_default();
            let name: Arc<str> = name.to_string_lossy().into();
            MadeRelease {
                source: Arc::new(Source::new(display(file), "")),
                objects: vec![placeholder(&name, &name, namespace(""))],
                unknown: Some(Unknown::ChartRefused),
            }
        }));
        let charts: Vec<&Path> = self.charts.keys().map(PathBuf::as_path).collect();
        let none = BTreeSet::new();
        let files = if charts.is_empty() { &none } else { files };
        let namings = namings(tree, files, &charts, compositions, sources)?;
        let mut deployed: BTreeMap<&Path, Vec<&Composition>> = BTreeMap::new();
        for composition in compositions {
            if let Some(folder) = &composition.chart {
                deployed.entry(folder).or_default().push(composition);
            }
        }
        let mut of_other_helms: HashMap<(&Path, Engine), Chart> = HashMap::new();
        for (folder, compositions) in &deployed {
            let engines = compositions
                .iter()
                .flat_map(|one| pins.engines(one, sources));
            let mut engines: Vec<Engine> = engines.collect();
            let known = self.charts.get(*folder).map(|chart| chart.engine);
            engines.retain(|engine| known.is_some_and(|known| known != *engine));
            for engine in engines {
                // What is wrong with a chart is reported already.
                if let Ok(chart) = load::any_chart(tree, folder, engine, sources) {
                    of_other_helms.insert((*folder, engine), chart);
                }
            }
        }
        // Each as every Helm renders it that may deploy it.
        let mut inputs: Vec<Vec<(&Chart, Input)>> = Vec::new();
        for (folder, chart) in &self.charts {
            let compositions = deployed.get(&**folder).into_iter().flatten();
            let of_helms = |one: &&Composition| {
                let engines = pins.engines(one, sources).into_iter();
                let charts = engines.map(|engine| {
                    let other = of_other_helms.get(&(&**folder, engine));
                    other.unwrap_or(chart)
                });
                let inputs = charts.map(|chart| (chart, composition_input(chart, one)));
                inputs.collect()
            };
            let composed: Vec<Vec<(&Chart, Input)>> = compositions.map(of_helms).collect();
            let namings = namings.get(folder).map_or(&[][..], |all| all);
            // Beside what is composed, another mention may be anything.
            let counts = |one: &&Naming<'_>| one.failed.is_some() || composed.is_empty();
            let more = namings.iter().filter(counts);
            let mut more: Vec<Input> = more.map(|one| naming_input(chart, one, sources)).collect();
            let is_part = self.parts.contains(folder) || chart.is_library;
            if composed.is_empty() && more.is_empty() && !is_part {
                more = chart_inputs(tree, folder, chart, sources, &mut made.findings)?;
            }
            inputs.extend(composed);
            inputs.extend(more.into_iter().map(|input| vec![(chart, input)]));
        }
        let mut causes: BTreeMap<Unchecked, Vec<String>> = BTreeMap::new();
        for of_helms in inputs {
            let mut of_helms = of_helms.into_iter();
            let Some((chart, mut input)) = of_helms.next() else {
                continue;
            };
            let _work = budget::enter(format!("the chart `{}`", display(&chart.folders[0])))?;
            let newest = chart.deploy(&mut input, tree, sources)?;
            let mut differs = false;
            for (chart, mut input) in of_helms {
                let other = chart.deploy(&mut input, tree, sources)?;
                differs |= other.unknown != newest.unknown || !other.has_machines_of(&newest);
            }
            let MadeObjects {
                mut objects,
                mut unknown,
                mut refusal,
                findings,
                ..
            } = newest;
            made.findings.extend(findings);
            if differs {
                unknown = Some(Unknown::Helm);
                refusal = Some(chart.helm_doubt(input.place));
            }
            if let Some(refusal) = refusal {
                causes.entry(refusal).or_default().push(input.by);
            }
            if unknown.is_some() && !objects.iter().any(has_pools) {
                let Release {
                    name, namespace, ..
                } = &input.release;
                objects.push(placeholder(&chart.tree.chart.name, name, namespace));
            }
            let source = sources
                .get(input.place.file)
                .filter(|_| !objects.is_empty());
            made.made.extend(source.map(|source| MadeRelease {
                source: Arc::clone(source),
                objects,
                unknown,
            }));
        }
        let finding = |(unchecked, by): (Unchecked, Vec<String>)| unchecked.finding(&by, sources);
        made.findings.extend(causes.into_iter().map(finding));
        Ok(made)
    }
}

/// The same release in the clusters that it may be in, and upgraded, as far as the templates read that.
fn other_releases(release: &Release, reads: Reads) -> Vec<Release> {
    let mut others = Vec::new();
    if reads.upgrade && release.is_live && release.revision == 1 {
        others.push(Release {
            revision: 2,
            ..release.clone()
        });
    }
    if reads.cluster && release.cluster.version.is_none() {
        for minor in MINORS {
            for patch in PATCHES {
                others.extend([false, true].map(|has_all| Release {
                    cluster: Served {
                        version: Some(format!("v1.{minor}{patch}").into()),
                        has_all,
                    },
                    ..release.clone()
                }));
            }
        }
    }
    others
}

/// An object instead of the node pools of a release that nobody knows.
fn placeholder(chart: &str, release: &str, namespace: &str) -> Node {
    fn map<const N: usize>(entries: [Entry; N]) -> Value {
        Value::from(entries.into_iter().collect::<Map>())
    }
    let metadata = [
        Entry::from_value("name", chart),
        Entry::from_value("namespace", namespace),
    ];
    Node::from_value(map([
        Entry::from_value("apiVersion", "cluster.x-k8s.io/v1beta1"),
        Entry::from_value("kind", "MachineDeployment"),
        Entry::from_value("metadata", map(metadata)),
        Entry::from_value("spec", map([Entry::from_value("clusterName", release)])),
    ]))
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
    let chart = match load::chart(tree, folder, engine, &mut sources) {
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

/// What a release makes.
#[derive(Default)]
struct MadeObjects {
    objects: Vec<Node>,
    /// Why nobody knows whether they are deployed like this.
    unknown: Option<Unknown>,
    /// What is reported of that.
    refusal: Option<Unchecked>,
    /// What is wrong with the values.
    findings: Vec<Finding>,
    /// What the templates read of the cluster.
    reads: Reads,
}

impl MadeObjects {
    /// Whether both say the same of machines, wherever it is written.
    fn has_machines_of(&self, other: &Self) -> bool {
        let (own, other) = (self.machine_parts(), other.machine_parts());
        let mut pairs = own.iter().zip(&other);
        own.len() == other.len() && pairs.all(|(one, other)| one.value.same(&other.value))
    }

    /// What the objects of Cluster API say of machines.
    fn machine_parts(&self) -> Vec<Node> {
        let nowhere = Text::from_file(Arc::new(Source::new("", "")));
        let objects = self.objects.iter();
        let objects = objects.map(|node| ManifestObject::new(&nowhere, 0, &[], node.clone()));
        let own = objects.filter(|object| is_of_cluster_api(&object.api_version));
        own.map(|object| machine_parts(&object)).collect()
    }
}

/// What the chart of a release renders.
struct Outputs {
    /// The files with Cluster API objects.
    files: Vec<Output>,
    /// Why that is not all.
    refusal: Option<Doubt>,
}

/// Why nothing is known of a chart's objects.
struct Doubt {
    /// For the node pools.
    why: Unknown,
    unchecked: Unchecked,
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
            revision: 1,
            is_live: false,
            cluster: Served::default(),
        }
    }

    /// The start of Chart.yaml.
    fn place(&self) -> Place {
        Place {
            file: self.metadata,
            start: 0,
            end: 0,
        }
    }

    /// The objects of Cluster API that a release deploys, if they are the same in each cluster.
    fn deploy(
        &self,
        input: &mut Input,
        tree: &dyn Files,
        sources: &mut Sources,
    ) -> Result<MadeObjects, Error> {
        let mut made = self.deploy_here(input, tree, sources)?;
        if input.is_own || made.unknown.is_some() {
            return Ok(made);
        }
        let mut known = BTreeSet::new();
        let mut open = VecDeque::from(other_releases(&input.release, made.reads));
        while let Some(release) = open.pop_front() {
            let Served { version, has_all } = &release.cluster;
            if !known.insert((release.revision, version.clone(), *has_all)) {
                continue;
            }
            input.release = release;
            let other = self.deploy_here(input, tree, sources)?;
            open.extend(other_releases(&input.release, other.reads));
            // Where it refuses such a cluster, it is in none.
            if other.unknown.is_none() && !other.has_machines_of(&made) {
                let field = match input.release.revision {
                    1 => "Capabilities",
                    _ => "Release.Revision",
                };
                let why =
                    format!("what it renders depends on the cluster that it is in (`.{field}`)");
                made.unknown = Some(Unknown::Capabilities);
                made.refusal = Some(self.cannot_check(why, input.place));
                break;
            }
        }
        Ok(made)
    }

    /// The objects of Cluster API that a release deploys in one cluster.
    fn deploy_here(
        &self,
        input: &Input,
        tree: &dyn Files,
        sources: &mut Sources,
    ) -> Result<MadeObjects, Error> {
        let renderers = &input.post_renderers;
        if renderers.is_empty() {
            return Ok(self.make(input, sources, Output::is_kept));
        }
        // A patch may be of any object.
        let mut made = self.make(input, sources, |_| true);
        let objects = std::mem::take(&mut made.objects);
        match gitops::post_render(tree, renderers, objects, sources)? {
            Ok(objects) => made.objects = objects,
            Err(finding) => {
                made.unknown = Some(Unknown::ValuesUnknown);
                made.refusal = Some(self.cannot_check(finding.message, input.place));
            }
        }
        let is_kept = |object: &Node| object.text(&["apiVersion"]).is_some_and(is_of_cluster_api);
        made.objects.retain(is_kept);
        Ok(made)
    }

    /// The objects of a release, in the files that are wanted.
    fn make(
        &self,
        input: &Input,
        sources: &Sources,
        is_wanted: impl Fn(&Output) -> bool + Copy,
    ) -> MadeObjects {
        let release = match &input.chart {
            Ok(release) => release,
            Err(unchecked) => {
                return MadeObjects {
                    unknown: Some(Unknown::ValuesUnknown),
                    refusal: Some(unchecked.clone()),
                    ..MadeObjects::default()
                };
            }
        };
        let budget = Rc::new(Budget::new(Limits::default()));
        let Outputs { files, refusal } = self.outputs(release, input, is_wanted, sources, &budget);
        let mut findings = Vec::new();
        self.check_schemas(&release.chart, &release.values, sources, &mut findings);
        let is_refused = { findings.iter() }.any(|finding: &Finding| finding.unless_set.is_none());
        let (unknown, refusal) = match self.doubt(release).or(refusal) {
            Some(Doubt { why, unchecked }) => (Some(why), Some(unchecked)),
            None if files.is_empty() && input.is_own && !is_refused => {
                let why = "they make no Cluster API objects".to_owned();
                let failure = RenderFailure::new(why, 0..0);
                (
                    None,
                    Some(self.render_failure(input, self.metadata, failure)),
                )
            }
            None => (is_refused.then_some(Unknown::ChartRefused), None),
        };
        MadeObjects {
            reads: budget.reads(),
            objects: self.objects(&files, release, input, is_wanted, sources, &budget),
            unknown,
            refusal,
            findings,
        }
    }

    /// Why nothing that the chart renders here is what Helm renders.
    fn doubt(&self, release: &ChartRelease) -> Option<Doubt> {
        let doubt = |why: Unknown, said: String| Doubt {
            why,
            unchecked: self.cannot_check(said, self.place()),
        };
        if let Some(refusal) = &self.refusal {
            return Some(doubt(Unknown::ChartRefused, refusal.clone()));
        }
        if let Some(key) = &release.mismatch {
            let said = format!(
                "Helm refuses its values: `{key}` is not a map, and a dependency is called so"
            );
            return Some(doubt(Unknown::ChartRefused, said));
        }
        let missing = release.chart.missing();
        if !missing.is_empty() {
            let missing = missing.join("`, `");
            let said = format!("it depends on `{missing}`, which is not in `charts/`");
            let mut doubt = doubt(Unknown::DependencyMissing, said);
            doubt.unchecked.help = Some("run `helm dependency build`".to_owned());
            return Some(doubt);
        }
        let unread = self.unread.first()?;
        Some(doubt(Unknown::ChartUnread, unread.clone()))
    }

    /// Adds what the schemas of the charts refuse, each in the values of its own.
    fn check_schemas(
        &self,
        chart: &ChartTree,
        values: &Node,
        sources: &Sources,
        found: &mut Vec<Finding>,
    ) {
        if let Some(schema) = self.schemas.get(&chart.path) {
            found.extend(schema.check(values, sources));
        }
        for Dependency { key, chart, .. } in &chart.dependencies {
            if let Some(below) = values.get_path(&[&**key]) {
                self.check_schemas(chart, below, sources, found);
            }
        }
    }

    /// Why nobody knows what deploys it.
    fn helm_doubt(&self, place: Place) -> Unchecked {
        let why =
            "several versions of Flux or Argo CD are pinned, whose Helms render it in two ways";
        Unchecked {
            help: Some("set `helm` in the project file".to_owned()),
            ..self.cannot_check(why.to_owned(), place)
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
        release: &ChartRelease,
        input: &Input,
        is_wanted: impl Fn(&Output) -> bool,
        sources: &Sources,
        budget: &Rc<Budget>,
    ) -> Vec<Node> {
        // Others make no difference, but for those that change the values.
        let made: BTreeSet<FileId> = files.iter().map(|output| output.template).collect();
        let is_made = |template| made.contains(&template) || changes_values(template, sources);
        let outputs_of = |values: &Node| {
            let rendered = self.render(release, input, values, budget, is_made);
            let read = rendered.into_iter().map(|file| self.read(file));
            let outputs: Vec<Output> = read.filter_map(Result::ok).filter(&is_wanted).collect();
            (outputs.len() == files.len()).then_some(outputs)
        };
        let origins = origins::origins(files, &release.values, outputs_of);
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
    fn outputs(
        &self,
        release: &ChartRelease,
        input: &Input,
        is_wanted: impl Fn(&Output) -> bool,
        sources: &Sources,
        budget: &Rc<Budget>,
    ) -> Outputs {
        let (mut files, mut refusal) = (Vec::new(), None);
        for file in self.render(release, input, &release.values, budget, |_| true) {
            let template = self.templates[&file.template.name];
            match self.read(file) {
                Ok(output) => files.extend(Some(output).filter(&is_wanted)),
                Err(failure) if self.may_succeed(template, &failure, sources) => {}
                Err(mut failure) => {
                    let source = sources.get(template);
                    if source.is_some_and(|source| source.has_secrets()) {
                        failure.why = "a template that makes a Secret fails".to_owned();
                    }
                    let why = match failure.class {
                        Some(ErrorClass::Cluster) => Unknown::Capabilities,
                        _ => Unknown::ChartRefused,
                    };
                    refusal.get_or_insert_with(|| Doubt {
                        why,
                        unchecked: self.render_failure(input, template, failure),
                    });
                }
            }
        }
        Outputs { files, refusal }
    }

    fn render<'c>(
        &self,
        release: &'c ChartRelease,
        input: &Input,
        values: &Node,
        budget: &Rc<Budget>,
        is_wanted: impl Fn(FileId) -> bool,
    ) -> Vec<RenderedFile<'c>> {
        let is_wanted = |name: &str| is_wanted(self.templates[name]);
        let chart = &release.chart;
        chart.render(values, &input.release, self.engine, budget, is_wanted)
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
            let made = secrets::output_source(Arc::clone(&file.template.name), &*rendered.text);
            secrets::documents(&made, FileId(0), Engine::Kubectl)
                .map_err(|error| failure(error.message, error.place))?
                .documents
        };
        let is_object = |node: &Node| {
            let has = |key| node.text(&[key]).is_some();
            node.value == Value::Null || has("apiVersion") && has("kind")
        };
        if let Some(other) = objects.iter().find(|node| !is_object(node)) {
            let why = "it makes YAML that is not an object".to_owned();
            return Err(failure(why, other.place));
        }
        Ok(Output {
            template: self.templates[&file.template.name],
            rendered,
            objects,
        })
    }

    /// Whether Helm may render a template that fails here, and the Cluster API objects do not depend on it: its text differs from
    /// run to run, or it looks at a secret.
    fn may_succeed(&self, template: FileId, failure: &RenderFailure, sources: &Sources) -> bool {
        let is_ours = matches!(
            failure.class,
            Some(ErrorClass::Refused | ErrorClass::Secret | ErrorClass::Cluster)
        );
        is_ours && !self.may_make_clusters(template, sources)
    }

    /// Whether a template, or one that it may include, has Cluster API objects.
    fn may_make_clusters(&self, template: FileId, sources: &Sources) -> bool {
        let text = |file: FileId| sources.get(file).map_or("", |source| &source.text);
        let mentions = |file: FileId| makes_clusters(text(file));
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
        let help = (input.place.file == self.metadata).then(|| {
            "add `ci/NAME-values.yaml` beside Chart.yaml, with values to check it with".to_owned()
        });
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
            version.is_some_and(is_of_cluster_api)
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

//! Renders the chart of a release as Helm does, and reads the objects that it makes.

use std::collections::{BTreeSet, VecDeque};
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;
use std::sync::Arc;

use capi::changes::machine_parts;
use capi::objects::{ManifestObject, Text, unpack_lists};
use capi::secrets;
use capi::unknown::Unknown;
use go_template::{Budget, ErrorClass, Limits, Reads};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Source, Sources};
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use crate::evaluate::{ChartRelease, ChartTree, Dependency, Release, RenderedFile, Served};
use crate::model::finding::Finding;

use super::super::chart_metadata::has_kubernetes;
use super::super::files::display;
use super::kinds::{is_of_cluster_api, makes_clusters};
use super::load::Chart;
use super::origins;
use super::output::Output;
use super::releases::{Input, Unchecked, release};

/// The minors of Kubernetes that management clusters may run.
const MINORS: RangeInclusive<u32> = 28..=36;

/// What their versions may end with: the first of a minor, and those of vendors.
const PATCHES: [&str; 3] = [".0", ".9+rke2r1", ".9-gke.1000"];

/// What a release makes.
#[derive(Default)]
pub(in crate::read) struct MadeObjects {
    pub(in crate::read) objects: Vec<Node>,
    /// Why nobody knows whether they are deployed like this.
    pub(in crate::read) unknown: Option<Unknown>,
    /// What is reported of that.
    pub(in crate::read) refusal: Option<Unchecked>,
    /// What is wrong with the values.
    pub(in crate::read) findings: Vec<Finding>,
    /// What the templates read of the cluster.
    reads: Reads,
}

impl MadeObjects {
    /// Whether both say the same of machines, wherever it is written.
    pub(super) fn has_machines_of(&self, other: &Self) -> bool {
        let (own, other) = (self.machine_parts(), other.machine_parts());
        let mut pairs = own.iter().zip(&other);
        own.len() == other.len() && pairs.all(|(one, other)| one.value.same(&other.value))
    }

    /// What the objects of Cluster API say of machines. A health check replaces some by others of their kind.
    fn machine_parts(&self) -> Vec<Node> {
        let nowhere = Text::from_file(Arc::new(Source::new("", "")));
        let objects = self.objects.iter();
        let objects = objects.map(|node| ManifestObject::new(&nowhere, 0, &[], node.clone()));
        let own = objects.filter(|object| {
            is_of_cluster_api(&object.api_version) && &*object.kind != "MachineHealthCheck"
        });
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

impl Chart {
    /// The release of a chart that nothing deploys.
    pub(super) fn own_release(&self) -> Release {
        release(&self.tree.chart.name, "")
    }

    /// A release with values of a user.
    pub(in crate::read) fn input(
        &self,
        user: &Node,
        release: Release,
        place: Place,
        by: String,
    ) -> Input {
        let chart = self.tree.with_values(&self.tree.values, user, self.engine);
        Input {
            chart: Ok(chart),
            release,
            place,
            by,
            is_own: false,
            post_renderers: Vec::new(),
        }
    }

    /// The start of Chart.yaml.
    pub(super) fn place(&self) -> Place {
        Place::new(self.metadata, 0..0)
    }

    /// The objects that a release deploys, if they say the same of machines in each cluster. `make` says which these are in one.
    pub(in crate::read) fn deploy(
        &self,
        input: &mut Input,
        mut make: impl FnMut(&Input) -> Result<MadeObjects, Error>,
    ) -> Result<MadeObjects, Error> {
        let known = [input.release.cluster.clone()].into_iter();
        let Some(cluster) = known.chain(clusters()).find(|one| self.is_for_cluster(one)) else {
            let (first, last) = (MINORS.start(), MINORS.end());
            let why = format!(
                "Helm refuses it: its `kubeVersion` has no Kubernetes from 1.{first} to 1.{last}"
            );
            return Ok(MadeObjects {
                unknown: Some(Unknown::ChartRefused),
                refusal: Some(self.cannot_check(why, self.place())),
                ..MadeObjects::default()
            });
        };
        input.release.cluster = cluster;
        let mut made = make(input)?;
        if input.is_own || made.unknown.is_some() {
            return Ok(made);
        }
        let mut known = BTreeSet::new();
        let mut open = VecDeque::from(other_releases(&input.release, made.reads));
        while let Some(release) = open.pop_front() {
            let Served { version, has_all } = &release.cluster;
            let is_new = known.insert((release.revision, version.clone(), *has_all));
            if !is_new || !self.is_for_cluster(&release.cluster) {
                continue;
            }
            input.release = release;
            let other = make(input)?;
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

    /// Whether Helm installs it in a cluster, by the `kubeVersion` in Chart.yaml.
    fn is_for_cluster(&self, cluster: &Served) -> bool {
        let version = cluster.kubernetes(self.engine);
        has_kubernetes(&self.tree.chart.metadata, version, self.engine)
    }

    /// The objects of a release, in the files that are wanted.
    pub(in crate::read) fn make(
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
    pub(super) fn helm_doubt(&self, place: Place) -> Unchecked {
        let why =
            "several versions of Flux or Argo CD are pinned, whose Helms render it in two ways";
        Unchecked {
            help: Some("set `helm` in the project file".to_owned()),
            ..self.cannot_check(why.to_owned(), place)
        }
    }

    pub(super) fn cannot_check(&self, why: String, place: Place) -> Unchecked {
        let chart = display(&self.folders[0]);
        Unchecked {
            chart,
            why,
            place,
            help: None,
            broken: None,
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
            let read = secrets::documents(&made, FileId(0), Engine::Kubectl)
                .map_err(|error| failure(error.message.into(), error.place))?;
            read.documents.iter().flat_map(unpack_lists).collect()
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
        let place = Place::new(file, span);
        let help = (input.place.file == self.metadata).then(|| {
            "add `ci/NAME-values.yaml` beside Chart.yaml, with values to check it with".to_owned()
        });
        Unchecked {
            help,
            ..self.cannot_check(why, place)
        }
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
    if reads.cluster {
        others.extend(clusters().map(|cluster| Release {
            cluster,
            ..release.clone()
        }));
    }
    others
}

/// The clusters that a release may be in, the newest minor first.
fn clusters() -> impl Iterator<Item = Served> {
    let of_minor = |minor| PATCHES.map(|patch| format!("v1.{minor}{patch}"));
    let versions = MINORS.rev().flat_map(of_minor).map(Arc::<str>::from);
    versions.flat_map(|version| {
        [false, true].map(|has_all| Served {
            version: Some(Arc::clone(&version)),
            has_all,
        })
    })
}

/// Whether a template may change values, which affects the templates after it.
fn changes_values(template: FileId, sources: &Sources) -> bool {
    let text = sources.get(template).map_or("", |source| &source.text);
    ["set ", "unset ", "merge"]
        .iter()
        .any(|word| text.contains(word))
}

/// Whether a file is printed after an installation, and makes no objects.
pub(super) fn is_notes(name: &str) -> bool {
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

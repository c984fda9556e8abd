//! Helm charts that make Cluster API objects, rendered as they are deployed.
//!
//! A chart is rendered for each HelmRelease and Application of the repository that deploys it. One that nothing names is rendered with
//! each `ci/*-values.yaml`, as chart-testing does, or with its own values. Where Helm refuses a release, or its values are not
//! known, its node pools are not either. Positions in the output are those of the value that
//! a text comes from, else of the template.

mod deployed;
mod elsewhere;
mod kinds;
pub(in crate::read) mod load;
mod machines;
mod named;
mod origins;
mod output;
mod pinned;
pub(in crate::read) mod releases;
mod rendering;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use capi::objects::ManifestObject;
use capi::unknown::Unknown;
use go_template::{Budget, Limits};
use yaml_tree::engine::Engine;
use yaml_tree::place::{Source, Sources};
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::budget;
use crate::error::Error;
use crate::evaluate::{Release, RenderedFile};
use crate::files::Files;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

use super::error::catch_finding;
use super::files::display;
use super::gitops::{Composition, Deploying, Inflation, resolve_path};
use deployed::{composition_input, make_objects, naming_input};
use kinds::has_pools;
pub(super) use kinds::{GROUPS, is_of_cluster_api};
use load::Chart;
use named::{Naming, namings};
pub(super) use pinned::Pins;
use releases::{Input, Unchecked, chart_inputs, namespace};
use rendering::{MadeObjects, is_notes};

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
            match catch_finding(load::chart(tree, folder, engine, sources))? {
                Ok(chart) => {
                    let duplicates = chart.iter().flat_map(|chart| &chart.duplicates);
                    loaded.findings.extend(duplicates.cloned());
                    let chart = chart.map(|chart| (folder.clone(), chart));
                    loaded.charts.extend(chart);
                }
                Err(finding) => {
                    loaded.findings.push(finding);
                    loaded.broken.push(folder.join("Chart.yaml"));
                }
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

    /// Their folders.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.charts.keys()
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

    /// Renders the charts as these releases deploy them, but for what kustomizations have rendered. `files` are those that may name
    /// one. A chart that is part of another one is not rendered by itself.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn render(
        self,
        tree: &dyn Files,
        compositions: &[Composition],
        inflations: &BTreeSet<Inflation>,
        files: &BTreeSet<PathBuf>,
        pins: &Pins,
        sources: &mut Sources,
    ) -> Result<Releases, Error> {
        let mut made = Releases {
            findings: self.findings,
            ..Releases::default()
        };
        // What is wrong with a file that is composed concerns more than the chart.
        let of_files = [RuleId::YamlSyntax, RuleId::DuplicateKey];
        let of_charts = compositions.iter().filter(|one| {
            let chart = one.chart.as_ref();
            chart.is_some_and(|chart| self.charts.contains_key(chart))
        });
        let in_files = of_charts.flat_map(|one| &one.findings);
        let in_files = in_files.filter(|finding| of_files.contains(&finding.rule));
        made.findings.extend(in_files.cloned());
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
        let namings = namings(tree, files, &charts, compositions, inflations, sources)?;
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
            let is_inflated = inflations.iter().any(|one| one.chart == *folder);
            let is_part = self.parts.contains(folder) || chart.is_library || is_inflated;
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
            let mut deploy = |chart: &Chart, input: &mut Input| {
                chart.deploy(input, |input| make_objects(chart, input, tree, sources))
            };
            let newest = deploy(chart, &mut input)?;
            let mut differs = false;
            for (chart, mut input) in of_helms {
                let other = deploy(chart, &mut input)?;
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
    let chart = catch_finding(load::chart(tree, folder, engine, &mut sources))?;
    let Ok(Some(chart)) = chart else {
        return Ok(None);
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

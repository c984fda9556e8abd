//! The values layers that all clusters share, parsed and merged once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::secrets::Holders;
use yaml_tree::engine::Engine;
use yaml_tree::merge::{self, Layer, LayerKind};
use yaml_tree::place::Sources;
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use crate::files::Files;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};

use super::ClusterEntry;
use super::changed_values::{ChangedValue, changes};
use super::chart::{Chart, Charts};
use super::files;
use crate::read::gitops::{self, MissingSource, RunTime};

/// The shared layers: the chart's own values, and the overrides above them.
///
/// The two stay apart because a cluster's `null` removes a key of the chart and only overrides one of a layer
/// (docs/sylva.md#values-and-their-order).
#[derive(Clone)]
pub struct Shared {
    /// The first layer: the chart's own `values.yaml`.
    chart: Node,
    /// The layers above it, merged.
    overrides: Node,
    /// Each layer by itself, lowest first.
    layers: Vec<Layer>,
    /// Both, merged: what a cluster without values of its own has.
    pub(super) values: Node,
    /// The files, shared by every cluster's sources.
    sources: Sources,
    /// How folders that represent a cluster's layers are composed.
    composing: gitops::Options,
    /// Where all files are.
    files: Arc<dyn Files>,
    /// The charts of the clusters, by their folders.
    charts: Arc<Charts>,
    /// The overrides' expressions that change other values.
    changes: Vec<ChangedValue>,
    /// The maps of the layers that hold secrets.
    holders: Holders,
}

/// Reads and merges the shared layers. What a composed cluster has in common with others, such as the chart's values, is
/// read once too: that of the first cluster's layers, `example`.
pub(super) fn read_shared(
    tree: &Arc<dyn Files>,
    layers: &[PathBuf],
    example: &[PathBuf],
    mut composing: gitops::Options,
    findings: &mut Vec<Finding>,
) -> Result<Shared, Error> {
    let engine = composing.engine;
    let mut sources = Sources::default();
    let (mut all, mut holders) = (Vec::new(), Holders::default());
    let last = last_places(layers);
    for (index, layer) in layers.iter().enumerate() {
        if index > 0 && last[layer] != index {
            continue;
        }
        if composing.own_output.has(&**tree, layer)? {
            findings.push(omission(layer, "values"));
            continue;
        }
        let tree = files::values(&**tree, layer, engine, &mut sources, findings)?;
        let kind = match index {
            0 => LayerKind::Chart,
            _ => LayerKind::Override,
        };
        holders.add(&tree);
        all.push(Layer { tree, kind });
    }
    seal(&holders, &mut all, &mut sources, findings);
    let (chart, overrides) = merge::sides(&all);
    let charts = Arc::new(Charts::default());
    let of_layers = charts.find(tree, &all, &sources);
    let changes = changes({ all.iter() }.filter(|layer| layer.kind == LayerKind::Override));
    let values = values_of(
        [&chart, &overrides],
        of_layers.as_deref(),
        engine,
        &sources,
        findings,
    );
    for layer in example.iter().filter(|layer| tree.is_folder(layer)) {
        gitops::share(&**tree, layer, &mut composing, &mut sources)?;
    }
    Ok(Shared {
        chart,
        overrides,
        layers: all,
        values,
        sources: sources.share(),
        composing,
        files: Arc::clone(tree),
        charts,
        changes,
        holders,
    })
}

/// Puts labels in place of the secrets that layers make together. Returns whether there are any.
fn seal(
    holders: &Holders,
    layers: &mut [Layer],
    sources: &mut Sources,
    findings: &mut [Finding],
) -> bool {
    let is_any = holders.seal(layers, sources);
    if is_any {
        for finding in findings {
            *finding = finding.clone().hide_secrets_of(sources);
        }
    }
    is_any
}

impl Shared {
    /// The files that metalmark rendered.
    pub fn own_output(&self) -> &gitops::OwnOutput {
        &self.composing.own_output
    }

    /// Whether a composition has required an object of the state.
    pub(super) fn has_used(&self, object: &str) -> bool {
        self.composing.state.is_used(object)
    }

    /// The files of the shared layers.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// A cluster's own layers over the shared ones: its values, and the files that hold them.
    pub(super) fn with_layers(
        &self,
        entry: &ClusterEntry,
        run_time: Option<&dyn RunTime>,
    ) -> Result<Own, Error> {
        let layers = &entry.layers;
        let mut own = Own {
            layers: self.layers.clone(),
            values: Node::from_value(Value::empty_map()),
            chart: None,
            sources: self.sources.clone(),
            findings: Vec::new(),
            release: None,
            missing: Vec::new(),
            is_known: true,
        };
        let (mut chart, mut user) = (self.chart.clone(), self.overrides.clone());
        let (mut changed, mut holders) = (self.changes.clone(), self.holders.clone());
        let last = last_places(layers);
        for (index, layer) in layers.iter().enumerate() {
            if last[layer] != index {
                continue;
            }
            for Layer { tree, kind } in self.compose(layer, &entry.name, run_time, &mut own)? {
                let side = match kind {
                    LayerKind::Chart => &mut chart,
                    LayerKind::Override => &mut user,
                };
                *side = merge::merge(side, &tree);
                let layer = Layer { tree, kind };
                if kind == LayerKind::Override {
                    changed.extend(changes([&layer]));
                }
                holders.add(&layer.tree);
                own.layers.push(layer);
            }
        }
        if seal(
            &holders,
            &mut own.layers,
            &mut own.sources,
            &mut own.findings,
        ) {
            (chart, user) = merge::sides(&own.layers);
        }
        // The chart's layers lie below all others, regardless of who names them.
        own.layers
            .sort_by_key(|layer| layer.kind != LayerKind::Chart);
        own.chart = self.charts.find(&self.files, &own.layers, &own.sources);
        let in_chart = own.chart.iter().flat_map(|chart| &chart.changes);
        let in_chart = in_chart.map(|change| change.chart_finding(&own.layers, &own.sources));
        let changed = changed.iter().map(|change| change.finding(&own.sources));
        own.findings.extend(in_chart.chain(changed));
        own.values = values_of(
            [&chart, &user],
            own.chart.as_deref(),
            self.composing.engine,
            &own.sources,
            &mut own.findings,
        );
        Ok(own)
    }

    /// What a path represents: a values file for itself, a folder or file with a HelmRelease or an Application for the
    /// layers that it composes.
    fn compose(
        &self,
        path: &Path,
        cluster: &str,
        run_time: Option<&dyn RunTime>,
        own: &mut Own,
    ) -> Result<Vec<Layer>, Error> {
        if self.composing.own_output.has(&*self.files, path)? {
            own.findings.push(omission(path, "values"));
            return Ok(Vec::new());
        }
        let before = own.sources.clone();
        let engine = self.composing.engine;
        let mut found = Vec::new();
        let read = files::values(&*self.files, path, engine, &mut own.sources, &mut found);
        if read.is_ok() || !self.files.is_folder(path) {
            let tree = read?;
            if !is_manifest(&tree) {
                own.findings.extend(found);
                return Ok(vec![Layer {
                    tree,
                    kind: LayerKind::Override,
                }]);
            }
            own.sources = before;
        }
        let composed = gitops::cluster(
            &*self.files,
            path,
            cluster,
            &self.composing,
            run_time,
            &mut own.sources,
        )?;
        let Some(composed) = composed else {
            let message = format!(
                "`{}` composes no values: it holds no HelmRelease and no Application",
                files::display(path)
            );
            let help =
                "name values files, or the folder of a Kustomization that yields a HelmRelease";
            own.findings
                .push(Finding::new(RuleId::ProjectFile, message).help(help));
            own.is_known = false;
            return Ok(Vec::new());
        };
        let is_failure = |finding: &Finding| {
            let rules = [RuleId::CompositionFailed, RuleId::YamlSyntax];
            finding.unless_set.is_none() && rules.contains(&finding.rule)
        };
        own.is_known &= !composed.findings.iter().any(is_failure);
        own.findings.extend(composed.findings);
        own.missing.extend(composed.missing);
        own.release = Some(ComposedRelease {
            name: composed.name,
            namespace: composed.namespace,
            helm_release: composed.helm_release,
        });
        Ok(composed.layers)
    }
}

/// Where each layer comes last: what it sets there is over all that it set before, so that it is read and merged once.
fn last_places(layers: &[PathBuf]) -> HashMap<&PathBuf, usize> {
    let layers = layers.iter().enumerate();
    layers.map(|(index, layer)| (layer, index)).collect()
}

/// A chart's own values with a user's over them, and the values of what the chart depends on below both.
fn values_of(
    [own, user]: [&Node; 2],
    chart: Option<&Chart>,
    engine: Engine,
    sources: &Sources,
    findings: &mut Vec<Finding>,
) -> Node {
    let merged = merge::coalesce(own, user, engine);
    let clashes = merged.conflicts.iter();
    findings.extend(clashes.map(|conflict| clash(conflict, sources)));
    match chart.map(|chart| &chart.tree) {
        Some(Ok(Some(chart))) => chart.with_values(own, user, engine).values,
        Some(Err(finding)) => {
            findings.push((**finding).clone());
            merged.tree
        }
        Some(Ok(None)) | None => merged.tree,
    }
}

/// A file that the project names under that key and that metalmark rendered itself.
pub(super) fn omission(file: &Path, key: &str) -> Finding {
    let file = files::display(file);
    let message = format!("`{file}` is rendered by metalmark, and left out of the {key}");
    Finding::new(RuleId::ProjectFile, message)
        .help(format!(
            "remove `{file}` from `{key}`: what is rendered is not input; if it is yours, remove its first line"
        ))
        .unless_set(Level::Warning)
}

/// Whether a file is a Kubernetes object rather than values.
fn is_manifest(tree: &Node) -> bool {
    tree.text(&["apiVersion"]).is_some() && tree.text(&["kind"]).is_some()
}

/// One cluster's merged values.
pub(super) struct Own {
    /// All layers, each by itself, lowest first.
    pub(super) layers: Vec<Layer>,
    pub(super) values: Node,
    /// Its chart, if the repository has it.
    pub(super) chart: Option<Arc<Chart>>,
    pub(super) sources: Sources,
    pub(super) findings: Vec<Finding>,
    /// The release that composes it.
    pub(super) release: Option<ComposedRelease>,
    /// What its composition needs and exists only at run time.
    pub(super) missing: Vec<MissingSource>,
    /// Whether all that composes it could be read. If not, a finding says so, and its values say nothing.
    pub(super) is_known: bool,
}

/// The release that composes a cluster's values.
pub(super) struct ComposedRelease {
    pub(super) name: String,
    pub(super) namespace: String,
    /// The names that its HelmRelease has had, its own last; none where Argo CD deploys it.
    pub(super) helm_release: Vec<Arc<str>>,
}

fn clash(conflict: &merge::Conflict, sources: &Sources) -> Finding {
    let path = conflict.path.join(".");
    let message = match conflict.map {
        merge::LayerKind::Chart => {
            format!("`{path}` is a map in the chart's values and is replaced by something else")
        }
        merge::LayerKind::Override => {
            format!("`{path}` is not a map in the chart's values and is replaced by one")
        }
    };
    Finding::new(RuleId::ValueSurprising, message)
        .with_label(sources.resolve(conflict.user), "replaces")
        .with_label(sources.resolve(conflict.chart), "the chart's value")
}

//! The values layers that all clusters share, parsed and merged once.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::merge::{self, Layer, LayerKind};
use crate::model::place::Sources;
use crate::model::value::{Node, Value};

use super::files;

/// The shared layers: the chart's own values, and the overrides above them.
///
/// The two stay apart because a cluster's `null` removes a key of the chart and only overrides one of a layer (T2).
#[derive(Clone, Debug)]
pub struct Shared {
    /// The first layer: the chart's own `values.yaml`.
    chart: Node,
    /// The layers above it, merged.
    overrides: Node,
    /// Each layer by itself, lowest first.
    pub(super) layers: Vec<Layer>,
    /// Both, merged: what a cluster without values of its own has.
    pub(super) values: Node,
    /// The files, shared by every cluster's sources.
    sources: Sources,
}

/// Reads and merges the shared layers.
pub(super) fn shared(
    root: &Path,
    layers: &[PathBuf],
    engine: Engine,
) -> Result<(Shared, Vec<Finding>), Error> {
    let (mut sources, mut findings) = (Sources::default(), Vec::new());
    let empty = Node::computed(Value::empty_map());
    let (mut chart, mut overrides) = (empty.clone(), empty);
    let mut all = Vec::new();
    for (index, layer) in layers.iter().enumerate() {
        let (tree, found) = files::values(root, layer, engine, &mut sources)?;
        findings.extend(found);
        let kind = match index {
            0 => LayerKind::Chart,
            _ => LayerKind::Override,
        };
        match kind {
            LayerKind::Chart => chart = tree.clone(),
            LayerKind::Override => overrides = merge::merge(&overrides, &tree),
        }
        all.push(Layer { tree, kind });
    }
    let merged = merge::over_chart(&chart, &overrides, engine);
    findings.extend(
        merged
            .conflicts
            .iter()
            .map(|conflict| clash(conflict, &sources)),
    );
    let shared = Shared {
        chart,
        overrides,
        layers: all,
        values: merged.tree,
        sources: sources.share(),
    };
    Ok((shared, findings))
}

impl Shared {
    /// The files of the shared layers.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// A cluster's own layers over the shared ones: its values, and the files that they stand in.
    pub(super) fn with(
        &self,
        root: &Path,
        layers: &[PathBuf],
        engine: Engine,
    ) -> Result<Own, Error> {
        let (mut sources, mut findings) = (self.sources.clone(), Vec::new());
        let mut user = self.overrides.clone();
        let mut own = Vec::with_capacity(layers.len());
        for layer in layers {
            let (tree, found) = files::values(root, layer, engine, &mut sources)?;
            findings.extend(found);
            user = merge::merge(&user, &tree);
            let kind = LayerKind::Override;
            own.push(Layer { tree, kind });
        }
        let merged = merge::over_chart(&self.chart, &user, engine);
        findings.extend(
            merged
                .conflicts
                .iter()
                .map(|conflict| clash(conflict, &sources)),
        );
        Ok(Own {
            layers: own,
            values: merged.tree,
            sources,
            findings,
        })
    }
}

/// One cluster's merged values.
pub(super) struct Own {
    /// The cluster's own layers, each by itself.
    pub(super) layers: Vec<Layer>,
    pub(super) values: Node,
    pub(super) sources: Sources,
    pub(super) findings: Vec<Finding>,
}

fn clash(conflict: &merge::Conflict, sources: &Sources) -> Finding {
    let path = conflict.path.join(".");
    let message = match conflict.map {
        merge::LayerKind::Chart => {
            format!("`{path}` is a map in the chart's values and is replaced by something else")
        }
        merge::LayerKind::Override => {
            format!("`{path}` is no map in the chart's values and is replaced by one")
        }
    };
    Finding::new("value-surprising", message)
        .at(sources.resolve(conflict.user), "replaces")
        .at(sources.resolve(conflict.chart), "the chart's value")
}

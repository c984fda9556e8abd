//! Explains a value: every layer that set it, then the expressions that were evaluated and what they read.

use std::collections::HashSet;

use serde_json::Value as Json;
use yaml_tree::merge::{Layer, LayerKind};
use yaml_tree::place::Place;
use yaml_tree::value::{Node, Value};

use crate::evaluate::{Evaluator, Reading};

use super::Origins;
use super::path::{Found, ValuePath};
use super::{Effect, Link, Setting};

/// Explains values.
pub(super) struct Explainer<'a> {
    pub(super) evaluator: &'a Evaluator,
    pub(super) origins: &'a Origins<'a>,
}

impl Explainer<'_> {
    /// The layers that say something of a path, which the files may spell in another way: with an expression as a key.
    pub(super) fn settings<'l>(
        &self,
        layers: &'l [Layer],
        path: &ValuePath,
        spelled: &ValuePath,
    ) -> Vec<Setting> {
        let mut settings = Vec::new();
        let mut of_chart = HashSet::new();
        let paths = if path == spelled {
            vec![path]
        } else {
            vec![path, spelled]
        };
        let of_layer = |layer: &'l Layer| {
            paths
                .iter()
                .filter_map(move |path| Some((layer, deepest(&layer.tree, path)?)))
        };
        for (layer, (at, node)) in layers.iter().flat_map(of_layer) {
            let effect = match (&node.value, layer.kind) {
                (Value::Null, LayerKind::Override) if of_chart.contains(&at.to_string()) => {
                    Effect::Removes
                }
                (Value::Map(_), _) => Effect::Merges,
                _ => Effect::Sets,
            };
            if layer.kind == LayerKind::Chart {
                // A null above removes the map around it too.
                let all = (0..=at.steps.len()).map(|length| ValuePath {
                    steps: at.steps[..length].to_vec(),
                });
                of_chart.extend(all.map(|path| path.to_string()));
            }
            settings.push(Setting {
                path: at.to_string(),
                effect,
                value: Json::from(&node.value),
                origin: self.origins.find(node.place),
            });
        }
        settings
    }

    /// The expression at a path, or the one that made the map or list around it.
    pub(super) fn expression(
        &self,
        tree: &Node,
        path: &ValuePath,
        result: Option<&Node>,
    ) -> Option<Link> {
        let (at, node) = deepest(tree, path)?;
        if !is_expression(node) {
            return None;
        }
        let mut known = HashSet::new();
        let result = result.filter(|_| at == *path);
        Some(Link {
            value: result.map(|node| Json::from(&node.value)),
            ..self.link(at.to_string(), node, &mut known)
        })
    }

    fn link(&self, path: String, node: &Node, known: &mut HashSet<Place>) -> Link {
        let readings = if is_expression(node) && known.insert(node.place) {
            self.evaluator.readings(node.place).unwrap_or_default()
        } else {
            Default::default()
        };
        let reads = leaf_readings(&readings).into_iter().map(|reading| {
            let got = reading
                .got
                .as_ref()
                .filter(|got| !got.same(&reading.raw.value));
            Link {
                value: got.map(Json::from),
                ..self.link(reading.path.clone(), &reading.raw, known)
            }
        });
        let reads = reads.collect();
        Link {
            path,
            written: match &node.value {
                Value::Map(_) | Value::List(_) => Json::from(node.value.kind()),
                _ => Json::from(&node.value),
            },
            value: None,
            origin: self.origins.find(node.place),
            reads,
        }
    }
}

/// What a tree has at a path, or at the last place on the way there that is no map or list.
fn deepest<'n>(tree: &'n Node, path: &ValuePath) -> Option<(ValuePath, &'n Node)> {
    match path.find(tree) {
        Found::Here(node) => Some((path.clone(), node)),
        Found::Missing(missing) => {
            let above = ValuePath {
                steps: path.steps[..missing.steps].to_vec(),
            };
            match above.find(tree) {
                Found::Here(node) if !matches!(node.value, Value::Map(_)) => Some((above, node)),
                _ => None,
            }
        }
    }
}

/// The readings, each once, without the maps that were only passed through.
fn leaf_readings(readings: &[Reading]) -> Vec<&Reading> {
    let mut known = HashSet::new();
    let passed = |reading: &Reading| {
        let below = |other: &Reading| {
            other
                .path
                .strip_prefix(&reading.path)
                .is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        matches!(reading.raw.value, Value::Map(_)) && readings.iter().any(below)
    };
    readings
        .iter()
        .filter(|reading| !passed(reading) && known.insert(&reading.path))
        .collect()
}

fn is_expression(node: &Node) -> bool {
    node.value.as_str().is_some_and(|text| text.contains("{{"))
}

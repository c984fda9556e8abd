//! Where each leaf of the values comes from: its layer, file, line and column.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::Value as Json;

use crate::report::Lines;
use yaml_tree::children;
use yaml_tree::merge::Layer;
use yaml_tree::place::{Place, Sources};
use yaml_tree::value::Node;

use super::path::ValuePath;
use super::{Leaf, Origin};

/// Finds origins.
pub(super) struct Origins<'a> {
    sources: &'a Sources,
    layers: HashMap<Place, usize>,
    lines: RefCell<Lines>,
}

impl<'a> Origins<'a> {
    pub(super) fn new(sources: &'a Sources, layers: &[Layer]) -> Self {
        let mut known = HashMap::new();
        for (index, layer) in layers.iter().enumerate() {
            number(&layer.tree, index + 1, &mut known);
        }
        Self {
            sources,
            layers: known,
            lines: RefCell::default(),
        }
    }

    pub(super) fn find(&self, place: Place) -> Option<Origin> {
        let spot = self.sources.resolve(place)?;
        let (line, column) = self.lines.borrow_mut().line_column(&spot);
        Some(Origin {
            file: spot.source.path.to_string(),
            line,
            column,
            layer: self.layers.get(&place).copied(),
        })
    }

    /// The leaves below a path: scalars, and lists and maps with nothing in them.
    pub(super) fn leaves(&self, node: &Node, path: &ValuePath) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect(node, path, &mut leaves);
        leaves
    }

    fn collect(&self, node: &Node, path: &ValuePath, leaves: &mut Vec<Leaf>) {
        let mut below = children(node).peekable();
        if below.peek().is_none() {
            leaves.push(Leaf {
                path: path.to_string(),
                value: Json::from(&node.value),
                origin: self.find(node.place),
            });
        }
        for (step, child) in below {
            self.collect(child, &path.then(step), leaves);
        }
    }
}

fn number(node: &Node, layer: usize, known: &mut HashMap<Place, usize>) {
    known.insert(node.place, layer);
    node.children()
        .for_each(|child| number(child, layer, known));
}

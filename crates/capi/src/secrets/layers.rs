//! Secrets that layers of values make together: one says `kind: Secret`, another one has the data. What one file has by itself is
//! sealed when it is read.

use std::collections::BTreeMap;

use yaml_tree::merge::Layer;
use yaml_tree::place::{Place, Sources};
use yaml_tree::value::{Node, Value};

use super::seals::{Holder, Seals};

/// The maps of layers that hold secrets, by the keys to them. A list replaces another one, so that no layer adds to it.
#[derive(Clone, Default)]
pub struct Holders(BTreeMap<Vec<String>, Holder>);

impl Holders {
    /// Adds those of a layer.
    pub fn add(&mut self, layer: &Node) {
        self.add_below(layer, &mut Vec::new());
    }

    fn add_below<'n>(&mut self, node: &'n Node, keys: &mut Vec<&'n str>) {
        let Value::Map(map) = &node.value else {
            return;
        };
        let holder = Holder::default().merge(Holder::new(node));
        if holder != Holder::default() {
            let keys = keys.iter().copied().map(str::to_owned).collect();
            let known = self.0.entry(keys).or_default();
            *known = known.merge(holder);
        }
        for entry in map.iter() {
            keys.push(&entry.key);
            self.add_below(&entry.node, keys);
            keys.pop();
        }
    }

    /// Puts labels in place of what is secret in these layers because of another one, whose lines are not shown any more. Returns
    /// whether there is any.
    pub fn seal(&self, layers: &mut [Layer], sources: &mut Sources) -> bool {
        let mut sealed = Vec::new();
        for layer in layers {
            for (keys, holder) in &self.0 {
                let path: Vec<&str> = keys.iter().map(|key| &**key).collect();
                let Some(node) = layer.tree.get_mut(&path) else {
                    continue;
                };
                if Holder::default().merge(Holder::new(node)) != *holder {
                    let source = sources.get(node.place.file);
                    let file = source.map_or("", |source| &source.path);
                    Seals::for_text(file, "").replace_secrets(*holder, node, &keys.join("."));
                    add_places(node, &mut sealed);
                }
            }
        }
        let is_any = !sealed.is_empty();
        sources.hide(sealed);
        is_any
    }
}

/// Adds where a node and all below it are written.
fn add_places(node: &Node, places: &mut Vec<Place>) {
    places.push(node.place);
    node.children().for_each(|below| add_places(below, places));
}

//! Values layers, one over the other, as Helm composes them.
//!
//! Maps merge deeply, anything else is replaced. A `null` of a `-f` layer stays null until the chart's own values are laid
//! underneath: there it removes the key. Branches that a layer does not touch are shared, not copied.

use std::sync::Arc;

use super::engine::Engine;
use super::place::Place;
use super::value::{Entry, Map, Node, Value, key_order};

/// One values layer.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Its values.
    pub tree: Node,
    /// Whose they are.
    pub kind: LayerKind,
}

/// Whose values a layer holds, which decides what its nulls do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// The chart's own defaults: `values.yaml` in the chart, and Flux's `valuesFiles`.
    Chart,
    /// A user's: `-f`, `valuesFrom`, `values`.
    Override,
}

/// All layers in one tree.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The values.
    pub tree: Node,
    /// Where a user's layer and the chart disagree about what is a map. Helm prints a warning.
    pub conflicts: Vec<Conflict>,
}

/// A key that is a map in the chart and something else in a user's layer, or the other way round. The user's value remains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The keys that lead there.
    pub path: Vec<Arc<str>>,
    /// The chart's value.
    pub chart: Place,
    /// The user's value.
    pub user: Place,
    /// Which of the two is the map.
    pub map: LayerKind,
}

/// All layers, lowest first: the chart's among themselves, the user's among themselves, then the user's over the chart's.
pub fn layers<'l>(layers: impl IntoIterator<Item = &'l Layer>, engine: Engine) -> Merged {
    let (chart, user) = sides(layers);
    coalesce(&chart, &user, engine)
}

/// The chart's layers among themselves, and the user's among themselves.
pub fn sides<'l>(layers: impl IntoIterator<Item = &'l Layer>) -> (Node, Node) {
    let empty = Node::from_value(Value::empty_map());
    let (mut chart, mut user) = (empty.clone(), empty);
    for layer in layers {
        let side = match layer.kind {
            LayerKind::Chart => &mut chart,
            LayerKind::Override => &mut user,
        };
        *side = merge(side, &layer.tree);
    }
    (chart, user)
}

/// `over` on `base`: Helm's MergeMaps, used for `-f` after `-f`. A null replaces and stays.
pub fn merge(base: &Node, over: &Node) -> Node {
    let (Value::Map(lower), Value::Map(upper)) = (&base.value, &over.value) else {
        return over.clone();
    };
    if upper.is_empty() || Arc::ptr_eq(lower, upper) {
        return base.clone();
    }
    if lower.is_empty() {
        return over.clone();
    }
    let mut entries = Vec::with_capacity(lower.len() + upper.len());
    for pair in align(lower, upper) {
        entries.push(match pair {
            Aligned::Lower(entry) | Aligned::Upper(entry) => entry.clone(),
            Aligned::Both(below, above) => Entry {
                node: merge(&below.node, &above.node),
                ..above.clone()
            },
        });
    }
    map_at(entries, over.place)
}

/// The user's values over the chart's own: a null removes the chart's value and itself.
pub fn coalesce(chart: &Node, user: &Node, engine: Engine) -> Merged {
    let mut coalescing = Coalescing {
        engine,
        path: Vec::new(),
        conflicts: Vec::new(),
    };
    let tree = match (&chart.value, &user.value) {
        (Value::Map(lower), Value::Map(upper)) => coalescing.maps(lower, upper, chart, user),
        (Value::Map(_), Value::Null) => chart.clone(),
        _ => user.clone(),
    };
    Merged {
        tree,
        conflicts: coalescing.conflicts,
    }
}

struct Coalescing {
    engine: Engine,
    path: Vec<Arc<str>>,
    conflicts: Vec<Conflict>,
}

impl Coalescing {
    fn maps(&mut self, lower: &Arc<Map>, upper: &Arc<Map>, chart: &Node, user: &Node) -> Node {
        if upper.is_empty() {
            return chart.clone();
        }
        if lower.is_empty() {
            return user.clone();
        }
        let mut entries = Vec::with_capacity(lower.len() + upper.len());
        for pair in align(lower, upper) {
            match pair {
                Aligned::Lower(entry) | Aligned::Upper(entry) => entries.push(entry.clone()),
                Aligned::Both(below, above) => {
                    self.path.push(Arc::clone(&above.key));
                    let node = self.both(&below.node, &above.node);
                    self.path.pop();
                    entries.extend(node.map(|node| Entry {
                        node,
                        ..above.clone()
                    }));
                }
            }
        }
        map_at(entries, user.place)
    }

    /// What becomes of a key that both have; none if it is removed.
    fn both(&mut self, chart: &Node, user: &Node) -> Option<Node> {
        match (&chart.value, &user.value) {
            (Value::Map(lower), Value::Map(upper)) => Some(self.maps(lower, upper, chart, user)),
            // Helm 4 keeps a null over a null, except at the top.
            (Value::Null, Value::Null) if self.engine == Engine::Helm4 && self.path.len() > 1 => {
                Some(user.clone())
            }
            (_, Value::Null) => None,
            (Value::Null, _) => Some(user.clone()),
            (Value::Map(_), _) => {
                // Helm is silent about this one at the top.
                if self.path.len() > 1 {
                    self.conflict(chart, user, LayerKind::Chart);
                }
                Some(user.clone())
            }
            (_, Value::Map(_)) => {
                self.conflict(chart, user, LayerKind::Override);
                Some(user.clone())
            }
            _ => Some(user.clone()),
        }
    }

    fn conflict(&mut self, chart: &Node, user: &Node, map: LayerKind) {
        self.conflicts.push(Conflict {
            path: self.path.clone(),
            chart: chart.place,
            user: user.place,
            map,
        });
    }
}

fn map_at(entries: Vec<Entry>, place: Place) -> Node {
    Node {
        value: Value::Map(Arc::new(entries.into_iter().collect())),
        place,
    }
}

/// One key of two maps.
enum Aligned<'m> {
    Lower(&'m Entry),
    Upper(&'m Entry),
    Both(&'m Entry, &'m Entry),
}

/// The keys of two maps, in order.
fn align<'m>(lower: &'m Map, upper: &'m Map) -> impl Iterator<Item = Aligned<'m>> {
    let mut lower = lower.iter().peekable();
    let mut upper = upper.iter().peekable();
    std::iter::from_fn(move || {
        let order = match (lower.peek(), upper.peek()) {
            (Some(below), Some(above)) => key_order(&below.key, &above.key),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return None,
        };
        match order {
            std::cmp::Ordering::Less => lower.next().map(Aligned::Lower),
            std::cmp::Ordering::Greater => upper.next().map(Aligned::Upper),
            std::cmp::Ordering::Equal => Some(Aligned::Both(lower.next()?, upper.next()?)),
        }
    })
}

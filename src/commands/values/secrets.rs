//! What must not be printed: what a secrets file says, and what expressions made of it.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::evaluate::{Evaluator, Reading};
use crate::model::place::{Place, Sources};
use crate::model::value::{Entry, Map, Node, Value};

/// Tells secrets from other values.
///
/// An expression's result is a secret when it read one, itself or through other expressions, whatever it made of it: the
/// evaluator notes what is read, so no text is searched.
pub(super) struct Secrets<'a> {
    sources: &'a Sources,
    evaluator: &'a Evaluator,
    /// The scalars and keys of the merged values: what an evaluated tree has otherwise was computed.
    written: HashMap<Place, Value>,
    derived: RefCell<HashMap<Place, bool>>,
}

impl<'a> Secrets<'a> {
    pub(super) fn new(tree: &Node, sources: &'a Sources, evaluator: &'a Evaluator) -> Self {
        let mut written = HashMap::new();
        learn(tree, &mut written);
        Self {
            sources,
            evaluator,
            written,
            derived: RefCell::default(),
        }
    }

    /// A tree of evaluated values without its secrets: each is replaced by a word that says where it stands.
    pub(super) fn hidden(&self, node: &Node) -> Node {
        let value = match &node.value {
            Value::Map(_) | Value::List(_) if self.reads_secret(node.place) => {
                return self.instead(node.place);
            }
            Value::Map(map) => {
                let entries = map.iter().map(|entry| self.hidden_entry(entry));
                entries.collect::<Map>().into()
            }
            Value::List(items) => {
                let items = items.iter().map(|item| self.hidden(item));
                items.collect::<Vec<_>>().into()
            }
            Value::Null => Value::Null,
            scalar if self.is_secret(node.place, scalar) => return self.instead(node.place),
            scalar => scalar.clone(),
        };
        Node {
            value,
            place: node.place,
        }
    }

    fn hidden_entry(&self, entry: &Entry) -> Entry {
        let key = Value::String(entry.key.clone());
        let is_computed = self.written.get(&entry.key_place) != Some(&key);
        Entry {
            // Names are no secrets, unless they were made of one.
            key: match is_computed && self.is_made_of_secret(entry.key_place, &key) {
                true => self.word(entry.key_place).into(),
                false => entry.key.clone(),
            },
            key_place: entry.key_place,
            node: self.hidden(&entry.node),
        }
    }

    /// A tree as the files have it, without what stands in secrets files.
    pub(super) fn hidden_raw(&self, node: &Node) -> Node {
        let value = match &node.value {
            Value::Map(map) => {
                let entries = map.iter().map(|entry| Entry {
                    node: self.hidden_raw(&entry.node),
                    ..entry.clone()
                });
                entries.collect::<Map>().into()
            }
            Value::List(items) => {
                let items = items.iter().map(|item| self.hidden_raw(item));
                items.collect::<Vec<_>>().into()
            }
            Value::Null => Value::Null,
            _ if self.sources.is_secret(node.place) => return self.instead(node.place),
            scalar => scalar.clone(),
        };
        Node {
            value,
            place: node.place,
        }
    }

    /// Whether the expression at a place stands in a secrets file or read a secret: then its message may hold one.
    pub(super) fn may_tell(&self, place: Place) -> bool {
        self.sources.is_secret(place) || self.reads_secret(place)
    }

    /// Whether an evaluated scalar is a secret.
    fn is_secret(&self, place: Place, value: &Value) -> bool {
        self.sources.is_secret(place) || self.is_made_of_secret(place, value)
    }

    /// Whether a scalar or key is what an expression made of a secret.
    fn is_made_of_secret(&self, place: Place, value: &Value) -> bool {
        if self.reads_secret(place) {
            return true;
        }
        // What was computed by no known expression may be made of all that such expressions read.
        let is_known = self.evaluator.readings(place).is_some();
        !is_known
            && self.written.get(&place) != Some(value)
            && self.hold_secret(&self.evaluator.other_readings())
    }

    /// Whether the expression at a place read a secret.
    fn reads_secret(&self, place: Place) -> bool {
        if let Some(known) = self.derived.borrow().get(&place) {
            return *known;
        }
        // Values that need themselves read nothing more the second time.
        self.derived.borrow_mut().insert(place, false);
        let readings = self.evaluator.readings(place);
        let derived = readings.is_some_and(|readings| self.hold_secret(&readings));
        self.derived.borrow_mut().insert(place, derived);
        derived
    }

    fn hold_secret(&self, readings: &[Reading]) -> bool {
        let mut nodes = readings.iter().map(|reading| &reading.raw);
        nodes.any(|node| self.holds_secret(node))
    }

    /// Of a map, expressions read what they ask for; a list they read whole.
    fn holds_secret(&self, node: &Node) -> bool {
        match &node.value {
            Value::List(items) => items.iter().any(|item| self.holds_secret(item)),
            // A lone key may be `(raw)`, whose text is read with the map.
            Value::Map(map) if map.len() == 1 => map
                .iter()
                .any(|entry| self.sources.is_secret(entry.node.place)),
            Value::Map(_) => false,
            _ => self.may_tell(node.place),
        }
    }

    fn instead(&self, place: Place) -> Node {
        Node {
            value: self.word(place).into(),
            place,
        }
    }

    fn word(&self, place: Place) -> String {
        match self.sources.resolve(place) {
            Some(spot) => format!("<secret: {spot}>"),
            None => "<secret>".to_owned(),
        }
    }
}

fn learn(node: &Node, written: &mut HashMap<Place, Value>) {
    match &node.value {
        Value::Map(map) => {
            for entry in map.iter() {
                written.insert(entry.key_place, Value::String(entry.key.clone()));
                learn(&entry.node, written);
            }
        }
        Value::List(items) => items.iter().for_each(|item| learn(item, written)),
        scalar => {
            written.insert(node.place, scalar.clone());
        }
    }
}

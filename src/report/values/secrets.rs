//! Collects the texts that must not be printed: values of secrets files, and results of expressions that read them.

use std::collections::HashMap;
use std::sync::Arc;

use yaml_tree::place::{Place, Sources};
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::evaluate::Evaluator;

/// Distinguishes secrets from other values; the evaluator knows which expressions read one.
pub(super) struct Secrets<'a> {
    sources: &'a Sources,
    evaluator: &'a Evaluator,
    /// The scalars and keys of the merged values: what an evaluated tree has otherwise was computed.
    written: HashMap<Place, Value>,
}

impl<'a> Secrets<'a> {
    pub(super) fn new(tree: &Node, sources: &'a Sources, evaluator: &'a Evaluator) -> Self {
        let mut written = HashMap::new();
        learn(tree, &mut written);
        Self {
            sources,
            evaluator,
            written,
        }
    }

    /// A tree of evaluated values without its secrets: each is replaced by a word that says where it is.
    pub(super) fn hide(&self, node: &Node) -> Node {
        let value = match &node.value {
            Value::Map(_) | Value::List(_) if self.evaluator.reads_secret(node.place) => {
                return self.instead(node.place);
            }
            Value::Map(map) => {
                let entries = map.iter().map(|entry| self.hide_entry(entry));
                entries.collect::<Map>().into()
            }
            Value::List(items) => {
                let items = items.iter().map(|item| self.hide(item));
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

    fn hide_entry(&self, entry: &Entry) -> Entry {
        let key = Value::String(entry.key.clone());
        let is_computed = self.written.get(&entry.key_place) != Some(&key);
        Entry {
            key: if is_computed && self.is_made_of_secret(entry.key_place, &key) {
                self.word(entry.key_place).into()
            } else {
                self.key(entry)
            },
            key_place: entry.key_place,
            node: self.hide(&entry.node),
        }
    }

    /// A tree as the files have it, without the values of secrets files.
    pub(super) fn hide_raw(&self, node: &Node) -> Node {
        let value = match &node.value {
            Value::Map(map) => {
                let entries = map.iter().map(|entry| Entry {
                    key: self.key(entry),
                    node: self.hide_raw(&entry.node),
                    ..entry.clone()
                });
                entries.collect::<Map>().into()
            }
            Value::List(items) => {
                let items = items.iter().map(|item| self.hide_raw(item));
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

    /// Whether an evaluated scalar is a secret.
    fn is_secret(&self, place: Place, value: &Value) -> bool {
        self.sources.is_secret(place) || self.is_made_of_secret(place, value)
    }

    /// Whether a scalar or key is what an expression made of a secret.
    fn is_made_of_secret(&self, place: Place, value: &Value) -> bool {
        if self.evaluator.reads_secret(place) {
            return true;
        }
        // What was computed by no known expression may be made of all that such expressions read.
        let is_known = self.evaluator.readings(place).is_some();
        !is_known && self.written.get(&place) != Some(value) && self.evaluator.others_read_secret()
    }

    /// A key as it is written, unless files of secrets alone have it and somebody chose it.
    fn key(&self, entry: &Entry) -> Arc<str> {
        let is_secret = self.sources.is_secret(entry.key_place);
        if is_secret && !self.sources.is_public(&entry.key) {
            self.word(entry.key_place).into()
        } else {
            Arc::clone(&entry.key)
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

//! Determines which results of expressions are secrets: those of expressions that read a secret, directly or through other
//! expressions. It depends on what was read and not on the text of the result.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use yaml_tree::place::{Place, Sources};
use yaml_tree::value::{Node, Value as Raw};

use crate::secrets;

use super::trace::{Reading, Trace};
use crate::secrets::known as secret;

/// The secret values of the files, and what is known about expressions.
#[derive(Debug)]
pub(super) struct Guard {
    sources: Sources,
    /// Whether the results of such expressions are registered as secrets.
    pub(super) registers: bool,
    /// What each expression read.
    pub(super) trace: Trace,
    /// Whether the expression at a place read a secret, as known during the evaluation.
    during: RefCell<HashMap<Place, bool>>,
    /// The same after the evaluation, when more readings are known: in exact evaluation, an expression is evaluated before the
    /// ones that its output contains.
    after: RefCell<HashMap<Place, bool>>,
}

impl Guard {
    pub(super) fn new(sources: &Sources, registers: bool) -> Self {
        Self {
            registers,
            trace: Trace::default(),
            sources: sources.clone(),
            during: RefCell::default(),
            after: RefCell::default(),
        }
    }

    /// Registers every value and key of a computed tree as a secret, except public texts, which the tree may contain as well.
    pub(super) fn learn(&self, node: &Node) {
        match &node.value {
            Raw::List(items) => items.iter().for_each(|item| self.learn(item)),
            Raw::Map(map) => {
                for entry in map.iter() {
                    if !self.sources.is_public(&entry.key) {
                        secret::learn(&entry.key);
                    }
                    self.learn(&entry.node);
                }
            }
            Raw::String(text) if self.sources.is_public(text) => {}
            _ => secrets::scalars(node, &mut |_| {}),
        }
    }

    /// Registers a key in a file of secrets as a secret, unless it is public.
    pub(super) fn learn_key(&self, key: &Arc<str>, place: Place) {
        if self.sources.is_secret(place) && !self.sources.is_public(key) {
            secret::learn(key);
        }
    }

    /// Whether a value is a secret, or an expression that has read one by now.
    pub(super) fn is_secret(&self, place: Place) -> bool {
        self.sources.is_secret(place) || self.reads_secret(place, &self.during)
    }

    /// Whether the expression at a place read a secret, after the evaluation.
    pub(super) fn read_secret(&self, place: Place) -> bool {
        self.reads_secret(place, &self.after)
    }

    /// The places of the expressions that read a secret.
    pub(super) fn secret_places(&self) -> HashSet<Place> {
        let known = self.during.borrow();
        let secret = known.iter().filter(|(_, is_secret)| **is_secret);
        secret.map(|(place, _)| *place).collect()
    }

    /// Whether a secret was read outside of any expression with a place.
    pub(super) fn others_read_secret(&self) -> bool {
        self.hold_secret(&self.trace.others(), &self.after)
    }

    /// Whether the expression at a place read a secret. `known` caches the answers.
    fn reads_secret(&self, place: Place, known: &RefCell<HashMap<Place, bool>>) -> bool {
        if let Some(known) = known.borrow().get(&place) {
            return *known;
        }
        let readings = self.trace.readings(place);
        let Some(readings) = readings else {
            return false;
        };
        // A value that depends on itself reads nothing more the second time.
        known.borrow_mut().insert(place, false);
        let is_secret = self.hold_secret(&readings, known);
        known.borrow_mut().insert(place, is_secret);
        is_secret
    }

    fn hold_secret(&self, readings: &[Reading], known: &RefCell<HashMap<Place, bool>>) -> bool {
        let mut nodes = readings.iter().map(|reading| &reading.raw);
        nodes.any(|node| self.holds_secret(node, known))
    }

    /// Whether a read value contains a secret. An expression reads a list as a whole; it reads the entries of a map one by one,
    /// each as a reading of its own.
    fn holds_secret(&self, node: &Node, known: &RefCell<HashMap<Place, bool>>) -> bool {
        match &node.value {
            Raw::List(items) => items.iter().any(|item| self.holds_secret(item, known)),
            // The only entry may be `(raw)`, whose text is read with the map.
            Raw::Map(map) if map.len() == 1 => map
                .iter()
                .any(|entry| self.sources.is_secret(entry.node.place)),
            Raw::Map(_) => false,
            _ => self.sources.is_secret(node.place) || self.reads_secret(node.place, known),
        }
    }
}

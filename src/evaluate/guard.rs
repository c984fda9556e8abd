//! Determines which results of expressions are secrets: those of expressions that read a secret, directly or through other
//! expressions. It depends on what was read and not on the text of the result.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::convert;
use super::failure::Fault;
use super::session::Session;
use super::{Evaluator, Reading};
use crate::helm::Value;
use crate::model::place::{Place, Sources};
use crate::model::secret;
use crate::model::value::{Node, Value as Raw};
use crate::yaml;

/// The secret values of the files, and what is known about expressions.
#[derive(Debug)]
pub(super) struct Guard {
    sources: Sources,
    /// Whether the results of such expressions are registered as secrets.
    registers: bool,
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
            sources: sources.clone(),
            during: RefCell::default(),
            after: RefCell::default(),
        }
    }

    /// Registers every value and key of a computed tree as a secret, except public texts, which the tree may contain as well.
    fn learn(&self, node: &Node) {
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
            _ => yaml::scalars(node, &mut |_| {}),
        }
    }
}

impl Session {
    /// Whether the expression at a place read a secret. `known` caches the answers.
    fn reads_secret(
        &self,
        guard: &Guard,
        place: Place,
        known: &RefCell<HashMap<Place, bool>>,
    ) -> bool {
        if let Some(known) = known.borrow().get(&place) {
            return *known;
        }
        let readings = self.trace.as_ref().and_then(|trace| trace.readings(place));
        let Some(readings) = readings else {
            return false;
        };
        // A value that depends on itself reads nothing more the second time.
        known.borrow_mut().insert(place, false);
        let is_secret = self.hold_secret(guard, &readings, known);
        known.borrow_mut().insert(place, is_secret);
        is_secret
    }

    fn hold_secret(
        &self,
        guard: &Guard,
        readings: &[Reading],
        known: &RefCell<HashMap<Place, bool>>,
    ) -> bool {
        let mut nodes = readings.iter().map(|reading| &reading.raw);
        nodes.any(|node| self.holds_secret(guard, node, known))
    }

    /// Whether a read value contains a secret. An expression reads a list as a whole; it reads the entries of a map one by one,
    /// each as a reading of its own.
    fn holds_secret(
        &self,
        guard: &Guard,
        node: &Node,
        known: &RefCell<HashMap<Place, bool>>,
    ) -> bool {
        match &node.value {
            Raw::List(items) => items
                .iter()
                .any(|item| self.holds_secret(guard, item, known)),
            // The only entry may be `(raw)`, whose text is read with the map.
            Raw::Map(map) if map.len() == 1 => map
                .iter()
                .any(|entry| guard.sources.is_secret(entry.node.place)),
            Raw::Map(_) => false,
            _ => guard.sources.is_secret(node.place) || self.reads_secret(guard, node.place, known),
        }
    }

    /// Registers the result of the expression at a place as a secret, if the expression read one.
    pub(super) fn guard(
        &self,
        place: Place,
        result: Result<Value, Rc<Fault>>,
    ) -> Result<Value, Rc<Fault>> {
        let Some(guard) = &self.guard else {
            return result;
        };
        let is_secret =
            guard.sources.is_secret(place) || self.reads_secret(guard, place, &guard.during);
        if !is_secret {
            return result;
        }
        match result {
            Ok(value) if !guard.registers => Ok(value),
            Ok(value) => {
                let node = convert::node(&value, place, &self.budget);
                guard.learn(&node.map_err(|error| self.fault(error))?);
                Ok(value)
            }
            Err(fault) => Err(fault.without_message()),
        }
    }

    /// Registers a key in a file of secrets as a secret, unless it is public.
    pub(super) fn guard_key(&self, key: &Arc<str>, place: Place) {
        if let Some(guard) = &self.guard
            && guard.sources.is_secret(place)
            && !guard.sources.is_public(key)
        {
            secret::learn(key);
        }
    }
}

impl Evaluator {
    /// Whether the expression at a place of a [guarded](Self::guarded) or [traced](Self::traced) evaluator read a secret.
    pub fn reads_secret(&self, place: Place) -> bool {
        let guard = self.session.guard.as_ref();
        guard.is_some_and(|guard| self.session.reads_secret(guard, place, &guard.after))
    }

    /// The places of the expressions that read a secret.
    pub fn secret_places(&self) -> HashSet<Place> {
        let guard = self.session.guard.as_ref();
        let known = guard.map(|guard| guard.during.borrow());
        let known = known.iter().flat_map(|known| known.iter());
        known
            .filter(|(_, is_secret)| **is_secret)
            .map(|(place, _)| *place)
            .collect()
    }

    /// Whether a secret was read outside of any expression with a place, such as `_internal` in exact evaluation.
    pub fn others_read_secret(&self) -> bool {
        let (guard, trace) = (&self.session.guard, &self.session.trace);
        guard
            .as_ref()
            .zip(trace.as_ref())
            .is_some_and(|(guard, trace)| {
                self.session
                    .hold_secret(guard, &trace.others(), &guard.after)
            })
    }
}

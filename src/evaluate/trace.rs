//! Which values an expression read while it ran: noted only where somebody asked to know.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::convert;
use super::path::Path;
use super::session::Session;
use crate::helm;
use crate::model::place::Place;
use crate::model::value::{Node, Value};

/// A value that an expression read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Its path, as people write it.
    pub path: String,
    /// What the files have there.
    pub raw: Node,
    /// What the expression got, if that was a scalar: of maps, expressions get what they ask for, which is read in turn.
    pub got: Option<Value>,
}

/// The notes of one evaluation.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The readings of the expressions that are running, the innermost last.
    running: RefCell<Vec<Vec<Reading>>>,
    /// By text, and by whether it is below `_internal`: a text is evaluated once.
    by_text: RefCell<HashMap<(Arc<str>, bool), Readings>>,
    /// By the place of the value or key that holds the expression.
    by_place: RefCell<HashMap<Place, Readings>>,
    /// What was read while no expression of the files ran.
    others: RefCell<Vec<Reading>>,
}

/// What one expression read, in order.
type Readings = Rc<Vec<Reading>>;

impl Trace {
    /// An expression starts.
    pub(super) fn open(&self) {
        self.running.borrow_mut().push(Vec::new());
    }

    /// The innermost expression ends. What a text without a path read (the result of an expression that is an expression
    /// again) was read for the one around it.
    pub(super) fn close(&self, text: &Arc<str>, internal: bool, has_path: bool) {
        let fresh = self.running.borrow_mut().pop().unwrap_or_default();
        let mut known = self.by_text.borrow_mut();
        let readings = known.entry((Arc::clone(text), internal)).or_default();
        // A text that was evaluated before reads nothing again.
        if !fresh.is_empty() {
            *readings = Rc::new(fresh);
        }
        if !has_path {
            self.extend(readings);
        }
    }

    /// The expression that was evaluated last stands there.
    pub(super) fn stands_at(&self, text: &Arc<str>, internal: bool, place: Place) {
        let key = (Arc::clone(text), internal);
        if let Some(readings) = self.by_text.borrow().get(&key) {
            let mut by_place = self.by_place.borrow_mut();
            by_place.insert(place, Rc::clone(readings));
        }
    }

    /// A value was read.
    pub(super) fn read(&self, path: &Path, raw: &Node, got: Option<Value>) {
        let reading = Reading {
            path: path.to_string(),
            raw: raw.clone(),
            got,
        };
        self.extend(&[reading]);
    }

    fn extend(&self, readings: &[Reading]) {
        match self.running.borrow_mut().last_mut() {
            Some(running) => running.extend_from_slice(readings),
            None => self.others.borrow_mut().extend_from_slice(readings),
        }
    }

    /// What the expression at a place read; none where none is known to stand there.
    pub(super) fn readings(&self, place: Place) -> Option<Readings> {
        self.by_place.borrow().get(&place).cloned()
    }

    /// What was read for no known expression.
    pub(super) fn others(&self) -> Vec<Reading> {
        self.others.borrow().clone()
    }
}

impl Session {
    /// Notes that an expression reads a value, where that is asked for.
    pub(super) fn note_reading(&self, path: &Path, raw: &Node, got: Option<&helm::Value>) {
        use helm::Value::{List, Map};
        let Some(trace) = &self.trace else { return };
        let got = got.filter(|got| !matches!(got, Map(_) | List(_)));
        let got = got.and_then(|got| convert::node(got, raw.place, &self.budget).ok());
        trace.read(path, raw, got.map(|node| node.value));
    }
}

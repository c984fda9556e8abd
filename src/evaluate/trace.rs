//! Records which values an expression read, for a traced evaluation.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use yaml_tree::place::Place;
use yaml_tree::value::{Node, Value};

use super::path::Path;
use super::text::Expression;

/// A value that was read by an expression.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The path of the value.
    pub path: String,
    /// The value as in the files.
    pub raw: Node,
    /// The result that the expression got, if it is a scalar. The entries of a map are readings of their own.
    pub got: Option<Value>,
}

/// The readings of one evaluation.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The readings of the running expressions, innermost last.
    running: RefCell<Vec<Vec<Reading>>>,
    /// The readings of each expression, which is evaluated once.
    by_expression: RefCell<HashMap<Expression, Readings>>,
    /// The readings by the place of the value or key with the expression.
    by_place: RefCell<HashMap<Place, Readings>>,
}

/// The readings of one expression, in order.
type Readings = Rc<Vec<Reading>>;

impl Trace {
    /// Starts an expression.
    pub(super) fn start(&self) {
        self.running.borrow_mut().push(Vec::new());
    }

    /// Ends the innermost expression. The readings of a text without a path, which is the output of an expression, are also added
    /// to the surrounding expression.
    pub(super) fn finish(&self, expression: &Expression, has_path: bool) {
        let fresh = self.running.borrow_mut().pop().unwrap_or_default();
        let mut known = self.by_expression.borrow_mut();
        let readings = known.entry(expression.clone()).or_default();
        // A text that was evaluated before has no new readings.
        if !fresh.is_empty() {
            *readings = Rc::new(fresh);
        }
        if !has_path {
            self.extend(readings);
        }
    }

    /// Assigns the readings of an expression to its place.
    pub(super) fn assign_place(&self, expression: &Expression, place: Place) {
        if let Some(readings) = self.by_expression.borrow().get(expression) {
            let mut by_place = self.by_place.borrow_mut();
            by_place.insert(place, Rc::clone(readings));
        }
    }

    /// Adds a reading.
    pub(super) fn read(&self, path: &Path, raw: &Node, got: Option<Value>) {
        let reading = Reading {
            path: path.to_string(),
            raw: raw.clone(),
            got,
        };
        self.extend(&[reading]);
    }

    fn extend(&self, readings: &[Reading]) {
        if let Some(running) = self.running.borrow_mut().last_mut() {
            running.extend_from_slice(readings);
        }
    }

    /// The readings of the expression at a place; none if it was not evaluated.
    pub(super) fn readings(&self, place: Place) -> Option<Readings> {
        self.by_place.borrow().get(&place).cloned()
    }
}

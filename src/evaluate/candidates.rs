//! The expressions whose result may depend on the order of evaluation (docs/sylva.md#values-and-their-order).

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use super::text::Expression;
use go_template::Value;
use yaml_tree::place::Place;

/// An expression whose result may depend on the order of evaluation.
#[derive(Clone)]
pub(super) struct OrderCandidate {
    pub(super) path: String,
    pub(super) place: Place,
    pub(super) expression: Expression,
    pub(super) value: Value,
}

/// The candidates of an evaluation, each expression once.
#[derive(Default)]
pub(super) struct OrderLog {
    candidates: RefCell<Vec<OrderCandidate>>,
    known: RefCell<HashSet<Expression>>,
    /// The number of candidates that were returned by [`Self::unreported`].
    reported: Cell<usize>,
    /// Whether maps may contain results of expressions, which are read from there without being recorded.
    holds_evaluated: Cell<bool>,
    /// Whether some of these results may not be strings.
    holds_typed: Cell<bool>,
}

impl OrderLog {
    /// Records an expression.
    pub(super) fn record(&self, candidate: OrderCandidate) {
        if self.known.borrow_mut().insert(candidate.expression.clone()) {
            self.candidates.borrow_mut().push(candidate);
        }
    }

    /// Records that maps may contain this result.
    pub(super) fn note_result(&self, value: &Value) {
        self.holds_evaluated.set(true);
        if !matches!(value, Value::String(_)) {
            self.holds_typed.set(true);
        }
    }

    /// Whether an expression may have read a result out of a map; one that only prints gets the same text of a string.
    pub(super) fn may_be_read(&self, only_prints: bool) -> bool {
        match only_prints {
            true => self.holds_typed.get(),
            false => self.holds_evaluated.get(),
        }
    }

    /// The candidates since the last call.
    pub(super) fn unreported(&self) -> Vec<OrderCandidate> {
        let candidates = self.candidates.borrow();
        let reported = self.reported.replace(candidates.len());
        candidates[reported..].to_vec()
    }
}

//! Finds expressions with a different result in Helm, which evaluates in another order (docs/sylva.md#values-and-their-order).

use std::collections::HashSet;

use go_template::{Error, Value};
use yaml_tree::place::Place;
use yaml_tree::value::Node;

use super::convert;
use super::text::Expression;

/// An expression whose result in Helm differs.
#[derive(Clone, Debug)]
pub struct OrderDifference {
    /// The path of the value, or of the map if the expression is a key.
    pub path: String,
    /// The span of the value or key.
    pub place: Place,
    /// The result of lazy evaluation.
    pub lazy: Node,
    /// The result in Helm: a value, or the message with which it fails.
    pub exact: Result<Node, String>,
}

/// An expression whose result may depend on the order of evaluation.
#[derive(Clone)]
pub(super) struct OrderCandidate {
    pub(super) path: String,
    pub(super) place: Place,
    pub(super) expression: Expression,
    pub(super) value: Value,
}

impl OrderCandidate {
    /// How its result in exact evaluation differs, if it does.
    pub(super) fn difference(&self, exact: Result<Value, Error>) -> Option<OrderDifference> {
        if let Ok(value) = &exact
            && convert::same(value, &self.value).is_ok_and(|same| same)
        {
            return None;
        }
        let node = |value: &Value| convert::node(value, self.place);
        Some(OrderDifference {
            path: self.path.clone(),
            place: self.place,
            lazy: node(&self.value).ok()?,
            exact: exact
                .and_then(|value| node(&value))
                .map_err(|error| error.message),
        })
    }
}

/// The candidates of an evaluation, each expression once.
#[derive(Default)]
pub(super) struct OrderLog {
    candidates: Vec<OrderCandidate>,
    known: HashSet<Expression>,
    /// The number of candidates that were returned by [`Self::take_candidates`].
    reported: usize,
    /// Whether maps may contain results of expressions, which are read from there without being recorded.
    holds_evaluated: bool,
    /// Whether some of these results may not be strings.
    holds_typed: bool,
}

impl OrderLog {
    /// Records an expression.
    pub(super) fn record(&mut self, candidate: OrderCandidate) {
        if self.known.insert(candidate.expression.clone()) {
            self.candidates.push(candidate);
        }
    }

    /// Records that maps may contain this result.
    pub(super) fn note_result(&mut self, value: &Value) {
        self.holds_evaluated = true;
        self.holds_typed |= !matches!(value, Value::String(_));
    }

    /// Whether an expression may have read a result out of a map; one that only prints gets the same text of a string.
    pub(super) fn may_be_read(&self, only_prints: bool) -> bool {
        if only_prints {
            self.holds_typed
        } else {
            self.holds_evaluated
        }
    }

    /// The candidates since the last call.
    pub(super) fn take_candidates(&mut self) -> Vec<OrderCandidate> {
        let reported = std::mem::replace(&mut self.reported, self.candidates.len());
        self.candidates[reported..].to_vec()
    }
}

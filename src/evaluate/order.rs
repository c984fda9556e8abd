//! Finds expressions with a different result in Helm, which evaluates in another order (docs/sylva.md#values-and-their-order).

use super::candidates::OrderCandidate;
use super::convert;
use super::session::{Session, TextFault};
use super::{Evaluation, Evaluator};
use go_template::{Error, Value};
use yaml_tree::place::Place;
use yaml_tree::value::Node;

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

impl Evaluator {
    /// The expressions executed since the last call whose result in Helm differs, in the order of execution.
    ///
    /// Without an expression that does more than print another expression's result, this costs nothing.
    pub fn order_differences(&self) -> Vec<OrderDifference> {
        let candidates = self.session.order.unreported();
        if candidates.is_empty() || self.session.is_exact() {
            return Vec::new();
        }
        let exact = self.exact();
        candidates
            .iter()
            .filter_map(|candidate| difference(&exact.session, candidate))
            .collect()
    }

    fn exact(&self) -> Evaluator {
        let mut options = self.session.options.clone();
        options.evaluation = Evaluation::Exact;
        Evaluator {
            session: self.session.exact(&options),
        }
    }
}

fn difference(exact: &Session, candidate: &OrderCandidate) -> Option<OrderDifference> {
    let result = exact
        .text(&candidate.expression, None)
        .map(|done| done.value)
        .map_err(|TextFault { fault, .. }| Error::new(fault.class, fault.message.clone()));
    if let Ok(value) = &result
        && convert::same(value, &candidate.value, &exact.budget).is_ok_and(|same| same)
    {
        return None;
    }
    let node = |value: &Value| convert::node(value, candidate.place, &exact.budget);
    Some(OrderDifference {
        path: candidate.path.clone(),
        place: candidate.place,
        lazy: node(&candidate.value).ok()?,
        exact: result
            .and_then(|value| node(&value))
            .map_err(|error| error.message),
    })
}

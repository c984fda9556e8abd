//! Where Helm would come to something else, because it evaluates in another order (docs/sylva.md#values-and-their-order).

use super::convert;
use super::session::{Session, Suspect};
use super::{Evaluation, Evaluator};
use crate::helm::{Error, Value};
use crate::model::place::Place;
use crate::model::value::Node;

/// An expression that comes to one thing here and to another in Helm.
#[derive(Clone, Debug)]
pub struct OrderDifference {
    /// The path of the value, or of the map whose key it is.
    pub path: String,
    /// Where the value or key stands.
    pub place: Place,
    /// What it comes to here.
    pub lazy: Node,
    /// What Helm makes of it: a value, or the message that it stops with.
    pub exact: Result<Node, String>,
}

impl Evaluator {
    /// The expressions run since this was last asked that Helm would come to something else with, in the order they were
    /// run.
    ///
    /// Costs nothing where no expression used another one's value as more than printed text.
    pub fn order_differences(&self) -> Vec<OrderDifference> {
        let suspects = self.session.new_suspects();
        if suspects.is_empty() || self.session.is_exact() {
            return Vec::new();
        }
        let exact = self.exact();
        suspects
            .iter()
            .filter_map(|suspect| difference(&exact.session, suspect))
            .collect()
    }

    fn exact(&self) -> Evaluator {
        let mut options = self.session.options.clone();
        options.evaluation = Evaluation::Exact;
        Evaluator {
            session: self.session.by_name(&options),
        }
    }
}

fn difference(exact: &Session, suspect: &Suspect) -> Option<OrderDifference> {
    let result = exact
        .text(&suspect.text, suspect.internal, None)
        .map(|done| done.value)
        .map_err(|(fault, _)| Error::new(fault.class, fault.message.clone()));
    if let Ok(value) = &result
        && convert::same(value, &suspect.value, &exact.budget).is_ok_and(|same| same)
    {
        return None;
    }
    let node = |value: &Value| convert::node(value, suspect.place, &exact.budget);
    Some(OrderDifference {
        path: suspect.path.clone(),
        place: suspect.place,
        lazy: node(&suspect.value).ok()?,
        exact: result
            .and_then(|value| node(&value))
            .map_err(|error| error.message),
    })
}

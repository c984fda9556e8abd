//! Where Helm would come to something else, because it evaluates in another order (T13).

use super::convert;
use super::session::{Session, Suspect};
use super::{Evaluation, Evaluator, Failure};
use crate::gotemplate::{Error, Value};
use crate::model::place::Place;
use crate::model::value::{self as tree, Node};

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
    /// Whether Helm would come to something else at a path.
    ///
    /// Costs nothing where no expression evaluated so far used another one's value as more than printed text.
    ///
    /// # Errors
    /// As [`Evaluator::get`].
    pub fn differs_from_exact(&self, path: &[&str]) -> Result<Option<OrderDifference>, Failure> {
        let Some(branch) = self.branch(path)? else {
            return Ok(None);
        };
        let lazy = branch.node()?;
        if !self.session.has_suspects() {
            return Ok(None);
        }
        let exact = self.exact().get(path);
        let same = match (&exact, &lazy) {
            (Ok(Some(exact)), Some(lazy)) => same(exact, lazy),
            (Ok(None), None) => true,
            _ => false,
        };
        Ok((!same).then(|| OrderDifference {
            path: branch.path(),
            place: branch.place(),
            lazy: lazy.unwrap_or(Node::computed(tree::Value::Null)),
            exact: exact
                .map(|node| node.unwrap_or(Node::computed(tree::Value::Null)))
                .map_err(|failure| failure.message),
        }))
    }

    /// The expressions run since this was last asked that Helm would come to something else with, in the order they were
    /// run.
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

/// Whether two trees say the same, wherever they stand.
fn same(left: &Node, right: &Node) -> bool {
    match (&left.value, &right.value) {
        (tree::Value::List(left), tree::Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(a, b)| same(a, b))
        }
        (tree::Value::Map(left), tree::Value::Map(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|(a, b)| a.key == b.key && same(&a.node, &b.node))
        }
        (left, right) => left == right,
    }
}

//! Kubernetes label selectors, as far as they can be decided without a cluster.
//!
//! Source: `metav1.LabelSelector`; Metal3's `hostSelector` writes the operators in lower case and has more of them
//! (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors>).

use std::collections::BTreeMap;
use std::sync::Arc;

use yaml_tree::value::{Map, Node, Value};

/// The labels of an object.
pub type Labels = BTreeMap<Arc<str>, Arc<str>>;

/// What an object's labels must be: every term holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    key: Arc<str>,
    test: Test,
}

/// What a label must be; values are sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Test {
    In(Vec<Arc<str>>),
    NotIn(Vec<Arc<str>>),
    Exists,
    DoesNotExist,
}

impl LabelSelector {
    /// Reads a map with `matchLabels` and `matchExpressions`. `None` if a part of it is not understood: half a selector must not
    /// decide. An empty map selects everything.
    pub fn read(node: &Node) -> Option<Self> {
        let map = match &node.value {
            Value::Null => return Some(Self::default()),
            Value::Map(map) => map,
            _ => return None,
        };
        let mut terms = Vec::new();
        for entry in map.iter() {
            match &*entry.key {
                "matchLabels" => terms.extend(equalities(&entry.node)?),
                "matchExpressions" => terms.extend(expressions(&entry.node)?),
                _ => return None,
            }
        }
        terms.sort();
        terms.dedup();
        Some(Self { terms })
    }

    /// Whether labels are selected. A label that is not there is in no list, as in Kubernetes.
    pub fn matches(&self, labels: &Labels) -> bool {
        let holds = |term: &Term| {
            let value = labels.get(&term.key);
            match &term.test {
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Test::Exists => value.is_some(),
                Test::DoesNotExist => value.is_none(),
            }
        };
        self.terms.iter().all(holds)
    }

    /// Whether it certainly selects no more than the other one: it has all the other's terms.
    pub fn is_within(&self, other: &Self) -> bool {
        other.terms.iter().all(|term| self.terms.contains(term))
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// `matchLabels`: each label has that value.
fn equalities(node: &Node) -> Option<Vec<Term>> {
    let map = match &node.value {
        Value::Null => return Some(Vec::new()),
        value => value.as_map()?,
    };
    let equality = |entry: &yaml_tree::value::Entry| {
        let value = entry.node.value.as_str()?;
        Some(Term {
            key: Arc::clone(&entry.key),
            test: Test::In(vec![Arc::clone(value)]),
        })
    };
    map.iter().map(equality).collect()
}

fn expressions(node: &Node) -> Option<Vec<Term>> {
    let items = match &node.value {
        Value::Null => return Some(Vec::new()),
        value => value.as_list()?,
    };
    let expression = |item: &Node| expression(item.value.as_map()?);
    items.iter().map(expression).collect()
}

fn expression(map: &Map) -> Option<Term> {
    let text = |key: &str| map.get(key)?.value.as_str().cloned();
    let mut values: Vec<Arc<str>> = match map.get("values").map(|node| &node.value) {
        None | Some(Value::Null) => Vec::new(),
        Some(value) => {
            let values = value.as_list()?.iter();
            values
                .map(|value| value.value.as_str().cloned())
                .collect::<Option<_>>()?
        }
    };
    values.sort();
    let test = match (&*text("operator")?.to_ascii_lowercase(), values.len()) {
        ("in", 1..) | ("=" | "==", 1) => Test::In(values),
        ("notin", 1..) | ("!=", 1) => Test::NotIn(values),
        ("exists", 0) => Test::Exists,
        ("doesnotexist" | "!", 0) => Test::DoesNotExist,
        _ => return None,
    };
    Some(Term {
        key: text("key")?,
        test,
    })
}

#[cfg(test)]
mod tests {
    use super::{LabelSelector, Labels};
    use yaml_tree::value::{Node, Value};

    fn selector(json: serde_json::Value) -> Option<LabelSelector> {
        LabelSelector::read(&Node::from_value(Value::from(json)))
    }

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        let pairs = pairs.iter();
        pairs.map(|(k, v)| ((*k).into(), (*v).into())).collect()
    }

    #[test]
    fn every_term_must_hold() {
        let found = selector(serde_json::json!({
            "matchLabels": {"role": "cp"},
            "matchExpressions": [
                {"key": "zone", "operator": "In", "values": ["a", "b"]},
                {"key": "old", "operator": "DoesNotExist"},
                {"key": "rack", "operator": "notin", "values": ["7"]},
            ],
        }));
        let found = found.expect("understood");
        assert!(found.matches(&labels(&[("role", "cp"), ("zone", "b"), ("x", "y")])));
        assert!(!found.matches(&labels(&[("role", "cp")])));
        assert!(!found.matches(&labels(&[("role", "cp"), ("zone", "a"), ("old", "")])));
        assert!(!found.matches(&labels(&[("role", "cp"), ("zone", "a"), ("rack", "7")])));
    }

    #[test]
    fn nothing_selects_everything_and_what_is_not_understood_decides_nothing() {
        let all = selector(serde_json::json!({})).expect("understood");
        assert!(all.is_empty() && all.matches(&labels(&[])));
        assert!(selector(serde_json::json!({"matchFields": {}})).is_none());
        let greater = serde_json::json!({"matchExpressions": [{"key": "a", "operator": "gt", "values": ["1"]}]});
        assert!(selector(greater).is_none());
        assert!(selector(serde_json::json!({"matchLabels": {"a": 1}})).is_none());
    }

    #[test]
    fn more_terms_select_no_more() {
        let read = |json| selector(json).expect("understood");
        let narrow = read(serde_json::json!({"matchLabels": {"role": "cp", "zone": "a"}}));
        let wide = read(serde_json::json!({"matchLabels": {"role": "cp"}}));
        assert!(narrow.is_within(&wide) && !wide.is_within(&narrow));
        assert!(wide.is_within(&LabelSelector::default()));
    }
}

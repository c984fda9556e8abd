//! What templates get instead of secrets: what they make of one cannot be distinguished from their other output.

use yaml_tree::place::Sources;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::super::chart_files::HIDDEN;

/// These values with `hidden` for each text and number that is secret.
pub(super) fn hide(node: &Node, sources: &Sources) -> Node {
    if sources.has_secrets() {
        hide_in_tree(node, sources)
    } else {
        node.clone()
    }
}

fn hide_in_tree(node: &Node, sources: &Sources) -> Node {
    let value = match &node.value {
        Value::Map(map) => {
            let entry = |entry: &Entry| Entry {
                node: hide_in_tree(&entry.node, sources),
                ..entry.clone()
            };
            Value::from(map.iter().map(entry).collect::<Map>())
        }
        Value::List(items) => {
            let items = items.iter().map(|item| hide_in_tree(item, sources));
            Value::from(items.collect::<Vec<Node>>())
        }
        Value::String(_) | Value::Number(_) if sources.is_secret(node.place) => Value::from(HIDDEN),
        other => other.clone(),
    };
    Node {
        value,
        place: node.place,
    }
}

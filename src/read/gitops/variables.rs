//! Variables in manifests, as Flux and clusterctl fill them in: `${NAME}`, `${NAME:=default}`, `${NAME#v}`.

use std::sync::Arc;

use yaml_tree::value::{Node, Number, Value};

use super::envsubst::{Variables, fill};

/// The same object with its variables filled in; none if nothing changes. One that is marked is left as it is
/// (<https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution>).
pub(in crate::read) fn substitute(object: &Node, variables: &Variables) -> Option<Node> {
    let mark = |field| object.text(&["metadata", field, SUBSTITUTE]);
    let is_left = ["labels", "annotations"]
        .map(mark)
        .contains(&Some("disabled"));
    if is_left {
        return None;
    }
    substitute_tree(object, variables)
}

const SUBSTITUTE: &str = "kustomize.toolkit.fluxcd.io/substitute";

fn substitute_tree(node: &Node, variables: &Variables) -> Option<Node> {
    let (value, place) = match &node.value {
        Value::String(text) => {
            let filled = fill(text, variables)?;
            let set_at = filled.place.is_known();
            let place = if set_at { filled.place } else { node.place };
            (infer_type(filled.value), place)
        }
        Value::List(items) => {
            let filled: Vec<Option<Node>> = { items.iter() }
                .map(|item| substitute_tree(item, variables))
                .collect();
            if filled.iter().all(Option::is_none) {
                return None;
            }
            let items = filled.into_iter().zip(&**items);
            let items: Vec<Node> = items
                .map(|(new, old)| new.unwrap_or_else(|| old.clone()))
                .collect();
            (Value::from(items), node.place)
        }
        Value::Map(map) => {
            let mut changed = None;
            for entry in &**map {
                if let Some(node) = substitute_tree(&entry.node, variables) {
                    let map = changed.get_or_insert_with(|| Arc::clone(map));
                    Arc::make_mut(map).insert(entry.with_node(node));
                }
            }
            (Value::Map(changed?), node.place)
        }
        _ => return None,
    };
    Some(Node { value, place })
}

/// A whole number where the text is one, as reading the filled-in YAML again gives.
fn infer_type(text: String) -> Value {
    match text.parse::<i64>() {
        Ok(number) if number.to_string() == text => Value::Number(Number::Int(number)),
        _ => Value::from(text),
    }
}

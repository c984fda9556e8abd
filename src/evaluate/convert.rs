//! Between values trees, what expressions compute with, and JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::gotemplate::{self, Budget, Error, ErrorClass, Value};
use crate::model::json::{Html, to_json};
use crate::model::place::Place;
use crate::model::value::{self as tree, Entry, Node, Number};

/// How deeply lists and maps may be nested in one another. YAML's own reader and JSON's stop earlier or near it.
pub(super) const DEEPEST: u32 = 500;

/// A scalar as expressions see it; none for lists and maps.
pub(super) fn scalar(value: &tree::Value) -> Option<Value> {
    Some(match value {
        tree::Value::Null => Value::Nil,
        tree::Value::Bool(flag) => Value::Bool(*flag),
        tree::Value::Number(Number::Int(number)) => Value::Int64(*number),
        tree::Value::Number(Number::Float(number)) => Value::Float(*number),
        tree::Value::String(text) => Value::String(Arc::clone(text)),
        tree::Value::List(_) | tree::Value::Map(_) => return None,
    })
}

/// What a node costs of the budget's bytes: about what it takes in memory.
const NODE: usize = 64;

/// A computed value as part of a values tree; all of it stands where its expression stands.
///
/// # Errors
/// Nested too deeply, as a map that holds itself is, or larger than the budget allows.
pub(super) fn node(value: &Value, place: Place, budget: &Budget) -> Result<Node, Error> {
    node_at(value, place, budget, 0)
}

fn node_at(value: &Value, place: Place, budget: &Budget, depth: u32) -> Result<Node, Error> {
    if depth > DEEPEST {
        return Err(too_deep());
    }
    budget.charge(NODE)?;
    let value = match value {
        Value::Nil => tree::Value::Null,
        Value::Bool(flag) => tree::Value::Bool(*flag),
        Value::Int(number) | Value::Int64(number) => float(*number as f64),
        Value::Uint8(number) => float(f64::from(*number)),
        Value::Uint64(number) => float(*number as f64),
        Value::Float(number) => float(*number),
        Value::String(text) => tree::Value::String(Arc::clone(text)),
        Value::List(list) => {
            let items: Result<Vec<Node>, Error> = list
                .items
                .iter()
                .map(|item| node_at(item, place, budget, depth + 1))
                .collect();
            items?.into()
        }
        Value::Map(map) => {
            let mut entries = Vec::new();
            for (key, item) in map.entries()? {
                entries.push(Entry {
                    key,
                    key_place: place,
                    node: node_at(&item, place, budget, depth + 1)?,
                });
            }
            entries.into_iter().collect::<tree::Map>().into()
        }
        Value::Object(object) => return node_at(&object.plain(), place, budget, depth + 1),
    };
    Ok(Node { value, place })
}

/// A computed value as Go's JSON.
pub(super) fn json(value: &Value, budget: &Budget) -> Result<String, Error> {
    let node = node(value, Place::NONE, budget)?;
    let text = to_json(&node.value, Html::Escaped);
    budget.charge(text.len())?;
    Ok(text)
}

fn float(number: f64) -> tree::Value {
    tree::Value::Number(Number::Float(number))
}

/// A computed value as it is after `toJson` and `fromJson`: every number is a `float64`, every list and map a plain one.
pub(super) fn plain(value: &Value, budget: &Budget, depth: u32) -> Result<Value, Error> {
    if depth > DEEPEST {
        return Err(too_deep());
    }
    budget.charge(NODE)?;
    Ok(match value {
        Value::Int(number) | Value::Int64(number) => Value::Float(*number as f64),
        Value::Uint8(number) => Value::Float(f64::from(*number)),
        Value::Uint64(number) => Value::Float(*number as f64),
        Value::List(list) => {
            let items: Result<Vec<Value>, Error> = list
                .items
                .iter()
                .map(|item| plain(item, budget, depth + 1))
                .collect();
            Value::list(items?)
        }
        Value::Map(map) => {
            let mut entries = BTreeMap::new();
            for (key, item) in map.entries()? {
                entries.insert(key, plain(&item, budget, depth + 1)?);
            }
            Value::map(entries)
        }
        Value::Object(object) => plain(&object.plain(), budget, depth + 1)?,
        simple => simple.clone(),
    })
}

/// Lists or maps nested more than [`DEEPEST`] deep.
pub(super) fn too_deep() -> Error {
    Error::new(
        ErrorClass::Depth,
        format!("lists and maps are nested more than {DEEPEST} deep"),
    )
}

/// Whether two values are the same in JSON.
pub(super) fn same(left: &Value, right: &Value, budget: &Budget) -> Result<bool, Error> {
    Ok(node(left, Place::NONE, budget)? == node(right, Place::NONE, budget)?)
}

/// The typed result that a text carries. Text that is no JSON, or has something behind it, is null, as Helm's `fromJson`
/// makes it.
pub(super) fn decapsulate(text: &str) -> Value {
    let Some(Value::Map(map)) = gotemplate::from_json(text) else {
        return Value::Nil;
    };
    map.get("encapsulated-result")
        .ok()
        .flatten()
        .unwrap_or(Value::Nil)
}

#[cfg(test)]
mod tests {
    use super::decapsulate;
    use crate::gotemplate::Value;

    #[test]
    fn text_behind_a_typed_result_makes_it_null() {
        let text = "{\"encapsulated-result\":5} trailing";
        assert!(matches!(decapsulate(text), Value::Nil));
        assert!(
            matches!(decapsulate("{\"encapsulated-result\":5}\n"), Value::Float(five) if five == 5.0)
        );
    }
}

//! Converts between the values of files, the values of expressions, and JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::secrets;
use go_template::{Budget, Error, ErrorClass, Value};
use yaml_tree::json::{Html, to_json};
use yaml_tree::opaque::{Opaque, OpaqueKind, is_opaque, labels};
use yaml_tree::place::Place;
use yaml_tree::value::{self as tree, Entry, Node, Number};

use super::text::{SKIP, is_encapsulated};

/// The maximum nesting of lists and maps. The YAML and JSON parsers have limits at or below this one.
pub(super) const DEEPEST: u32 = 500;

/// Converts a scalar for use in expressions; none for a list or map.
pub(super) fn scalar(value: &tree::Value) -> Option<Value> {
    Some(match value {
        tree::Value::Null => Value::Nil,
        tree::Value::Bool(flag) => Value::Bool(*flag),
        tree::Value::Number(Number::Int(number)) => Value::Int64(*number),
        tree::Value::Number(Number::Float(number)) => Value::Float(*number),
        tree::Value::String(text) => Value::String(Arc::clone(text)),
        tree::Value::Opaque(opaque) => Value::String(Arc::clone(&opaque.text)),
        tree::Value::List(_) | tree::Value::Map(_) => return None,
    })
}

/// Converts a computed value to a node of the values, with the span of its expression in every part.
///
/// # Errors
/// The value is nested too deeply, as a map that contains itself is.
pub(super) fn node(value: &Value, place: Place) -> Result<Node, Error> {
    let mut node = node_at(value, place, 0)?;
    // What an expression makes may be a Secret, or the manifest of one.
    secrets::seal_objects(&mut node, "values");
    Ok(node)
}

fn node_at(value: &Value, place: Place, depth: u32) -> Result<Node, Error> {
    if depth > DEEPEST {
        return Err(too_deep());
    }
    let value = match value {
        Value::Nil => tree::Value::Null,
        Value::Bool(flag) => tree::Value::Bool(*flag),
        Value::Int(number) | Value::Int64(number) => float(*number as f64),
        Value::Uint8(number) => float(f64::from(*number)),
        Value::Uint64(number) => float(*number as f64),
        Value::Float(number) => float(*number),
        Value::String(text) if is_opaque(text) => Opaque {
            text: Arc::clone(text),
            kind: OpaqueKind::Scalar,
        }
        .into(),
        Value::String(text) => tree::Value::String(Arc::clone(text)),
        Value::List(list) => {
            let mut items = Vec::with_capacity(list.items.len());
            for item in &list.items {
                items.push(node_at(item, place, depth + 1)?);
            }
            items.into()
        }
        Value::Map(map) => {
            let mut entries = Vec::new();
            for (key, item) in map.entries()? {
                ensure_known_key(&key)?;
                entries.push(Entry {
                    key,
                    key_place: place,
                    node: node_at(&item, place, depth + 1)?,
                });
            }
            entries.into_iter().collect::<tree::Map>().into()
        }
        Value::Object(object) => return node_at(&object.plain(), place, depth + 1),
    };
    Ok(Node { value, place })
}

/// Fails if an expression made a key of a secret.
pub(super) fn ensure_known_key(key: &str) -> Result<(), Error> {
    labels(key).map_or(Ok(()), |labels| {
        let message = format!("a key depends on a secret: {labels}");
        Err(Error::new(ErrorClass::Secret, message))
    })
}

/// Formats a computed value as JSON, as Go does.
pub(super) fn json(value: &Value) -> Result<String, Error> {
    let node = node(value, Place::NONE)?;
    Ok(to_json(&node.value, Html::Escaped))
}

fn float(number: f64) -> tree::Value {
    tree::Value::Number(Number::Float(number))
}

/// Converts a value as `toJson` followed by `fromJson` does: numbers become `float64`, lists and maps lose their named types.
pub(super) fn plain(value: &Value, depth: u32) -> Result<Value, Error> {
    if depth > DEEPEST {
        return Err(too_deep());
    }
    Ok(match value {
        Value::Int(number) | Value::Int64(number) => Value::Float(*number as f64),
        Value::Uint8(number) => Value::Float(f64::from(*number)),
        Value::Uint64(number) => Value::Float(*number as f64),
        Value::List(list) => {
            let mut items = Vec::with_capacity(list.items.len());
            for item in &list.items {
                items.push(plain(item, depth + 1)?);
            }
            Value::list(items)
        }
        Value::Map(map) => {
            let mut entries = BTreeMap::new();
            for (key, item) in map.entries()? {
                entries.insert(key, plain(&item, depth + 1)?);
            }
            Value::map(entries)
        }
        Value::Object(object) => plain(&object.plain(), depth + 1)?,
        simple => simple.clone(),
    })
}

/// The error for lists or maps that are nested more than [`DEEPEST`] deep.
pub(super) fn too_deep() -> Error {
    Error::new(
        ErrorClass::Depth,
        format!("lists and maps are nested more than {DEEPEST} deep"),
    )
}

/// The error for a key whose result is not a string.
pub(super) fn wrong_key(key: &Value) -> Error {
    let found = key.type_name();
    let message = format!("a key must be a string, and this one is `{found}`");
    Error::new(ErrorClass::WrongType, message)
}

/// Whether two values have the same JSON.
pub(super) fn same(left: &Value, right: &Value) -> Result<bool, Error> {
    let left = node(left, Place::NONE)?;
    let right = node(right, Place::NONE)?;
    Ok(left == right)
}

/// The value in the text of a typed result. As with Helm's `fromJson`, text that is not valid JSON, or is followed by other
/// text, gives nil.
pub(super) fn decapsulate(text: &str) -> Result<Value, Error> {
    let Some(Value::Map(map)) = go_template::from_json(text) else {
        return Ok(Value::Nil);
    };
    Ok(map.get("encapsulated-result")?.unwrap_or(Value::Nil))
}

/// The value of an evaluated item of a list or entry of a map: a typed result is unwrapped; none for the skip text.
pub(super) fn item(value: Value) -> Result<Option<Value>, Error> {
    Ok(match &value {
        Value::String(text) if **text == *SKIP => None,
        Value::String(text) if is_encapsulated(text) => Some(decapsulate(text)?),
        _ => Some(value),
    })
}

/// A node as it is written, with its integers, for use in expressions.
pub(super) fn whole_value(node: &Node, budget: &Budget) -> Value {
    match &node.value {
        tree::Value::List(items) => {
            Value::list(items.iter().map(|item| whole_value(item, budget)).collect())
        }
        tree::Value::Map(map) => {
            let entry = |entry: &Entry| (Arc::clone(&entry.key), whole_value(&entry.node, budget));
            Value::map(map.iter().map(entry).collect())
        }
        scalar => {
            if let tree::Value::Opaque(_) = scalar {
                budget.note_label();
            }
            self::scalar(scalar).unwrap_or(Value::Nil)
        }
    }
}

/// Converts a computed tree to a node with the spans of the files. A part without a span of its own gets that of its parent.
pub(super) fn node_with_places(
    value: &Value,
    raw: Option<&Node>,
    place: Place,
) -> Result<Node, Error> {
    let place = raw.map_or(place, |node| node.place);
    let mut node = node(value, place)?;
    if let Some(raw) = raw {
        give_places(&mut node, raw);
    }
    Ok(node)
}

fn give_places(node: &mut Node, raw: &Node) {
    node.place = raw.place;
    match (&mut node.value, &raw.value) {
        (tree::Value::Map(map), tree::Value::Map(raw)) => {
            let entries = map.iter().cloned().map(|mut entry| {
                if let Some(raw) = raw.entry(&entry.key) {
                    entry.key_place = raw.key_place;
                    give_places(&mut entry.node, &raw.node);
                }
                entry
            });
            *map = Arc::new(entries.collect());
        }
        (tree::Value::List(items), tree::Value::List(raw)) if items.len() == raw.len() => {
            let items = Arc::make_mut(items);
            for (item, raw) in items.iter_mut().zip(raw.iter()) {
                give_places(item, raw);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, decapsulate, node, plain, same};
    use go_template::Value;
    use yaml_tree::place::Place;

    #[test]
    fn a_typed_result_followed_by_text_is_nil() {
        let text = "{\"encapsulated-result\":5} trailing";
        let value = |text| decapsulate(text).expect("there is room");
        assert!(matches!(value(text), Value::Nil));
        let five = value("{\"encapsulated-result\":5}\n");
        assert!(matches!(five, Value::Float(five) if five == 5.0));
    }

    #[test]
    fn values_become_nodes_to_their_depth_and_no_deeper() {
        let nest = |levels: u32| {
            (0..levels).fold(Value::Uint8(1), |inner, level| match level % 2 {
                0 => Value::list(vec![inner]),
                _ => Value::map([("a".into(), inner)].into()),
            })
        };
        assert!(node(&nest(DEEPEST), Place::NONE).is_ok());
        assert!(node(&nest(DEEPEST + 1), Place::NONE).is_err());
        let plainly = plain(&nest(DEEPEST), 0).expect("it is not too deep");
        assert!(same(&plainly, &nest(DEEPEST)).expect("comparable"));
        assert!(plain(&nest(DEEPEST + 1), 0).is_err());
    }
}

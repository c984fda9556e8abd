//! Converts values between the data model of files and the values of expressions.

use std::rc::Rc;
use std::sync::Arc;

use yaml_tree::value as model;

use super::value::{Lazy, Map, PLAIN_MAP};
use super::{Error, ErrorClass, Value, print};

/// Converts a value of a file for use in expressions. Maps are converted lazily, entry by entry.
///
/// Every number becomes a `float64`, because Helm passes values through JSON before a template sees them.
pub fn from_model(value: &model::Value) -> Value {
    match value {
        model::Value::Null => Value::Nil,
        model::Value::Bool(flag) => Value::Bool(*flag),
        model::Value::Number(model::Number::Int(number)) => Value::Float(*number as f64),
        model::Value::Number(model::Number::Float(number)) => Value::Float(*number),
        model::Value::String(text) => Value::String(Arc::clone(text)),
        // The caller of a template has noted in the budget that there are labels.
        model::Value::Opaque(opaque) => Value::String(Arc::clone(&opaque.text)),
        model::Value::List(items) => {
            Value::list(items.iter().map(|item| from_model(&item.value)).collect())
        }
        model::Value::Map(map) => from_map(PLAIN_MAP, map),
    }
}

/// Converts a map of a file, with its own Go type name, such as `common.Values`.
pub fn from_map(type_name: &'static str, map: &Arc<model::Map>) -> Value {
    let lazy = Rc::new(Entries(Arc::clone(map)));
    Value::Map(Rc::new(Map::lazy(type_name, lazy)))
}

/// A map of a file, converted entry by entry.
#[derive(Debug)]
struct Entries(Arc<model::Map>);

impl Lazy for Entries {
    fn get(&self, key: &str) -> Result<Option<Value>, Error> {
        Ok(self.0.get(key).map(|node| from_model(&node.value)))
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        Ok(self.0.iter().map(|entry| Arc::clone(&entry.key)).collect())
    }

    fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.0.is_empty())
    }
}

/// Converts an expression's value to the value that `toYaml` writes. Integers keep all their digits.
///
/// # Errors
/// The value contains a number that JSON cannot represent, is nested too deeply, or has an entry that fails to evaluate.
pub(super) fn to_model(value: &Value) -> Result<model::Value, Error> {
    convert(value, 0)
}

fn convert(value: &Value, depth: usize) -> Result<model::Value, Error> {
    if depth > print::NESTING {
        return Err(print::too_deep());
    }
    Ok(match value {
        Value::Nil => model::Value::Null,
        Value::Bool(flag) => model::Value::Bool(*flag),
        Value::Int(number) | Value::Int64(number) => (*number).into(),
        Value::Uint8(number) => float(f64::from(*number))?,
        Value::Uint64(number) => float(*number as f64)?,
        Value::Float(number) => float(*number)?,
        Value::String(text) => model::Value::String(Arc::clone(text)),
        Value::List(list) if list.element.is_nil() => model::Value::Null,
        Value::List(list) => {
            let mut items = Vec::with_capacity(list.items.len());
            for item in &list.items {
                items.push(model::Node::from_value(convert(item, depth + 1)?));
            }
            items.into()
        }
        Value::Map(map) => {
            let mut entries = Vec::new();
            for (key, item) in map.entries()? {
                entries.push(model::Entry::from_value(key, convert(&item, depth + 1)?));
            }
            entries.into_iter().collect::<model::Map>().into()
        }
        Value::Object(object) if object.complex().is_some() => {
            let message = "JSON cannot represent a complex number";
            return Err(Error::new(ErrorClass::Other, message));
        }
        Value::Object(object) => convert(&object.plain(), depth + 1)?,
    })
}

fn float(number: f64) -> Result<model::Value, Error> {
    if number.is_finite() {
        return Ok(model::Value::Number(model::Number::Float(number)));
    }
    let message = format!(
        "JSON cannot represent the number `{}`",
        print::float(number)
    );
    Err(Error::new(ErrorClass::Other, message))
}

#[cfg(test)]
mod tests {
    use super::to_model;
    use crate::Value;
    use crate::print::NESTING;
    use yaml_tree::value::{Node, Number, Value as Model};

    #[test]
    fn integers_keep_all_their_digits() {
        let list = Value::list(vec![Value::Int(i64::MAX), Value::Float(1.5)]);
        let expected = vec![i64::MAX.into(), Model::Number(Number::Float(1.5))];
        let expected: Vec<Node> = expected.into_iter().map(Node::from_value).collect();
        assert_eq!(to_model(&list).ok(), Some(expected.into()));
    }

    #[test]
    fn a_map_that_holds_itself_is_refused() {
        let value = Value::map(Default::default());
        if let Value::Map(map) = &value {
            map.set("me", value.clone());
        }
        assert!(to_model(&value).is_err());
    }

    #[test]
    fn lists_in_maps_are_converted_to_their_depth_and_no_deeper() {
        let nest = |levels: usize| {
            (0..levels).fold(Value::Int(1), |inner, level| match level % 2 {
                0 => Value::list(vec![inner]),
                _ => Value::map([("a".into(), inner)].into()),
            })
        };
        assert!(to_model(&nest(NESTING)).is_ok());
        assert!(to_model(&nest(NESTING + 1)).is_err());
    }
}

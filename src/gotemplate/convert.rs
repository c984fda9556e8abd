//! Between values as files hold them and values as expressions see them.

use std::rc::Rc;
use std::sync::Arc;

use super::value::{Lazy, Map, PLAIN_MAP};
use super::{Error, ErrorClass, Value, print};
use crate::model::value as model;

/// A file's value as an expression sees it. Maps are converted entry by entry, when they are looked at.
///
/// Every number is a `float64`, because values go through JSON before a template sees them.
pub fn from_model(value: &model::Value) -> Value {
    match value {
        model::Value::Null => Value::Nil,
        model::Value::Bool(flag) => Value::Bool(*flag),
        model::Value::Number(model::Number::Int(number)) => Value::Float(*number as f64),
        model::Value::Number(model::Number::Float(number)) => Value::Float(*number),
        model::Value::String(text) => Value::String(Arc::clone(text)),
        model::Value::List(items) => {
            Value::list(items.iter().map(|item| from_model(&item.value)).collect())
        }
        model::Value::Map(map) => from_map(PLAIN_MAP, map),
    }
}

/// A file's map under a type name of its own, such as `common.Values`.
pub fn from_map(type_name: &'static str, map: &Arc<model::Map>) -> Value {
    let lazy = Rc::new(Entries(Arc::clone(map)));
    Value::Map(Rc::new(Map::lazy(type_name, lazy)))
}

/// The entries of a file's map.
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

/// An expression's value as `toYaml` writes it: integers keep all their digits.
///
/// # Errors
/// A number that JSON cannot hold, a value nested too deeply, or what fetching an entry meets.
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
            let items: Result<Vec<model::Node>, Error> = list
                .items
                .iter()
                .map(|item| convert(item, depth + 1).map(model::Node::computed))
                .collect();
            items?.into()
        }
        Value::Map(map) => {
            let mut entries = Vec::new();
            for (key, item) in map.entries()? {
                entries.push(model::Entry::computed(key, convert(&item, depth + 1)?));
            }
            entries.into_iter().collect::<model::Map>().into()
        }
        Value::Object(object) if object.complex().is_some() => {
            let message = "a complex number is nothing that JSON can hold";
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
        "`{}` is not a number that JSON can hold",
        print::float(number)
    );
    Err(Error::new(ErrorClass::Other, message))
}

#[cfg(test)]
mod tests {
    use super::to_model;
    use crate::gotemplate::Value;
    use crate::model::value::{Node, Number, Value as Model};

    #[test]
    fn integers_keep_all_their_digits() {
        let list = Value::list(vec![Value::Int(i64::MAX), Value::Float(1.5)]);
        let expected = vec![i64::MAX.into(), Model::Number(Number::Float(1.5))];
        let expected: Vec<Node> = expected.into_iter().map(Node::computed).collect();
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
}

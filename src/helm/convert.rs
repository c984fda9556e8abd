//! Between values as files hold them and values as expressions see them.

use std::rc::Rc;
use std::sync::Arc;

use super::value::{Lazy, Map, PLAIN_MAP};
use super::{Budget, Error, ErrorClass, Value, print};
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

    fn size(&self) -> usize {
        self.0.len()
    }
}

/// What a node of the tree takes, with its key.
const NODE: usize = 96;

/// An expression's value as `toYaml` writes it: integers keep all their digits.
///
/// # Errors
/// A number that JSON cannot hold, a value nested too deeply, or what fetching an entry meets.
pub(super) fn to_model(value: &Value, budget: &Budget) -> Result<model::Value, Error> {
    let mut tree = Tree { budget, written: 0 };
    tree.convert(value, 0)
}

/// A tree that is made to be written.
struct Tree<'b> {
    budget: &'b Budget,
    /// The most bytes that the tree so far is written in.
    written: usize,
}

impl Tree<'_> {
    fn convert(&mut self, value: &Value, depth: usize) -> Result<model::Value, Error> {
        if depth > print::NESTING {
            return Err(print::too_deep());
        }
        self.budget.step(2)?;
        self.budget.charge(NODE)?;
        self.room(2 * depth)?;
        Ok(match value {
            Value::Nil => model::Value::Null,
            Value::Bool(flag) => model::Value::Bool(*flag),
            Value::Int(number) | Value::Int64(number) => (*number).into(),
            Value::Uint8(number) => float(f64::from(*number))?,
            Value::Uint64(number) => float(*number as f64)?,
            Value::Float(number) => float(*number)?,
            Value::String(text) => {
                self.text(text, depth)?;
                model::Value::String(Arc::clone(text))
            }
            Value::List(list) if list.element.is_nil() => model::Value::Null,
            Value::List(list) => {
                let mut items = Vec::with_capacity(list.items.len());
                for item in &list.items {
                    items.push(model::Node::computed(self.convert(item, depth + 1)?));
                }
                items.into()
            }
            Value::Map(map) => {
                let mut entries = Vec::new();
                for (key, item) in self.budget.entries(map)? {
                    self.text(&key, depth)?;
                    entries.push(model::Entry::computed(key, self.convert(&item, depth + 1)?));
                }
                entries.into_iter().collect::<model::Map>().into()
            }
            Value::Object(object) if object.complex().is_some() => {
                let message = "a complex number is nothing that JSON can hold";
                return Err(Error::new(ErrorClass::Other, message));
            }
            Value::Object(object) => self.convert(&object.plain(), depth + 1)?,
        })
    }

    /// Makes sure that there is room for a text: its lines are indented, and what is not printed becomes an escape.
    fn text(&mut self, text: &str, depth: usize) -> Result<(), Error> {
        self.budget.read(8 * text.len())?;
        let is_escaped = |byte: &u8| !matches!(byte, b' '..=b'~') && *byte != b'\n';
        let escaped = text.bytes().filter(is_escaped).count();
        let lines = 1 + text.matches('\n').count();
        self.room(text.len() + 3 * escaped + lines * 2 * (depth + 2))
    }

    fn room(&mut self, bytes: usize) -> Result<(), Error> {
        self.written += bytes;
        self.budget.room_for_text(self.written)
    }
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
    use crate::helm::{Budget, Limits, Value};
    use crate::model::value::{Node, Number, Value as Model};

    #[test]
    fn integers_keep_all_their_digits() {
        let list = Value::list(vec![Value::Int(i64::MAX), Value::Float(1.5)]);
        let expected = vec![i64::MAX.into(), Model::Number(Number::Float(1.5))];
        let expected: Vec<Node> = expected.into_iter().map(Node::computed).collect();
        assert_eq!(
            to_model(&list, &Budget::new(Limits::default())).ok(),
            Some(expected.into())
        );
    }

    #[test]
    fn a_map_that_holds_itself_is_refused() {
        let value = Value::map(Default::default());
        if let Value::Map(map) = &value {
            map.set("me", value.clone());
        }
        assert!(to_model(&value, &Budget::new(Limits::default())).is_err());
    }
}

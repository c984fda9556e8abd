//! Sylva's rules for whole trees: keys and values are evaluated, typed results unwrapped, skipped entries left out.
//!
//! Source: `interpret-inner-gotpl` of sylva-core; docs/expressions.md#the-evaluator. There are two ways in: for a part of the
//! values as files have it, which keeps places, and for whatever an expression hands over.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::convert::{self, DEEPEST, NODE};
use super::failure::{Fault, Step};
use super::path::Path;
use super::session::Session;
use super::text::{RAW, SKIP, is_encapsulated, is_special, is_template, shield, unshield};
use super::view;
use crate::helm::{Error, ErrorClass, Value};
use crate::model::place::Place;
use crate::model::value::{self as tree, Entry, Node};

/// What a node comes to.
enum Change {
    /// Itself.
    Same,
    /// Something else.
    To(Node),
    /// Nothing: its entry or item is left out.
    Skipped,
}

impl Session {
    /// A part of the values, evaluated with all below it; none where it is left out. Parts without expressions are shared,
    /// not copied.
    pub(super) fn complete(&self, node: &Node, path: &Path) -> Result<Option<Node>, Rc<Fault>> {
        Ok(match self.changed(node, path)? {
            Change::Same => Some(node.clone()),
            Change::To(node) => Some(node),
            Change::Skipped => None,
        })
    }

    fn changed(&self, node: &Node, path: &Path) -> Result<Change, Rc<Fault>> {
        if path.depth() > DEEPEST {
            return Err(self.fault(convert::too_deep()));
        }
        match &node.value {
            tree::Value::String(text) => self.changed_text(text, node.place, path),
            tree::Value::List(items) => self.changed_list(items, node.place, path),
            tree::Value::Map(map) => self.changed_map(map, node.place, path),
            _ => Ok(Change::Same),
        }
    }

    fn changed_text(
        &self,
        text: &Arc<str>,
        place: Place,
        path: &Path,
    ) -> Result<Change, Rc<Fault>> {
        if !is_special(text) {
            return Ok(Change::Same);
        }
        let value = if is_template(text) {
            self.leaf(text, place, path)?
        } else {
            Value::String(Arc::clone(text))
        };
        let Some(value) = self.item(value).map_err(|error| self.fault(error))? else {
            return Ok(Change::Skipped);
        };
        let node = convert::node(&value, place, &self.budget).map_err(|error| self.fault(error))?;
        Ok(Change::To(self.written(node)))
    }

    fn changed_list(
        &self,
        items: &Arc<Vec<Node>>,
        place: Place,
        path: &Path,
    ) -> Result<Change, Rc<Fault>> {
        let mut changed: Option<Vec<Node>> = None;
        for (index, item) in items.iter().enumerate() {
            let change = self.changed(item, &path.index(index))?;
            if let (Change::Same, None) = (&change, &changed) {
                continue;
            }
            let kept = changed.get_or_insert_with(|| items[..index].to_vec());
            match change {
                Change::Same => kept.push(item.clone()),
                Change::To(node) => kept.push(node),
                Change::Skipped => {}
            }
        }
        Ok(changed.map_or(Change::Same, |items| {
            Change::To(Node {
                value: items.into(),
                place,
            })
        }))
    }

    fn changed_map(
        &self,
        map: &Arc<tree::Map>,
        place: Place,
        path: &Path,
    ) -> Result<Change, Rc<Fault>> {
        if let Some(raw) = self.raw_map(map, place, path)? {
            return Ok(Change::To(raw));
        }
        let table = view::key_table(self, map, path)?;
        let mut changed: Option<Vec<Entry>> = None;
        let count = table.as_ref().map_or(map.len(), |table| table.len());
        let all: Vec<&Entry> = map.iter().collect();
        let mut names = table.iter().flat_map(|table| table.iter());
        for index in 0..count {
            let (name, entry) = match names.next() {
                Some((name, position)) => (name, all[*position]),
                None => (&all[index].key, all[index]),
            };
            let change = self.changed(&entry.node, &path.key(name))?;
            if matches!(change, Change::Same) && changed.is_none() && table.is_none() {
                continue;
            }
            let kept = changed.get_or_insert_with(|| {
                let untouched = if table.is_some() { 0 } else { index };
                map.iter().take(untouched).cloned().collect()
            });
            let node = match change {
                Change::Same => entry.node.clone(),
                Change::To(node) => node,
                Change::Skipped => continue,
            };
            kept.push(Entry {
                key: Arc::clone(name),
                key_place: entry.key_place,
                node,
            });
        }
        Ok(changed.map_or(Change::Same, |entries| {
            Change::To(Node {
                value: entries.into_iter().collect::<tree::Map>().into(),
                place,
            })
        }))
    }

    /// What a map says is not to be evaluated; none of any other map.
    fn raw_map(
        &self,
        map: &Arc<tree::Map>,
        place: Place,
        path: &Path,
    ) -> Result<Option<Node>, Rc<Fault>> {
        let raw = view::raw_text(map).map_err(|error| {
            self.fault(error).seen_from(Step {
                path: path.to_string(),
                place,
                text: RAW.into(),
                span: None,
            })
        })?;
        Ok(raw.map(|text| {
            let value = tree::Value::from(shield(&text));
            self.written(Node { value, place })
        }))
    }

    /// A result as it goes into manifests. By-name evaluation leaves the shield to be seen, as `.Values` there does.
    fn written(&self, mut node: Node) -> Node {
        if !self.is_exact()
            && let tree::Value::String(text) = &node.value
            && let Some(open) = unshield(text)
        {
            node.value = open.into();
        }
        node
    }

    /// What an expression hands over, evaluated with all in it. `dot` is the root that it hands over with it.
    ///
    /// # Errors
    /// Those of every expression in it.
    pub(super) fn interpret(&self, dot: &Value, data: &Value, depth: u32) -> Result<Value, Error> {
        if depth > DEEPEST {
            return Err(convert::too_deep());
        }
        match data {
            Value::String(text) if is_template(text) => self.hand_over(dot, text),
            Value::List(list) => {
                self.budget.charge(list.items.len() * NODE)?;
                let mut items = Vec::new();
                for data in &list.items {
                    items.extend(self.item(self.interpret(dot, data, depth + 1)?)?);
                }
                Ok(Value::list(items))
            }
            Value::Map(map) => {
                let entries = self.budget.entries(map)?;
                self.budget.charge(entries.len() * NODE)?;
                self.interpret_map(dot, entries, depth)
            }
            other => convert::plain(other, &self.budget, depth),
        }
    }

    /// A list's item or a map's value, once evaluated: typed results are unwrapped, and the skip text leaves it out.
    fn item(&self, value: Value) -> Result<Option<Value>, Error> {
        Ok(match &value {
            Value::String(text) if **text == *SKIP => None,
            Value::String(text) if is_encapsulated(text) => {
                Some(convert::decapsulate(text, &self.budget)?)
            }
            _ => Some(value),
        })
    }

    fn interpret_map(
        &self,
        dot: &Value,
        entries: BTreeMap<Arc<str>, Value>,
        depth: u32,
    ) -> Result<Value, Error> {
        if let Some(raw) = entries.get(RAW) {
            return raw_value(raw, entries.len());
        }
        let mut result = BTreeMap::new();
        for (key, data) in entries {
            let key = if is_template(&key) {
                match self.hand_over(dot, &key)? {
                    Value::String(key) => key,
                    other => return Err(wrong_key(&other)),
                }
            } else {
                key
            };
            if let Some(value) = self.item(self.interpret(dot, &data, depth + 1)?)? {
                result.insert(key, value);
            }
        }
        Ok(Value::map(result))
    }
}

/// Whether a part of the values holds nothing to evaluate.
pub(super) fn is_plain(node: &Node) -> bool {
    match &node.value {
        tree::Value::String(text) => !is_special(text),
        tree::Value::List(items) => items.iter().all(is_plain),
        tree::Value::Map(map) => map
            .iter()
            .all(|entry| !is_template(&entry.key) && *entry.key != *RAW && is_plain(&entry.node)),
        _ => true,
    }
}

fn raw_value(raw: &Value, count: usize) -> Result<Value, Error> {
    if count != 1 {
        let message = format!("a `{RAW}` key must be the only one of its map");
        return Err(Error::new(ErrorClass::Fail, message));
    }
    match raw {
        Value::String(text) => Ok(Value::from(shield(text))),
        other => Err(Error::new(
            ErrorClass::Fail,
            format!(
                "the value of a `{RAW}` key must be a string, and it is `{}`",
                other.type_name()
            ),
        )),
    }
}

fn wrong_key(key: &Value) -> Error {
    Error::new(
        ErrorClass::WrongType,
        format!(
            "a key must be a string, and this one is `{}`",
            key.type_name()
        ),
    )
}

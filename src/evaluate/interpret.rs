//! Evaluates trees of values: evaluates keys and strings, unwraps typed results, and leaves out skipped entries.
//!
//! Source: `interpret-inner-gotpl` of sylva-core; docs/expressions.md#the-evaluator. [`Session::complete`] evaluates a part of
//! the files' values, and keeps spans. [`Session::interpret`] evaluates a value that an expression passes to a helper.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::convert::{self, DEEPEST, NODE};
use super::failure::{Fault, Step};
use super::path::Path;
use super::session::Session;
use super::text::{RAW, SKIP, is_encapsulated, is_special, is_template, shield, unshield};
use super::view;
use go_template::{Error, ErrorClass, Value};
use yaml_tree::place::Place;
use yaml_tree::value::{self as tree, Entry, Node};

/// The result of evaluating a node.
enum Change {
    /// The node itself.
    Unchanged,
    /// A new node.
    Replaced(Node),
    /// Nothing: the entry or item is left out.
    Skipped,
}

impl Session {
    /// Evaluates a part of the values completely; none if it is left out. Subtrees without expressions are shared, not copied.
    pub(super) fn complete(&self, node: &Node, path: &Path) -> Result<Option<Node>, Rc<Fault>> {
        Ok(match self.changed(node, path)? {
            Change::Unchanged => Some(node.clone()),
            Change::Replaced(node) => Some(node),
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
            _ => Ok(Change::Unchanged),
        }
    }

    fn changed_text(
        &self,
        text: &Arc<str>,
        place: Place,
        path: &Path,
    ) -> Result<Change, Rc<Fault>> {
        if !is_special(text) {
            return Ok(Change::Unchanged);
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
        Ok(Change::Replaced(self.for_manifests(node)))
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
            if let (Change::Unchanged, None) = (&change, &changed) {
                continue;
            }
            let kept = changed.get_or_insert_with(|| items[..index].to_vec());
            match change {
                Change::Unchanged => kept.push(item.clone()),
                Change::Replaced(node) => kept.push(node),
                Change::Skipped => {}
            }
        }
        Ok(changed.map_or(Change::Unchanged, |items| {
            Change::Replaced(Node {
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
            return Ok(Change::Replaced(raw));
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
            if matches!(change, Change::Unchanged) && changed.is_none() && table.is_none() {
                continue;
            }
            let kept = changed.get_or_insert_with(|| {
                let unchanged = if table.is_some() { 0 } else { index };
                map.iter().take(unchanged).cloned().collect()
            });
            let node = match change {
                Change::Unchanged => entry.node.clone(),
                Change::Replaced(node) => node,
                Change::Skipped => continue,
            };
            kept.push(Entry {
                key: Arc::clone(name),
                key_place: entry.key_place,
                node,
            });
        }
        Ok(changed.map_or(Change::Unchanged, |entries| {
            Change::Replaced(Node {
                value: entries.into_iter().collect::<tree::Map>().into(),
                place,
            })
        }))
    }

    /// The text of a `(raw)` map, which must not be evaluated; none for any other map.
    fn raw_map(
        &self,
        map: &Arc<tree::Map>,
        place: Place,
        path: &Path,
    ) -> Result<Option<Node>, Rc<Fault>> {
        let raw = view::raw_text(map).map_err(|error| {
            self.fault(error).with_step(Step {
                path: path.to_string(),
                place,
                text: RAW.into(),
                span: None,
            })
        })?;
        Ok(raw.map(|text| {
            let value = tree::Value::from(shield(&text));
            self.for_manifests(Node { value, place })
        }))
    }

    /// A result as manifests need it. Exact evaluation keeps escaped braces, because `.Values` has them there.
    fn for_manifests(&self, mut node: Node) -> Node {
        if !self.is_exact()
            && let tree::Value::String(text) = &node.value
            && let Some(unescaped) = unshield(text)
        {
            node.value = unescaped.into();
        }
        node
    }

    /// Evaluates a value that an expression passes to a helper, with the root `dot` that it passes.
    ///
    /// # Errors
    /// Any expression in the value fails.
    pub(super) fn interpret(&self, dot: &Value, data: &Value, depth: u32) -> Result<Value, Error> {
        if depth > DEEPEST {
            return Err(convert::too_deep());
        }
        match data {
            Value::String(text) if is_template(text) => self.evaluate_passed(dot, text),
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

    /// The result of an item of a list or a value of a map: typed results are unwrapped; none for the skip text.
    pub(super) fn item(&self, value: Value) -> Result<Option<Value>, Error> {
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
                match self.evaluate_passed(dot, &key)? {
                    Value::String(key) => key,
                    other => return Err(convert::wrong_key(&other)),
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

/// Whether a part of the values contains nothing to evaluate.
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

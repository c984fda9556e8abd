//! The values as expressions see them: a lazy map whose entries are evaluated when they are read, except in exact evaluation.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::convert;
use super::failure::Fault;
use super::path::Path;
use super::session::Session;
use super::text::{RAW, is_template, shield};
use crate::helm::value::{Lazy, Map, PLAIN_MAP};
use crate::helm::{Error, ErrorClass, Value};
use crate::model::value::{self as tree, Entry, Node};

/// A lazy map over a map of the values.
pub(super) struct View {
    session: Weak<Session>,
    map: Arc<tree::Map>,
    path: Path,
}

impl View {
    pub(super) fn new(session: &Session, map: &Arc<tree::Map>, path: Path) -> Self {
        Self {
            session: session.weak(),
            map: Arc::clone(map),
            path,
        }
    }

    fn session(&self) -> Result<Rc<Session>, Error> {
        self.session
            .upgrade()
            .ok_or_else(|| Error::new(ErrorClass::Other, "the evaluation is over"))
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "values at `{}`", self.path)
    }
}

impl Lazy for View {
    fn get(&self, key: &str) -> Result<Option<Value>, Error> {
        let session = self.session()?;
        let entry = if session.is_exact() {
            self.map.entry(key)
        } else {
            entry(&session, &self.map, &self.path, key).map_err(|fault| session.raise(fault))?
        };
        let Some(entry) = entry else {
            return Ok(None);
        };
        let path = self.path.key(&entry.key);
        let value = session.value(&entry.node, &path);
        session.note_reading(&path, &entry.node, value.as_ref().ok());
        value.map(Some).map_err(|fault| session.raise(fault))
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        let session = self.session()?;
        let table = if session.is_exact() {
            None
        } else {
            key_table(&session, &self.map, &self.path).map_err(|fault| session.raise(fault))?
        };
        Ok(match table {
            Some(table) => table.keys().cloned().collect(),
            None => self
                .map
                .iter()
                .map(|entry| Arc::clone(&entry.key))
                .collect(),
        })
    }

    fn size(&self) -> usize {
        self.map.len()
    }
}

impl Session {
    /// The value of a node as expressions see it.
    pub(super) fn value(&self, node: &Node, path: &Path) -> Result<Value, Rc<Fault>> {
        if path.depth() > convert::DEEPEST {
            return Err(self.fault(convert::too_deep()));
        }
        match &node.value {
            tree::Value::String(text) if !self.is_exact() && is_template(text) => {
                self.leaf(text, node.place, path)
            }
            tree::Value::List(items) => {
                self.budget
                    .charge(items.len() * size_of::<Value>())
                    .map_err(|error| self.fault(error))?;
                let items: Result<Vec<Value>, Rc<Fault>> = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| self.value(item, &path.index(index)))
                    .collect();
                items.map(Value::list)
            }
            tree::Value::Map(map) => {
                if !self.is_exact()
                    && let Some(text) = raw_text(map).map_err(|error| self.fault(error))?
                {
                    return Ok(Value::from(shield(&text)));
                }
                let view = View::new(self, map, path.clone());
                Ok(Value::Map(Rc::new(Map::lazy(PLAIN_MAP, Rc::new(view)))))
            }
            other => Ok(convert::scalar(other).unwrap_or(Value::Nil)),
        }
    }
}

/// The text of a `(raw)` map, which must not be evaluated; none for any other map.
///
/// # Errors
/// The map has other keys, or the value is not a string (docs/expressions.md#the-evaluator).
pub(super) fn raw_text(map: &tree::Map) -> Result<Option<Arc<str>>, Error> {
    let Some(node) = map.get(RAW) else {
        return Ok(None);
    };
    if map.len() != 1 {
        let keys: Vec<&str> = map.iter().map(|entry| &*entry.key).collect();
        return Err(Error::new(
            ErrorClass::Fail,
            format!(
                "a `{RAW}` key must be the only one of its map, and this map has {}",
                keys.join(", ")
            ),
        ));
    }
    match &node.value {
        tree::Value::String(text) => Ok(Some(Arc::clone(text))),
        other => Err(Error::new(
            ErrorClass::Fail,
            format!(
                "the value of a `{RAW}` key must be a string, and it is {}",
                other.kind()
            ),
        )),
    }
}

/// The evaluated keys of a map, with the positions of the entries.
pub(super) type KeyTable = BTreeMap<Arc<str>, usize>;

/// The evaluated keys of a map; none if no key is an expression.
///
/// If two keys have the same result, the last one in the order of their texts wins.
pub(super) fn key_table(
    session: &Session,
    map: &Arc<tree::Map>,
    path: &Path,
) -> Result<Option<Rc<KeyTable>>, Rc<Fault>> {
    if !has_template_keys(session, map) {
        return Ok(None);
    }
    let identity = Arc::as_ptr(map) as usize;
    if let Some(table) = session.key_tables.borrow().get(&identity) {
        return Ok(Some(Rc::clone(table)));
    }
    let mut table = KeyTable::new();
    for (position, entry) in map.iter().enumerate() {
        table.insert(key(session, entry, path)?, position);
    }
    let table = Rc::new(table);
    session
        .key_tables
        .borrow_mut()
        .insert(identity, Rc::clone(&table));
    Ok(Some(table))
}

/// Whether a key of a map of the files is an expression. The answer for a large map is cached.
fn has_template_keys(session: &Session, map: &Arc<tree::Map>) -> bool {
    // A small map is searched faster than the cache.
    const SMALL: usize = 16;
    let search = || map.iter().any(|entry| is_template(&entry.key));
    if map.len() <= SMALL {
        return search();
    }
    let mut known = session.template_keys.borrow_mut();
    *known
        .entry(Arc::as_ptr(map) as usize)
        .or_insert_with(search)
}

fn key(session: &Session, entry: &Entry, path: &Path) -> Result<Arc<str>, Rc<Fault>> {
    if !is_template(&entry.key) {
        return Ok(Arc::clone(&entry.key));
    }
    let path = path.key(&entry.key);
    match session.leaf(&entry.key, entry.key_place, &path)? {
        Value::String(key) => Ok(key),
        other => {
            let error = convert::wrong_key(&other);
            let step = super::Step {
                path: path.to_string(),
                place: entry.key_place,
                text: Arc::clone(&entry.key),
                span: None,
            };
            Err(Fault::new(error.class, error.message).with_step(step))
        }
    }
}

/// The entry with this evaluated key.
pub(super) fn entry<'m>(
    session: &Session,
    map: &'m Arc<tree::Map>,
    path: &Path,
    key: &str,
) -> Result<Option<&'m Entry>, Rc<Fault>> {
    match key_table(session, map, path)? {
        None => Ok(map.entry(key)),
        Some(table) => Ok(table
            .get(key)
            .and_then(|position| map.iter().nth(*position))),
    }
}

/// The unevaluated node at a path; none if a key on the path is an expression, or a value on it is not a map.
pub(super) fn raw(session: &Session, keys: &[&str]) -> Option<(Node, Path)> {
    let mut node = &session.root;
    let mut path = Path::default();
    for key in keys {
        let map = node.value.as_map()?;
        if has_template_keys(session, map) {
            return None;
        }
        let entry = map.entry(key)?;
        node = &entry.node;
        path = path.key(&entry.key);
    }
    Some((node.clone(), path))
}

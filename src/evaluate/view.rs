//! The values as expressions see them: a lazy map whose entries are evaluated when they are read, except in exact evaluation.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::convert;
use super::failure::Fault;
use super::path::Path;
use super::session::Session;
use super::text::{RAW, Zone, is_special, is_template, shield};
use go_template::value::{Lazy, Map, PLAIN_MAP};
use go_template::{Error, ErrorClass, Value};
use yaml_tree::value::{self as tree, Entry, Node};

/// A lazy map over a map of the values.
pub(super) struct View {
    session: Weak<Session>,
    map: Arc<tree::Map>,
    path: Path,
    /// Where the expressions are that see it.
    reader: Zone,
}

impl View {
    pub(super) fn new(session: &Session, map: &Arc<tree::Map>, path: Path, reader: Zone) -> Self {
        Self {
            session: session.weak(),
            map: Arc::clone(map),
            path,
            reader,
        }
    }

    fn entry(&self, session: &Session, key: &str) -> Result<Option<&Entry>, Error> {
        if session.is_exact() {
            return Ok(self.map.entry(key));
        }
        entry(session, &self.map, &self.path, key).map_err(|fault| session.raise(fault))
    }

    /// Whether an entry is left out where its readers see it. One that fails is there, and fails when it is read.
    fn is_left_out(&self, session: &Session, entry: &Entry) -> bool {
        let text = entry.node.value.as_str();
        text.is_some_and(|text| is_special(text)) && {
            let path = self.path.key(&entry.key);
            session.is_before(&path, self.reader)
                && matches!(session.seen(&entry.node, &path, self.reader), Ok(None))
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
        let Some(entry) = self.entry(&session, key)? else {
            return Ok(None);
        };
        let path = self.path.key(&entry.key);
        let value = session.seen(&entry.node, &path, self.reader);
        let got = value.as_ref().ok().and_then(Option::as_ref);
        session.note_reading(&path, &entry.node, got);
        value.map_err(|fault| session.raise(fault))
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        let session = self.session()?;
        let table = if session.is_exact() {
            None
        } else {
            key_table(&session, &self.map, &self.path).map_err(|fault| session.raise(fault))?
        };
        let all = self.map.iter();
        let named: Vec<(&Arc<str>, &Entry)> = match &table {
            Some(table) => {
                let all: Vec<&Entry> = all.collect();
                { table.iter() }.map(|(key, at)| (key, all[*at])).collect()
            }
            None => all.map(|entry| (&entry.key, entry)).collect(),
        };
        let there = { named.into_iter() }.filter(|(_, entry)| !self.is_left_out(&session, entry));
        Ok(there.map(|(key, _)| Arc::clone(key)).collect())
    }

    fn has(&self, key: &str) -> Result<bool, Error> {
        let session = self.session()?;
        let entry = self.entry(&session, key)?;
        Ok(entry.is_some_and(|entry| !self.is_left_out(&session, entry)))
    }

    fn size(&self) -> usize {
        self.map.len()
    }
}

impl Session {
    /// Whether the value at a path is evaluated before all expressions of a zone: those read its result.
    fn is_before(&self, path: &Path, zone: Zone) -> bool {
        !self.is_exact() && Zone::of(path) < zone
    }

    /// The value of an entry or item as the expressions of a zone see it; none if it was left out before. Expressions of its own
    /// zone, to which Helm gives its text, get the skip text: it is true as any text, and leaves out what it is printed to.
    fn seen(&self, node: &Node, path: &Path, reader: Zone) -> Result<Option<Value>, Rc<Fault>> {
        let value = self.value(node, path, reader)?;
        match &value {
            Value::String(text) if self.is_before(path, reader) && is_special(text) => {
                self.item(value).map_err(|error| self.fault(error))
            }
            _ => Ok(Some(value)),
        }
    }

    /// The value of a node as the expressions of a zone see it.
    pub(super) fn value(&self, node: &Node, path: &Path, reader: Zone) -> Result<Value, Rc<Fault>> {
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
                let items: Result<Vec<Value>, Rc<Fault>> = { items.iter().enumerate() }
                    .map(|(index, item)| self.seen(item, &path.index(index), reader))
                    .filter_map(Result::transpose)
                    .collect();
                items.map(Value::list)
            }
            tree::Value::Map(map) => {
                if !self.is_exact()
                    && let Some(text) = raw_text(map).map_err(|error| self.fault(error))?
                {
                    return Ok(Value::from(shield(&text)));
                }
                let view = View::new(self, map, path.clone(), reader);
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

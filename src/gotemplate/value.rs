//! The values that expressions compute with: Go's kinds, as text/template and Sprig see them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::Error;

/// A Go value. Maps are shared and mutable, as in Go; lists and strings are not mutable by any template.
#[derive(Clone, Debug)]
pub enum Value {
    /// An untyped nil.
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`: literals, `len`, `int`.
    Int(i64),
    /// `int64`: Sprig's arithmetic.
    Int64(i64),
    /// `float64`: every number of values.
    Float(f64),
    /// `string`
    String(Arc<str>),
    /// `[]interface {}` or `[]string`.
    List(Rc<List>),
    /// `map[string]interface {}` and its kin.
    Map(Rc<Map>),
}

/// A list and the Go type of its items.
#[derive(Debug)]
pub struct List {
    /// The items.
    pub items: Vec<Value>,
    /// `[]string` where a function returns that, else `[]interface {}`.
    pub element: Element,
}

/// The static type of a list's or map's elements, which printing by type and some functions look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `interface {}`
    Any,
    /// `string`
    String,
}

/// A map: entries computed or set so far, over entries that are fetched when asked for.
#[derive(Debug)]
pub struct Map {
    /// Go's type name, for `%T` and error messages: `map[string]interface {}`, `chartutil.Values` ….
    pub type_name: &'static str,
    entries: RefCell<BTreeMap<Arc<str>, Value>>,
    lazy: RefCell<Option<Rc<dyn Lazy>>>,
}

/// Entries that cost something to produce: converted, or evaluated, one at a time.
pub trait Lazy: std::fmt::Debug {
    /// The entry of a key.
    fn get(&self, key: &str) -> Result<Option<Value>, Error>;
    /// All keys, sorted.
    fn keys(&self) -> Result<Vec<Arc<str>>, Error>;
}

impl Map {
    /// A plain map.
    pub fn new(entries: BTreeMap<Arc<str>, Value>) -> Self {
        Self {
            type_name: "map[string]interface {}",
            entries: RefCell::new(entries),
            lazy: RefCell::new(None),
        }
    }

    /// A map that fetches its entries when they are asked for.
    pub fn lazy(type_name: &'static str, lazy: Rc<dyn Lazy>) -> Self {
        Self {
            type_name,
            entries: RefCell::default(),
            lazy: RefCell::new(Some(lazy)),
        }
    }

    /// The entry of a key; fetched entries are kept, so that a map fetched twice is one map.
    pub fn get(&self, key: &str) -> Result<Option<Value>, Error> {
        if let Some(value) = self.entries.borrow().get(key) {
            return Ok(Some(value.clone()));
        }
        let Some(lazy) = self.lazy.borrow().clone() else {
            return Ok(None);
        };
        let fetched = lazy.get(key)?;
        if let Some(value) = &fetched {
            self.entries.borrow_mut().insert(key.into(), value.clone());
        }
        Ok(fetched)
    }

    /// All entries, sorted by key: everything not yet fetched is fetched.
    pub fn entries(&self) -> Result<BTreeMap<Arc<str>, Value>, Error> {
        let lazy = self.lazy.borrow().clone();
        if let Some(lazy) = lazy {
            for key in lazy.keys()? {
                self.get(&key)?;
            }
            *self.lazy.borrow_mut() = None;
        }
        Ok(self.entries.borrow().clone())
    }

    /// All keys, sorted, without fetching their values.
    pub fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        let mut keys: Vec<Arc<str>> = self.entries.borrow().keys().cloned().collect();
        if let Some(lazy) = self.lazy.borrow().clone() {
            keys.extend(lazy.keys()?);
            keys.sort();
            keys.dedup();
        }
        Ok(keys)
    }

    /// Sets an entry for everyone who holds this map, as Go's maps do.
    pub fn set(&self, key: &str, value: Value) {
        self.entries.borrow_mut().insert(key.into(), value);
    }

    /// Removes an entry for everyone who holds this map.
    pub fn unset(&self, key: &str) -> Result<(), Error> {
        self.entries()?;
        self.entries.borrow_mut().remove(key);
        Ok(())
    }
}

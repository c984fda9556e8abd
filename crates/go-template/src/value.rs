//! The values of expressions: Go's kinds, as text/template and Sprig see them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

use super::signature::Signature;
use super::{Error, ErrorClass, secret};

/// A Go value. Maps are shared and mutable, as in Go; templates cannot change lists and strings.
///
/// Strings are always UTF-8: an operation that creates other bytes fails.
#[derive(Clone, Debug)]
pub enum Value {
    /// An untyped nil, which is also the value of a missing key.
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`: from literals, `len` and `int`.
    Int(i64),
    /// `int64`: from Sprig's arithmetic, and integers of `--set`.
    Int64(i64),
    /// `uint8`: a byte of a string, from `index`.
    Uint8(u8),
    /// `uint64`: from the numbers of a semantic version.
    Uint64(u64),
    /// `float64`: every number in values files.
    Float(f64),
    /// `string`
    String(Arc<str>),
    /// `[]interface {}` or `[]string`.
    List(Rc<List>),
    /// `map[string]interface {}` and similar types.
    Map(Rc<Map>),
    /// A value with its own fields or methods: a version, a time, `.Files`.
    Object(Rc<dyn Object>),
}

impl Value {
    /// A `[]interface {}`.
    pub fn list(items: Vec<Value>) -> Self {
        Self::list_of(Element::Any, items)
    }

    /// A list of items of this Go type.
    pub fn list_of(element: Element, items: Vec<Value>) -> Self {
        Self::List(Rc::new(List { items, element }))
    }

    /// A `[]string`.
    pub fn strings<T: Into<Arc<str>>>(items: impl IntoIterator<Item = T>) -> Self {
        let items = items.into_iter().map(|item| Self::String(item.into()));
        Self::list_of(Element::String, items.collect())
    }

    /// A `map[string]interface {}`.
    pub fn map(entries: BTreeMap<Arc<str>, Value>) -> Self {
        Self::Map(Rc::new(Map::new(entries)))
    }

    /// Go's name of the type, as `%T` prints it.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Nil => "<nil>",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Int64(_) => "int64",
            Self::Uint8(_) => "uint8",
            Self::Uint64(_) => "uint64",
            Self::Float(_) => "float64",
            Self::String(_) => "string",
            Self::List(list) => list.element.list_type_name(),
            Self::Map(map) => map.type_name,
            Self::Object(object) => object.type_name(),
        }
    }

    /// Go's name of the kind, as `reflect.Kind` prints it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "invalid",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Int64(_) => "int64",
            Self::Uint8(_) => "uint8",
            Self::Uint64(_) => "uint64",
            Self::Float(_) => "float64",
            Self::String(_) => "string",
            Self::List(_) => "slice",
            Self::Map(_) => "map",
            Self::Object(object) => object.kind(),
        }
    }

    /// The truth value in `if` and `and`: nil, false, zero and everything empty are false.
    pub fn truth(&self) -> Result<bool, Error> {
        Ok(match self {
            Self::Nil => false,
            Self::Bool(flag) => *flag,
            Self::Int(number) | Self::Int64(number) => *number != 0,
            Self::Uint8(number) => *number != 0,
            Self::Uint64(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::String(text) if secret::may_be_empty(text) => return Err(secret::secret(text)),
            Self::String(text) => !text.is_empty(),
            Self::List(list) => !list.items.is_empty(),
            Self::Map(map) => !map.is_empty()?,
            Self::Object(object) => object.truth(),
        })
    }
}

/// A value that is neither of a basic kind, nor a list, nor a map.
pub trait Object: Debug {
    /// Go's type name, as `%T` prints it, such as `*semver.Version`.
    fn type_name(&self) -> &str;

    /// Go's kind: `struct`, `ptr`, `slice` and so on.
    fn kind(&self) -> &'static str {
        "struct"
    }

    /// The text that `%v` prints.
    fn text(&self) -> String;

    /// The truth value in Go; a struct is always true.
    fn truth(&self) -> bool {
        true
    }

    /// The items of a list with its own type.
    fn items(&self) -> Option<Rc<List>> {
        None
    }

    /// The complex number that it is.
    fn complex(&self) -> Option<Complex> {
        None
    }

    /// The value that `toJson` and `toYaml` write.
    fn plain(&self) -> Value {
        Value::Nil
    }

    /// The value of an exported field.
    fn field(&self, _name: &str) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    /// The signature of an exported method; none if there is no such method.
    fn method(&self, _name: &str) -> Option<Signature> {
        None
    }

    /// Calls a method with arguments that match its signature.
    fn call(&self, name: &str, _arguments: &[Value]) -> Result<Value, Error> {
        Err(Error::new(
            ErrorClass::WrongType,
            format!("`{}` has no method `{name}`", self.type_name()),
        ))
    }
}

/// A `complex128`, which results from a literal such as `1i` only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// The real component.
    pub real: f64,
    /// The imaginary component.
    pub imaginary: f64,
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

/// A list and the Go type of its items.
#[derive(Debug)]
pub struct List {
    /// The items.
    pub items: Vec<Value>,
    /// The Go type of the items.
    pub element: Element,
}

/// Drops nested values iteratively, because recursion could overflow the stack.
impl Drop for List {
    fn drop(&mut self) {
        drop_nested(&mut self.items);
    }
}

fn drop_nested(values: &mut Vec<Value>) {
    while let Some(value) = values.pop() {
        match value {
            Value::List(list) => {
                if let Ok(mut list) = Rc::try_unwrap(list) {
                    values.append(&mut list.items);
                }
            }
            Value::Map(map) => {
                if let Ok(map) = Rc::try_unwrap(map) {
                    values.extend(std::mem::take(&mut *map.entries.borrow_mut()).into_values());
                }
            }
            _ => {}
        }
    }
}

/// The static type of the items of a list, which matters for `%T` and some functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `interface {}`
    Any,
    /// `string`
    String,
    /// `int`: the items of `until` and `untilStep`.
    Int,
    /// `uint8`: a slice of bytes.
    Uint8,
    /// `interface {}`, in a nil list: empty, and `null` in JSON.
    Nil,
    /// `string`, in a nil list.
    NilString,
}

impl Element {
    /// Whether the list is nil.
    pub fn is_nil(self) -> bool {
        matches!(self, Self::Nil | Self::NilString)
    }

    /// The type of a list of these items.
    pub fn list_type_name(self) -> &'static str {
        match self {
            Self::Any | Self::Nil => "[]interface {}",
            Self::String | Self::NilString => "[]string",
            Self::Int => "[]int",
            Self::Uint8 => "[]uint8",
        }
    }
}

/// The type name of a map without a named type.
pub const PLAIN_MAP: &str = "map[string]interface {}";

/// A map. Entries of a lazy map are fetched when they are read.
#[derive(Debug)]
pub struct Map {
    /// Go's type name, for `%T` and error messages, such as `map[string]interface {}` or `chartutil.Values`.
    pub type_name: &'static str,
    /// The entries that were computed, set or fetched.
    entries: RefCell<BTreeMap<Arc<str>, Value>>,
    /// The source of all other entries; none if all are fetched.
    lazy: RefCell<Option<Rc<dyn Lazy>>>,
}

/// Entries that are converted or evaluated one by one.
pub trait Lazy: std::fmt::Debug {
    /// The entry of a key.
    fn get(&self, key: &str) -> Result<Option<Value>, Error>;
    /// All keys, sorted.
    fn keys(&self) -> Result<Vec<Arc<str>>, Error>;
    /// Whether there is such a key.
    fn has(&self, key: &str) -> Result<bool, Error> {
        Ok(self.keys()?.iter().any(|known| **known == *key))
    }
    /// Whether there are no keys.
    fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.keys()?.is_empty())
    }
}

impl Lazy for Rc<Map> {
    fn get(&self, key: &str) -> Result<Option<Value>, Error> {
        Map::get(self, key)
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        Map::keys(self)
    }

    fn has(&self, key: &str) -> Result<bool, Error> {
        Map::has(self, key)
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        let entries = self.entries.get_mut();
        let holds_more = |value: &Value| matches!(value, Value::List(_) | Value::Map(_));
        if entries.values().any(holds_more) {
            drop_nested(&mut std::mem::take(entries).into_values().collect());
        }
    }
}

impl Map {
    /// A map without a named type.
    pub fn new(entries: BTreeMap<Arc<str>, Value>) -> Self {
        Self::with_type(PLAIN_MAP, entries)
    }

    /// A map of a named type, or one whose elements are not `interface {}` (`map[string]string`).
    pub fn with_type(type_name: &'static str, entries: BTreeMap<Arc<str>, Value>) -> Self {
        Self {
            type_name,
            entries: RefCell::new(entries),
            lazy: RefCell::new(None),
        }
    }

    /// A map that fetches its entries when they are read.
    pub fn lazy(type_name: &'static str, lazy: Rc<dyn Lazy>) -> Self {
        Self {
            type_name,
            entries: RefCell::default(),
            lazy: RefCell::new(Some(lazy)),
        }
    }

    /// The result of the method `AsMap`, which `.Values` has: a map with the same entries, and without a named type. None for
    /// other maps.
    pub fn as_map(self: &Rc<Self>) -> Option<Value> {
        let is_values = ["chartutil.Values", "common.Values"].contains(&self.type_name);
        is_values.then(|| Value::Map(Rc::new(Self::lazy(PLAIN_MAP, Rc::new(Rc::clone(self))))))
    }

    /// The entry of a key. A fetched entry is kept, so that every reader gets the same shared map.
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

    /// All entries, sorted by key. Fetches the missing ones.
    pub fn entries(&self) -> Result<BTreeMap<Arc<str>, Value>, Error> {
        self.fetch()?;
        Ok(self.entries.borrow().clone())
    }

    fn fetch(&self) -> Result<(), Error> {
        let lazy = self.lazy.borrow().clone();
        if let Some(lazy) = lazy {
            for key in lazy.keys()? {
                self.get(&key)?;
            }
            *self.lazy.borrow_mut() = None;
        }
        Ok(())
    }

    /// All keys, sorted. Fetches no entry.
    pub fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        let mut keys: Vec<Arc<str>> = self.entries.borrow().keys().cloned().collect();
        let lazy = self.lazy.borrow().clone();
        if let Some(lazy) = lazy {
            keys.extend(lazy.keys()?);
            keys.sort();
            keys.dedup();
        }
        Ok(keys)
    }

    /// The zero value of the element type, which a missing entry has.
    pub(super) fn zero(&self) -> Value {
        if self.type_name == "map[string]string" {
            return "".into();
        }
        Value::Nil
    }

    /// Whether the elements are of type `interface {}`.
    pub(super) fn holds_any(&self) -> bool {
        self.type_name == PLAIN_MAP || !self.type_name.starts_with("map[")
    }

    /// The number of entries. Fetches no entry.
    pub fn len(&self) -> Result<usize, Error> {
        if self.lazy.borrow().is_none() {
            return Ok(self.entries.borrow().len());
        }
        Ok(self.keys()?.len())
    }

    /// Whether the map has a key. Fetches no entry.
    pub fn has(&self, key: &str) -> Result<bool, Error> {
        if self.entries.borrow().contains_key(key) {
            return Ok(true);
        }
        let lazy = self.lazy.borrow().clone();
        lazy.map_or(Ok(false), |lazy| lazy.has(key))
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> Result<bool, Error> {
        if !self.entries.borrow().is_empty() {
            return Ok(false);
        }
        let lazy = self.lazy.borrow().clone();
        lazy.map_or(Ok(true), |lazy| lazy.is_empty())
    }

    /// Sets an entry, for every holder of this map, as in Go.
    pub fn set(&self, key: &str, value: Value) {
        self.entries.borrow_mut().insert(key.into(), value);
    }

    /// Removes an entry, for every holder of this map.
    pub fn unset(&self, key: &str) -> Result<(), Error> {
        self.fetch()?;
        self.entries.borrow_mut().remove(key);
        Ok(())
    }
}

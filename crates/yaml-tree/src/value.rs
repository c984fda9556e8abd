//! A values tree: what a YAML file says, each node with its place.
//!
//! Trees share their branches (`Arc`), so that merging a small layer over a large one copies only the maps that both have.

use std::cmp::Ordering;
use std::sync::Arc;

use super::opaque::{Opaque, OpaqueKind, is_opaque};
use super::place::Place;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Where it was written. After merging: in the layer that won.
    pub place: Place,
}

/// What Helm can hold in values.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Arc<str>),
    /// A string or number that is a secret, or was made of one.
    Opaque(Arc<Opaque>),
    /// A list.
    List(Arc<Vec<Node>>),
    /// A map with string keys, as JSON has it.
    Map(Arc<Map>),
}

/// A number as the reading engine holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer (kubectl keeps those; Helm does not).
    Int(i64),
    /// Helm's only kind: everything goes through JSON.
    Float(f64),
}

impl Number {
    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        match self {
            Self::Int(number) => number == 0,
            Self::Float(number) => number == 0.0,
        }
    }
}

/// One entry of a [`Map`].
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, as text.
    pub key: Arc<str>,
    /// The place of the key.
    pub key_place: Place,
    /// Its value.
    pub node: Node,
}

/// A map, sorted by key in byte order, which is the order Go's templates and JSON use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    entries: Vec<Entry>,
}

impl Map {
    /// A map of entries that are in the order of their keys, each key once.
    pub fn from_sorted(mut entries: Vec<Entry>) -> Self {
        debug_assert!(entries.is_sorted_by(|a, b| a.key < b.key));
        // Most maps are small, and a list that grows has room for more from the first on.
        entries.shrink_to_fit();
        Self { entries }
    }

    /// The entries in key order.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The whole entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        // Most maps are small, and most of their keys differ in length.
        if self.entries.len() <= 8 {
            let is_key = |entry: &&Entry| entry.key.len() == key.len() && *entry.key == *key;
            return self.entries.iter().find(is_key);
        }
        self.position(key).ok().map(|index| &self.entries[index])
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let index = self.position(key).ok()?;
        Some(&mut self.entries[index].node)
    }

    /// The keys, and their values to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Node)> {
        let entries = self.entries.iter_mut();
        entries.map(|entry| (&*entry.key, &mut entry.node))
    }

    /// The value of an entry's key, to be changed; its own where there is none.
    pub fn get_or_insert(&mut self, entry: Entry) -> &mut Node {
        let index = self.position(&entry.key).unwrap_or_else(|index| {
            self.entries.insert(index, entry);
            index
        });
        &mut self.entries[index].node
    }

    /// Sets an entry; an earlier one of the same key is replaced and returned.
    pub fn insert(&mut self, entry: Entry) -> Option<Entry> {
        match self.position(&entry.key) {
            Ok(index) => Some(std::mem::replace(&mut self.entries[index], entry)),
            Err(index) => {
                self.entries.insert(index, entry);
                None
            }
        }
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        self.position(key)
            .ok()
            .map(|index| self.entries.remove(index))
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.entries
            .binary_search_by(|entry| key_order(&entry.key, key))
    }
}

/// The order of two keys by their bytes. Keys are compared more often than anything else, and the C library of the static
/// binary compares byte by byte.
pub fn key_order(one: &str, other: &str) -> Ordering {
    let common = one.len().min(other.len());
    let (ones, one_rest) = one.as_bytes()[..common].as_chunks::<8>();
    let (others, other_rest) = other.as_bytes()[..common].as_chunks::<8>();
    let mut words = ones.iter().zip(others);
    let differ = words.find_map(|(one, other)| {
        let order = u64::from_be_bytes(*one).cmp(&u64::from_be_bytes(*other));
        order.is_ne().then_some(order)
    });
    differ
        .unwrap_or_else(|| one_rest.iter().cmp(other_rest))
        .then(one.len().cmp(&other.len()))
}

/// Sorts; of equal keys the last one stays, as in every YAML reader that does not refuse them.
impl FromIterator<Entry> for Map {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut entries: Vec<Entry> = entries.into_iter().collect();
        if !entries.is_sorted_by(|a, b| key_order(&a.key, &b.key).is_lt()) {
            entries.sort_by(|a, b| key_order(&a.key, &b.key));
            entries.dedup_by(|later, earlier| {
                let same = later.key == earlier.key;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        Self::from_sorted(entries)
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl Entry {
    /// An entry that is in no file.
    pub fn from_value(key: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        Self {
            key: key.into(),
            key_place: Place::NONE,
            node: Node::from_value(value),
        }
    }

    /// The same key with another value.
    pub fn with_node(&self, node: Node) -> Self {
        Self {
            node,
            ..self.clone()
        }
    }

    /// A computed key over a value that keeps its place.
    pub fn holding(key: impl Into<Arc<str>>, node: Node) -> Self {
        Self {
            key: key.into(),
            key_place: Place::NONE,
            node,
        }
    }
}

impl Node {
    /// A value, and where it was written.
    pub fn new(value: impl Into<Value>, place: Place) -> Self {
        let value = value.into();
        Self { value, place }
    }

    /// The same node with each node directly below it changed.
    pub fn map_children(&self, change: &mut dyn FnMut(&Self) -> Self) -> Self {
        let value = match &self.value {
            Value::List(items) => Value::from(items.iter().map(change).collect::<Vec<Self>>()),
            Value::Map(map) => {
                let entries = map.iter().map(|entry| entry.with_node(change(&entry.node)));
                Value::from(entries.collect::<Map>())
            }
            scalar => scalar.clone(),
        };
        Self::new(value, self.place)
    }

    /// The same tree with other places; unknown ones stay so. The recursion is limited by the parser's depth limit.
    pub fn with_places(&self, at: &mut dyn FnMut(Place) -> Place) -> Self {
        let place = self.place.map(at);
        let value = match &self.value {
            Value::List(items) => {
                let items = items.iter().map(|item| item.with_places(at));
                Value::from(items.collect::<Vec<Self>>())
            }
            Value::Map(map) => {
                let entries = map.iter().map(|entry| Entry {
                    key: Arc::clone(&entry.key),
                    key_place: entry.key_place.map(at),
                    node: entry.node.with_places(at),
                });
                Value::Map(Arc::new(entries.collect()))
            }
            scalar => scalar.clone(),
        };
        Self { value, place }
    }

    /// Visits the places of its keys and values.
    pub fn each_place(&self, visit: &mut dyn FnMut(Place)) {
        visit(self.place);
        match &self.value {
            Value::List(items) => items.iter().for_each(|item| item.each_place(visit)),
            Value::Map(map) => {
                for entry in map.iter() {
                    visit(entry.key_place);
                    entry.node.each_place(visit);
                }
            }
            _ => {}
        }
    }

    /// A value that is in no file.
    pub fn from_value(value: impl Into<Value>) -> Self {
        Self::new(value, Place::NONE)
    }

    /// The value below a path of keys.
    pub fn get_path(&self, path: &[&str]) -> Option<&Node> {
        path.iter()
            .try_fold(self, |node, key| node.value.as_map()?.get(key))
    }

    /// The map below a path of keys, to be changed. What is missing on the way, or no map, becomes one.
    pub fn map_mut(&mut self, path: &[&str]) -> &mut Map {
        if self.value.as_map().is_none() {
            self.value = Value::empty_map();
        }
        let Value::Map(map) = &mut self.value else {
            unreachable!("set to a map above");
        };
        let map = Arc::make_mut(map);
        match path {
            [] => map,
            [key, below @ ..] => {
                let new = Entry::from_value(*key, Value::Null);
                map.get_or_insert(new).map_mut(below)
            }
        }
    }

    /// Sets the value below a path of one key or more, as [`map_mut`](Self::map_mut) makes what is on the way.
    pub fn set(&mut self, path: &[&str], value: impl Into<Value>) {
        if let [parents @ .., key] = path {
            let new = Entry::from_value(*key, Value::Null);
            self.map_mut(parents).get_or_insert(new).value = value.into();
        }
    }

    /// Removes the value at a path of keys, if there is one.
    pub fn remove(&mut self, path: &[&str]) {
        if let Some((key, parents)) = path.split_last()
            && let Some(Value::Map(map)) = self.get_mut(parents).map(|node| &mut node.value)
        {
            Arc::make_mut(map).remove(key);
        }
    }

    /// The value at a path of keys, to be changed. Where there is none, nothing is copied.
    pub fn get_mut(&mut self, path: &[&str]) -> Option<&mut Self> {
        self.get_path(path)?;
        path.iter()
            .try_fold(self, |node, key| match &mut node.value {
                Value::Map(map) => Arc::make_mut(map).get_mut(key),
                _ => None,
            })
    }

    /// The string below a path of keys.
    pub fn text(&self, path: &[&str]) -> Option<&str> {
        self.get_path(path)?.value.as_str().map(|text| &**text)
    }

    /// The string below a path of keys, unless it is empty.
    pub fn nonempty_text(&self, path: &[&str]) -> Option<&str> {
        self.text(path).filter(|text| !text.is_empty())
    }

    /// Whether the value below a path of keys is true.
    pub fn flag(&self, path: &[&str]) -> bool {
        let node = self.get_path(path);
        node.is_some_and(|node| node.value == Value::Bool(true))
    }

    /// The items of the list below a path of keys; none if there is no list.
    pub fn items(&self, path: &[&str]) -> &[Node] {
        let node = self.get_path(path);
        node.and_then(|node| node.value.as_list())
            .unwrap_or_default()
    }

    /// The entries of the map below a path of keys; none if there is no map.
    pub fn entries(&self, path: &[&str]) -> std::slice::Iter<'_, Entry> {
        let map = self.get_path(path).and_then(|node| node.value.as_map());
        map.map_or_else(Default::default, |map| map.iter())
    }
}

impl Node {
    /// The nodes directly below it.
    pub fn children(&self) -> impl Iterator<Item = &Node> {
        let entries = self.entries(&[]).map(|entry| &entry.node);
        entries.chain(self.items(&[]))
    }

    /// Whether no string below it, key or value, holds a `{{`: it evaluates to what is written.
    pub fn is_literal(&self) -> bool {
        match &self.value {
            Value::String(text) => !text.contains("{{"),
            Value::Opaque(opaque) => !opaque.text.contains("{{"),
            Value::List(items) => items.iter().all(Self::is_literal),
            Value::Map(map) => map
                .iter()
                .all(|entry| !entry.key.contains("{{") && entry.node.is_literal()),
            _ => true,
        }
    }

    /// The keys to the first value that differs from the other node's; none where all are the same. A list differs as a whole.
    pub fn difference<'n>(&'n self, other: &'n Self) -> Option<Vec<&'n str>> {
        let (Value::Map(own), Value::Map(others)) = (&self.value, &other.value) else {
            return (!self.value.same(&other.value)).then(Vec::new);
        };
        let mut keys = own.iter().chain(others.iter()).map(|entry| &*entry.key);
        keys.find_map(|key| {
            let below = match (own.get(key), others.get(key)) {
                (Some(one), Some(two)) => one.difference(two)?,
                _ => Vec::new(),
            };
            Some(std::iter::once(key).chain(below).collect())
        })
    }

    /// The place of the value at a path of keys, or of the last existing value on the way.
    pub fn place_at(&self, path: &[&str]) -> Place {
        let below = path.split_first().and_then(|(key, rest)| {
            let node = self.get_path(&[key])?;
            Some(node.place_at(rest))
        });
        below.unwrap_or(self.place)
    }

    /// Whether two nodes are one, for certain: the same branch in memory, or the same scalar at the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Map(one), Value::Map(two)) => Arc::ptr_eq(one, two),
            (Value::List(one), Value::List(two)) => Arc::ptr_eq(one, two),
            _ => self == other,
        }
    }
}

impl Node {
    /// The first opaque scalar at or below this node, in the order of keys.
    pub fn opaque(&self) -> Option<(&Self, &Arc<Opaque>)> {
        match &self.value {
            Value::Opaque(opaque) => Some((self, opaque)),
            Value::Map(_) | Value::List(_) => self.children().find_map(Self::opaque),
            _ => None,
        }
    }
}

impl Value {
    /// The empty map.
    pub fn empty_map() -> Self {
        Self::Map(Arc::default())
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&Arc<str>> {
        if let Self::String(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The string, with a label in place of each secret. A caller makes a tree or a text of it, and passes the labels along.
    pub fn text_with_labels(&self) -> Option<&Arc<str>> {
        match self {
            Self::String(text) => Some(text),
            Self::Opaque(opaque) => Some(&opaque.text),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub fn as_map(&self) -> Option<&Arc<Map>> {
        if let Self::Map(map) = self {
            Some(map)
        } else {
            None
        }
    }

    /// The list, if it is one.
    pub fn as_list(&self) -> Option<&[Node]> {
        if let Self::List(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// Whether two values are equal, regardless of their places. Recurses as deep as the values are nested.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(a), Self::List(b)) => {
                Arc::ptr_eq(a, b)
                    || a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| a.value.same(&b.value))
            }
            (Self::Map(a), Self::Map(b)) => {
                Arc::ptr_eq(a, b)
                    || a.len() == b.len()
                        && a.iter()
                            .zip(&**b)
                            .all(|(a, b)| a.key == b.key && a.node.value.same(&b.node.value))
            }
            _ => self == other,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// What kind of value it is, in the words of a YAML user.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Opaque(_) => "a secret",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<Opaque> for Value {
    fn from(opaque: Opaque) -> Self {
        Self::Opaque(Arc::new(opaque))
    }
}

/// A text that was made of others: opaque where it holds the label of a secret.
impl From<String> for Value {
    fn from(text: String) -> Self {
        if is_opaque(&text) {
            let (text, kind) = (text.into(), OpaqueKind::Scalar);
            return Opaque { text, kind }.into();
        }
        Self::String(text.into())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(Number::Int(number))
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(Arc::new(map))
    }
}

impl From<Vec<Node>> for Value {
    fn from(items: Vec<Node>) -> Self {
        Self::List(Arc::new(items))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{Entry, Map, Node, Value, key_order};
    use crate::opaque::{Opaque, OpaqueKind, label};

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_their_bytes(one in "[ab\u{e9}]{0,20}", other in "[ab\u{e9}]{0,20}") {
            assert_eq!(key_order(&one, &other), one.cmp(&other));
            assert_eq!(key_order(&one, &format!("{one}{other}")), one.cmp(&format!("{one}{other}")));
        }
    }

    #[test]
    fn the_last_of_equal_keys_stays() {
        let map: Map = [
            Entry::from_value("b", 1),
            Entry::from_value("a", 2),
            Entry::from_value("b", 3),
        ]
        .into_iter()
        .collect();
        assert_eq!(map.len(), 2);
        assert_eq!(map.get("b"), Some(&Entry::from_value("b", 3).node));
    }

    #[test]
    fn a_tree_with_an_expression_anywhere_is_not_literal() {
        let opaque = |text: &str| Opaque {
            text: text.into(),
            kind: OpaqueKind::String,
        };
        let holding = |value: Value| {
            let list = vec![Node::from_value(value)];
            let map: Map = [Entry::from_value("a", list)].into_iter().collect();
            Node::from_value(map)
        };
        let secret = label("a.yaml", "b");
        assert!(holding(opaque(&secret).into()).is_literal());
        assert!(holding("text".into()).is_literal());
        assert!(!holding(opaque(&format!("{secret}-{{{{ .x }}}}")).into()).is_literal());
        assert!(!holding("{{ .x }}".into()).is_literal());
    }
}

//! Evaluates a part of the files' values completely, and keeps the spans: evaluates keys and strings, unwraps typed results, and
//! leaves out skipped entries.
//!
//! Source: `interpret-inner-gotpl` of sylva-core; docs/expressions.md#the-evaluator.

use std::sync::Arc;

use go_template::{Error, Value};
use yaml_tree::opaque::is_opaque;
use yaml_tree::place::Place;
use yaml_tree::value::{self as tree, Entry, Node};

use super::convert::{self, DEEPEST};
use super::failure::{FailureStep, with_step};
use super::path::Path;
use super::session::{Session, raw_text};
use super::text::{RAW, is_special, is_template, shield, unshield};

/// The result of evaluating a node, item or entry.
enum Evaluated<T> {
    /// As it is.
    Unchanged,
    /// A new one.
    Replaced(T),
    /// Nothing: the entry or item is left out.
    Skipped,
}

/// Evaluates a part of the values; none if it is left out. Subtrees without expressions are shared, not copied.
pub(super) fn complete(session: &Session, node: &Node, path: &Path) -> Result<Option<Node>, Error> {
    Ok(match node_change(session, node, path)? {
        Evaluated::Unchanged => Some(node.clone()),
        Evaluated::Replaced(node) => Some(node),
        Evaluated::Skipped => None,
    })
}

/// Whether a part of the values contains nothing to evaluate.
pub(super) fn is_plain(node: &Node) -> bool {
    match &node.value {
        tree::Value::String(text) => !is_special(text),
        tree::Value::Opaque(opaque) => !is_special(&opaque.text),
        tree::Value::List(items) => items.iter().all(is_plain),
        tree::Value::Map(map) => map
            .iter()
            .all(|entry| !is_template(&entry.key) && *entry.key != *RAW && is_plain(&entry.node)),
        _ => true,
    }
}

fn node_change(session: &Session, node: &Node, path: &Path) -> Result<Evaluated<Node>, Error> {
    if path.depth() > DEEPEST {
        return Err(convert::too_deep());
    }
    let value = match &node.value {
        tree::Value::String(text) if is_special(text) => {
            return text_change(session, text, node.place, path);
        }
        tree::Value::Opaque(opaque) if is_special(&opaque.text) => {
            return text_change(session, &opaque.text, node.place, path);
        }
        tree::Value::List(items) => {
            let change = |index, item: &Node| node_change(session, item, &path.index(index));
            change_items(&**items, change)?.map(tree::Value::from)
        }
        tree::Value::Map(map) => match raw_map(session, map, node.place, path)? {
            Some(raw) => Some(raw),
            None => map_change(session, map, path)?.map(tree::Value::from),
        },
        _ => None,
    };
    let place = node.place;
    Ok(value.map_or(Evaluated::Unchanged, |value| {
        Evaluated::Replaced(Node { value, place })
    }))
}

fn text_change(
    session: &Session,
    text: &Arc<str>,
    place: Place,
    path: &Path,
) -> Result<Evaluated<Node>, Error> {
    let value = if is_template(text) {
        session.leaf(text, place, path)?
    } else {
        Value::String(Arc::clone(text))
    };
    if is_opaque(text) {
        session.budget.note_label();
    }
    let Some(value) = convert::item(value)? else {
        return Ok(Evaluated::Skipped);
    };
    let mut node = convert::node(&value, place)?;
    node.value = for_manifests(session, node.value);
    Ok(Evaluated::Replaced(node))
}

fn map_change(
    session: &Session,
    map: &Arc<tree::Map>,
    path: &Path,
) -> Result<Option<tree::Map>, Error> {
    let keyed = session.evaluate_keys(map, path)?;
    let change = |_, entry: &Entry| {
        let change = node_change(session, &entry.node, &path.key(&entry.key))?;
        Ok(match change {
            Evaluated::Unchanged => Evaluated::Unchanged,
            Evaluated::Replaced(node) => Evaluated::Replaced(Entry {
                node,
                ..entry.clone()
            }),
            Evaluated::Skipped => Evaluated::Skipped,
        })
    };
    let entries = change_items(&*keyed, change)?;
    let is_renamed = !Arc::ptr_eq(map, &keyed);
    Ok(match entries {
        Some(entries) => Some(entries.into_iter().collect()),
        None => is_renamed.then(|| (*keyed).clone()),
    })
}

/// All items with their changes; none if all are unchanged.
fn change_items<'t, T: Clone + 't>(
    items: impl IntoIterator<Item = &'t T> + Copy,
    change: impl Fn(usize, &'t T) -> Result<Evaluated<T>, Error>,
) -> Result<Option<Vec<T>>, Error> {
    let mut all: Option<Vec<T>> = None;
    for (index, item) in items.into_iter().enumerate() {
        let new = match change(index, item)? {
            Evaluated::Unchanged if all.is_none() => continue,
            Evaluated::Unchanged => Some(item.clone()),
            Evaluated::Replaced(new) => Some(new),
            Evaluated::Skipped => None,
        };
        let unchanged = || items.into_iter().take(index).cloned().collect();
        all.get_or_insert_with(unchanged).extend(new);
    }
    Ok(all)
}

/// The text of a `(raw)` map, which must not be evaluated; none for any other map.
fn raw_map(
    session: &Session,
    map: &tree::Map,
    place: Place,
    path: &Path,
) -> Result<Option<tree::Value>, Error> {
    let text = raw_text(map).map_err(|error| {
        let step = FailureStep {
            path: path.to_string(),
            place,
            text: RAW.into(),
            span: None,
        };
        with_step(error, step)
    })?;
    Ok(text.map(|text| for_manifests(session, shield(&text).into())))
}

/// A result as manifests need it. Exact evaluation keeps escaped braces, because `.Values` has them there.
fn for_manifests(session: &Session, value: tree::Value) -> tree::Value {
    let text = value.as_str().filter(|_| !session.is_exact());
    match text.and_then(|text| unshield(text)) {
        Some(unescaped) => unescaped.into(),
        None => value,
    }
}

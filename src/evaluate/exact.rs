//! Exact evaluation: in Helm's order, in which an expression that reads another value gets the text of that value's expression.
//!
//! Source: `interpret-values-gotpl` of sylva-core; docs/expressions.md#the-whole-run. Sylva evaluates `_internal.state` first,
//! then the rest of `_internal`, then everything else. Here an entry of `_internal` is evaluated when it is read, except when
//! all values are evaluated.

use std::fmt;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::session::Session;
use go_template::value::{Lazy, Map, PLAIN_MAP};
use go_template::{Error, Value};
use yaml_tree::place::Place;
use yaml_tree::value::{self as tree, Node};

use super::convert;
use super::text::{Zone, is_special};

/// The key that Sylva removes while it evaluates the values, because its content is evaluated once for each unit.
pub(super) const UNIT_TEMPLATES: &str = "unit_templates";
/// The key whose content Sylva evaluates with the rest, and then restores to the original text.
pub(super) const UNIT_DEFAULTS: &str = "unit_definition_defaults";

/// The stages of `_internal`.
pub(super) struct Internal {
    values: Rc<Map>,
    /// As in the files.
    raw: Rc<Map>,
    /// With `state` evaluated: as expressions in the rest of `_internal` see it.
    staged: Rc<Map>,
    /// Evaluated: as all other expressions see it.
    evaluated: Rc<Map>,
}

/// Prepares the values for expressions: empties what is evaluated per unit, and in exact evaluation sets up `_internal`.
pub(super) fn prepare(session: &Session, values: &Rc<Map>) {
    let Some(raw) = session.root.value.as_map() else {
        return;
    };
    if raw.get(UNIT_TEMPLATES).is_some() {
        values.set(UNIT_TEMPLATES, Value::map(Default::default()));
    }
    if !session.is_exact() {
        return;
    }
    let Ok(Some(Value::Map(raw))) = values.get("_internal") else {
        return;
    };
    let staged = stage(session, &raw, values, &raw, Some("state"));
    let evaluated = stage(session, &staged, values, &staged, None);
    values.set("_internal", Value::Map(Rc::clone(&evaluated)));
    let internal = Internal {
        values: Rc::clone(values),
        raw,
        staged,
        evaluated,
    };
    // Cannot fail: the root is created once, and this cell with it.
    let _ = session.internal.set(internal);
}

fn stage(
    session: &Session,
    source: &Rc<Map>,
    values: &Rc<Map>,
    seen: &Rc<Map>,
    only: Option<&'static str>,
) -> Rc<Map> {
    let stage = Stage {
        session: session.weak(),
        source: Rc::clone(source),
        values: Rc::clone(values),
        seen: Rc::clone(seen),
        only,
    };
    Rc::new(Map::lazy(PLAIN_MAP, Rc::new(stage)))
}

/// A stage of `_internal`, which evaluates the entries of the previous stage.
struct Stage {
    session: Weak<Session>,
    source: Rc<Map>,
    values: Rc<Map>,
    /// The value of `.Values._internal` during the evaluation.
    seen: Rc<Map>,
    /// The only key that this stage evaluates; none if it evaluates all.
    only: Option<&'static str>,
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("values at `_internal`")
    }
}

impl Lazy for Stage {
    fn get(&self, key: &str) -> Result<Option<Value>, Error> {
        let source = self.source.get(key)?;
        let (Some(data), Some(session)) = (source, self.session.upgrade()) else {
            return Ok(None);
        };
        if self.only.is_some_and(|only| only != key) {
            return Ok(Some(data));
        }
        let evaluate = || session.interpret(&session.dot(), &data, 0);
        let value = with_internal(&self.values, &self.seen, evaluate)?;
        match self.only {
            Some(_) => Ok(Some(value)),
            None => session.item(value),
        }
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        let keys = self.source.keys()?.into_iter();
        let keys = keys.filter(|key| self.has(key).unwrap_or(true));
        Ok(keys.collect())
    }

    /// One that fails is there, and fails when it is read.
    fn has(&self, key: &str) -> Result<bool, Error> {
        Ok(match self.source.get(key)? {
            Some(Value::String(text)) if is_special(&text) => {
                self.get(key).map_or(true, |value| value.is_some())
            }
            value => value.is_some(),
        })
    }

    fn size(&self) -> usize {
        self.source.size()
    }
}

fn with_internal<T>(values: &Map, seen: &Rc<Map>, body: impl FnOnce() -> T) -> T {
    let before = values.get("_internal");
    values.set("_internal", Value::Map(Rc::clone(seen)));
    let result = body();
    if let Ok(Some(before)) = before {
        values.set("_internal", before);
    }
    result
}

/// Evaluates something in a zone, with `_internal` at the stage that expressions there see.
pub(super) fn inside<'s, T>(session: &'s Session, zone: Zone, body: impl FnOnce() -> T) -> T {
    session.dot();
    let seen = |internal: &'s Internal| match zone {
        Zone::State => Some((internal, &internal.raw)),
        Zone::Internal => Some((internal, &internal.staged)),
        Zone::Values => None,
    };
    match session.internal.get().and_then(seen) {
        Some((internal, seen)) => with_internal(&internal.values, seen, body),
        None => body(),
    }
}

/// Evaluates all values in Helm's order, including side effects.
pub(super) fn evaluate_all(session: &Session) -> Result<Value, Error> {
    let dot = &session.dot();
    let Value::Map(top) = dot else {
        return Ok(Value::Nil);
    };
    let Some(Value::Map(values)) = top.get("Values")? else {
        return Ok(Value::Nil);
    };
    if let Some(internal) = session.internal.get() {
        let raw = &internal.raw;
        values.set("_internal", Value::Map(Rc::clone(raw)));
        if let Some(state) = raw.get("state")? {
            raw.set("state", session.interpret(dot, &state, 0)?);
        }
        let rest = session.interpret(dot, &Value::Map(Rc::clone(raw)), 0)?;
        values.set("_internal", rest);
    }
    let result = session.interpret(dot, &Value::Map(values), 0)?;
    if let (Value::Map(result), Some(raw)) = (&result, session.root.value.as_map()) {
        for key in [UNIT_TEMPLATES, UNIT_DEFAULTS] {
            if let Some(node) = raw.get(key) {
                result.set(key, as_written(node));
            }
        }
    }
    Ok(result)
}

/// An entry of `_internal` as all other expressions see it.
pub(super) fn internal_entry(session: &Session, key: &str) -> Result<Option<Value>, Error> {
    session.dot();
    match session.internal.get() {
        Some(internal) => internal.evaluated.get(key),
        None => Ok(None),
    }
}

fn as_written(node: &Node) -> Value {
    match &node.value {
        tree::Value::List(items) => Value::list(items.iter().map(as_written).collect()),
        tree::Value::Map(map) => Value::map(
            map.iter()
                .map(|entry| (Arc::clone(&entry.key), as_written(&entry.node)))
                .collect(),
        ),
        scalar => convert::scalar(scalar).unwrap_or(Value::Nil),
    }
}

/// Converts a computed tree to a node with the spans of the files. A part without a span of its own gets that of its parent.
pub(super) fn placed(
    session: &Session,
    value: &Value,
    raw: Option<&Node>,
    place: Place,
) -> Result<Node, Error> {
    let place = raw.map_or(place, |node| node.place);
    let mut node = convert::node(value, place, &session.budget)?;
    if let Some(raw) = raw {
        give_places(&mut node, raw);
    }
    Ok(node)
}

fn give_places(node: &mut Node, raw: &Node) {
    node.place = raw.place;
    match (&mut node.value, &raw.value) {
        (tree::Value::Map(map), tree::Value::Map(raw)) => {
            let entries = map.iter().cloned().map(|mut entry| {
                if let Some(raw) = raw.entry(&entry.key) {
                    entry.key_place = raw.key_place;
                    give_places(&mut entry.node, &raw.node);
                }
                entry
            });
            *map = Arc::new(entries.collect());
        }
        (tree::Value::List(items), tree::Value::List(raw)) if items.len() == raw.len() => {
            let items = Arc::make_mut(items);
            for (item, raw) in items.iter_mut().zip(raw.iter()) {
                give_places(item, raw);
            }
        }
        _ => {}
    }
}

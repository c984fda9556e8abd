//! Evaluation in Helm's own order: what an expression refers to is still the text that the files have.
//!
//! Source: `interpret-values-gotpl` of sylva-core; docs/expressions.md#the-whole-run. `_internal.state` is evaluated first, then
//! the rest of `_internal`, then everything. Here a part of `_internal` is evaluated when it is asked for, unless the whole is.

use std::fmt;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::session::Session;
use crate::helm::value::{Lazy, Map, PLAIN_MAP};
use crate::helm::{Error, Value};
use crate::model::place::Place;
use crate::model::value::{self as tree, Node};

use super::convert;

/// What Sylva takes aside while values are evaluated, to evaluate it once for each unit.
pub(super) const TAKEN_ASIDE: &str = "unit_templates";
/// Evaluated with the rest, and put back as it was.
pub(super) const PUT_BACK: &str = "unit_definition_defaults";

/// `_internal` at its stages.
pub(super) struct Internal {
    values: Rc<Map>,
    /// As the files have it.
    raw: Rc<Map>,
    /// With `state` evaluated: what expressions in the rest of it see.
    staged: Rc<Map>,
    /// Evaluated: what all others see.
    evaluated: Rc<Map>,
}

/// Makes the values what expressions see at the start of the last step.
pub(super) fn prepare(session: &Session, values: &Rc<Map>) {
    let Some(raw) = session.root.value.as_map() else {
        return;
    };
    if raw.get(TAKEN_ASIDE).is_some() {
        values.set(TAKEN_ASIDE, Value::map(Default::default()));
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
    // The root is made once, and this with it.
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

/// A stage of `_internal`: entries of the one before it, evaluated.
struct Stage {
    session: Weak<Session>,
    source: Rc<Map>,
    values: Rc<Map>,
    /// What `.Values._internal` is meanwhile.
    seen: Rc<Map>,
    /// The only key that is evaluated at this stage, if not all are.
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
        with_internal(&self.values, &self.seen, evaluate).map(Some)
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        self.source.keys()
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

/// Runs an evaluation that stands inside `_internal`.
pub(super) fn inside_internal<T>(session: &Session, body: impl FnOnce() -> T) -> T {
    session.dot();
    match session.internal.get() {
        Some(internal) => with_internal(&internal.values, &internal.staged, body),
        None => body(),
    }
}

/// All values, evaluated in Helm's order, side effects included.
pub(super) fn whole(session: &Session) -> Result<Value, Error> {
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
        for key in [TAKEN_ASIDE, PUT_BACK] {
            if let Some(node) = raw.get(key) {
                result.set(key, as_written(node));
            }
        }
    }
    Ok(result)
}

/// One of `_internal`'s entries as all other values see it.
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

/// A computed tree with the places that its parts have in the files: a part without one stands where its parent does.
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

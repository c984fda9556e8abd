//! The stages of `_internal` in exact evaluation.
//!
//! Source: `interpret-values-gotpl` of sylva-core; docs/expressions.md#the-whole-run. Sylva evaluates `_internal.state` first,
//! then the rest of `_internal`, then everything else. Here an entry of `_internal` is evaluated when it is read, except when
//! all values are evaluated.

use std::fmt;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use go_template::value::{Lazy, Map, PLAIN_MAP};
use go_template::{Error, Value};

use super::text::{Zone, is_special};

const INTERNAL: &str = "_internal";

/// What evaluates the values.
pub(super) trait Evaluate {
    /// Evaluates a value in Helm's order.
    fn evaluate(&self, data: &Value) -> Result<Value, Error>;

    /// The value that an evaluated entry has; none if it is left out.
    fn item(&self, value: Value) -> Result<Option<Value>, Error>;
}

/// The stages of `_internal`.
pub(super) struct Internal {
    /// `.Values`
    values: Rc<Map>,
    /// As in the files.
    raw: Rc<Map>,
    /// With `state` evaluated: as expressions in the rest of `_internal` see it.
    staged: Rc<Map>,
    /// Evaluated: as all other expressions see it.
    evaluated: Rc<Map>,
}

impl Internal {
    /// Replaces `_internal` in the values by its last stage; none if there is no such map.
    pub(super) fn new(values: &Rc<Map>, evaluator: &Weak<dyn Evaluate>) -> Option<Self> {
        let Ok(Some(Value::Map(raw))) = values.get(INTERNAL) else {
            return None;
        };
        let stage = |source: &Rc<Map>, only| {
            let stage = Stage {
                evaluator: Weak::clone(evaluator),
                values: Rc::clone(values),
                source: Rc::clone(source),
                only,
            };
            Rc::new(Map::lazy(PLAIN_MAP, Rc::new(stage)))
        };
        let staged = stage(&raw, Some("state"));
        let evaluated = stage(&staged, None);
        values.set(INTERNAL, Value::Map(Rc::clone(&evaluated)));
        Some(Self {
            values: Rc::clone(values),
            raw,
            staged,
            evaluated,
        })
    }

    /// An entry as all other expressions see it.
    pub(super) fn entry(&self, key: &str) -> Result<Option<Value>, Error> {
        self.evaluated.get(key)
    }

    /// Evaluates something in a zone, with `_internal` at the stage that expressions there see.
    pub(super) fn run_in_zone<T>(&self, zone: Zone, body: impl FnOnce() -> T) -> T {
        match zone {
            Zone::State => with_internal(&self.values, &self.raw, body),
            Zone::Internal => with_internal(&self.values, &self.staged, body),
            Zone::Values => body(),
        }
    }

    /// Evaluates all stages in Helm's order, including side effects.
    pub(super) fn evaluate_all(&self, evaluator: &dyn Evaluate) -> Result<(), Error> {
        let raw = Value::Map(Rc::clone(&self.raw));
        self.values.set(INTERNAL, raw.clone());
        if let Some(state) = self.raw.get("state")? {
            self.raw.set("state", evaluator.evaluate(&state)?);
        }
        self.values.set(INTERNAL, evaluator.evaluate(&raw)?);
        Ok(())
    }
}

/// A stage of `_internal`, which evaluates the entries of the previous stage.
struct Stage {
    evaluator: Weak<dyn Evaluate>,
    values: Rc<Map>,
    /// The previous stage, which is the value of `.Values._internal` during the evaluation.
    source: Rc<Map>,
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
        let (Some(data), Some(evaluator)) = (source, self.evaluator.upgrade()) else {
            return Ok(None);
        };
        if self.only.is_some_and(|only| only != key) {
            return Ok(Some(data));
        }
        let value = with_internal(&self.values, &self.source, || evaluator.evaluate(&data))?;
        match self.only {
            Some(_) => Ok(Some(value)),
            None => evaluator.item(value),
        }
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        let keys = self.source.keys()?.into_iter();
        Ok(keys.filter(|key| self.has(key).unwrap_or(true)).collect())
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
}

fn with_internal<T>(values: &Map, seen: &Rc<Map>, body: impl FnOnce() -> T) -> T {
    let before = values.get(INTERNAL);
    values.set(INTERNAL, Value::Map(Rc::clone(seen)));
    let result = body();
    if let Ok(Some(before)) = before {
        values.set(INTERNAL, before);
    }
    result
}

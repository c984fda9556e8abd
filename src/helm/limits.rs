//! The budget of work and memory that expressions are evaluated with. No input may hang the tool or fill its memory.
//!
//! Work is counted in steps and memory in bytes, never in time, so that the same input ends in the same finding on every
//! machine. docs/limits.md says how a run's budget is divided.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::value::Map;
use super::{Error, ErrorClass, Value};

/// The bounds of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions run, and what functions read: 32 bytes of a text are a step.
    pub steps: u64,
    /// Bytes that values and texts take in memory, from the first to the last.
    pub bytes: u64,
    /// Templates executing one inside the other through `include`, `tpl` and `template`.
    pub depth: u32,
    /// Evaluations that native templates or lazily evaluated values start one inside the other: each takes real stack.
    pub nested: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 20_000_000,
            bytes: 48 << 20,
            depth: 100_000,
            nested: 100,
        }
    }
}

/// The least steps that a cluster of a large fleet has: a hundred times what Sylva's own values need for a check.
const LEAST_STEPS: u64 = 200_000;

/// The least bytes that a cluster of a large fleet has.
const LEAST_BYTES_LIMIT: u64 = 4 << 20;

impl Limits {
    /// What each of the clusters of a run may spend: an equal part of it all, whichever is evaluated first.
    pub fn divided(self, clusters: usize) -> Self {
        let clusters = clusters.max(1) as u64;
        Self {
            steps: (self.steps / clusters).max(LEAST_STEPS),
            bytes: (self.bytes / clusters).max(LEAST_BYTES_LIMIT),
            ..self
        }
    }
}

/// What is left of the [`Limits`]. One budget serves all expressions of a cluster's values.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    steps: Cell<u64>,
    bytes: Cell<u64>,
    depth: Cell<u32>,
    nested: Cell<u32>,
    /// The patterns whose compilation was paid for, and what was paid.
    patterns: RefCell<(HashSet<Arc<str>>, u64)>,
}

/// How many bytes of a text are read in a step.
pub(super) const READ: usize = 32;

/// What a text takes beside its bytes, a list beside its items, a map beside its entries.
pub(super) const TEXT: usize = 32;
pub(super) const LIST: usize = 64;
pub(super) const MAP: usize = 128;

/// What an entry of a map takes, in nodes that are not full.
pub(super) const ENTRY: usize = 80;

impl Budget {
    /// A full budget.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps: Cell::new(limits.steps),
            bytes: Cell::new(limits.bytes),
            depth: Cell::new(0),
            nested: Cell::new(0),
            patterns: RefCell::default(),
        }
    }

    /// The steps and bytes that were spent so far.
    pub fn spent(&self) -> (u64, u64) {
        (
            self.limits.steps - self.steps.get(),
            self.limits.bytes - self.bytes.get(),
        )
    }

    /// Spends steps.
    pub(crate) fn step(&self, steps: u64) -> Result<(), Error> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        left.map(drop).ok_or_else(|| {
            exceeded(format!(
                "the expressions of this cluster take more than {} steps",
                self.limits.steps
            ))
        })
    }

    /// Spends the steps in which so many bytes of text are read.
    pub(crate) fn read(&self, bytes: usize) -> Result<(), Error> {
        self.step((bytes / READ) as u64)
    }

    /// Spends the steps in which the arguments of a function are read: their texts, and the items of their lists.
    pub(crate) fn read_all(&self, arguments: &[Value]) -> Result<(), Error> {
        let steps = arguments.iter().map(|argument| match argument {
            Value::String(text) => text.len() / READ,
            Value::List(list) => list.items.len() / 16,
            _ => 0,
        });
        self.step(steps.sum::<usize>() as u64)
    }

    /// Spends the steps in which a text is parsed as a template.
    pub(crate) fn parsed(&self, text: &str) -> Result<(), Error> {
        self.step(text.len() as u64 / 2)
    }

    /// The entries of a map, which are copied for it.
    pub(crate) fn entries(&self, map: &Map) -> Result<BTreeMap<Arc<str>, Value>, Error> {
        self.step(map.size() as u64 / 4)?;
        map.entries()
    }

    /// Spends bytes.
    pub fn charge(&self, bytes: usize) -> Result<(), Error> {
        self.room(bytes)?;
        self.bytes.set(self.bytes.get() - bytes as u64);
        Ok(())
    }

    /// Whether so many bytes may still be spent: what makes much of little says so before it takes the memory.
    pub fn room(&self, bytes: usize) -> Result<(), Error> {
        if bytes as u64 <= self.bytes.get() {
            return Ok(());
        }
        self.bytes.set(0);
        Err(exceeded(format!(
            "the expressions of this cluster make more than {} bytes of text and values",
            self.limits.bytes
        )))
    }

    /// Whether there is room for a text that is put together, and then copied to where it stays.
    pub fn room_for_text(&self, bytes: usize) -> Result<(), Error> {
        self.room(bytes.saturating_mul(2))
    }

    /// Spends the bytes that a new value takes, whatever else it holds apart.
    pub(super) fn made(&self, value: &Value) -> Result<(), Error> {
        self.charge(new_bytes(value))
    }

    /// Spends the steps in which a pattern is compiled, unless it was before, and not so many others since that it is
    /// forgotten: steps of them, `kept` at the most, are remembered.
    pub(super) fn compile(&self, pattern: &Arc<str>, steps: u64, kept: u64) -> Result<(), Error> {
        let (patterns, paid) = &mut *self.patterns.borrow_mut();
        if patterns.contains(pattern) {
            return Ok(());
        }
        *paid += steps;
        if *paid > kept {
            patterns.clear();
            *paid = steps;
        }
        patterns.insert(Arc::clone(pattern));
        self.step(steps)
    }

    /// Enters a template within a template; [`Budget::leave`] ends it.
    pub(super) fn enter(&self) -> Result<(), Error> {
        if self.depth.get() >= self.limits.depth {
            return Err(Error::new(
                ErrorClass::Depth,
                format!("templates are nested more than {} deep", self.limits.depth),
            ));
        }
        self.depth.set(self.depth.get() + 1);
        Ok(())
    }

    /// Leaves so many templates.
    pub(super) fn leave(&self, templates: u32) {
        self.depth.set(self.depth.get().saturating_sub(templates));
    }

    /// Enters an evaluation within an evaluation, until the guard is dropped.
    pub(super) fn nest(&self) -> Result<Nested<'_>, Error> {
        if self.nested.get() >= self.limits.nested {
            return Err(Error::new(
                ErrorClass::Depth,
                format!(
                    "values need one another more than {} deep",
                    self.limits.nested
                ),
            ));
        }
        self.nested.set(self.nested.get() + 1);
        Ok(Nested(self))
    }
}

/// An evaluation in progress.
#[derive(Debug)]
pub(super) struct Nested<'a>(&'a Budget);

impl Drop for Nested<'_> {
    fn drop(&mut self) {
        self.0.nested.set(self.0.nested.get() - 1);
    }
}

fn exceeded(message: String) -> Error {
    Error::new(ErrorClass::Limit, message)
}

/// The bytes of what nobody else holds of a value.
fn new_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) if Arc::strong_count(text) == 1 => TEXT + text.len(),
        Value::List(list) if Rc::strong_count(list) == 1 => {
            let items: usize = list.items.iter().map(new_bytes).sum();
            LIST + list.items.len() * size_of::<Value>() + items
        }
        Value::Map(map) if Rc::strong_count(map) == 1 => map.fold(MAP, |bytes, key, item| {
            let key = match Arc::strong_count(key) {
                1 => TEXT + key.len(),
                _ => 0,
            };
            bytes + ENTRY + key + new_bytes(item)
        }),
        _ => 0,
    }
}

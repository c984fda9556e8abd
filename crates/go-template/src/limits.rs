//! Limits the work and memory of expressions, so that no input can hang the tool or exhaust memory.
//!
//! Work is counted in steps and memory in bytes. Time is not measured, so that the same input leads to the same finding on every
//! machine. docs/limits.md describes how the budget of a run is divided.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::value::Map;
use super::{Error, ErrorClass, Value};

/// The limits of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Executed instructions, and text read by functions: 32 bytes are one step.
    pub steps: u64,
    /// The total size of all values and texts that are created, in bytes. Freed memory is not credited.
    pub bytes: u64,
    /// The nesting of templates through `include`, `tpl` and `template`.
    pub depth: u32,
    /// The nesting of evaluations started by native templates and lazily evaluated values, which use the thread's stack.
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

/// The minimum of steps per cluster in a large fleet: a hundred times what a check of Sylva's own values takes.
const LEAST_STEPS: u64 = 200_000;

/// The minimum of bytes per cluster in a large fleet.
const LEAST_BYTES_LIMIT: u64 = 4 << 20;

/// The steps that the releases of charts in a run share. A cluster of three pools of the chart openstack-cluster takes 300,000
/// steps and 2.5 MB, and as much for each value that is tried.
const RELEASES_STEPS: u64 = 400_000_000;

/// The minimum of steps per release in a large fleet.
const LEAST_RELEASE_STEPS: u64 = 500_000;

/// The bytes that the releases of charts in a run share.
const RELEASES_BYTES: u64 = 8 << 30;

/// The minimum of bytes per release in a large fleet.
const LEAST_RELEASE_BYTES: u64 = 16 << 20;

impl Limits {
    /// The limits of one release of a chart in a run: an equal share for each, at most what one cluster has.
    pub fn for_releases(self, releases: usize) -> Self {
        let releases = releases.max(1) as u64;
        let steps = RELEASES_STEPS / releases;
        let bytes = RELEASES_BYTES / releases;
        Self {
            steps: steps.clamp(LEAST_RELEASE_STEPS, self.steps),
            bytes: bytes.clamp(LEAST_RELEASE_BYTES, self.bytes),
            ..self
        }
    }

    /// The limits of one cluster in a run: an equal share for each, so that the order of evaluation does not matter.
    pub fn for_clusters(self, clusters: usize) -> Self {
        let clusters = clusters.max(1) as u64;
        Self {
            steps: (self.steps / clusters).max(LEAST_STEPS),
            bytes: (self.bytes / clusters).max(LEAST_BYTES_LIMIT),
            ..self
        }
    }
}

/// The rest of the [`Limits`]. All expressions in the values of a cluster share one budget.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    steps: Cell<u64>,
    bytes: Cell<u64>,
    depth: Cell<u32>,
    nested: Cell<u32>,
    /// Whether a value may hold the label of a secret.
    has_labels: Cell<bool>,
    /// The patterns whose compilation was charged, and the sum of these charges.
    patterns: RefCell<(HashSet<Arc<str>>, u64)>,
}

/// The number of bytes of text that are read per step.
pub(super) const READ: usize = 32;

/// The overhead of a text, a list and a map, in bytes, without their contents.
pub(super) const TEXT: usize = 32;
pub(super) const LIST: usize = 64;
pub(super) const MAP: usize = 128;

/// The size of a map entry, in bytes, in tree nodes that are partly empty.
pub(super) const ENTRY: usize = 80;

impl Budget {
    /// A full budget for these limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps: Cell::new(limits.steps),
            bytes: Cell::new(limits.bytes),
            depth: Cell::new(0),
            nested: Cell::new(0),
            has_labels: Cell::new(false),
            patterns: RefCell::default(),
        }
    }

    /// Says that a value holds the label of a secret: from now on, functions look for them.
    pub fn note_label(&self) {
        self.has_labels.set(true);
    }

    /// Whether a value may hold the label of a secret.
    pub fn has_labels(&self) -> bool {
        self.has_labels.get()
    }

    /// The steps spent so far.
    pub fn steps_spent(&self) -> u64 {
        self.limits.steps - self.steps.get()
    }

    /// The bytes spent so far.
    pub fn bytes_spent(&self) -> u64 {
        self.limits.bytes - self.bytes.get()
    }

    /// Charges steps.
    pub fn step(&self, steps: u64) -> Result<(), Error> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        left.map(drop).ok_or_else(|| {
            limit_error(format!(
                "the expressions of this cluster take more than {} steps",
                self.limits.steps
            ))
        })
    }

    /// Charges the reading of text.
    pub fn charge_read(&self, bytes: usize) -> Result<(), Error> {
        self.step((bytes / READ) as u64)
    }

    /// Charges the reading of a function's arguments: their texts, and the items of their lists.
    pub fn charge_arguments(&self, arguments: &[Value]) -> Result<(), Error> {
        let steps = arguments.iter().map(|argument| match argument {
            Value::String(text) => text.len() / READ,
            Value::List(list) => list.items.len() / 16,
            _ => 0,
        });
        self.step(steps.sum::<usize>() as u64)
    }

    /// Charges the parsing of a template.
    pub fn charge_parse(&self, text: &str) -> Result<(), Error> {
        self.step(text.len() as u64 / 2)
    }

    /// A copy of the entries of a map, which is charged.
    pub fn entries(&self, map: &Map) -> Result<BTreeMap<Arc<str>, Value>, Error> {
        self.step(map.size() as u64 / 4)?;
        map.entries()
    }

    /// Charges bytes.
    pub fn charge(&self, bytes: usize) -> Result<(), Error> {
        self.ensure_room(bytes)?;
        self.bytes.set(self.bytes.get() - bytes as u64);
        Ok(())
    }

    /// Fails if fewer bytes are left. A function whose result is much longer than its input calls this before it allocates.
    pub fn ensure_room(&self, bytes: usize) -> Result<(), Error> {
        if bytes as u64 <= self.bytes.get() {
            return Ok(());
        }
        self.bytes.set(0);
        Err(limit_error(format!(
            "the expressions of this cluster make more than {} bytes of text and values",
            self.limits.bytes
        )))
    }

    /// Fails if there is no room for a text that is built first, and then copied to its final place.
    pub fn ensure_room_for_text(&self, bytes: usize) -> Result<(), Error> {
        self.ensure_room(bytes.saturating_mul(2))
    }

    /// Charges the size of a new value, without the parts that are shared with other values.
    pub(super) fn charge_value(&self, value: &Value) -> Result<(), Error> {
        self.charge(new_bytes(value))
    }

    /// Charges the compilation of a pattern, unless it was charged recently: the last patterns, with a total cost of at most
    /// `kept` steps, are remembered.
    pub(super) fn charge_compilation(
        &self,
        pattern: &Arc<str>,
        steps: u64,
        kept: u64,
    ) -> Result<(), Error> {
        let (patterns, charged) = &mut *self.patterns.borrow_mut();
        if patterns.contains(pattern) {
            return Ok(());
        }
        *charged += steps;
        if *charged > kept {
            patterns.clear();
            *charged = steps;
        }
        patterns.insert(Arc::clone(pattern));
        self.step(steps)
    }

    /// Counts a template that starts within another one, until [`Budget::leave`].
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

    /// Ends a number of nested templates.
    pub(super) fn leave(&self, templates: u32) {
        self.depth.set(self.depth.get().saturating_sub(templates));
    }

    /// Counts an evaluation that starts within another one, until the guard is dropped.
    pub(super) fn enter_evaluation(&self) -> Result<NestingGuard<'_>, Error> {
        if self.nested.get() >= self.limits.nested {
            return Err(Error::new(
                ErrorClass::Depth,
                format!(
                    "values depend on each other more than {} deep",
                    self.limits.nested
                ),
            ));
        }
        self.nested.set(self.nested.get() + 1);
        Ok(NestingGuard(self))
    }
}

/// Ends a nested evaluation when it is dropped.
#[derive(Debug)]
pub(super) struct NestingGuard<'a>(&'a Budget);

impl Drop for NestingGuard<'_> {
    fn drop(&mut self) {
        self.0.nested.set(self.0.nested.get() - 1);
    }
}

fn limit_error(message: String) -> Error {
    Error::new(ErrorClass::Limit, message)
}

/// The size of the parts of a value that are not shared with other values, in bytes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_release_has_an_equal_share_and_at_least_what_a_chart_needs() {
        let whole = Limits::default();
        let of = |releases| {
            let limits = whole.for_releases(releases);
            (limits.steps, limits.bytes)
        };
        assert_eq!(of(1), (whole.steps, whole.bytes));
        assert_eq!(of(400), (1_000_000, (8 << 30) / 400));
        assert_eq!(of(1_000_000), (500_000, 16 << 20));
    }
}

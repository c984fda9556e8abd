//! Limits the work of expressions, so that one without end is a finding at its place, whatever machine it runs on.
//!
//! A step is an instruction of a template, a byte of its output, or a byte of a text that `tpl` parses. What a function does is not
//! counted: docs/limits.md says what bounds it.

use std::cell::Cell;

use super::{Error, ErrorClass};

/// The limits of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Executed instructions, and bytes of output.
    pub steps: u64,
    /// The nesting of templates through `include`, `tpl` and `template`.
    pub depth: u32,
    /// The nesting of evaluations started by native templates and lazily evaluated values, which use the thread's stack.
    pub nested: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 20_000_000,
            depth: 100_000,
            nested: 100,
        }
    }
}

/// The rest of the [`Limits`]. All expressions in the values of a cluster share one budget.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    steps: Cell<u64>,
    depth: Cell<u32>,
    nested: Cell<u32>,
    /// Whether a value may hold the label of a secret.
    has_labels: Cell<bool>,
    reads: Cell<Reads>,
}

/// What a template read that differs from one installation of a chart to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// What the cluster serves.
    pub cluster: bool,
    /// Whether it is an upgrade.
    pub upgrade: bool,
}

impl Budget {
    /// A full budget for these limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps: Cell::new(limits.steps),
            depth: Cell::new(0),
            nested: Cell::new(0),
            has_labels: Cell::new(false),
            reads: Cell::default(),
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

    /// What was read until now.
    pub fn reads(&self) -> Reads {
        self.reads.get()
    }

    pub(super) fn note_cluster(&self) {
        let reads = self.reads.get();
        self.reads.set(Reads {
            cluster: true,
            ..reads
        });
    }

    pub(super) fn note_upgrade(&self) {
        let reads = self.reads.get();
        self.reads.set(Reads {
            upgrade: true,
            ..reads
        });
    }

    /// Spends steps.
    pub(super) fn step(&self, steps: u64) -> Result<(), Error> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        left.map(drop).ok_or_else(|| {
            let message = format!(
                "the expressions of this cluster take more than {} steps",
                self.limits.steps
            );
            Error::new(ErrorClass::Limit, message)
        })
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

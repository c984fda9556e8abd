//! What one evaluation may spend: steps, bytes, nesting. No input may hang the tool or fill its memory.

use std::cell::Cell;

use super::{Error, ErrorClass};

/// The bounds of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions run, over all templates of the evaluation.
    pub steps: u64,
    /// Bytes written or built by functions, over all templates of the evaluation.
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
            bytes: 256 << 20,
            depth: 100_000,
            nested: 100,
        }
    }
}

/// What is left of the [`Limits`]. One budget serves every evaluation that one outer evaluation leads to.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    steps: Cell<u64>,
    bytes: Cell<u64>,
    depth: Cell<u32>,
    nested: Cell<u32>,
}

impl Budget {
    /// A full budget.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps: Cell::new(limits.steps),
            bytes: Cell::new(limits.bytes),
            depth: Cell::new(0),
            nested: Cell::new(0),
        }
    }

    /// Spends steps.
    pub(super) fn step(&self, steps: u64) -> Result<(), Error> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        left.map(drop).ok_or_else(|| {
            exceeded(format!(
                "the expression takes more than {} steps",
                self.limits.steps
            ))
        })
    }

    /// Spends bytes.
    pub fn charge(&self, bytes: usize) -> Result<(), Error> {
        let left = self.bytes.get().checked_sub(bytes as u64);
        self.bytes.set(left.unwrap_or(0));
        left.map(drop).ok_or_else(|| {
            exceeded(format!(
                "the expression makes more than {} bytes of text",
                self.limits.bytes
            ))
        })
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

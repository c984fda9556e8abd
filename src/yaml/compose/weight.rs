//! How much a document stands for, once its aliases are written out.

use super::super::SyntaxError;
use super::{Composer, Result};

/// How many nodes have been read, aliases counted as what they stand for.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) all: u64,
    pub(super) by_alias: u64,
}

impl Composer<'_> {
    /// Counts nodes; refuses a document that is all aliases, as go-yaml does (decode.go, allowedAliasRatio).
    pub(super) fn count(&mut self, nodes: u64) -> Result<()> {
        self.weight.all = self.weight.all.saturating_add(nodes);
        let Weight { all, by_alias } = self.weight;
        if by_alias <= 100 || all <= 1000 || (by_alias as f64 / all as f64) <= alias_share(all) {
            return Ok(());
        }
        let token = self.scanner.peek()?;
        let (start, end) = (token.start, token.end);
        let message =
            format!("the aliases up to here stand for {by_alias} values, which is too many");
        Err(SyntaxError::new(message, self.place(start, end)))
    }
}

/// The share of a document that aliases may make up: nearly all of a small one, a tenth of a huge one.
fn alias_share(all: u64) -> f64 {
    const SMALL: f64 = 400_000.0;
    const HUGE: f64 = 4_000_000.0;
    let position = ((all as f64 - SMALL) / (HUGE - SMALL)).clamp(0.0, 1.0);
    0.99 - 0.89 * position
}

//! How much a document stands for, once its aliases are written out.

use super::super::SyntaxError;
use super::{Composer, Result};

/// How many nodes have been read, aliases counted as what they stand for.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) all: u64,
    pub(super) by_alias: u64,
}

/// The most keys and values of a text. Each takes memory however short it is: a text of brackets and commas would otherwise
/// take fifty times its length.
const VALUES_LIMIT: usize = 750_000;

/// How many keys and values of a text were read.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Values(usize);

impl Values {
    /// Counts so many; says why they are too many.
    pub(in super::super) fn count(&mut self, more: usize) -> std::result::Result<(), String> {
        self.0 += more;
        if self.0 <= VALUES_LIMIT {
            return Ok(());
        }
        Err(format!(
            "the text has more than {VALUES_LIMIT} keys and values; split it into files"
        ))
    }
}

impl Composer<'_> {
    /// Counts a key or a value of the text itself.
    pub(super) fn value(&mut self) -> Result<()> {
        self.values(1)?;
        self.count(1)
    }

    /// Counts what takes as much memory as so many keys and values.
    pub(super) fn values(&mut self, more: usize) -> Result<()> {
        if let Err(message) = self.values.count(more) {
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            return Err(SyntaxError::new(message, self.place(start, end)));
        }
        Ok(())
    }

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

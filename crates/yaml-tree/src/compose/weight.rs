//! Counts the values of a text, and limits how much aliases expand.

use super::super::SyntaxError;
use super::{Composer, Result};

/// The number of nodes, with each alias counted as the nodes that it expands to.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) all: u64,
    pub(super) by_alias: u64,
}

/// The maximum number of keys and values of a text. Each one takes memory however short it is: a text of brackets and commas
/// would take fifty times its length.
const VALUES_LIMIT: usize = 750_000;

/// The number of keys and values read so far.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Values(usize);

impl Values {
    /// Adds to the count; whether that is allowed.
    pub(in super::super) fn count(&mut self, more: usize) -> bool {
        self.0 += more;
        self.0 <= VALUES_LIMIT
    }

    /// Why no more are counted.
    pub(in super::super) fn too_many() -> String {
        format!("the text has more than {VALUES_LIMIT} keys and values; split it into files")
    }
}

impl Composer<'_> {
    /// Counts a key or value of the text.
    #[inline]
    pub(super) fn value(&mut self) -> Result<()> {
        self.values(1)?;
        self.count(1)
    }

    /// Counts something with the size in memory of this number of keys and values.
    #[inline]
    pub(super) fn values(&mut self, more: usize) -> Result<()> {
        if self.values.count(more) {
            Ok(())
        } else {
            self.refuse(Values::too_many())
        }
    }

    /// Counts nodes. Refuses a document that consists mostly of aliases, as go-yaml does (decode.go, allowedAliasRatio).
    #[inline]
    pub(super) fn count(&mut self, nodes: u64) -> Result<()> {
        self.weight.all = self.weight.all.saturating_add(nodes);
        let Weight { all, by_alias } = self.weight;
        if by_alias <= 100 || all <= 1000 || (by_alias as f64 / all as f64) <= alias_share(all) {
            return Ok(());
        }
        self.refuse(format!(
            "the aliases up to here expand to {by_alias} values, which is too many"
        ))
    }

    /// An error at the next token.
    #[cold]
    fn refuse(&mut self, message: String) -> Result<()> {
        let token = self.scanner.peek()?;
        let (start, end) = (token.start, token.end);
        Err(SyntaxError::new(message, self.place(start, end)))
    }
}

/// The maximum share of expanded aliases in a document: nearly all of a small one, a tenth of a huge one.
fn alias_share(all: u64) -> f64 {
    const SMALL: f64 = 400_000.0;
    const HUGE: f64 = 4_000_000.0;
    let position = ((all as f64 - SMALL) / (HUGE - SMALL)).clamp(0.0, 1.0);
    0.99 - 0.89 * position
}

//! The source of random inputs: one seed always gives the same ones.

/// A linear congruential generator.
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number from zero up to this one, which is left out.
    pub(crate) fn number(&mut self, below: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.state >> 33) as usize % below
    }

    pub(crate) fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        let index = self.number(words.len());
        words[index]
    }
}

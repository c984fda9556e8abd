//! Computes the cost of a search before it is executed. The cost is the same on every machine.
//!
//! The engine has no unbounded backtracking, but its speed differs: most patterns compile to a small table (a DFA), which reads
//! a byte in constant time; others take time for each state at each byte. The table also shows how far a search reads: `a*b|a`
//! reads all of `aaaa…` for every `a` that it finds.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;

use super::{COMPILED_LIMIT, Error, Regexp, parse};

/// The maximum size of a table, and of the memory to build it, in bytes.
const TABLE_LIMIT: usize = 64 << 10;

/// Without a table, this number of bytes of a compiled pattern costs one step per byte of text.
const PATTERN_BYTES_PER_STEP: usize = 256;

/// With a table, this number of bytes of text is read per step.
const TEXT_BYTES_PER_STEP: usize = 32;

/// The cost of searches for a pattern, in steps.
#[derive(Clone, Debug)]
pub struct Cost {
    table: Option<Box<dense::DFA<Vec<u32>>>>,
    /// The size of the compiled pattern, in bytes.
    size: usize,
}

impl Cost {
    /// Determines the cost for a pattern and its compiled form.
    ///
    /// # Errors
    /// None for a pattern that [`Regexp::new`] accepts.
    pub fn new(pattern: &str, regexp: &Regexp) -> Result<Self, Error> {
        let hir = parse::pattern(pattern)?.hir;
        let thompson = thompson::Config::new()
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(COMPILED_LIMIT));
        let config = dense::Config::new()
            .start_kind(StartKind::Unanchored)
            .accelerate(false)
            .dfa_size_limit(Some(TABLE_LIMIT))
            .determinize_size_limit(Some(TABLE_LIMIT));
        let nfa = thompson::Compiler::new()
            .configure(thompson)
            .build_from_hir(&hir);
        let table = nfa.ok().and_then(|nfa| {
            let mut builder = dense::Builder::new();
            builder.configure(config).build_from_nfa(&nfa).ok()
        });
        Ok(Self {
            table: table.map(Box::new),
            size: regexp.size(),
        })
    }

    /// The cost of compiling the pattern.
    pub fn compilation(&self) -> u64 {
        500 + self.size as u64 / 2
    }

    /// The maximum cost of a search from a position.
    pub fn search(&self, text: &str, from: usize) -> u64 {
        let rest = from.min(text.len())..text.len();
        match &self.table {
            Some(table) => 2 + (bytes_read(table, text, rest) / TEXT_BYTES_PER_STEP) as u64,
            None => self.slow(rest.len()),
        }
    }

    /// The cost of determining the groups of a match of this length.
    pub fn groups(&self, bytes: usize) -> u64 {
        self.slow(bytes)
    }

    fn slow(&self, bytes: usize) -> u64 {
        (bytes as u64 + 1).saturating_mul(1 + (self.size / PATTERN_BYTES_PER_STEP) as u64)
    }
}

/// The number of bytes that a search reads until it has found the leftmost match, or knows that there is none.
fn bytes_read(table: &dense::DFA<Vec<u32>>, text: &str, range: Range<usize>) -> usize {
    let input = Input::new(text).range(range.clone());
    let Ok(mut state) = table.start_state_forward(&input) else {
        return range.len();
    };
    let mut bytes = text.as_bytes()[range.clone()].iter();
    let dead = bytes.position(|byte| {
        state = table.next_state(state, *byte);
        table.is_dead_state(state)
    });
    dead.map_or(range.len(), |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::Cost;
    use crate::regexp::Regexp;

    fn cost(pattern: &str) -> Cost {
        let regexp = Regexp::new(pattern).expect("a pattern");
        Cost::new(pattern, &regexp).expect("a cost")
    }

    #[test]
    fn the_cost_of_a_search_depends_on_the_bytes_that_it_reads() {
        let text = "a".repeat(64_000);
        assert_eq!(cost("a").search(&text, 0), 2);
        assert_eq!(cost("b").search(&text, 0), 2_002);
        assert_eq!(cost("a*b|a").search(&text, 32_000), 1_002);
        assert_eq!(cost("[a-z]+").search("ab cd", 0), 2);
    }

    #[test]
    fn common_patterns_have_a_table() {
        for pattern in [
            r"^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$",
            r"\s+",
            r"[^a-z0-9-]",
            r"^(.*)-(hardened|plain)-(.*)$",
            r"(?i)^(ubuntu|opensuse)",
            r"\bk8s\b",
        ] {
            assert!(cost(pattern).table.is_some(), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_with_many_states_costs_more_per_byte() {
        let slow = cost("a[ab]{1000}c");
        assert!(slow.table.is_none());
        assert!(slow.search(&"ab".repeat(500), 0) > 100_000);
    }
}

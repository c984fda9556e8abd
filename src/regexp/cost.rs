//! What a search costs: counted before it is made, and the same on every machine.
//!
//! The engine never backtracks without bound, but it is not equally fast: most patterns are a small table that reads a byte in
//! constant time, and some take time for each of their states at each byte. Where there is such a table, it also says how
//! far a search reads: `a*b|a` reads all of `aaaa…` for each `a` that it finds.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;

use super::{COMPILED_LIMIT, Error, Regexp, parse};

/// The largest table, and the most that is taken to make it, in bytes.
const TABLE_LIMIT: usize = 64 << 10;

/// How many bytes of a compiled pattern cost a step at each byte of a text that is read without a table.
const SLOW: usize = 256;

/// How many bytes of a text are read with a table in a step.
const FAST: usize = 32;

/// What searches for a pattern cost, in steps.
#[derive(Clone, Debug)]
pub struct Cost {
    table: Option<Box<dense::DFA<Vec<u32>>>>,
    /// What the compiled pattern takes, in bytes.
    size: usize,
}

impl Cost {
    /// What searches cost for a pattern, which was compiled before.
    ///
    /// # Errors
    /// None for a pattern that [`Regexp::new`] takes.
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
            size: regexp.regex.memory_usage(),
        })
    }

    /// What it took to compile the pattern.
    pub fn compilation(&self) -> u64 {
        500 + self.size as u64 / 2
    }

    /// What a search from a byte on costs at the most.
    pub fn search(&self, text: &str, from: usize) -> u64 {
        let rest = from.min(text.len())..text.len();
        match &self.table {
            Some(table) => 2 + (reach(table, text, rest) / FAST) as u64,
            None => self.slow(rest.len()),
        }
    }

    /// What it costs to find the groups of a match of so many bytes.
    pub fn groups(&self, bytes: usize) -> u64 {
        self.slow(bytes)
    }

    fn slow(&self, bytes: usize) -> u64 {
        (bytes as u64 + 1).saturating_mul(1 + (self.size / SLOW) as u64)
    }
}

/// How many bytes a search reads until it knows the leftmost match, or that there is none.
fn reach(table: &dense::DFA<Vec<u32>>, text: &str, range: Range<usize>) -> usize {
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
    fn a_search_costs_what_it_reads() {
        let text = "a".repeat(64_000);
        assert_eq!(cost("a").search(&text, 0), 2);
        assert_eq!(cost("b").search(&text, 0), 2_002);
        assert_eq!(cost("a*b|a").search(&text, 32_000), 1_002);
        assert_eq!(cost("[a-z]+").search("ab cd", 0), 2);
    }

    #[test]
    fn patterns_of_everyday_have_a_table() {
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
    fn a_pattern_of_many_states_pays_for_them_at_each_byte() {
        let slow = cost("a[ab]{1000}c");
        assert!(slow.table.is_none());
        assert!(slow.search(&"ab".repeat(500), 0) > 100_000);
    }
}

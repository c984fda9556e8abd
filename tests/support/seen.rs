//! What must have happened in a test of many cases, or in one of "nothing bad happens": it names it, and fails where it did not.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use proptest::prelude::{ProptestConfig, Strategy};
use proptest::test_runner::{RngSeed, TestRunner};

/// How many seeds are tried until everything is seen.
const MOST_ROUNDS: u64 = 10;

/// Counts of what a test is to see.
pub(crate) struct Seen(Mutex<BTreeMap<&'static str, usize>>);

impl Seen {
    /// What must be seen at least once.
    pub(crate) fn new(expected: &[&'static str]) -> Self {
        let counts = expected.iter().map(|what| (*what, 0));
        Self(Mutex::new(counts.collect()))
    }

    /// Notes one.
    #[track_caller]
    pub(crate) fn note(&self, what: &str) {
        let mut counts = self.0.lock();
        let count = counts.get_mut(what);
        *count.unwrap_or_else(|| panic!("`{what}` is not in the list")) += 1;
    }

    /// Notes one, if that is so.
    #[track_caller]
    pub(crate) fn note_if(&self, is_so: bool, what: &str) {
        if is_so {
            self.note(what);
        }
    }

    /// Checks a property of that many random inputs, and of as many others again until each was seen so often: what is rare among the
    /// inputs of one seed comes with the next.
    #[track_caller]
    pub(crate) fn property<S: Strategy>(
        &self,
        cases: u64,
        least: usize,
        inputs: &S,
        check: impl Fn(S::Value),
    ) {
        for round in 0..MOST_ROUNDS {
            property_in(round, cases, inputs, &check);
            if self.0.lock().values().all(|count| *count >= least) {
                return;
            }
        }
        self.assert_each(least);
    }

    /// Fails where one was seen fewer times than that.
    #[track_caller]
    pub(crate) fn assert_each(&self, least: usize) {
        let counts = self.0.lock();
        let rare: Vec<_> = counts.iter().filter(|(_, count)| **count < least).collect();
        assert!(
            rare.is_empty(),
            "seen fewer than {least} times, so this proves little: {rare:?}"
        );
    }
}

/// Checks a property of that many random inputs: the same ones in each run, unless `PROPTEST_RNG_SEED` names others.
pub(crate) fn property<S: Strategy>(cases: u64, inputs: &S, check: impl Fn(S::Value)) {
    property_in(0, cases, inputs, &check);
}

/// The same with the inputs of a later round.
fn property_in<S: Strategy>(round: u64, cases: u64, inputs: &S, check: &impl Fn(S::Value)) {
    let given = ProptestConfig::default();
    let seed = match given.rng_seed {
        RngSeed::Random => 13,
        RngSeed::Fixed(seed) => seed,
    };
    let config = ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed.wrapping_add(round)),
        ..ProptestConfig::with_cases(cases as u32)
    };
    let outcome = TestRunner::new(config).run(inputs, |input| {
        check(input);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Checks a property whose inputs come to one of these: each of them in at least every twentieth case.
#[track_caller]
pub(crate) fn property_of_each<S: Strategy>(
    cases: u64,
    inputs: &S,
    outcomes: &[&'static str],
    check: impl Fn(S::Value) -> &'static str,
) {
    let seen = Seen::new(outcomes);
    let least = cases as usize / 20;
    seen.property(cases, least, inputs, |input| seen.note(check(input)));
}

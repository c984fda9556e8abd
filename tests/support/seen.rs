//! What must have happened in a test of many cases, or in one of "nothing bad happens": it names it, and fails where it did not.

use std::collections::BTreeMap;

use parking_lot::Mutex;

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

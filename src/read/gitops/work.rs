//! What one build may spend. Patches are tried on every object and copy what they touch, so that a few megabytes of them could
//! otherwise keep a machine busy for days, or copy a tree into itself until nothing can walk it.

use std::cell::Cell;

use crate::model::value::{Node, Value};

/// How many objects looked at and values copied one build may take. The largest kustomization of sylva-core takes some 10,000.
const STEPS: u64 = 10_000_000;

/// How deeply values may be nested in what patches make: what YAML's reader takes, and a path below it.
const DEEPEST: usize = 400;

/// What a build has left.
pub(super) struct Work(Cell<u64>);

impl Default for Work {
    fn default() -> Self {
        Self(Cell::new(STEPS))
    }
}

impl Work {
    /// Spends steps; the words for it where there are not so many left.
    pub(super) fn spend(&self, steps: usize) -> Result<(), String> {
        let left = self.0.get().checked_sub(steps as u64);
        self.0.set(left.unwrap_or(0));
        match left {
            Some(_) => Ok(()),
            None => Err(format!("the build takes more than {STEPS} steps")),
        }
    }

    /// Spends as many steps as there are values in a tree, which is to stand `above` levels deep.
    pub(super) fn spend_on(&self, node: &Node, above: usize) -> Result<(), String> {
        self.spend(1)?;
        if above > DEEPEST {
            return Err(format!("values are nested more than {DEEPEST} deep"));
        }
        match &node.value {
            Value::Map(map) => map
                .iter()
                .try_for_each(|entry| self.spend_on(&entry.node, above + 1)),
            Value::List(items) => items
                .iter()
                .try_for_each(|item| self.spend_on(item, above + 1)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, STEPS, Work};
    use crate::model::value::{Node, Value};

    fn nested(depth: usize) -> Node {
        let wrap = |inner: Node, _| Node::computed(Value::from(vec![inner]));
        (0..depth).fold(Node::computed("x"), wrap)
    }

    #[test]
    fn the_last_step_is_taken_and_the_next_refused() {
        let work = Work::default();
        assert_eq!(work.spend(STEPS as usize), Ok(()));
        let refused = work.spend(1).expect_err("one too many");
        assert_eq!(refused, "the build takes more than 10000000 steps");
    }

    #[test]
    fn the_deepest_tree_is_walked_and_a_deeper_one_refused() {
        let work = Work::default();
        assert_eq!(work.spend_on(&nested(DEEPEST), 0), Ok(()));
        assert_eq!(work.spend_on(&nested(DEEPEST - 7), 7), Ok(()));
        assert!(work.spend_on(&nested(DEEPEST + 1), 0).is_err());
        assert!(work.spend_on(&nested(DEEPEST - 7), 8).is_err());
    }
}

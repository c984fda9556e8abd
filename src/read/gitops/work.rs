//! Limits the work of one build. Patches are tried on every object and copy what they change, so that a few megabytes of them
//! could otherwise take days, or copy a tree into itself until it is too deep to be walked.

use std::cell::Cell;

use yaml_tree::value::Node;

/// The most steps of one build: objects compared and values copied. The largest kustomization of sylva-core needs about 10,000.
const STEPS: u64 = 10_000_000;

/// The most steps for each of many builds that share one budget.
const STEPS_EACH: u64 = 10_000;

/// The deepest nesting of values that patches may create: the YAML parser's limit, and a path below it.
const DEEPEST: usize = 400;

/// The remaining work of a build, or of several.
pub(in crate::read) struct Work {
    limit: u64,
    left: Cell<u64>,
}

impl Default for Work {
    fn default() -> Self {
        Self::new(STEPS)
    }
}

impl Work {
    /// The work of that many builds together.
    pub(super) fn for_builds(count: usize) -> Self {
        Self::new(STEPS + STEPS_EACH * count as u64)
    }

    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            left: Cell::new(limit),
        }
    }

    /// Charges steps; an error if there are not enough left.
    pub(in crate::read) fn spend(&self, steps: usize) -> Result<(), String> {
        let left = self.left.get().checked_sub(steps as u64);
        self.left.set(left.unwrap_or(0));
        match left {
            Some(_) => Ok(()),
            None => Err(format!("this takes more than {} steps", self.limit)),
        }
    }

    /// Charges one step for each value in a tree, which will be `above` levels deep.
    pub(in crate::read) fn spend_on(&self, node: &Node, above: usize) -> Result<(), String> {
        self.spend(1)?;
        if above > DEEPEST {
            return Err(format!("values are nested more than {DEEPEST} deep"));
        }
        node.children()
            .try_for_each(|child| self.spend_on(child, above + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, STEPS, STEPS_EACH, Work};
    use yaml_tree::value::{Node, Value};

    fn nested(depth: usize) -> Node {
        let wrap = |inner: Node, _| Node::from_value(Value::from(vec![inner]));
        (0..depth).fold(Node::from_value("x"), wrap)
    }

    #[test]
    fn the_last_step_is_taken_and_the_next_refused() {
        let work = Work::default();
        assert_eq!(work.spend(STEPS as usize), Ok(()));
        let refused = work.spend(1).expect_err("one too many");
        assert_eq!(refused, "this takes more than 10000000 steps");
    }

    #[test]
    fn many_builds_share_what_one_has_and_a_part_for_each() {
        let work = Work::for_builds(3);
        assert_eq!(work.spend((STEPS + 3 * STEPS_EACH) as usize), Ok(()));
        assert!(work.spend(1).is_err());
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

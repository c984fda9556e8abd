//! The lock holds an image that no cluster uses.

use std::collections::HashSet;

use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::rules::{RunScope, WorkspaceInput};

/// Looks at the results of all clusters.
pub(super) fn workspace(input: &WorkspaceInput<'_>, findings: &mut Vec<Finding>) {
    let Some((lock, sources)) = input.lock else {
        return;
    };
    if input.run_scope == RunScope::Shard {
        return;
    }
    let required: HashSet<u32> = input
        .uses
        .iter()
        .flat_map(|cluster| &cluster.locked)
        .copied()
        .collect();
    // `lock-stale` reports a key that another reference requires.
    let stale: HashSet<&str> = input
        .uses
        .iter()
        .flat_map(|cluster| &cluster.unlocked)
        .map(|key| &**key)
        .collect();
    let unused = lock.images().iter().filter(|image| {
        !required.contains(&image.place().start) && !stale.contains(image.identity().0)
    });
    for image in unused {
        let (key, reference) = image.identity();
        let subject = Subject::image(key);
        let message = format!("the lock holds `{reference}`, which no cluster requires");
        findings.push(
            Finding::new(RuleId::LockUnused, message)
                .about(subject)
                .at(sources.resolve(image.key.place), "")
                .help("run `metalmark lock`"),
        );
    }
}

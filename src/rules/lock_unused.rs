//! The lock holds an image that no cluster uses.

use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::rules::{RunScope, WorkspaceInput};

/// Looks at the results of all clusters.
pub(super) fn workspace(input: &WorkspaceInput<'_>, findings: &mut Vec<Finding>) {
    let Some((lock, sources)) = input.lock else {
        return;
    };
    if input.run_scope == RunScope::Part {
        return;
    }
    // `lock-stale` reports a key that another reference requires.
    let (required, stale) = (&input.uses.locked, &input.uses.unlocked);
    let unused = lock.images().iter().filter(|image| {
        !required.contains(&image.place().start) && !stale.contains(image.identity().0)
    });
    for image in unused {
        let (key, reference) = image.identity();
        let subject = Subject::image(key);
        let message = format!("the lock holds `{reference}`, which no cluster requires");
        findings.push(
            Finding::new(RuleId::LockUnused, message)
                .with_subject(subject)
                .with_label(sources.resolve(image.key.place), "")
                .help("run `metalmark lock`"),
        );
    }
}

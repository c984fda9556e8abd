//! An image is not in the lock.

use crate::model::finding::Finding;
use crate::model::lock::Locking;
use crate::model::lock_gaps::{Gap, gaps};
use crate::model::rule::{Level, RuleId};
use crate::rules::{ClusterInput, not_locked};

/// Looks at the catalog of each cluster, where the project has a lock.
pub(super) fn cluster(input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
    let frozen = input.settings.locking == Locking::Frozen;
    let missing = gaps(input.view, input.settings.locking).missing;
    let (used, idle): (Vec<Gap<'_>>, Vec<Gap<'_>>) =
        missing.into_iter().partition(|gap| gap.is_used || frozen);
    let what = match input.view.lock {
        Some(_) => "the lock does not hold",
        None => "there is no lock, and so none of",
    };
    for (gaps, level) in [(used, None), (idle, Some(Level::Warning))] {
        let Some(finding) = not_locked(
            input,
            RuleId::LockMissingImage,
            what,
            "is not locked",
            &gaps,
        ) else {
            continue;
        };
        report(match level {
            Some(level) => finding.unless_set(level),
            None => finding,
        });
    }
}

//! An image is not in the lock.

use crate::model::finding::Finding;
use crate::model::lock_gaps::gaps;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;
use crate::rules::not_locked::{self, Words};

/// Looks at the catalog of each cluster, where the project has a lock.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let missing = gaps(input.view, input.settings.locking).missing;
    let words = Words {
        what: match input.view.lock {
            Some(_) => "the lock does not hold",
            None => "there is no lock, and so none of",
        },
        label: "is not locked",
    };
    findings.extend(not_locked::findings(
        input,
        RuleId::LockMissingImage,
        words,
        missing,
    ));
}

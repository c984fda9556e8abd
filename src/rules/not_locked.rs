//! Images that the lock lacks, or holds for another reference.

use super::ClusterInput;
use crate::model::finding::Finding;
use crate::model::lock::Locking;
use crate::model::lock_gaps::Gap;
use crate::model::rule::{Level, RuleId};

/// How a rule says it.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// What the message says of the images.
    pub(super) what: &'static str,
    /// What is at the catalog's entry of each.
    pub(super) label: &'static str,
}

/// At most two findings: of images that machines boot, and, as a warning, of the others. In a frozen run all are alike.
pub(super) fn findings(
    input: &ClusterInput<'_>,
    rule: RuleId,
    words: Words,
    gaps: Vec<Gap<'_>>,
) -> Vec<Finding> {
    let frozen = input.settings.locking == Locking::Frozen;
    let (used, idle): (Vec<_>, Vec<_>) = gaps.into_iter().partition(|gap| gap.is_used || frozen);
    let used = not_locked(input, rule, words, &used);
    let idle = not_locked(input, rule, words, &idle);
    let idle = idle.map(|finding| finding.unless_set(Level::Warning));
    used.into_iter().chain(idle).collect()
}

/// That images are not locked: one finding that lists all their keys. None where there are none.
fn not_locked(
    input: &ClusterInput<'_>,
    rule: RuleId,
    words: Words,
    gaps: &[Gap<'_>],
) -> Option<Finding> {
    let Words { what, label } = words;
    /// Places that are shown; the message has every key.
    const SHOWN: usize = 5;
    let keys: Vec<String> = gaps
        .iter()
        .map(|gap| format!("`{}`", gap.image.key))
        .collect();
    let message = match keys.as_slice() {
        [] => return None,
        [key] => format!("{what} {} {key}", gaps[0].what),
        keys if gaps.iter().all(|gap| gap.what == gaps[0].what) => {
            format!(
                "{what} {} {}s: {}",
                keys.len(),
                gaps[0].what,
                keys.join(", ")
            )
        }
        keys => format!("{what} {} artifacts: {}", keys.len(), keys.join(", ")),
    };
    let mut finding = Finding::new(rule, message).with_subject(input.subject(None));
    if let [gap] = gaps {
        finding.subject.image = Some(gap.image.key.to_string());
    }
    for gap in gaps.iter().take(SHOWN) {
        finding = finding.with_label(input.spot(gap.image.place), label);
        if let Some(locked) = gap.locked.last() {
            finding = finding.with_label(input.spot(locked.reference.place), "locked for this one");
        }
    }
    Some(finding.help("run `metalmark lock` and commit the lock"))
}

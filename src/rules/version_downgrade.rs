//! A change takes a node pool back to an older Kubernetes version.

use crate::model::cluster::PoolName;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::model::version::Version;
use crate::rules::ChangeInput;

/// Looks at every pool that is on both sides.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    for pair in input.pools() {
        let Some([was, is]) = pair.versions() else {
            continue;
        };
        let (Some(from), Some(to)) = (Version::parse(&was.value), Version::parse(&is.value)) else {
            continue;
        };
        if to >= from || to.admits(&from) {
            continue;
        }
        let pool = pair.after.pool;
        let name = &pool.name;
        let message = format!(
            "`{name}` would go back from Kubernetes `{}` to `{}`",
            was.value, is.value
        );
        let finding = Finding::new(RuleId::VersionDowngrade, message)
            .with_subject(input.subject(pool))
            .with_label(input.spot(is.place), "this version is required")
            .with_label(input.spot_before(was.place), "this one runs")
            .help(format!("keep `{}`, or make a new cluster", was.value));
        let is_minor = (to.major, to.minor) != (from.major, from.minor);
        findings.push(if is_minor && *name == PoolName::ControlPlane {
            finding
        } else {
            finding.unless_set(Level::Warning)
        });
    }
}

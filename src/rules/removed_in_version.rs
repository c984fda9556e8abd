//! A machine's configuration uses what its Kubernetes version no longer has.

use crate::decide::removals;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for pool in &input.view.cluster.pools {
        let wanted = input.view.cluster.k8s_version_of(pool);
        let Some((wanted, version)) = wanted.and_then(|it| Some((it, Version::parse(&it.value)?)))
        else {
            continue;
        };
        for used in removals::find_removed(pool, &version) {
            let removal = used.value;
            let message = format!(
                "{removal} is gone since Kubernetes 1.{}, and machines are to run `{}`",
                removal.minor, wanted.value
            );
            findings.push(
                Finding::new(RuleId::RemovedInVersion, message)
                    .with_subject(input.subject(Some(pool)))
                    .with_label(input.spot(used.place), "remove it")
                    .with_label(input.spot(wanted.place), "this version is required")
                    .help(format!("{}, read on {}", removal.source, removal.read_on)),
            );
        }
    }
}

//! A ClusterClass does not list the Kubernetes version of its cluster.

use std::sync::Arc;

use yaml_tree::opaque::is_opaque;
use yaml_tree::place::Located;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::ClusterInput;

/// Looks at what the class of a cluster lists: Cluster API's webhooks compare texts, once the cluster's begins with a `v`.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let cluster = &input.view.cluster;
    let listed = &cluster.upgrades.versions;
    let wanted = cluster.control_plane_version().filter(|it| !is_open(it));
    if let (Some(wanted), Some(first)) = (wanted, listed.first())
        && !listed.iter().any(|it| is_open(it) || is_equal(it, wanted))
    {
        let texts: Vec<String> = listed.iter().map(|it| format!("`{}`", it.value)).collect();
        let message = format!(
            "the cluster is to run Kubernetes `{}`, and its ClusterClass lists only {}",
            wanted.value,
            texts.join(", ")
        );
        let finding = Finding::new(RuleId::VersionNotInClass, message)
            .with_subject(input.subject(None))
            .with_label(input.spot(wanted.place), "this version is required")
            .with_label(input.spot(first.place), "these are listed");
        findings.push(finding.help(
            "take a version of the list, or add this one to it with every minor on the way: Cluster API's webhook refuses others",
        ));
    }
    for pair in listed.windows(2) {
        let [before, after] = pair else { continue };
        let Some(fault) = fault(before, after) else {
            continue;
        };
        let message = format!(
            "the ClusterClass lists Kubernetes `{}` behind `{}`, {fault}",
            after.value, before.value
        );
        let finding = Finding::new(RuleId::VersionNotInClass, message)
            .with_subject(input.subject(None))
            .with_label(input.spot(after.place), "this one");
        findings.push(finding.help(
            "list versions from the oldest to the newest, with one of every minor: Cluster API's webhook refuses the class",
        ));
    }
}

/// Whether another program, or a secret, decides a version.
fn is_open(version: &Located<Arc<str>>) -> bool {
    is_opaque(&version.value) || Version::parse(&version.value).is_none()
}

fn is_equal(listed: &Located<Arc<str>>, wanted: &Located<Arc<str>>) -> bool {
    let wanted = wanted.value.strip_prefix('v').unwrap_or(&wanted.value);
    listed.value.strip_prefix('v') == Some(wanted)
}

/// What is wrong with a version behind another one. Builds of one release may follow each other in any order.
fn fault(before: &Located<Arc<str>>, after: &Located<Arc<str>>) -> Option<&'static str> {
    let (old, new) = (
        Version::parse(&before.value)?,
        Version::parse(&after.value)?,
    );
    if new.cmp_release(&old).is_lt() || before.value == after.value {
        Some("which is not older")
    } else if new.minors_passed_from(&old).is_empty() {
        None
    } else {
        Some("and no version of the minors between them")
    }
}

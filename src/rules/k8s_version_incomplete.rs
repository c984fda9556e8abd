//! A Kubernetes version lacks the build of its distribution.

use crate::model::cluster::PoolName;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::model::version::Version;
use crate::rules::ClusterInput;

/// The distributions whose releases have a build, by their bootstrap provider.
const BUILDS: [(&str, &str); 2] = [("cabpr", "rke2r"), ("cabpk3s", "k3s")];

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let cluster = &input.view.cluster;
    for pool in &cluster.pools {
        let Some(version) = cluster.k8s_version_of(pool) else {
            continue;
        };
        let provider = cluster.bootstrap_provider_of(pool);
        let mut builds = BUILDS.iter();
        let build = provider.and_then(|it| builds.find(|(known, _)| *known == &*it.value));
        let Some((provider, build)) = build else {
            continue;
        };
        let text = &version.value;
        if text.contains(&format!("+{build}")) || Version::parse(text).is_none() {
            continue;
        }
        let message = format!("Kubernetes `{text}` has no `+{build}N`");
        let finding = Finding::new(RuleId::K8sVersionIncomplete, message)
            .with_subject(input.subject(Some(pool)))
            .with_label(input.spot(version.place), "this version is required")
            .help(format!("name a release of the distribution: `…+{build}1`"));
        // The schema of RKE2ControlPlane has a pattern; of the others, the installation on the machine fails.
        let is_refused =
            !input.is_of_values() && *provider == "cabpr" && pool.name == PoolName::ControlPlane;
        findings.push(if is_refused {
            finding
        } else {
            finding.unless_set(Level::Warning)
        });
    }
}

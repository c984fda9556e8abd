//! A node pool and its control plane differ too far in Kubernetes version.

use crate::model::cluster::{Pool, PoolName};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::version::Version;
use crate::rules::ClusterInput;

/// How many minors a worker may be behind: Cluster API's preflight check `KubernetesVersionSkew` of MachineSets. Its check
/// `KubeadmVersionSkew` is about workers that kubeadm joins.
const OLDEST: i64 = -3;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let pools = &input.view.cluster.pools;
    if pools.iter().all(|pool| pool.k8s_version.is_none()) {
        return;
    }
    let control_plane = pools
        .iter()
        .find(|pool| pool.name == PoolName::ControlPlane);
    for pool in pools {
        if pool.name != PoolName::ControlPlane {
            findings.extend(skew(input, pool, control_plane));
        }
    }
}

fn skew(input: &ClusterInput<'_>, pool: &Pool, control_plane: Option<&Pool>) -> Option<Finding> {
    let leader = match control_plane {
        Some(control_plane) => input.view.cluster.k8s_version_of(control_plane),
        None => input.view.cluster.k8s_version.as_ref(),
    };
    let (worker, leader) = input.view.cluster.k8s_version_of(pool).zip(leader)?;
    let own = Version::parse(&worker.value)?;
    let other = Version::parse(&leader.value)?;
    let kubeadm = input.view.cluster.bootstrap_provider_of(pool);
    let kubeadm = kubeadm.is_some_and(|provider| &*provider.value == "cabpk");
    let fault = fault(own.minors_ahead_of(&other), kubeadm)?;
    let (pool_name, newer) = (&pool.name, if own > other { worker } else { leader });
    let message = format!(
        "node pool `{pool_name}` runs Kubernetes `{}`, {fault} `{}`",
        worker.value, leader.value
    );
    let finding = Finding::new(RuleId::VersionSkew, message)
        .with_subject(input.subject(Some(pool)))
        .with_label(input.spot(worker.place), "this pool's version")
        .with_label(input.spot(leader.place), "the control plane's version");
    Some(finding.help(format!("run `{}` in both", newer.value)))
}

/// What is wrong with a worker that many minors ahead of its control plane; none for majors that differ means everything is.
fn fault(ahead: Option<i64>, kubeadm: bool) -> Option<&'static str> {
    match ahead {
        Some(0) => None,
        Some(1..) => Some("newer than its control plane's"),
        Some(OLDEST..0) if !kubeadm => None,
        Some(OLDEST..0) => Some("and new kubeadm nodes need their control plane's minor"),
        Some(_) => Some("more than three minors older than its control plane's"),
        None => Some("of another major than its control plane's"),
    }
}

#[cfg(test)]
mod tests {
    use super::fault;
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    fn found(bootstrap: &str, worker: &str) -> String {
        let mut given = Given::new();
        given.view.cluster.bootstrap_provider = Some(given.line("bootstrap_provider", bootstrap));
        let version = given.line("k8s_version", worker);
        given.machine_deployment("md0").k8s_version = Some(version);
        given.found(RuleId::VersionSkew)
    }

    #[test]
    fn a_worker_is_never_newer_than_its_control_plane() {
        assert_eq!(
            found("cabpr", "v1.32.4+rke2r1"),
            "node pool `md0` runs Kubernetes `v1.32.4+rke2r1`, newer than its control plane's `v1.31.8+rke2r1`\n  \
             k8s_version: v1.32.4+rke2r1: this pool's version\n  \
             k8s_version: v1.31.8+rke2r1: the control plane's version\n  \
             help: run `v1.32.4+rke2r1` in both\n"
        );
        assert_eq!(found("cabpr", "v1.31.9+rke2r1"), "");
    }

    #[test]
    fn a_worker_is_three_minors_older_at_most_and_none_with_kubeadm() {
        assert_eq!(found("cabpr", "v1.28.1+rke2r1"), "");
        assert!(found("cabpr", "v1.27.16+rke2r1").contains("more than three minors older"));
        assert!(found("cabpk", "v1.30.1").contains("need their control plane's minor"));
        assert_eq!(found("cabpk", "v1.31.1"), "");
        assert!(fault(None, false).is_some());
    }

    #[test]
    fn a_version_that_is_none_is_not_this_rules() {
        assert_eq!(found("cabpr", "latest"), "");
    }
}

//! A node pool and its control plane differ too far in Kubernetes version.

use std::sync::Arc;

use yaml_tree::place::Located;

use crate::model::cluster::{Cluster, Pool, PoolName};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::model::version::Version;
use crate::rules::{ChangeInput, ClusterInput};

/// How many minors a worker may be behind: Cluster API's preflight check `KubernetesVersionSkew` of MachineSets.
const OLDEST: i64 = -3;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let pools = &input.view.cluster.pools;
    if pools.iter().all(|pool| pool.k8s_version.is_none()) {
        return;
    }
    for pool in pools {
        if pool.name != PoolName::ControlPlane {
            findings.extend(skew(input, pool));
        }
    }
}

/// Looks at every node pool that gets more machines: those that run already may be older, as while workers follow their control
/// plane. It is Cluster API's preflight check `KubeadmVersionSkew`.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    let (before, after) = (&input.before.view.cluster, &input.after.view.cluster);
    let count = |pool: &Pool| pool.replicas.as_ref().map_or(1, |replicas| replicas.value);
    for (pool, old) in after.pools.iter().zip(input.match_pools()) {
        let old = old.map_or(0, |old| count(&before.pools[old]));
        let provider = after.bootstrap_provider_of(pool);
        let is_kubeadm = provider.is_some_and(|provider| &*provider.value == "cabpk");
        if !is_kubeadm || count(pool) <= old || pool.name == PoolName::ControlPlane {
            continue;
        }
        let Some(versions) = Versions::read(after, pool).filter(|it| it.ahead() < Some(0)) else {
            continue;
        };
        let (pool_name, worker, leader) = (&pool.name, versions.worker, versions.leader);
        let message = format!(
            "node pool `{pool_name}` would get machines with Kubernetes `{}`, which kubeadm does not join to a control plane of `{}`",
            worker.value, leader.value
        );
        let finding = Finding::new(RuleId::VersionSkew, message)
            .with_subject(input.subject(pool))
            .with_label(input.spot(worker.place), "this pool's version")
            .with_label(input.spot(leader.place), "the control plane's version")
            .help(format!("run `{}` in the pool first", leader.value));
        findings.push(finding.unless_set(Level::Warning));
    }
}

/// A pool's version, and its control plane's.
struct Versions<'a> {
    worker: &'a Located<Arc<str>>,
    leader: &'a Located<Arc<str>>,
    own: Version,
    other: Version,
}

impl<'a> Versions<'a> {
    fn read(cluster: &'a Cluster, pool: &'a Pool) -> Option<Self> {
        let (worker, leader) = (
            cluster.k8s_version_of(pool)?,
            cluster.control_plane_version()?,
        );
        Some(Self {
            worker,
            leader,
            own: Version::parse(&worker.value)?,
            other: Version::parse(&leader.value)?,
        })
    }

    /// How many minors the pool is ahead of its control plane; none where the majors differ.
    fn ahead(&self) -> Option<i64> {
        self.own.minors_ahead_of(&self.other)
    }
}

fn skew(input: &ClusterInput<'_>, pool: &Pool) -> Option<Finding> {
    let versions = Versions::read(&input.view.cluster, pool)?;
    let fault = fault(versions.ahead())?;
    let Versions {
        worker,
        leader,
        own,
        other,
    } = versions;
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
fn fault(ahead: Option<i64>) -> Option<&'static str> {
    match ahead {
        Some(OLDEST..=0) => None,
        Some(1..) => Some("newer than its control plane's"),
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
    fn a_worker_is_three_minors_older_at_most() {
        assert_eq!(found("cabpr", "v1.28.1+rke2r1"), "");
        assert!(found("cabpr", "v1.27.16+rke2r1").contains("more than three minors older"));
        assert_eq!(found("cabpk", "v1.30.1"), "");
        assert!(fault(None).is_some());
    }

    #[test]
    fn a_version_that_is_none_is_not_this_rules() {
        assert_eq!(found("cabpr", "latest"), "");
    }
}

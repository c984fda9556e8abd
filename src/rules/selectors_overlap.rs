//! The control plane and a machine deployment claim the same hosts.

use crate::model::cluster::PoolName;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// Looks at every pair of the control plane and a machine deployment.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let cluster = &input.view.cluster;
    let Some(found) = &cluster.endpoint else {
        return;
    };
    let mut pools = cluster.pools.iter();
    let Some(own) = pools.find(|pool| pool.name == PoolName::ControlPlane) else {
        return;
    };
    let Some(selector) = input.host_selector(own) else {
        return;
    };
    for pool in cluster
        .pools
        .iter()
        .filter(|pool| pool.name != PoolName::ControlPlane)
    {
        let Some(other) = input.host_selector(pool) else {
            continue;
        };
        let mut hosts = found.hosts.iter();
        let both = hosts.find(|host| selector.matches(&host.labels) && other.matches(&host.labels));
        let which = match both {
            Some(host) => format!("host `{}`", host.name),
            None if found.hosts.is_empty()
                && (selector.is_within(&other) || other.is_within(&selector)) =>
            {
                "the same hosts".to_owned()
            }
            None => continue,
        };
        let message = format!(
            "the control plane and pool `{}` both claim {which}",
            pool.name
        );
        let finding = Finding::new(RuleId::SelectorsOverlap, message)
            .with_subject(input.subject(Some(pool)))
            .with_label(input.spot(pool.place), "this pool")
            .with_label(input.spot(own.place), "the control plane");
        findings.push(finding.help("select by a label that distinguishes them, such as `role`"));
    }
}

#[cfg(test)]
mod tests {
    use crate::model::endpoint::Way;
    use crate::model::rule::RuleId;
    use crate::testing::Given;
    use yaml_tree::place::{Located, Place};
    use yaml_tree::value::{Entry, Map, Node};

    fn settings(labels: &[(&str, &str)]) -> Node {
        let labels = labels
            .iter()
            .map(|(key, value)| Entry::from_value(*key, *value));
        let labels: Map = labels.collect();
        let selector = Map::from_iter([Entry::from_value("matchLabels", labels)]);
        Node::from_value(Map::from_iter([Entry::from_value("selector", selector)]))
    }

    fn given(own: &[(&str, &str)], other: &[(&str, &str)]) -> Given {
        let mut given = Given::new();
        given.view.cluster.infra_provider = Some(Located::new("elemental".into(), Place::NONE));
        given.endpoint(Way::Vip, "192.0.2.10");
        given.view.cluster.pools[0].settings = settings(own);
        given.machine_deployment("md0").settings = settings(other);
        given
    }

    #[test]
    fn one_selector_within_the_other_is_reported() {
        let (cp, worker) = (("role", "cp"), ("role", "worker"));
        let id = RuleId::SelectorsOverlap;
        assert_eq!(given(&[cp], &[worker]).found(id), "");
        assert_eq!(given(&[cp], &[("zone", "b")]).found(id), "");
        let found = given(&[cp], &[cp, ("zone", "b")]).found(id);
        assert!(found.starts_with("the control plane and pool `md0` both claim the same hosts\n"));
        assert!(!given(&[cp], &[]).found(id).is_empty());
    }

    #[test]
    fn an_inventory_decides_by_its_hosts() {
        let mut given = given(&[("role", "cp")], &[("zone", "b")]);
        given.host("server-1", &[("role", "cp"), ("zone", "a")], &[]);
        given.host("server-2", &[("zone", "b")], &[]);
        assert_eq!(given.found(RuleId::SelectorsOverlap), "");
        given.host("server-3", &[("role", "cp"), ("zone", "b")], &[]);
        assert!(
            given
                .found(RuleId::SelectorsOverlap)
                .contains("both claim host `server-3`")
        );
    }
}

//! More than one control plane replica is behind one host.

use crate::model::cluster::PoolName;
use crate::model::endpoint::{Host, Way};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// Looks at every cluster whose endpoint is a host of the inventory.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let Some((found, endpoint)) = input.endpoint() else {
        return;
    };
    let Way::Host(name) = &endpoint.way else {
        return;
    };
    let mut pools = input.view.cluster.pools.iter();
    let pool = pools.find(|pool| pool.name == PoolName::ControlPlane);
    let replicas = pool.and_then(|pool| pool.replicas.as_ref());
    let Some(replicas) = replicas.filter(|replicas| replicas.value > 0) else {
        return;
    };
    let hosts = found.hosts.iter();
    let claimed: Vec<&Host> = hosts.filter(|host| found.is_claimed(host)).collect();
    let count = replicas.value;
    let is_claimed = claimed.iter().any(|host| host.name == *name);
    let message = if is_claimed && claimed.len() > count as usize {
        format!(
            "host `{name}` may have no control plane: {} hosts match, and the replicas need {count}",
            claimed.len()
        )
    } else if count > 1 {
        format!("{count} control plane replicas are behind host `{name}` alone")
    } else {
        return;
    };
    let finding = Finding::new(RuleId::EndpointSingleHost, message)
        .with_subject(input.subject(pool))
        .with_label(
            input.spot(endpoint.host.place),
            "the endpoint is its address",
        )
        .with_label(input.spot(replicas.place), "replicas");
    findings.push(finding.help("`cluster.control_plane_endpoint.vip: …`, an address that moves"));
}

#[cfg(test)]
mod tests {
    use crate::model::endpoint::Way;
    use crate::model::rule::RuleId;
    use crate::testing::Given;
    use yaml_tree::place::{Located, Place};

    #[test]
    fn replicas_behind_one_host_are_reported() {
        let mut given = Given::new();
        given.endpoint(Way::Host("server-1".into()), "192.0.2.11");
        given.view.cluster.pools[0].replicas = Some(Located::new(3, Place::NONE));
        let found = given.found(RuleId::EndpointSingleHost);
        assert!(found.starts_with("3 control plane replicas are behind host `server-1` alone\n"));
        given.view.cluster.pools[0].replicas = Some(Located::new(1, Place::NONE));
        assert_eq!(given.found(RuleId::EndpointSingleHost), "");
        given.view.cluster.pools[0].replicas = Some(Located::new(3, Place::NONE));
        given.endpoint(Way::Vip, "192.0.2.10");
        assert_eq!(given.found(RuleId::EndpointSingleHost), "");
    }
}

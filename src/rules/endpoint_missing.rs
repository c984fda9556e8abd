//! A cluster has no control plane endpoint, and one is to be rendered.

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// Looks at every cluster, where the project requires endpoints.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let found = input.view.cluster.endpoint.as_ref();
    let Some(found) = found.filter(|_| input.settings.renders_endpoints()) else {
        return;
    };
    if found.endpoint.is_some() {
        return;
    }
    let finding = Finding::new(
        RuleId::EndpointMissing,
        "the cluster has no control plane endpoint",
    )
    .with_subject(input.subject(None))
    .with_label(
        input.spot(found.place),
        "nothing here resolves to an address",
    );
    findings.push(
        finding
            .help("a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`")
            .help(
                "a host of the inventory: `cluster.control_plane_endpoint.host: {address: internal}`, which must be \
                 selected and have such an address",
            ),
    );
}

#[cfg(test)]
mod tests {
    use crate::model::endpoint::Way;
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    #[test]
    fn a_blank_endpoint_is_reported_with_both_ways_where_one_is_to_be_rendered() {
        let mut given = Given::new();
        given.endpoint(Way::Vip, "192.0.2.10").endpoint = None;
        assert_eq!(given.found(RuleId::EndpointMissing), "");
        given.with_endpoint_output();
        let found = given.found(RuleId::EndpointMissing);
        assert!(found.starts_with("the cluster has no control plane endpoint\n"));
        assert!(found.contains("endpoint.vip: ") && found.contains("endpoint.host: "));
        given.endpoint(Way::Vip, "192.0.2.10");
        assert_eq!(given.found(RuleId::EndpointMissing), "");
    }
}

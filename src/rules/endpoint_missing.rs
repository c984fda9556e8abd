//! An output renders the control plane endpoint, but the cluster has none.

use std::collections::BTreeSet;

use crate::model::endpoint::ControlPlaneEndpoint;
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
            .help(way_of_hosts(found, &input.view.cluster.namespace)),
    );
}

/// What makes a host the endpoint: the first step that is missing.
fn way_of_hosts(found: &ControlPlaneEndpoint, namespace: &str) -> String {
    if let (true, Some(other)) = (found.hosts.is_empty(), found.other_namespaces.first()) {
        return format!(
            "a host: those of the inventory are in the namespace `{other}`, and the cluster is in `{namespace}`: if that is wrong, \
             write `namespace: {other}` beside the cluster's name in the project file"
        );
    }
    if let (true, Some(kind)) = (found.hosts.is_empty(), found.other_kinds.first()) {
        return format!(
            "a host: those of the inventory are of the kind `{kind}`, which machines of another provider claim: list the cluster's own"
        );
    }
    if found.hosts.is_empty() {
        return "a host: list the control plane's in `cluster.inventory`, with their labels and addresses".to_owned();
    }
    let mut selected = { found.hosts.iter() }
        .filter(|host| found.is_claimed(host))
        .peekable();
    if selected.peek().is_none() {
        return "a host: none is the control plane's: give one the labels that its pool selects by, or select it by \
                `cluster.control_plane_endpoint.host: {selector: {matchLabels: …}}`"
            .to_owned();
    }
    let classes: BTreeSet<String> = { selected.flat_map(|host| &host.addresses) }
        .map(|(class, _)| format!("`{class}`"))
        .collect();
    if classes.is_empty() {
        return "a host: say the addresses of the control plane's; an object by the annotation \
                `metalmark.dev/address.internal: 192.0.2.11`, an entry of `cluster.inventory` by `addresses: {internal: 192.0.2.11}`"
            .to_owned();
    }
    let classes: Vec<String> = classes.into_iter().collect();
    format!(
        "a host: `cluster.control_plane_endpoint.host: {{address: CLASS}}`, a class that hosts of the control plane's selector have: {}",
        classes.join(", ")
    )
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
        assert!(found.contains("endpoint.vip: ") && found.contains("`cluster.inventory`, with"));
        // One of another pool is none of the control plane's.
        given.host("worker-1", &[], &[("oob", "10.9.0.1")]);
        for pool_selects in [false, true] {
            if pool_selects {
                given.select_hosts("{matchLabels: {role: cp}}");
            }
            let found = given.found(RuleId::EndpointMissing);
            assert!(found.contains("none is the control plane's"), "{found}");
        }
        given.host("server-1", &[("role", "cp")], &[]);
        assert!(
            given
                .found(RuleId::EndpointMissing)
                .contains("`metalmark.dev/address.internal: 192.0.2.11`")
        );
        given.host(
            "server-2",
            &[("role", "cp")],
            &[("vpn", "10.8.0.2"), ("eno1", "192.0.2.2")],
        );
        assert!(
            given
                .found(RuleId::EndpointMissing)
                .contains("selector have: `eno1`, `vpn`")
        );
        given.endpoint(Way::Vip, "192.0.2.10");
        assert_eq!(given.found(RuleId::EndpointMissing), "");
    }
}

//! A control plane endpoint has the address of something else.

use yaml_tree::place::Spot;

use crate::model::cluster::ClusterOrigin;
use crate::model::cluster_view::ClusterView;
use crate::model::endpoint::Way;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};
use crate::rules::ClusterInput;

/// Looks at every endpoint that is an address.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let Some((found, endpoint)) = input.endpoint() else {
        return;
    };
    let Some(address) = endpoint.address() else {
        return;
    };
    let finding_of = |message: String| {
        Finding::new(RuleId::EndpointCollides, message)
            .with_subject(input.subject(None))
            .with_label(input.spot(endpoint.host.place), "the endpoint")
    };
    match (&endpoint.way, found.owners(&endpoint.host.value).next()) {
        (Way::Vip, Some((host, place))) => {
            let name = &host.name;
            let message = format!("the virtual IP `{address}` is host `{name}`'s own address");
            let finding = finding_of(message).with_label(input.spot(place), "the host's");
            findings.push(finding.help("take an address that no host has"));
        }
        (Way::Host(_), Some((host, place)))
            if found.selector.is_some() && !found.is_claimed(host) =>
        {
            let message = format!(
                "the endpoint `{address}` is host `{}`'s, and the control plane does not select this host",
                host.name
            );
            let finding = finding_of(message).with_label(input.spot(place), "the host's");
            findings.push(finding.help(
                "take the address of a host of the control plane, or one that moves: `vip: …`",
            ));
        }
        _ => {}
    }
    let mut ranges = found.ranges.iter();
    if let Some(range) = ranges.find(|range| range.network.value.contains(&address)) {
        let (of, network) = (range.of, range.network.value);
        let message = format!("the endpoint `{address}` is in the {of} network `{network}`");
        let finding =
            finding_of(message).with_label(input.spot(range.network.place), "that network");
        let finding = finding.help("take an address of the hosts' network");
        // Calico's default network of pods holds many a home's: such a cluster works until a node gets that block.
        let is_sure = input.is_of_values() || of == "service";
        findings.push(if is_sure {
            finding
        } else {
            finding.unless_set(Level::Warning)
        });
    }
}

/// That two clusters have one endpoint. Whether those of manifests ever exist together is not known, and what all clusters share may be
/// what each overrides where it runs.
pub fn endpoint_collision(endpoint: &str, clusters: &[ClusterView; 2]) -> Finding {
    let [first, other] = clusters.each_ref().map(|view| &view.cluster.name);
    let message = format!("`{other}` has the endpoint of `{first}`, `{endpoint}`");
    let subject = Subject::cluster(other);
    let [first, other] = clusters.each_ref().map(|view| {
        let found = view.cluster.endpoint.as_deref();
        let host = &found.and_then(|found| found.endpoint.as_ref())?.host;
        view.sources.resolve(host.place)
    });
    let is_shared = first.as_ref().map(Spot::to_string) == other.as_ref().map(Spot::to_string);
    let are_of_values =
        { clusters.iter() }.all(|view| view.cluster.origin == ClusterOrigin::Values);
    let finding = Finding::new(RuleId::EndpointCollides, message)
        .with_subject(subject)
        .with_label(other, "the endpoint")
        .with_label(first.filter(|_| !is_shared), "another cluster's")
        .help("give each cluster an address of its own");
    if are_of_values && !is_shared {
        finding
    } else {
        finding.unless_set(Level::Warning)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::endpoint::{Range, Way};
    use crate::model::rule::RuleId;
    use crate::testing::Given;
    use yaml_tree::place::{Located, Place};

    #[test]
    fn the_address_of_a_host_is_reported_for_a_virtual_ip_only() {
        let mut given = Given::new();
        given.endpoint(Way::Vip, "2001:db8::1");
        given.host("server-1", &[], &[("internal", "2001:db8:0::1")]);
        let found = given.found(RuleId::EndpointCollides);
        assert!(
            found.starts_with("the virtual IP `2001:db8::1` is host `server-1`'s own address\n")
        );
        given.endpoint(Way::Host("server-1".into()), "2001:db8::1");
        given.host("server-1", &[], &[("internal", "2001:db8::1")]);
        assert_eq!(given.found(RuleId::EndpointCollides), "");
    }

    #[test]
    fn an_endpoint_in_a_network_of_the_cluster_is_reported() {
        let mut given = Given::new();
        let endpoint = given.endpoint(Way::Explicit, "100.73.0.10");
        for (of, network) in [("pod", "100.72.0.0/16"), ("service", "100.73.0.0/16")] {
            let network = Located::new(network.parse().expect("a network"), Place::NONE);
            endpoint.ranges.push(Range { of, network });
        }
        let found = given.found(RuleId::EndpointCollides);
        assert!(
            found.starts_with(
                "the endpoint `100.73.0.10` is in the service network `100.73.0.0/16`\n"
            )
        );
    }
}

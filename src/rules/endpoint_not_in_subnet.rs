//! A virtual IP is outside the network of its hosts.

use crate::model::endpoint::{KubeVipMode, Way};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// Looks at every cluster whose endpoint is a virtual IP.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let Some((found, endpoint)) = input.endpoint() else {
        return;
    };
    let mode = found.kube_vip.as_ref().map(|kube_vip| kube_vip.mode);
    let is_routed = mode.is_some_and(|mode| mode != KubeVipMode::Arp);
    let Some(address) = endpoint.address().filter(|_| endpoint.way == Way::Vip) else {
        return;
    };
    let mut subnets = found.subnets.iter();
    if is_routed || found.subnets.is_empty() || subnets.any(|net| net.value.contains(&address)) {
        return;
    }
    let networks: Vec<String> = found
        .subnets
        .iter()
        .map(|net| format!("`{}`", net.value))
        .collect();
    let message = format!(
        "the virtual IP `{address}` is not in the hosts' network {}",
        networks.join(", ")
    );
    let mut finding = Finding::new(RuleId::EndpointNotInSubnet, message)
        .with_subject(input.subject(None))
        .with_label(input.spot(endpoint.host.place), "outside of it");
    for subnet in &found.subnets {
        finding = finding.with_label(input.spot(subnet.place), "the hosts' network");
    }
    findings.push(finding.help("take an address of it that no host has, or `cluster.control_plane_endpoint.kube_vip.mode: bgp`"));
}

#[cfg(test)]
mod tests {
    use crate::model::endpoint::{KubeVip, KubeVipMode, Way};
    use crate::model::rule::RuleId;
    use crate::testing::Given;
    use yaml_tree::place::{Located, Place};
    use yaml_tree::value::{Node, Value};

    fn found(vip: &str, subnets: &[&str], mode: KubeVipMode) -> String {
        let mut given = Given::new();
        let endpoint = given.endpoint(Way::Vip, vip);
        let net = |text: &&str| Located::new(text.parse().expect("a network"), Place::NONE);
        endpoint.subnets = subnets.iter().map(net).collect();
        endpoint.kube_vip = Some(KubeVip {
            mode,
            settings: Node::from_value(Value::empty_map()),
        });
        given.found(RuleId::EndpointNotInSubnet)
    }

    #[test]
    fn an_address_outside_or_of_another_family_is_reported_in_arp_mode_only() {
        let (subnets, arp) = (["192.0.2.0/26", "2001:db8::/64"], KubeVipMode::Arp);
        assert_eq!(found("192.0.2.63", &subnets, arp), "");
        assert_eq!(found("2001:db8::a", &subnets, arp), "");
        assert!(
            found("192.0.2.64", &subnets, arp).starts_with("the virtual IP `192.0.2.64` is not in")
        );
        assert!(!found("2001:db8::a", &subnets[..1], arp).is_empty());
        assert_eq!(found("192.0.2.64", &subnets, KubeVipMode::Bgp), "");
        assert_eq!(found("192.0.2.64", &[], arp), "");
        assert_eq!(found("api.example.org", &subnets, arp), "");
    }
}

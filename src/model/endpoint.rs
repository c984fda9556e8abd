//! How the API server of a cluster is reached: the control plane endpoint, and the hosts and networks that it is compared with.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use ipnet::IpNet;

use capi::labels::{LabelSelector, Labels};
use yaml_tree::place::{Located, Place};
use yaml_tree::value::{Map, Node};

/// The port of an API server where nothing else is said (Cluster API, `clusterNetwork.apiServerPort`).
pub const DEFAULT_PORT: u16 = 6443;

/// What the values say of a cluster's control plane endpoint, and of what is related to it.
#[derive(Clone, Debug)]
pub struct ControlPlaneEndpoint {
    /// Where it is said, or would be.
    pub place: Place,
    /// Its resolved value; none where nothing states it.
    pub endpoint: Option<Endpoint>,
    /// What else names the endpoint, beside the place that it was taken from.
    pub statements: Vec<Statement>,
    /// Names and addresses that the API server's certificate is to hold, where they are listed.
    pub certificate_names: Option<Located<Vec<Arc<str>>>>,
    /// The inventory, sorted by name.
    pub hosts: Vec<Host>,
    /// The namespaces of hosts that the cluster cannot claim: controllers claim hosts of the cluster's own.
    pub other_namespaces: BTreeSet<Arc<str>>,
    /// The kinds of hosts that the cluster cannot claim: each provider has its own.
    pub other_kinds: BTreeSet<Arc<str>>,
    /// What selects the control plane's hosts, where it is said.
    pub selector: Option<LabelSelector>,
    /// Where control plane hosts have their addresses.
    pub subnets: Vec<Located<IpNet>>,
    /// The networks of pods and services.
    pub ranges: Vec<Range>,
    /// The configuration of kube-vip, where it is to hold the address.
    pub kube_vip: Option<KubeVip>,
    /// The rest of the infrastructure cluster's `spec`, in its CRD's words.
    pub infra_cluster: Map,
}

impl ControlPlaneEndpoint {
    /// An endpoint without any setting; the place is where one would be written.
    pub fn unsaid(place: Place) -> Self {
        Self {
            place,
            endpoint: None,
            statements: Vec::new(),
            certificate_names: None,
            hosts: Vec::new(),
            other_namespaces: BTreeSet::new(),
            other_kinds: BTreeSet::new(),
            selector: None,
            subnets: Vec::new(),
            ranges: Vec::new(),
            kube_vip: None,
            infra_cluster: Map::default(),
        }
    }

    /// Whether the control plane claims a host.
    pub fn is_claimed(&self, host: &Host) -> bool {
        let mut selector = self.selector.iter();
        selector.any(|selector| selector.matches(&host.labels))
    }

    /// The hosts that have an address or a name, and where it is written.
    pub fn owners(&self, address: &str) -> impl Iterator<Item = (&Host, Place)> {
        self.hosts.iter().filter_map(move |host| {
            let mut addresses = host.addresses.iter();
            let is_it = |own: &str| same_host(own, address) == Some(true);
            let (_, own) = addresses.find(|(_, own)| is_it(&own.value))?;
            Some((host, own.place))
        })
    }

    /// Uses it as the endpoint if there is none yet; else compares it with the existing one. An address of a host is that host's,
    /// also where no host is named.
    pub fn add(
        &mut self,
        way: Way,
        path: &'static str,
        host: Option<Located<Arc<str>>>,
        port: Option<Located<u16>>,
        default: Option<u16>,
    ) {
        match (&self.endpoint, host) {
            (None, Some(host)) => {
                let port = port.map(|port| port.value).or(default);
                let port = port.unwrap_or(DEFAULT_PORT);
                let is_address = host.value.parse::<IpAddr>().is_ok();
                let own = self.owners(&host.value).find(|_| is_address);
                let way = match (way, own) {
                    (Way::Explicit, Some((own, _))) => Way::Host(Arc::clone(&own.name)),
                    (way, _) => way,
                };
                self.endpoint = Some(Endpoint { way, host, port });
            }
            (Some(_), host) => self.state(path, host, port),
            (None, None) => {}
        }
    }

    /// Holds a value that names the host, the port or both against the endpoint.
    pub fn state(
        &mut self,
        path: &'static str,
        host: Option<Located<Arc<str>>>,
        port: Option<Located<u16>>,
    ) {
        if host.is_some() || port.is_some() {
            self.statements.push(Statement { path, host, port });
        }
    }
}

/// Host and port of the API server.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Who holds the address.
    pub way: Way,
    /// An address, without brackets, or a DNS name.
    pub host: Located<Arc<str>>,
    /// The TCP port.
    pub port: u16,
}

/// Who holds the address of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// Somebody else: a load balancer.
    Explicit,
    /// A virtual IP that moves between the control plane's hosts.
    Vip,
    /// The one host of that name.
    Host(Arc<str>),
}

/// As people read it: `192.0.2.11:6443 of host server-1`.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.authority())?;
        match &self.way {
            Way::Host(name) => write!(f, " of host {name}"),
            Way::Explicit | Way::Vip => Ok(()),
        }
    }
}

impl Endpoint {
    /// Host and port in one spelling: `192.0.2.10:6443`, `[2001:db8::1]:6443`.
    pub fn authority(&self) -> String {
        match self.address() {
            Some(address) => SocketAddr::new(address, self.port).to_string(),
            None => format!("{}:{}", self.host.value.to_ascii_lowercase(), self.port),
        }
    }

    /// The address; none for a DNS name.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.value.parse().ok()
    }
}

/// Another value that names the endpoint.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its path in the values.
    pub path: &'static str,
    /// The host that it names.
    pub host: Option<Located<Arc<str>>>,
    /// The port that it names.
    pub port: Option<Located<u16>>,
}

/// A machine of the inventory.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name.
    pub name: Arc<str>,
    /// The kind of its object, where it is one.
    pub kind: Option<Arc<str>>,
    /// Where it is named.
    pub place: Place,
    /// What selectors choose it by.
    pub labels: Labels,
    /// Its addresses by class (`public`, `internal`, `vpn`, or the name of a pool), sorted by class.
    pub addresses: Vec<(Arc<str>, Located<Arc<str>>)>,
}

/// A network that no machine has its address in.
#[derive(Clone, Debug)]
pub struct Range {
    /// `pod` or `service`.
    pub of: &'static str,
    /// The network.
    pub network: Located<IpNet>,
}

/// The configuration of kube-vip (<https://kube-vip.io/docs/installation/flags/>).
#[derive(Clone, Debug)]
pub struct KubeVip {
    /// How it makes the address known.
    pub mode: KubeVipMode,
    /// All its settings, evaluated.
    pub settings: Node,
}

/// How kube-vip makes an address known to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KubeVipMode {
    /// One leader answers ARP, or NDP for IPv6.
    Arp,
    /// Every host announces it to BGP peers.
    Bgp,
    /// Every host has it in a routing table that another program announces.
    RoutingTable,
    /// The leader has it behind a WireGuard tunnel.
    Wireguard,
}

impl KubeVipMode {
    /// Every mode by its word in the values.
    pub const ALL: [(&'static str, Self); 4] = [
        ("arp", Self::Arp),
        ("bgp", Self::Bgp),
        ("routing-table", Self::RoutingTable),
        ("wireguard", Self::Wireguard),
    ];
}

/// The classes of addresses that a host is reached by, the first that is there, where no others are said.
pub const ADDRESS_CLASSES: [&str; 5] = ["internal", "primary", "public", "vpn", "registration"];

/// The host from which the endpoint is derived: among the selected hosts with an address of the first available class, the one
/// with the lowest name.
pub fn lowest_host<'a>(
    hosts: &'a [Host],
    is_selected: impl Fn(&Host) -> bool,
    classes: &[Arc<str>],
) -> Option<(&'a Host, &'a Located<Arc<str>>)> {
    let selected = || hosts.iter().filter(|host| is_selected(host));
    let of_class = |class: &Arc<str>| {
        selected()
            .filter_map(|host| {
                let mut addresses = host.addresses.iter();
                let (_, address) = addresses.find(|(known, _)| known == class)?;
                Some((host, address))
            })
            .min_by(|(one, _), (other, _)| one.name.cmp(&other.name))
    };
    classes.iter().find_map(of_class)
}

/// Whether a text is what an endpoint's `host` may be: an IPv4 or IPv6 address that another machine can reach, or a DNS name of
/// at most 253 letters. A name that ends in a number is a mistyped address (<https://url.spec.whatwg.org/#ends-in-a-number-checker>).
pub fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(plain)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = text.rsplit('.').next().unwrap_or_default();
    let ends_in_number = last.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(address) => is_reachable(address),
        // <https://www.rfc-editor.org/rfc/rfc6761#section-6.3>
        Err(_) if last.eq_ignore_ascii_case("localhost") => false,
        Err(_) => text.len() <= 253 && text.split('.').all(is_label) && !ends_in_number,
    }
}

/// Whether one machine has an address, and others on other networks reach it there. Kubernetes requires the same of the addresses
/// behind a Service (`ValidateEndpointIP`).
fn is_reachable(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(it) => {
            let is_of_no_host = it.octets()[0] == 0 || it.is_broadcast() || it.is_multicast();
            !(is_of_no_host || it.is_loopback() || it.is_link_local())
        }
        IpAddr::V6(it) => {
            let is_of_no_host = it.is_unspecified() || it.is_multicast();
            !(is_of_no_host || it.is_loopback() || it.is_unicast_link_local())
        }
    }
}

/// Whether two hosts are one: addresses by value, names without regard to case. None where one is a name and the other an
/// address: only DNS knows.
pub fn same_host(one: &str, other: &str) -> Option<bool> {
    match (one.parse::<IpAddr>(), other.parse::<IpAddr>()) {
        (Ok(one), Ok(other)) => Some(one == other),
        (Err(_), Err(_)) => Some(one.eq_ignore_ascii_case(other)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use proptest::option;
    use proptest::prelude::{Strategy, any, prop_oneof};

    use super::{Host, is_host, is_reachable, lowest_host, same_host};
    use crate::testing::seen::property_of_each;
    use capi::labels::Labels;
    use yaml_tree::place::{Located, Place};

    fn host(name: &str, addresses: &[(&str, &str)]) -> Host {
        let addresses = addresses.iter();
        Host {
            name: name.into(),
            kind: None,
            place: Place::NONE,
            labels: Labels::new(),
            addresses: addresses
                .map(|(class, text)| ((*class).into(), Located::new((*text).into(), Place::NONE)))
                .collect(),
        }
    }

    #[test]
    fn the_lowest_name_with_the_preferred_class_wins_whatever_the_order() {
        let mut hosts = vec![
            host("c", &[("vpn", "10.0.0.3")]),
            host("a", &[("public", "192.0.2.1")]),
            host("b", &[("public", "192.0.2.2"), ("vpn", "10.0.0.2")]),
        ];
        let found = |hosts: &[Host], classes: &[&str]| {
            let classes: Vec<_> = classes.iter().map(|class| (*class).into()).collect();
            let found = lowest_host(hosts, |_| true, &classes);
            found.map(|(_, address)| address.value.to_string())
        };
        for _ in 0..3 {
            hosts.rotate_left(1);
            assert_eq!(
                found(&hosts, &["vpn", "public"]).as_deref(),
                Some("10.0.0.2")
            );
            assert_eq!(found(&hosts, &["public"]).as_deref(), Some("192.0.2.1"));
            assert_eq!(found(&hosts, &["internal"]), None);
        }
        assert!(lowest_host(&hosts, |_| false, &["vpn".into()]).is_none());
    }

    #[test]
    fn addresses_and_names_are_hosts_and_mistyped_ones_are_not() {
        for good in [
            "192.0.2.1",
            "2001:db8::1",
            "api.example.org",
            "API-1",
            "1.example",
        ] {
            assert!(is_host(good), "{good}");
        }
        let long = "a".repeat(64);
        for bad in [
            "",
            "192.0.2",
            "192.0.2.256",
            "[2001:db8::1]",
            "a:6443",
            "https://a",
            "a..b",
            "-a",
            &long,
        ] {
            assert!(!is_host(bad), "{bad}");
        }
    }

    #[test]
    fn an_address_that_no_other_machine_reaches_is_no_host() {
        for bad in [
            "0.0.0.0",
            "0.1.2.3",
            "127.0.0.1",
            "169.254.1.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "febf::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "localhost",
            "API.Localhost",
        ] {
            assert!(!is_host(bad), "{bad}");
        }
        for good in ["10.0.0.1", "100.64.0.1", "fd00::1", "localhost.example.org"] {
            assert!(is_host(good), "{good}");
        }
    }

    #[test]
    fn one_host_may_be_spelled_in_two_ways() {
        assert_eq!(same_host("2001:db8::1", "2001:DB8:0::1"), Some(true));
        assert_eq!(same_host("192.0.2.1", "192.0.2.2"), Some(false));
        assert_eq!(same_host("Api.example.org", "api.example.org"), Some(true));
        assert_eq!(same_host("api.example.org", "192.0.2.1"), None);
    }

    /// Addresses, names, and what a slip makes of them.
    fn host_text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<[u8; 4]>().prop_map(|bytes| IpAddr::from(bytes).to_string()),
            any::<[u8; 16]>().prop_map(|bytes| IpAddr::from(bytes).to_string()),
            "2001:(db8|DB8):(0:0:0:0:0)?:[12]",
            "192[.]0[.]2[.][12]",
            "(api|API|-|é)[.-]?(1|a{64}|example[.]org)[.]?",
        ]
    }

    #[test]
    fn no_text_panics() {
        let hosts = (host_text(), option::of(host_text()));
        let outcomes = ["one", "two", "only DNS knows"];
        property_of_each(512, &hosts, &outcomes, |(one, other)| {
            let other = other.unwrap_or_else(|| one.to_ascii_uppercase());
            for text in [&one, &other] {
                assert!(
                    is_host(text) || !text.parse().is_ok_and(is_reachable),
                    "{text}"
                );
                assert_eq!(same_host(text, text), Some(true), "{text}");
            }
            assert_eq!(same_host(&one, &other), same_host(&other, &one));
            match same_host(&one, &other) {
                Some(true) => "one",
                Some(false) => "two",
                None => "only DNS knows",
            }
        });
    }
}

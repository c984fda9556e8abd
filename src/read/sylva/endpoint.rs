//! What the values say of the control plane endpoint: `cluster.control_plane_endpoint`, and Sylva's `cluster_virtual_ip`.

use std::net::IpAddr;
use std::sync::Arc;

use capi::labels::LabelSelector;
use capi::providers;
use ipnet::IpNet;
use yaml_tree::place::{Located, Place};
use yaml_tree::value::{Map, Node, Number, Value};

use super::Scope;
use super::inventory::{host_text, key_place, read_hosts};
use super::report::Report;
use super::spelling::{SPEC_KEY, is_meant};
use crate::evaluate::Branch;
use crate::model::cluster::{Cluster, PoolName};
use crate::model::endpoint::{
    ADDRESS_CLASSES, ControlPlaneEndpoint, Host, KubeVip, KubeVipMode, Range, Way, lowest_host,
};

const OWN: &str = "cluster.control_plane_endpoint";
const KEY: &str = "control_plane_endpoint";
const KEYS: &[&str] = &[
    "cert_sans",
    "explicit",
    "host",
    "kube_vip",
    "port",
    "registration_address",
    "subnets",
    "vip",
];
/// The keys below `kube_vip`, by the path of their map. What is below `wireguard` is none of a manifest's.
const KUBE_VIP: [(&[&str], &[&str]); 3] = [
    (
        &[],
        &[
            "address",
            "bgp",
            "image",
            "interface",
            "kubeconfig",
            "mode",
            "port",
            "routing_table",
            "subnet",
            "wireguard",
        ],
    ),
    (
        &["bgp"],
        &[
            "as",
            "password_file",
            "peers",
            "router_id",
            "router_interface",
        ],
    ),
    (&["routing_table"], &["clean", "id", "protocol", "type"]),
];
/// Sylva's: the chart's own, and the one that it hands to its cluster chart, which its schema holds to the first.
const SYLVA: [&str; 2] = ["cluster_virtual_ip", "cluster.cluster_virtual_ip"];

/// What is said of the endpoint; nothing where the values have no word of metalmark's own on it and nothing requires it.
pub(super) fn endpoint(
    root: &Branch,
    branch: &Branch,
    cluster: &Cluster,
    scope: Scope,
    report: &mut Report<'_>,
) -> Option<Box<ControlPlaneEndpoint>> {
    let own = report.value(branch, KEY);
    if own.is_none() && scope == Scope::ImagesAlone {
        return None;
    }
    let mut found = ControlPlaneEndpoint::unsaid(match &own {
        Some(_) => key_place(branch, KEY, report),
        None => key_place(root, "cluster", report),
    });
    let own = own.as_ref().and_then(|node| map(OWN, node, report));
    let empty = Map::default();
    let own = own.unwrap_or(&empty);
    report.expect_keys(OWN, own, KEYS);
    read_hosts(branch, cluster, &mut found, report);
    found.selector = selector(own, cluster, report);
    let mut default = read_own(own, &mut found, report);
    sylva(root, branch, &mut found, default, report);
    let rest = report.value(branch, "infra_cluster");
    if let Some(rest) = rest.and_then(|node| map("cluster.infra_cluster", &node, report).cloned()) {
        let path = "cluster.infra_cluster.controlPlaneEndpoint";
        if let Some(node) = rest.get(SPEC_KEY) {
            let port = explicit(node, path, &mut found, default, report);
            default = default.or(port);
        }
        found.infra_cluster = rest;
    }
    let other = own.get("explicit").map(|node| match &node.value {
        Value::Map(map) => map.get("host").is_none_or(is_blank),
        _ => is_blank(node),
    });
    let mut said = ["vip", "host", "kube_vip"].into_iter();
    let is_slip = own.is_empty() && has_slip(branch, report)
        || found
            .infra_cluster
            .iter()
            .any(|entry| is_meant(&entry.key, SPEC_KEY));
    let is_unsaid =
        !is_slip && other.unwrap_or(true) && said.all(|key| own.get(key).is_none_or(is_blank));
    if is_unsaid && found.endpoint.is_none() {
        let derived = derive_host(
            None,
            |host| found.is_claimed(host),
            found.place,
            &found,
            report,
        );
        if let Some((way, host)) = derived {
            found.add(way, OWN, Some(host), None, default);
        }
    }
    found.subnets = subnets(own, branch, cluster, report);
    found.ranges = ranges(branch, report);
    found.kube_vip = own.get("kube_vip").and_then(|node| kube_vip(node, report));
    found.certificate_names = own
        .get("cert_sans")
        .and_then(|node| certificate_names(node, report));
    Some(Box::new(found))
}

/// Whether a key of the cluster is almost one that says the endpoint. That is a finding, and no host takes its place.
fn has_slip(branch: &Branch, report: &mut Report<'_>) -> bool {
    let entries = report.answer(branch.entries()).unwrap_or_default();
    let says = [KEY, "cluster_virtual_ip", "infra_cluster"];
    let mut keys = entries.iter().map(|entry| &entry.key);
    keys.any(|key| says.iter().any(|wanted| is_meant(key, wanted)))
}

/// Whether a text is empty, or nothing.
fn is_blank(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.trim().is_empty(),
        value => value.is_null(),
    }
}

/// Host and port that somebody else answers at. Returns the port of a blank one: it is that of an endpoint that is said elsewhere,
/// unless that has one.
fn explicit(
    node: &Node,
    path: &'static str,
    found: &mut ControlPlaneEndpoint,
    default: Option<u16>,
    report: &mut Report<'_>,
) -> Option<u16> {
    let map = map(path, node, report)?;
    let host = map.get("host");
    let host = host.and_then(|node| host_text(&format!("{path}.host"), node, report));
    let port = port_of(map, path, report);
    if host.is_none() {
        let said = port.as_ref().map(|port| port.value);
        found.state(path, None, port);
        return said;
    }
    found.add(Way::Explicit, path, host, port, default);
    None
}

/// The port beside a host.
fn port_of(map: &Map, path: &str, report: &mut Report<'_>) -> Option<Located<u16>> {
    let node = map.get("port")?;
    // As Go writes an endpoint that is not said.
    let is_zero = matches!(node.value, Value::Number(Number::Int(0)))
        || matches!(node.value, Value::Number(Number::Float(number)) if number == 0.0);
    if is_zero && map.get("host").is_some_and(is_blank) {
        return None;
    }
    port(&format!("{path}.port"), node, report)
}

/// The endpoint in metalmark's own words: the first of `explicit`, `vip` and `host` that says one. The others are held
/// against it. Returns the port of one that names none, where it is said.
fn read_own(own: &Map, found: &mut ControlPlaneEndpoint, report: &mut Report<'_>) -> Option<u16> {
    let common = port_of(own, OWN, report);
    let mut default = common.map(|port| port.value);
    if let Some(node) = own.get("explicit") {
        let path = "cluster.control_plane_endpoint.explicit";
        if let Some(map) = node.value.as_map() {
            report.expect_keys(path, map, &["host", "port"]);
        }
        default = default.or(explicit(node, path, found, default, report));
    }
    if let Some(vip) = own.get("vip") {
        let path = "cluster.control_plane_endpoint.vip";
        let host = host_text(path, vip, report);
        found.add(Way::Vip, path, host, None, default);
    }
    let path = "cluster.control_plane_endpoint.host";
    match own.get("host").map(|node| (node, &node.value)) {
        // A host of the inventory, else as Cluster API itself spells an endpoint.
        Some((node, Value::String(text))) => {
            let is_it = |host: &Host| host.name == *text;
            let known = found.hosts.iter().find(|host| is_it(host));
            let way = known.map_or(Way::Explicit, |host| Way::Host(Arc::clone(&host.name)));
            let is_lost = known.is_none()
                && text.parse::<IpAddr>().is_ok()
                && !found.hosts.is_empty()
                && found.owners(text).next().is_none();
            if is_lost {
                report.ownerless_address(path, node.place, text);
            }
            let host = match known {
                Some(host) if !host.addresses.is_empty() => {
                    derive_host(None, is_it, node.place, found, report).map(|(_, address)| address)
                }
                _ => host_text(path, node, report),
            };
            found.add(way, path, host, None, default);
        }
        Some((node, Value::Map(map))) => {
            report.expect_keys(path, map, &["address", "selector"]);
            let address = map.get("address");
            let is_claimed = |host: &Host| found.is_claimed(host);
            if let Some((way, host)) = derive_host(address, is_claimed, node.place, found, report) {
                found.add(way, path, Some(host), None, default);
            }
        }
        Some((_, Value::Null)) | None => {}
        Some((node, _)) => report.wrong_type(path, node, "an address or a map"),
    }
    if let Some(node) = own.get("registration_address") {
        let path = "cluster.control_plane_endpoint.registration_address";
        let host = host_text(path, node, report);
        found.state(path, host, None);
    }
    if let Some(map) = own.get("kube_vip").and_then(|node| node.value.as_map()) {
        let path = "cluster.control_plane_endpoint.kube_vip";
        let host = map.get("address");
        let host = host.and_then(|node| host_text(&format!("{path}.address"), node, report));
        let port = port_of(map, path, report);
        found.state(path, host, port);
    }
    default
}

/// What selects the control plane's hosts: the endpoint's own selector, or the pool's.
fn selector(own: &Map, cluster: &Cluster, report: &mut Report<'_>) -> Option<LabelSelector> {
    let host = own
        .get("host")
        .and_then(|node| node.get_path(&["selector"]));
    if let Some(node) = host {
        let path = "cluster.control_plane_endpoint.host.selector";
        let selector = LabelSelector::read(node);
        if selector.is_none() {
            report.unfit(path, node.place, "a label selector");
        }
        return selector;
    }
    let mut pools = cluster.pools.iter();
    let pool = pools.find(|pool| pool.name == PoolName::ControlPlane)?;
    let infra = cluster.infra_provider.as_ref()?;
    providers::find(&infra.value)?.hosts_of(&pool.settings)
}

/// The host that the inventory gives, of those that may be it, with its address of the first class.
fn derive_host(
    address: Option<&Node>,
    is_selected: impl Fn(&Host) -> bool,
    fallback: Place,
    found: &ControlPlaneEndpoint,
    report: &mut Report<'_>,
) -> Option<(Way, Located<Arc<str>>)> {
    let path = "cluster.control_plane_endpoint.host";
    let classes = match address.map(|node| (node, &node.value)) {
        None | Some((_, Value::Null)) => ADDRESS_CLASSES.map(Arc::from).to_vec(),
        Some((_, Value::String(class))) => vec![Arc::clone(class)],
        Some((node, value)) => match texts(value) {
            Some(classes) => classes,
            None => {
                report.wrong_type(
                    &format!("{path}.address"),
                    node,
                    "a class or a list of them",
                );
                return None;
            }
        },
    };
    let (host, address) = lowest_host(&found.hosts, is_selected, &classes)?;
    // A person would change the selection, regardless of the place of the address.
    let place = if address.place.is_known() {
        address.place
    } else {
        fallback
    };
    let located = Located::new(Arc::clone(&address.value), place);
    Some((Way::Host(Arc::clone(&host.name)), located))
}

/// Sylva's virtual IP: the endpoint where nothing else is said.
fn sylva(
    root: &Branch,
    branch: &Branch,
    found: &mut ControlPlaneEndpoint,
    default: Option<u16>,
    report: &mut Report<'_>,
) {
    for (holder, path) in [root, branch].into_iter().zip(SYLVA) {
        let node = report.value(holder, "cluster_virtual_ip");
        let host = node.and_then(|node| host_text(path, &node, report));
        found.add(Way::Vip, path, host, None, default);
    }
}

/// Where the control plane's hosts have their addresses: what is said, else Sylva's primary network of Metal3.
fn subnets(
    own: &Map,
    branch: &Branch,
    cluster: &Cluster,
    report: &mut Report<'_>,
) -> Vec<Located<IpNet>> {
    if let Some(node) = own.get("subnets") {
        return networks("cluster.control_plane_endpoint.subnets", node, report);
    }
    let infra = cluster.infra_provider.as_ref();
    if infra.is_none_or(|infra| &*infra.value != "capm3") {
        return Vec::new();
    }
    let primary = ["capm3", "networks", "primary", "subnet"];
    let of_control_plane = report
        .answer(branch.child("control_plane"))
        .and_then(|branch| report.answer(branch.get_path(&primary)));
    let subnet = of_control_plane.or_else(|| report.answer(branch.get_path(&primary)));
    let node = subnet.and_then(|branch| report.answer(branch.node()));
    let path = "cluster.capm3.networks.primary.subnet";
    node.map_or_else(Vec::new, |node| networks(path, &node, report))
}

fn ranges(branch: &Branch, report: &mut Report<'_>) -> Vec<Range> {
    let mut found = Vec::new();
    for (of, key) in [
        ("pod", "cluster_pods_cidrs"),
        ("service", "cluster_services_cidrs"),
    ] {
        let Some(node) = report.value(branch, key) else {
            continue;
        };
        let networks = networks(&format!("cluster.{key}"), &node, report);
        found.extend(networks.into_iter().map(|network| Range { of, network }));
    }
    found
}

/// One network or a list of them; null is none.
fn networks(path: &str, node: &Node, report: &mut Report<'_>) -> Vec<Located<IpNet>> {
    let items = match &node.value {
        Value::Null => return Vec::new(),
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut found = Vec::new();
    for item in items {
        let network = item.value.as_str().and_then(|text| text.parse().ok());
        match network {
            Some(network) => found.push(Located::new(network, item.place)),
            None => report.unfit(path, item.place, "a network such as `192.0.2.0/24`"),
        }
    }
    found
}

fn kube_vip(node: &Node, report: &mut Report<'_>) -> Option<KubeVip> {
    let path = "cluster.control_plane_endpoint.kube_vip";
    let settings = map(path, node, report)?;
    for (inner, known) in KUBE_VIP {
        let holder = node.get_path(inner).and_then(|node| node.value.as_map());
        if let Some(holder) = holder {
            let path = [&[path][..], inner].concat().join(".");
            report.expect_keys(&path, holder, known);
        }
    }
    let mode = match settings.get("mode") {
        None => KubeVipMode::Arp,
        Some(said) => {
            let mut modes = KubeVipMode::ALL.iter();
            let word = said.value.as_str();
            let mode = modes.find(|(word_of, _)| word.is_some_and(|word| &**word == *word_of));
            let Some((_, mode)) = mode else {
                let wanted = "`arp`, `bgp`, `routing-table` or `wireguard`";
                report.unfit(&format!("{path}.mode"), said.place, wanted);
                return None;
            };
            *mode
        }
    };
    Some(KubeVip {
        mode,
        settings: node.clone(),
    })
}

fn certificate_names(node: &Node, report: &mut Report<'_>) -> Option<Located<Vec<Arc<str>>>> {
    let path = "cluster.control_plane_endpoint.cert_sans";
    match texts(&node.value) {
        Some(names) => Some(Located::new(names, node.place)),
        None => {
            report.wrong_type(path, node, "a list of names and addresses");
            None
        }
    }
}

fn texts(value: &Value) -> Option<Vec<Arc<str>>> {
    let items = value.as_list()?.iter();
    items.map(|item| item.value.as_str().cloned()).collect()
}

fn port(path: &str, node: &Node, report: &mut Report<'_>) -> Option<Located<u16>> {
    let number = match &node.value {
        Value::Null => return None,
        Value::Number(Number::Int(number)) => u16::try_from(*number).ok(),
        Value::Number(Number::Float(number)) => {
            let is_whole = number.fract() == 0.0 && (1.0..=65535.0).contains(number);
            is_whole.then_some(*number as u16)
        }
        // Expressions print numbers.
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    match number.filter(|number| *number > 0) {
        Some(number) => Some(Located::new(number, node.place)),
        None => {
            report.unfit(path, node.place, "a port between 1 and 65535");
            None
        }
    }
}

/// A map, or nothing by null; anything else is reported.
fn map<'n>(path: &str, node: &'n Node, report: &mut Report<'_>) -> Option<&'n Map> {
    report.expect_map(path, node);
    node.value.as_map().map(|map| &**map)
}

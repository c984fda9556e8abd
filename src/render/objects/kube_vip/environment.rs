//! The environment variables of kube-vip in each of its modes.

use oci_artifacts::Reference;
use yaml_tree::json::format_number;
use yaml_tree::value::{Entry, Map, Node, Number, Value};

use super::password::PLACEHOLDER;
use super::{NAMESPACE, Problem};
use crate::model::endpoint::{Endpoint, KubeVip, KubeVipMode};
use crate::model::version::Version;

/// The image and its variables.
pub(super) struct Variables {
    pub(super) image: String,
    pub(super) entries: Vec<Node>,
    /// The path of the password for all BGP peers on the machines, if there is one.
    pub(super) password_file: Option<String>,
}

/// The variables, or everything that is wrong with the settings.
pub(super) fn variables(
    kube_vip: &KubeVip,
    endpoint: &Endpoint,
) -> Result<Variables, Vec<Problem>> {
    let mut writer = Writer {
        settings: &kube_vip.settings,
        entries: Vec::new(),
        problems: Vec::new(),
    };
    let image = writer.require(&["image"], "ghcr.io/kube-vip/kube-vip:v1.2.3");
    writer.set("port", endpoint.port.to_string());
    writer.interface(kube_vip.mode);
    let (old, new) = ("vip_cidr", "vip_subnet");
    let name = if is_old(&image) { old } else { new };
    let prefix = writer.setting(&["subnet"]);
    writer.set(
        name,
        prefix.unwrap_or_else(|| prefix_of(endpoint).to_owned()),
    );
    writer.set("cp_enable", "true");
    writer.set("cp_namespace", NAMESPACE);
    writer.set("svc_enable", "false");
    writer.set("vip_arp", (kube_vip.mode == KubeVipMode::Arp).to_string());
    match kube_vip.mode {
        KubeVipMode::Arp => writer.leader_election(),
        KubeVipMode::Bgp => writer.bgp(),
        KubeVipMode::RoutingTable => writer.routing_table(),
        KubeVipMode::Wireguard => writer.wireguard(),
    }
    writer.set("address", &*endpoint.host.value);
    if writer.problems.is_empty() {
        Ok(Variables {
            image,
            password_file: writer
                .setting(PASSWORD_FILE)
                .filter(|_| kube_vip.mode == KubeVipMode::Bgp),
            entries: writer.entries,
        })
    } else {
        Err(writer.problems)
    }
}

/// The setting for the path of the password for all BGP peers.
const PASSWORD_FILE: &[&str] = &["bgp", "password_file"];

/// The prefix length of a single address: kube-vip adds it to the interface, which has the network's own address.
fn prefix_of(endpoint: &Endpoint) -> &'static str {
    match endpoint.address() {
        Some(address) if address.is_ipv6() => "128",
        _ => "32",
    }
}

/// Whether an image is older than v0.9.0, where the variable had another name (its release notes). A tag that is not a version,
/// and a digest without a tag, count as new.
fn is_old(image: &str) -> bool {
    let reference = Reference::parse(image).ok();
    let tag = reference.as_ref().and_then(|it| it.tag.as_deref());
    let version = tag.and_then(Version::parse);
    version.is_some_and(|version| (version.major, version.minor) < (0, 9))
}

struct Writer<'a> {
    settings: &'a Node,
    entries: Vec<Node>,
    problems: Vec<Problem>,
}

impl Writer<'_> {
    fn set(&mut self, name: &'static str, value: impl Into<String>) {
        let value = Entry::from_value("value", value.into());
        let entry = Map::from_iter([Entry::from_value("name", name), value]);
        self.entries.push(Node::from_value(entry));
    }

    /// A setting as a text.
    fn setting(&self, path: &[&str]) -> Option<String> {
        scalar(&self.settings.get_path(path)?.value)
    }

    /// A setting without a sensible default.
    fn require(&mut self, path: &[&str], example: &str) -> String {
        self.setting(path).unwrap_or_else(|| {
            let path = path.join(".");
            self.problems.push(Problem {
                message: format!("kube-vip needs `{path}`"),
                help: format!("`cluster.control_plane_endpoint.kube_vip.{path}: {example}`"),
            });
            String::new()
        })
    }

    /// Sets a variable if its setting exists.
    fn set_if_given(&mut self, name: &'static str, path: &[&str]) {
        if let Some(value) = self.setting(path) {
            self.set(name, value);
        }
    }

    /// With routes to every host the address is on the loopback interface, otherwise on that of the network.
    fn interface(&mut self, mode: KubeVipMode) {
        let interface = match mode {
            KubeVipMode::Bgp | KubeVipMode::RoutingTable => self
                .setting(&["interface"])
                .unwrap_or_else(|| "lo".to_owned()),
            KubeVipMode::Arp | KubeVipMode::Wireguard => self.require(&["interface"], "enp1s0"),
        };
        self.set("vip_interface", interface);
    }

    fn leader_election(&mut self) {
        self.set("vip_leaderelection", "true");
        self.set("vip_leaseduration", "5");
        self.set("vip_renewdeadline", "3");
        self.set("vip_retryperiod", "1");
    }

    fn bgp(&mut self) {
        self.set("bgp_enable", "true");
        // Each router needs its own ID, but all machines have one manifest: the address of an interface fits all.
        match self.setting(&["bgp", "router_id"]) {
            Some(id) => self.set("bgp_routerid", id),
            None => {
                let interface = self.require(&["bgp", "router_interface"], "enp1s0");
                self.set("bgp_routerinterface", interface);
            }
        }
        let number = self.require(&["bgp", "as"], "65000");
        self.set("bgp_as", number);
        let peers = self.settings.get_path(&["bgp", "peers"]).cloned();
        let peers = peers.as_ref().and_then(|peers| peers.value.as_list());
        let peers: Vec<String> = peers
            .unwrap_or_default()
            .iter()
            .filter_map(|peer| self.peer(peer))
            .collect();
        if peers.is_empty() && self.problems.is_empty() {
            let example = "[{address: 192.0.2.1, as: 65001}]";
            self.require(&["bgp", "peers", ""], example);
        }
        self.set("bgp_peers", peers.join(","));
    }

    /// `address:as:password:multihop`, an IPv6 address in brackets. The password is inserted on the machine.
    fn peer(&mut self, peer: &Node) -> Option<String> {
        let path = "cluster.control_plane_endpoint.kube_vip.bgp.peers";
        let field = |key: &str| scalar(&peer.get_path(&[key])?.value);
        if field("password").is_some() {
            self.problems.push(Problem {
                message: "a BGP password would be in the rendered manifest".to_owned(),
                help: format!(
                    "remove `{path}[].password`, and name the file that a Secret brings to the machines: `bgp.password_file: /etc/kube-vip/bgp-password`"
                ),
            });
            return None;
        }
        let (Some(address), Some(number)) = (field("address"), field("as")) else {
            self.problems.push(Problem {
                message: "a BGP peer has no `address` or no `as`".to_owned(),
                help: format!("`{path}: [{{address: 192.0.2.1, as: 65001}}]`"),
            });
            return None;
        };
        let address = if address.contains(':') {
            format!("[{address}]")
        } else {
            address
        };
        let multihop = field("multihop").is_some_and(|multihop| multihop == "true");
        let password = self.setting(PASSWORD_FILE).map_or("", |_| PLACEHOLDER);
        Some(format!("{address}:{number}:{password}:{multihop}"))
    }

    fn routing_table(&mut self) {
        self.set("vip_routingtable", "true");
        self.set_if_given("vip_routingtableid", &["routing_table", "id"]);
        self.set_if_given("vip_routingtabletype", &["routing_table", "type"]);
        self.set_if_given("vip_routingprotocol", &["routing_table", "protocol"]);
        self.set_if_given("vip_cleanroutingtable", &["routing_table", "clean"]);
    }

    fn wireguard(&mut self) {
        self.set("vip_wireguard", "true");
        self.leader_election();
        let settings = self.settings.get_path(&["wireguard"]).cloned();
        let settings = settings.as_ref().and_then(|node| node.value.as_map());
        let others = settings.is_some_and(|map| map.iter().any(|entry| &*entry.key != "secret"));
        if others {
            self.problems.push(Problem {
                message: "WireGuard's settings would be in the rendered manifest".to_owned(),
                help: "put keys and peers into the Secret under its key `tunnels`, and leave `wireguard: {secret: wireguard}`"
                    .to_owned(),
            });
        }
        let secret = self.require(&["wireguard", "secret"], "wireguard");
        // The name is hard-coded in kube-vip (pkg/manager/worker/wireguard.go).
        if !secret.is_empty() && secret != "wireguard" {
            self.problems.push(Problem {
                message: format!(
                    "kube-vip reads its tunnels from the Secret `wireguard`, not `{secret}`"
                ),
                help: "`cluster.control_plane_endpoint.kube_vip.wireguard.secret: wireguard`"
                    .to_owned(),
            });
        }
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.to_string()),
        Value::Opaque(opaque) => Some(opaque.text.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        // Not with Go's formatting: numbers of autonomous systems have up to ten digits.
        Value::Number(Number::Float(number)) if number.fract() == 0.0 => {
            Some(format!("{number:.0}"))
        }
        Value::Number(number) => Some(format_number(*number)),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

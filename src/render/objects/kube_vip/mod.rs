//! kube-vip's static Pod, and the Secret that delivers it to the control plane's machines.
//!
//! The Pod must never be applied together with the manifests: a management cluster would claim the address. So it is a text in a
//! Secret, which a bootstrap configuration names under `files[].contentFrom.secret`. The Secret is named after its content,
//! because a changed file reaches only new machines.
//!
//! Source: kube-vip v0.8 to v1.2, `pkg/kubevip/config_envvar.go` and `pkg/wireguard`; the manifests of Cluster API's
//! providers. A static Pod cannot refer to Secrets or ConfigMaps
//! (<https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/>), so its environment must not contain secrets.

mod environment;
mod password;

use yaml_tree::emit;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::{name, secret_within};
use crate::model::cluster_view::ClusterView;
use crate::model::endpoint::{KubeVip, KubeVipMode, Way};
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};
use crate::model::version::distribution_of;

/// The key in the Secret with the Pod.
pub const FILE: &str = "kube-vip.yaml";
/// The path of the kubeconfig that kube-vip expects in its container.
const KUBECONFIG: &str = "/etc/kubernetes/admin.conf";
const NAMESPACE: &str = "kube-system";

/// The Secret, as a context for the templates. None if the cluster has no virtual address, or if findings are reported.
pub fn context(view: &ClusterView, annotations: &Map, findings: &mut Vec<Finding>) -> Option<Node> {
    let cluster = &view.cluster;
    let found = cluster.endpoint.as_ref()?;
    let endpoint = found.endpoint.as_ref()?;
    if endpoint.way != Way::Vip {
        return None;
    }
    let placed = |finding: Finding| {
        let place = found
            .kube_vip
            .as_ref()
            .map_or(found.place, |it| it.settings.place);
        finding
            .with_label(view.sources.resolve(place), "kube-vip is described here")
            .with_subject(Subject::cluster(&cluster.name))
    };
    let default = KubeVip {
        mode: KubeVipMode::Arp,
        settings: Node::from_value(Value::empty_map()),
    };
    let kube_vip = found.kube_vip.as_ref().unwrap_or(&default);
    if secret_within(&kube_vip.settings).is_some() {
        let message = "kube-vip's manifest would show a secret";
        let finding = Finding::new(RuleId::ManifestInvalid, message);
        findings.push(placed(finding.help(
            "write `kube_vip` in a file that is not secret: a static Pod cannot refer to a Secret",
        )));
        return None;
    }
    if kube_vip.mode == KubeVipMode::Wireguard {
        findings.push(placed(experimental()));
    }
    let kubeconfig = kubeconfig(view, kube_vip);
    match (environment::variables(kube_vip, endpoint), kubeconfig) {
        (Ok(variables), Ok(kubeconfig)) => {
            let pod = pod(&variables.image, variables.entries, &kubeconfig);
            let script = variables.password_file.as_deref().map(password::script);
            Some(secret(view, &emit(&pod.into()), script, annotations))
        }
        (variables, kubeconfig) => {
            let problems = variables.err().unwrap_or_default().into_iter();
            for problem in problems.chain(kubeconfig.err()) {
                let finding = Finding::new(RuleId::ManifestInvalid, problem.message);
                findings.push(placed(finding.help(problem.help)));
            }
            None
        }
    }
}

/// Why no Pod can be written, and what to do.
struct Problem {
    message: String,
    help: String,
}

/// In this mode kube-vip is designed for services: its flag says so, and it does not check a control plane's subnet.
fn experimental() -> Finding {
    let message = "a control plane endpoint behind WireGuard is experimental in kube-vip";
    Finding::new(RuleId::ManifestInvalid, message)
        .unless_set(Level::Warning)
        .help(
            "put the tunnels into the Secret `wireguard` in `kube-system` of the cluster itself, never into git; or take \
             `mode: bgp`",
        )
}

/// The path of the API server's kubeconfig on the machines.
fn kubeconfig(view: &ClusterView, kube_vip: &KubeVip) -> Result<String, Problem> {
    let setting = kube_vip.settings.get_path(&["kubeconfig"]);
    if let Some(path) = setting.and_then(|node| node.value.as_str()) {
        return Ok(path.to_string());
    }
    let provider = view.cluster.bootstrap_provider.as_ref();
    let provider = provider.map_or("cabpk", |provider| &*provider.value);
    match distribution_of(provider) {
        Some("kubeadm") => Ok(KUBECONFIG.to_owned()),
        Some("rke2") => Ok("/etc/rancher/rke2/rke2.yaml".to_owned()),
        Some("k3s") => Ok("/etc/rancher/k3s/k3s.yaml".to_owned()),
        _ => Err(Problem {
            message: format!(
                "no kubeconfig of machines is known for the bootstrap provider `{provider}`"
            ),
            help: "`cluster.control_plane_endpoint.kube_vip.kubeconfig: /etc/…`".to_owned(),
        }),
    }
}

fn pod(image: &str, variables: Vec<Node>, kubeconfig: &str) -> Map {
    let text = |key: &'static str, text: &str| Entry::from_value(key, text);
    let list =
        |items: &[&str]| -> Vec<Node> { items.iter().map(|it| Node::from_value(*it)).collect() };
    let one = |entries: Vec<Entry>| vec![Node::from_value(Map::from_iter(entries))];
    let capabilities = Map::from_iter([
        Entry::from_value("add", list(&["NET_ADMIN", "NET_RAW"])),
        Entry::from_value("drop", list(&["ALL"])),
    ]);
    let container = vec![
        text("name", "kube-vip"),
        text("image", image),
        text("imagePullPolicy", "IfNotPresent"),
        Entry::from_value("args", list(&["manager"])),
        Entry::from_value("env", variables),
        Entry::from_value(
            "securityContext",
            Map::from_iter([Entry::from_value("capabilities", capabilities)]),
        ),
        Entry::from_value(
            "volumeMounts",
            one(vec![
                text("mountPath", KUBECONFIG),
                text("name", "kubeconfig"),
            ]),
        ),
    ];
    // The leader is elected before the address exists: the name in kubeadm's kubeconfig must resolve to the machine itself.
    let aliases = vec![
        text("ip", "127.0.0.1"),
        Entry::from_value("hostnames", list(&["kubernetes"])),
    ];
    // With the type `File` the kubelet waits for it; without a type it would create a folder.
    let path = Map::from_iter([text("path", kubeconfig), text("type", "File")]);
    let volume = vec![
        text("name", "kubeconfig"),
        Entry::from_value("hostPath", path),
    ];
    let spec = Map::from_iter([
        Entry::from_value("containers", one(container)),
        Entry::from_value("hostAliases", one(aliases)),
        Entry::from_value("hostNetwork", true),
        Entry::from_value("volumes", one(volume)),
    ]);
    let metadata = Map::from_iter([text("name", "kube-vip"), text("namespace", NAMESPACE)]);
    Map::from_iter([
        text("apiVersion", "v1"),
        text("kind", "Pod"),
        Entry::from_value("metadata", metadata),
        Entry::from_value("spec", spec),
    ])
}

fn secret(view: &ClusterView, text: &str, script: Option<String>, annotations: &Map) -> Node {
    let cluster = &view.cluster;
    let whole = match &script {
        Some(script) => format!("{text}{script}"),
        None => text.to_owned(),
    };
    let name = name::machine_template(&cluster.object_name, "kube-vip", &whole);
    let script = script.map(|script| Entry::from_value(password::SCRIPT, script));
    let data: Map = script
        .into_iter()
        .chain([Entry::from_value(FILE, text)])
        .collect();
    super::secret(cluster, name, annotations, data)
}

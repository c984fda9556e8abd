//! Where a bootstrap configuration names what was removed: arguments of components as kubeadm, CAPRKE2, the K3s provider and Talos
//! write them, feature gates, and the configuration files in its texts.
//!
//! Sources: the CRDs of the bootstrap and control plane providers; `kubelet-arg` and the like of RKE2 and K3s
//! (<https://docs.rke2.io/reference/server_config>, <https://docs.k3s.io/cli/server>).

use std::ops::Range;

use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::{Node, Value};

use super::{ALL, KUBEADM, Removal, What, find_removal};

/// A place that names what was removed.
#[derive(Clone, Debug)]
pub struct RemovedUse<'n> {
    /// The text or the value.
    pub node: &'n Node,
    /// The part of a text; none for the whole.
    pub range: Option<Range<usize>>,
    /// What was removed.
    pub removal: &'static Removal,
}

/// Keys of what is about one component.
const COMPONENTS: &[(&str, &str)] = &[
    ("apiServer", "kube-apiserver"),
    ("kubeAPIServer", "kube-apiserver"),
    ("kubeAPIServerArg", "kube-apiserver"),
    ("kube-apiserver-arg", "kube-apiserver"),
    ("controllerManager", "kube-controller-manager"),
    ("kubeControllerManager", "kube-controller-manager"),
    ("kubeControllerManagerArgs", "kube-controller-manager"),
    ("kube-controller-manager-arg", "kube-controller-manager"),
    ("scheduler", "kube-scheduler"),
    ("kubeScheduler", "kube-scheduler"),
    ("kubeSchedulerArgs", "kube-scheduler"),
    ("kube-scheduler-arg", "kube-scheduler"),
    ("kubelet", "kubelet"),
    ("kubeletArgs", "kubelet"),
    ("kubeletExtraArgs", "kubelet"),
    ("kubelet-arg", "kubelet"),
    ("kubelet_extra_args", "kubelet"),
];

/// How keys end whose value is arguments.
const ARGUMENTS: [&str; 4] = ["Args", "Arg", "-arg", "_args"];

/// What a text has that is a configuration file with something to look at.
const CONFIGURATIONS: [&str; 4] = ["featureGates", "xtraArgs", "-arg:", "k8s.io/v"];

/// What is below a node that names what was removed.
pub fn find_uses(root: &Node) -> Vec<RemovedUse<'_>> {
    let mut found = Vec::new();
    walk(root, Scope::default(), &mut |node, removal| {
        found.push(RemovedUse {
            node,
            range: None,
            removal,
        });
    });
    texts(root, &mut found);
    found
}

/// The configuration files in the texts below a node.
fn texts<'n>(node: &'n Node, found: &mut Vec<RemovedUse<'n>>) {
    if let Value::String(text) = &node.value
        && CONFIGURATIONS.iter().any(|it| text.contains(it))
        && let Ok(read) = yaml_tree::read(text, FileId(0), Engine::Kubectl)
    {
        for document in &read.documents {
            walk(document, Scope::default(), &mut |inner, removal| {
                let range = inner.place.start as usize..inner.place.end as usize;
                found.push(RemovedUse {
                    node,
                    range: Some(range),
                    removal,
                });
            });
        }
    }
    node.children().for_each(|child| texts(child, found));
}

/// What the keys above say.
#[derive(Clone, Copy, Default)]
struct Scope {
    /// The component that the keys are about; empty for none.
    component: &'static str,
    /// Whether they lead to kubeadm's own configuration of the cluster.
    is_of_cluster: bool,
}

/// Follows the keys of a configuration.
fn walk<'n>(node: &'n Node, scope: Scope, add: &mut dyn FnMut(&'n Node, &'static Removal)) {
    let text = |key: &str| {
        let node = node.get_path(&[key])?;
        Some((node, node.value.as_str()?))
    };
    if let Some((version, name)) = text("apiVersion")
        && let Some(removal) = find_removal(ALL, What::Version, name)
    {
        add(version, removal);
    }
    let is_of_cluster = text("kind").is_some_and(|(_, kind)| &**kind == "ClusterConfiguration");
    for entry in node.entries(&[]) {
        let key = &*entry.key;
        let known = COMPONENTS.iter().find(|(known, _)| *known == key);
        let component = known.map_or(scope.component, |(_, component)| component);
        if key == "featureGates" {
            let is_of_kubeadm = is_of_cluster || scope.is_of_cluster;
            let owner = if is_of_kubeadm { KUBEADM } else { ALL };
            for gate in entry.node.entries(&[]) {
                if let Some(removal) = find_removal(owner, What::Gate, &gate.key) {
                    add(&gate.node, removal);
                }
            }
        } else if !component.is_empty() && ARGUMENTS.iter().any(|end| key.ends_with(end)) {
            arguments(&entry.node, component, add);
        } else {
            let is_of_cluster = key == "clusterConfiguration";
            let scope = Scope {
                component,
                is_of_cluster,
            };
            walk(&entry.node, scope, add);
        }
    }
    for item in node.items(&[]) {
        walk(item, scope, add);
    }
}

/// The arguments of a component: a map, a list of names with values, or a list of texts.
fn arguments<'n>(
    node: &'n Node,
    component: &'static str,
    add: &mut dyn FnMut(&'n Node, &'static Removal),
) {
    for entry in node.entries(&[]) {
        argument(&entry.key, &entry.node, component, add);
    }
    for item in node.items(&[]) {
        let value = item.get_path(&["value"]).unwrap_or(item);
        match (&item.value, item.get_path(&["name"])) {
            (Value::String(text), _) => argument(text, item, component, add),
            (_, Some(name)) => {
                if let Some(name) = name.value.as_str() {
                    argument(name, value, component, add);
                }
            }
            _ => {}
        }
    }
}

/// One argument: its name, or its name and value with `=` between them.
fn argument<'n>(
    text: &str,
    node: &'n Node,
    component: &'static str,
    add: &mut dyn FnMut(&'n Node, &'static Removal),
) {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, value),
        None => (text, node.value.as_str().map_or("", |value| &**value)),
    };
    let name = name.trim_start_matches('-');
    let removal = find_removal(component, What::Flag, name);
    let parts = value
        .split(',')
        .map(|part| part.split('=').next().unwrap_or(part).trim());
    let named: Vec<&'static Removal> = match name {
        "feature-gates" => parts
            .filter_map(|gate| find_removal(ALL, What::Gate, gate))
            .collect(),
        "enable-admission-plugins" | "disable-admission-plugins" => parts
            .filter_map(|plugin| find_removal(component, What::Plugin, plugin))
            .collect(),
        _ => Vec::new(),
    };
    removal
        .into_iter()
        .chain(named)
        .for_each(|removal| add(node, removal));
}

#[cfg(test)]
mod tests {
    use super::find_uses;
    use yaml_tree::engine::Engine;
    use yaml_tree::place::FileId;

    /// What a configuration names, each as the row and what is marked.
    fn uses(text: &str) -> Vec<String> {
        let tree = yaml_tree::values(text, FileId(0), Engine::Kubectl).expect("YAML");
        let found = find_uses(&tree).into_iter().map(|it| {
            let place = it.node.place;
            let mut marked = &text[place.start as usize..place.end as usize];
            if let (Some(range), Some(value)) = (it.range, it.node.value.as_str()) {
                marked = &value[range];
                return format!("{}: {marked}", it.removal);
            }
            format!("{}: {marked}", it.removal)
        });
        found.collect()
    }

    #[test]
    fn each_providers_arguments_are_read() {
        for (text, expected) in [
            (
                "initConfiguration: {nodeRegistration: {kubeletExtraArgs: {container-runtime: remote}}}",
                "flag `--container-runtime` of kubelet: remote",
            ),
            (
                "joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: container-runtime, value: remote}]}}",
                "flag `--container-runtime` of kubelet: remote",
            ),
            (
                "clusterConfiguration: {apiServer: {extraArgs: {cloud-provider: external}}}",
                "flag `--cloud-provider` of kube-apiserver: external",
            ),
            (
                "clusterConfiguration: {apiServer: {extraArgs: {enable-admission-plugins: 'NodeRestriction,PodSecurityPolicy'}}}",
                "admission plugin `PodSecurityPolicy`: 'NodeRestriction,PodSecurityPolicy'",
            ),
            (
                "clusterConfiguration: {controllerManager: {extraArgs: [{name: feature-gates, value: 'A=true,SeccompDefault=true'}]}}",
                "feature gate `SeccompDefault`: 'A=true,SeccompDefault=true'",
            ),
            (
                "serverConfig: {kubeAPIServer: {extraArgs: ['--feature-gates=SeccompDefault=true']}}",
                "feature gate `SeccompDefault`: '--feature-gates=SeccompDefault=true'",
            ),
            (
                "agentConfig: {kubelet: {extraArgs: [container-runtime=remote]}}",
                "flag `--container-runtime` of kubelet: container-runtime=remote",
            ),
            (
                "kthreesConfigSpec: {serverConfig: {kubeSchedulerArgs: [lock-object-name=x]}}",
                "flag `--lock-object-name` of kube-scheduler: lock-object-name=x",
            ),
            (
                "files: [{content: \"kubelet-arg:\\n- container-runtime=remote\\n\"}]",
                "flag `--container-runtime` of kubelet: container-runtime=remote",
            ),
            (
                "files: [{content: \"kind: KubeletConfiguration\\nfeatureGates:\\n  SeccompDefault: true\\n\"}]",
                "feature gate `SeccompDefault`: true",
            ),
            (
                "files: [{content: \"apiVersion: kubescheduler.config.k8s.io/v1beta2\\n\"}]",
                "API version `kubescheduler.config.k8s.io/v1beta2`: kubescheduler.config.k8s.io/v1beta2",
            ),
            (
                "clusterConfiguration: {featureGates: {EtcdLearnerMode: true}}",
                "feature gate `EtcdLearnerMode` of kubeadm: true",
            ),
            (
                "files: [{content: \"kind: ClusterConfiguration\\nfeatureGates:\\n  EtcdLearnerMode: true\\n\"}]",
                "feature gate `EtcdLearnerMode` of kubeadm: true",
            ),
        ] {
            assert_eq!(uses(text), [expected], "{text}");
        }
    }

    #[test]
    fn what_a_component_still_has_is_no_use() {
        for text in [
            "clusterConfiguration: {controllerManager: {extraArgs: {cloud-provider: external}}}",
            "initConfiguration: {nodeRegistration: {kubeletExtraArgs: {node-labels: a=b, feature-gates: 'NodeSwap=true'}}}",
            // Nothing says whose these are.
            "extraArgs: {container-runtime: remote}",
            "files: [{content: 'container-runtime: remote'}]",
            "clusterConfiguration: {featureGates: {SeccompDefault: true}}",
            "etcd: {local: {extraArgs: {logtostderr: x}}}",
            "files: [{content: 'kind: {[ featureGates'}]",
        ] {
            assert_eq!(uses(text), Vec::<String>::new(), "{text}");
        }
    }
}

//! Where a bootstrap configuration names what was removed: arguments of components as kubeadm, CAPRKE2, the K3s provider and Talos
//! write them, feature gates, and in its texts configuration files and command lines.
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

/// Kinds of files with feature gates that all components share
/// (<https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/>).
const GATED: [&str; 2] = ["KubeProxyConfiguration", "KubeletConfiguration"];

/// Variables with arguments of the kubelet, in the files that its unit reads
/// (<https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/kubelet-integration/>).
const VARIABLES: [&str; 2] = ["KUBELET_EXTRA_ARGS=", "KUBELET_KUBEADM_ARGS="];

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

/// The configuration files and command lines in the texts below a node.
fn texts<'n>(node: &'n Node, found: &mut Vec<RemovedUse<'n>>) {
    if let Value::String(text) = &node.value {
        let mut add = |range, removal| {
            found.push(RemovedUse {
                node,
                range: Some(range),
                removal,
            });
        };
        command_lines(text, &mut add);
        if CONFIGURATIONS.iter().any(|it| text.contains(it))
            && let Ok(read) = yaml_tree::read(text, FileId(0), Engine::Kubectl)
        {
            let scope = Scope {
                is_file: true,
                ..Scope::default()
            };
            for document in &read.documents {
                walk(document, scope, &mut |inner, removal| {
                    let range = inner.place.start as usize..inner.place.end as usize;
                    add(range, removal);
                });
            }
        }
    }
    node.children().for_each(|child| texts(child, found));
}

/// The arguments in the lines of scripts and files of variables: of the kubelet behind its variables, and of each component behind
/// the options of RKE2 and K3s that pass them on (`--kubelet-arg=NAME=VALUE`).
fn command_lines(text: &str, add: &mut dyn FnMut(Range<usize>, &'static Removal)) {
    let mut report = |range: Range<usize>, argument: &str, component| {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        find_removals(name, value, component).for_each(|removal| add(range.clone(), removal));
    };
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let start = end;
        end += line.len();
        if line.trim_start().starts_with('#') {
            continue;
        }
        let ends = VARIABLES.iter();
        let ends = ends.filter_map(|name| Some(line.find(name)? + name.len()));
        let begin = ends.min().unwrap_or(line.len());
        for word in words(text, start + begin..end) {
            if let Some(argument) = text[word.clone()].strip_prefix("--") {
                report(word, argument, "kubelet");
            }
        }
        if !line.contains("-arg") {
            continue;
        }
        let mut awaited = None;
        for word in words(text, start..end) {
            let own = &text[word.clone()];
            let option = own.strip_prefix("--").unwrap_or_default();
            let (name, argument) = option.split_once('=').unwrap_or((option, ""));
            let is_option = |(key, _): &&(&str, &str)| *key == name && key.ends_with("-arg");
            let owner = COMPONENTS.iter().find(is_option);
            match (owner, awaited.take()) {
                (Some((_, owner)), _) if argument.is_empty() => awaited = Some(*owner),
                (Some((_, owner)), _) => report(word, argument, owner),
                (None, Some(owner)) => report(word, own, owner),
                (None, None) => {}
            }
        }
    }
}

/// The words of a part of a text, without quotes around them.
fn words(text: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut end = part.start;
    let words = text[part].split(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\''));
    words.map(move |word| {
        let start = end;
        end += word.len() + 1;
        start..start + word.len()
    })
}

/// What the keys above say.
#[derive(Clone, Copy, Default)]
struct Scope {
    /// The component that the keys are about; empty for none.
    component: &'static str,
    /// Whether they lead to kubeadm's own configuration of the cluster.
    is_of_cluster: bool,
    /// Whether they are those of a file, which may be any program's. What the fields of an object are for is known, and the
    /// `apiVersion` below them is not used: Cluster API writes the one of the machine's version.
    is_file: bool,
}

/// Follows the keys of a configuration.
fn walk<'n>(node: &'n Node, scope: Scope, add: &mut dyn FnMut(&'n Node, &'static Removal)) {
    let text = |key: &str| {
        let node = node.get_path(&[key])?;
        Some((node, node.value.as_str()?))
    };
    if scope.is_file
        && let Some((version, name)) = text("apiVersion")
        && let Some(removal) = find_removal(ALL, What::Version, name)
    {
        add(version, removal);
    }
    let kind = text("kind").map_or("", |(_, kind)| &**kind);
    for entry in node.entries(&[]) {
        let key = &*entry.key;
        let known = COMPONENTS.iter().find(|(known, _)| *known == key);
        let component = known.map_or(scope.component, |(_, component)| component);
        if key == "featureGates" {
            let is_of_kubeadm = kind == "ClusterConfiguration" || scope.is_of_cluster;
            let is_shared = !scope.is_file || !component.is_empty() || GATED.contains(&kind);
            let owner = if is_of_kubeadm { KUBEADM } else { ALL };
            let is_known = is_of_kubeadm || is_shared;
            for gate in entry.node.entries(&[]).filter(|_| is_known) {
                if let Some(removal) = find_removal(owner, What::Gate, &gate.key) {
                    add(&gate.node, removal);
                }
            }
        } else if !component.is_empty() && ARGUMENTS.iter().any(|end| key.ends_with(end)) {
            arguments(&entry.node, component, add);
        } else {
            let scope = Scope {
                component,
                is_of_cluster: key == "clusterConfiguration",
                ..scope
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
    find_removals(name, value, component).for_each(|removal| add(node, removal));
}

/// What an argument of a component names: itself, and feature gates and plugins in its value.
fn find_removals(
    name: &str,
    value: &str,
    component: &'static str,
) -> impl Iterator<Item = &'static Removal> {
    let (owner, what) = match name {
        "feature-gates" => (ALL, Some(What::Gate)),
        "enable-admission-plugins" | "disable-admission-plugins" => (component, Some(What::Plugin)),
        _ => (component, None),
    };
    let parts = value
        .split(',')
        .map(|part| part.split('=').next().unwrap_or(part).trim());
    let named = parts.filter_map(move |part| find_removal(owner, what?, part));
    find_removal(component, What::Flag, name)
        .into_iter()
        .chain(named)
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
                "files: [{content: \"machine: {kubelet: {extraConfig: {featureGates: {SeccompDefault: true}}}}\"}]",
                "feature gate `SeccompDefault`: true",
            ),
            (
                "files: [{content: \"A=b\\nKUBELET_EXTRA_ARGS='--v=2 --container-runtime=remote'\\n\"}]",
                "flag `--container-runtime` of kubelet: --container-runtime=remote",
            ),
            (
                "files: [{content: \"[Service]\\nEnvironment=\\\"KUBELET_KUBEADM_ARGS=--container-runtime remote\\\"\\n\"}]",
                "flag `--container-runtime` of kubelet: --container-runtime",
            ),
            (
                "preK3sCommands: ['INSTALL_K3S_EXEC=\"server --kubelet-arg=container-runtime=remote\" sh']",
                "flag `--container-runtime` of kubelet: --kubelet-arg=container-runtime=remote",
            ),
            (
                "preK3sCommands: ['k3s server --kube-apiserver-arg enable-admission-plugins=PodSecurityPolicy --x']",
                "admission plugin `PodSecurityPolicy`: enable-admission-plugins=PodSecurityPolicy",
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
            // Another program's.
            "files: [{content: 'kind: MyApp\nfeatureGates: {SeccompDefault: true}'}]",
            "files: [{content: '# KUBELET_EXTRA_ARGS=--container-runtime=remote'}]",
            "files: [{content: 'crictl --container-runtime=remote; KUBELET_EXTRA_ARGS=--v=2'}]",
            "preK3sCommands: ['k3s server --kubelet-arg v=2 --container-runtime=remote --a-arg container-runtime=remote']",
            // Cluster API writes the API version of the machine's Kubernetes.
            "clusterConfiguration: {apiVersion: kubeadm.k8s.io/v1beta2}",
        ] {
            assert_eq!(uses(text), Vec::<String>::new(), "{text}");
        }
    }
}

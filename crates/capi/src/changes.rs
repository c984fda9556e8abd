//! What a change of a deployed object does to the machines that exist: one table for each kind and path. What no row holds is not
//! known.
//!
//! Source: the webhooks of the providers, and what their controllers compare: Cluster API's `MachineTemplateDeepCopyRolloutFields`
//! and KubeadmControlPlane's `UpToDate`, `matchesRKE2BootstrapConfig` and `matchServerConfig` of CAPRKE2, and
//! <https://cluster-api.sigs.k8s.io/reference/api/metadata-propagation>. A kind whose image is read has its row at its provider
//! ([`InPlaceChange`]).

use yaml_tree::value::{Entry, Map, Node, Value};

use crate::objects::ManifestObject;
use crate::providers::InPlaceChange;

use Effect::{Contents, Hold, InPlace, NoEffect, NotKnown, Propagated, Refused, Rolls};

/// What a change of a field does to the machines that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing, or only to their number.
    NoEffect,
    /// What the new name leads to decides: nothing where that is the same.
    Contents,
    /// Whether what changes otherwise reaches them: nothing where that holds it back, and not known where it no longer does.
    Hold,
    /// They get it without being replaced.
    Propagated,
    /// They stay as they are; only machines that are made later have it.
    InPlace,
    /// Nothing: the webhook of the kind refuses the object.
    Refused,
    /// It is not known.
    NotKnown,
    /// They are replaced.
    Rolls,
}

/// What the table says of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the change does.
    pub effect: Effect,
    /// The path of the row that says so; empty where none does.
    pub row: &'static str,
}

/// The rows of a kind: paths with `[]` for each item of a list and `*` for any key. The longest one that leads to a field, or to
/// what it is in, applies.
type Rows = &'static [(&'static str, Effect)];

/// The rows of one kind.
struct Changes {
    /// The kind; with a `*`, each that ends so.
    kind: &'static str,
    group: &'static str,
    /// The only API version that it is about.
    version: Option<&'static str>,
    rows: Rows,
}

const fn kind(kind: &'static str, group: &'static str, rows: Rows) -> Changes {
    Changes {
        kind,
        group,
        version: None,
        rows,
    }
}

const CLUSTER_API: &str = "cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
const BOOTSTRAP: &str = "bootstrap.cluster.x-k8s.io";
const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
const EKS_ANYWHERE: &str = "anywhere.eks.amazonaws.com";
const FLUX: &str = "kustomize.toolkit.fluxcd.io";
const FLUX_HELM: &str = "helm.toolkit.fluxcd.io";
const FLUX_SOURCE: &str = "source.toolkit.fluxcd.io";
const ARGO_CD: &str = "argoproj.io";

/// What machines are made from, in a template.
const MACHINE: &str = "spec.template.spec";

/// Of every kind. An API version alone is another spelling.
const COMMON: Rows = &[
    ("apiVersion", NoEffect),
    ("metadata", NoEffect),
    ("metadata.namespace", NotKnown),
    ("status", NoEffect),
];

/// The annotation that keeps controllers from any object. Its key has dots, which a row cannot have.
const PAUSE: [&str; 3] = ["metadata", "annotations", "cluster.x-k8s.io/paused"];

/// The first of a kind applies.
const KINDS: &[Changes] = &[
    kind(
        "Cluster",
        CLUSTER_API,
        &[
            ("spec.availabilityGates", NoEffect),
            ("spec.paused", Hold),
            ("spec.topology.class", Contents),
            ("spec.topology.classRef.name", Contents),
            // It has no function, and the next API version leaves it out.
            ("spec.topology.rolloutAfter", NoEffect),
            // The node pools have it.
            ("spec.topology.version", NoEffect),
            ("spec.topology.controlPlane.deletion", Propagated),
            ("spec.topology.controlPlane.metadata", Propagated),
            ("spec.topology.controlPlane.nodeDeletionTimeout", Propagated),
            ("spec.topology.controlPlane.nodeDrainTimeout", Propagated),
            (
                "spec.topology.controlPlane.nodeVolumeDetachTimeout",
                Propagated,
            ),
            ("spec.topology.controlPlane.readinessGates", Propagated),
            ("spec.topology.controlPlane.replicas", NoEffect),
            ("spec.topology.controlPlane.taints", Propagated),
            ("spec.topology.workers.*[].deletion", Propagated),
            ("spec.topology.workers.*[].failureDomain", Rolls),
            ("spec.topology.workers.*[].metadata", Propagated),
            ("spec.topology.workers.*[].minReadySeconds", Propagated),
            ("spec.topology.workers.*[].nodeDeletionTimeout", Propagated),
            ("spec.topology.workers.*[].nodeDrainTimeout", Propagated),
            (
                "spec.topology.workers.*[].nodeVolumeDetachTimeout",
                Propagated,
            ),
            ("spec.topology.workers.*[].readinessGates", Propagated),
            ("spec.topology.workers.*[].replicas", NoEffect),
            ("spec.topology.workers.*[].rollout", NoEffect),
            ("spec.topology.workers.*[].rollout.strategy.type", Hold),
            ("spec.topology.workers.*[].strategy", NoEffect),
            ("spec.topology.workers.*[].strategy.type", Hold),
            ("spec.topology.workers.*[].taints", Propagated),
        ],
    ),
    kind(
        "ClusterClass",
        CLUSTER_API,
        &[
            ("spec.kubernetesVersions", NoEffect),
            ("spec.controlPlane.ref.name", Contents),
            ("spec.controlPlane.templateRef.name", Contents),
            ("spec.controlPlane.machineInfrastructure.ref.name", Contents),
            (
                "spec.controlPlane.machineInfrastructure.templateRef.name",
                Contents,
            ),
            ("spec.infrastructure.ref.name", Contents),
            ("spec.infrastructure.templateRef.name", Contents),
            ("spec.workers.*[].template.bootstrap.ref.name", Contents),
            (
                "spec.workers.*[].template.infrastructure.ref.name",
                Contents,
            ),
            ("spec.workers.*[].bootstrap.templateRef.name", Contents),
            ("spec.workers.*[].infrastructure.templateRef.name", Contents),
        ],
    ),
    kind(
        "KubeadmControlPlane",
        CONTROL_PLANE,
        &[
            ("spec.kubeadmConfigSpec", Rolls),
            ("spec.kubeadmConfigSpec.clusterConfiguration", Refused),
            (
                "spec.kubeadmConfigSpec.clusterConfiguration.apiServer",
                Rolls,
            ),
            (
                "spec.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays",
                Rolls,
            ),
            (
                "spec.kubeadmConfigSpec.clusterConfiguration.controllerManager",
                Rolls,
            ),
            // CoreDNS is changed in the cluster.
            ("spec.kubeadmConfigSpec.clusterConfiguration.dns", NoEffect),
            (
                "spec.kubeadmConfigSpec.clusterConfiguration.encryptionAlgorithm",
                Rolls,
            ),
            ("spec.kubeadmConfigSpec.clusterConfiguration.etcd", Rolls),
            (
                "spec.kubeadmConfigSpec.clusterConfiguration.featureGates",
                Rolls,
            ),
            (
                "spec.kubeadmConfigSpec.clusterConfiguration.imageRepository",
                Rolls,
            ),
            (
                "spec.kubeadmConfigSpec.clusterConfiguration.scheduler",
                Rolls,
            ),
            ("spec.machineNaming", NoEffect),
            ("spec.machineNamingStrategy", NoEffect),
            ("spec.machineTemplate.infrastructureRef", Rolls),
            (
                "spec.machineTemplate.infrastructureRef.apiVersion",
                NoEffect,
            ),
            ("spec.machineTemplate.metadata", Propagated),
            ("spec.machineTemplate.nodeDeletionTimeout", Propagated),
            ("spec.machineTemplate.nodeDrainTimeout", Propagated),
            ("spec.machineTemplate.nodeVolumeDetachTimeout", Propagated),
            ("spec.machineTemplate.readinessGates", Propagated),
            ("spec.machineTemplate.spec.deletion", Propagated),
            ("spec.machineTemplate.spec.infrastructureRef", Rolls),
            ("spec.machineTemplate.spec.readinessGates", Propagated),
            ("spec.machineTemplate.spec.taints", Propagated),
            ("spec.remediation", NoEffect),
            ("spec.remediationStrategy", NoEffect),
            ("spec.replicas", NoEffect),
            ("spec.rollout.after", Rolls),
            ("spec.rollout.strategy", NoEffect),
            ("spec.rolloutAfter", Rolls),
            ("spec.rolloutStrategy", NoEffect),
            ("spec.version", Rolls),
        ],
    ),
    kind(
        "KubeadmControlPlaneTemplate",
        CONTROL_PLANE,
        &[(MACHINE, Refused)],
    ),
    kind(
        "RKE2ControlPlane",
        CONTROL_PLANE,
        &[
            ("spec.agentConfig", Rolls),
            ("spec.files", Rolls),
            ("spec.gzipUserData", Rolls),
            ("spec.infrastructureRef", Rolls),
            ("spec.infrastructureRef.apiVersion", NoEffect),
            ("spec.machineTemplate.infrastructureRef", Rolls),
            (
                "spec.machineTemplate.infrastructureRef.apiVersion",
                NoEffect,
            ),
            ("spec.machineTemplate.metadata", Propagated),
            ("spec.machineTemplate.nodeDeletionTimeout", Propagated),
            ("spec.machineTemplate.nodeDrainTimeout", Propagated),
            ("spec.machineTemplate.nodeVolumeDetachTimeout", Propagated),
            ("spec.machineTemplate.spec.deletion", Propagated),
            ("spec.machineTemplate.spec.infrastructureRef", Rolls),
            ("spec.postRKE2Commands", Rolls),
            ("spec.preRKE2Commands", Rolls),
            ("spec.privateRegistriesConfig", Rolls),
            ("spec.registrationMethod", Refused),
            ("spec.remediationStrategy", NoEffect),
            ("spec.replicas", NoEffect),
            ("spec.rolloutStrategy", NoEffect),
            ("spec.serverConfig", Rolls),
            ("spec.version", Rolls),
        ],
    ),
    kind(
        "KThreesControlPlane",
        CONTROL_PLANE,
        &[
            ("spec.infrastructureTemplate", Rolls),
            ("spec.infrastructureTemplate.apiVersion", NoEffect),
            ("spec.kthreesConfigSpec", Rolls),
            ("spec.machineTemplate.infrastructureRef", Rolls),
            (
                "spec.machineTemplate.infrastructureRef.apiVersion",
                NoEffect,
            ),
            ("spec.remediationStrategy", NoEffect),
            ("spec.replicas", NoEffect),
            ("spec.version", Rolls),
        ],
    ),
    // What the contract of control planes says of all.
    kind(
        "*ControlPlane",
        CONTROL_PLANE,
        &[
            ("spec.machineTemplate.infrastructureRef.name", Rolls),
            ("spec.machineTemplate.spec.infrastructureRef.name", Rolls),
            ("spec.replicas", NoEffect),
            ("spec.version", Rolls),
        ],
    ),
    kind(
        "MachineDeployment",
        CLUSTER_API,
        &[
            ("spec.clusterName", Refused),
            ("spec.deletion", NoEffect),
            ("spec.machineNaming", NoEffect),
            ("spec.machineNamingStrategy", NoEffect),
            ("spec.minReadySeconds", Propagated),
            ("spec.paused", Hold),
            ("spec.progressDeadlineSeconds", NoEffect),
            ("spec.remediation", NoEffect),
            ("spec.replicas", NoEffect),
            ("spec.revisionHistoryLimit", NoEffect),
            ("spec.rollout.after", Rolls),
            ("spec.rollout.strategy", NoEffect),
            ("spec.rollout.strategy.type", Hold),
            ("spec.rolloutAfter", Rolls),
            ("spec.strategy", NoEffect),
            ("spec.strategy.type", Hold),
            ("spec.template.metadata", Propagated),
            (MACHINE, Rolls),
            (
                "spec.template.spec.bootstrap.configRef.apiVersion",
                NoEffect,
            ),
            ("spec.template.spec.clusterName", Refused),
            ("spec.template.spec.deletion", Propagated),
            ("spec.template.spec.infrastructureRef.apiVersion", NoEffect),
            ("spec.template.spec.minReadySeconds", Propagated),
            ("spec.template.spec.nodeDeletionTimeout", Propagated),
            ("spec.template.spec.nodeDrainTimeout", Propagated),
            ("spec.template.spec.nodeVolumeDetachTimeout", Propagated),
            ("spec.template.spec.readinessGates", Propagated),
            ("spec.template.spec.taints", Propagated),
        ],
    ),
    kind(
        "MachineSet",
        CLUSTER_API,
        &[
            ("spec.clusterName", Refused),
            ("spec.deletePolicy", NoEffect),
            ("spec.deletion", NoEffect),
            ("spec.replicas", NoEffect),
            ("spec.template.metadata", Propagated),
            (MACHINE, InPlace),
            ("spec.template.spec.deletion", Propagated),
            ("spec.template.spec.nodeDeletionTimeout", Propagated),
            ("spec.template.spec.nodeDrainTimeout", Propagated),
            ("spec.template.spec.nodeVolumeDetachTimeout", Propagated),
        ],
    ),
    kind(
        "MachinePool",
        CLUSTER_API,
        &[
            ("spec.clusterName", Refused),
            ("spec.replicas", NoEffect),
            ("spec.template.spec.version", Rolls),
        ],
    ),
    kind("*ConfigTemplate", BOOTSTRAP, &[("spec", InPlace)]),
    kind(
        "CloudStackMachineTemplate",
        INFRASTRUCTURE,
        &[
            (MACHINE, InPlace),
            ("spec.template.spec.affinity", Refused),
            ("spec.template.spec.affinityGroupIDs", Refused),
            ("spec.template.spec.affinitygroupids", Refused),
            ("spec.template.spec.details", Refused),
            ("spec.template.spec.diskOffering", Refused),
            ("spec.template.spec.offering", Refused),
            ("spec.template.spec.sshKey", Refused),
            ("spec.template.spec.template", Refused),
        ],
    ),
    kind(
        "Metal3DataTemplate",
        INFRASTRUCTURE,
        &[("spec.metaData", Refused), ("spec.networkData", Refused)],
    ),
    // Their webhooks compare nothing.
    kind(
        "NutanixMachineTemplate",
        INFRASTRUCTURE,
        &[("spec", InPlace)],
    ),
    kind("VCDMachineTemplate", INFRASTRUCTURE, &[("spec", InPlace)]),
    Changes {
        kind: "OscMachineTemplate",
        group: INFRASTRUCTURE,
        version: Some("v1beta1"),
        rows: &[(MACHINE, Refused)],
    },
    kind("OscMachineTemplate", INFRASTRUCTURE, &[("spec", InPlace)]),
    // EKS Anywhere: what its node pools have.
    kind(
        "Cluster",
        EKS_ANYWHERE,
        &[
            ("spec.controlPlaneConfiguration.count", NoEffect),
            ("spec.kubernetesVersion", NoEffect),
            ("spec.workerNodeGroupConfigurations[].count", NoEffect),
            (
                "spec.workerNodeGroupConfigurations[].kubernetesVersion",
                NoEffect,
            ),
        ],
    ),
    // What deploys others: what it builds is compared as it is built.
    kind(
        "Kustomization",
        FLUX,
        &[
            ("spec.buildMetadata", NoEffect),
            ("spec.commonMetadata", Contents),
            ("spec.components", Contents),
            ("spec.deletionPolicy", NoEffect),
            ("spec.dependsOn", NoEffect),
            ("spec.healthCheckExprs", NoEffect),
            ("spec.healthChecks", NoEffect),
            ("spec.ignoreMissingComponents", Contents),
            ("spec.images", Contents),
            ("spec.interval", NoEffect),
            ("spec.namePrefix", Contents),
            ("spec.nameSuffix", Contents),
            ("spec.patches", Contents),
            ("spec.path", Contents),
            ("spec.postBuild", Contents),
            ("spec.prune", NoEffect),
            ("spec.retryInterval", NoEffect),
            ("spec.suspend", Hold),
            ("spec.targetNamespace", Contents),
            ("spec.timeout", NoEffect),
            ("spec.validation", NoEffect),
            ("spec.wait", NoEffect),
        ],
    ),
    kind(
        "HelmRelease",
        FLUX_HELM,
        &[
            ("spec.chart.metadata", NoEffect),
            ("spec.chart.spec.chart", Contents),
            ("spec.chart.spec.ignoreMissingValuesFiles", Contents),
            ("spec.chart.spec.interval", NoEffect),
            ("spec.chart.spec.valuesFile", Contents),
            ("spec.chart.spec.valuesFiles", Contents),
            ("spec.chart.spec.verify", NoEffect),
            ("spec.dependsOn", NoEffect),
            ("spec.driftDetection", NoEffect),
            ("spec.healthCheckExprs", NoEffect),
            ("spec.interval", NoEffect),
            ("spec.maxHistory", NoEffect),
            ("spec.persistentClient", NoEffect),
            ("spec.postRenderers", Contents),
            ("spec.suspend", Hold),
            ("spec.test", NoEffect),
            ("spec.timeout", NoEffect),
            ("spec.values", Contents),
            ("spec.valuesFrom", Contents),
            ("spec.waitStrategy", NoEffect),
        ],
    ),
    kind(
        "Application",
        ARGO_CD,
        &[
            ("spec.info", NoEffect),
            ("spec.revisionHistoryLimit", NoEffect),
            ("spec.source.directory", Contents),
            ("spec.source.helm", Contents),
            ("spec.source.kustomize", Contents),
            ("spec.source.path", Contents),
            ("spec.sources[].directory", Contents),
            ("spec.sources[].helm", Contents),
            ("spec.sources[].kustomize", Contents),
            ("spec.sources[].path", Contents),
            ("spec.syncPolicy.automated", Hold),
            ("spec.syncPolicy.retry", NoEffect),
        ],
    ),
    kind(
        "*",
        FLUX_SOURCE,
        &[
            ("spec.interval", NoEffect),
            ("spec.suspend", Hold),
            ("spec.timeout", NoEffect),
        ],
    ),
];

/// Kinds of control planes that run as Pods or in a cloud, so that they have no machines. So have those that are called managed.
const HOSTED: [&str; 6] = [
    "GardenerShootControlPlane",
    "HostedControlPlane",
    "K0smotronControlPlane",
    "KamajiControlPlane",
    "NestedControlPlane",
    "ROSAControlPlane",
];

/// Whether an object is a control plane without machines of its own, or the template of one.
pub fn is_hosted(object: &ManifestObject) -> bool {
    let kind = object.kind.strip_suffix("Template");
    let kind = kind.unwrap_or(&object.kind);
    HOSTED.contains(&kind) || kind.ends_with("ManagedControlPlane")
}

/// What a change of the field at a path does. An item of a list is a part that begins with `[`.
pub fn answer(object: &ManifestObject, path: &[&str]) -> Answer {
    if path == PAUSE {
        let (effect, row) = (Hold, "metadata.annotations");
        return Answer { effect, row };
    }
    let (group, version) = (object.group(), object.version());
    let is_it = |changes: &&Changes| {
        let is_kind = match changes.kind.strip_prefix('*') {
            Some(end) => object.kind.ends_with(end),
            None => changes.kind == &*object.kind,
        };
        let is_version = changes.version.is_none_or(|only| only == version);
        is_kind && changes.group == group && is_version
    };
    let own = KINDS.iter().find(is_it).map_or(&[][..], |own| own.rows);
    let mut best = Answer {
        effect: NotKnown,
        row: "",
    };
    let of_provider = object.machine_kind();
    let of_provider = of_provider.and_then(|kind| match kind.change {
        InPlaceChange::Refused(path) => Some((path, Refused)),
        InPlaceChange::Ignored if kind.is_template() => Some(("spec", InPlace)),
        InPlaceChange::Rolls if path.starts_with(kind.machine) => Some(("spec", Rolls)),
        InPlaceChange::Ignored | InPlaceChange::Rolls => None,
    });
    // Beside what the webhook refuses, a template is only read when a machine is made.
    let beside = [("spec", InPlace)].into_iter();
    let beside = beside.filter(|_| of_provider.is_some() && object.kind.ends_with("Template"));
    let rows = COMMON.iter().chain(own).copied();
    let mut length = None;
    for (row, effect) in rows.chain(beside).chain(of_provider) {
        let found = length_if_above(row, path);
        if found.is_some() && found >= length {
            (length, best) = (found, Answer { effect, row });
        }
    }
    best
}

/// What an object says of its machines: itself without what has no effect on them, `apiVersion`s and annotations.
pub fn machine_parts(object: &ManifestObject) -> Node {
    strip_idle(object, &object.node, &mut Vec::new())
}

/// A part of an object without what has no effect on machines.
fn strip_idle<'n>(object: &ManifestObject, node: &'n Node, path: &mut Vec<&'n str>) -> Node {
    let value = match &node.value {
        Value::List(items) => {
            path.push("[]");
            let items = items.iter().map(|item| strip_idle(object, item, path));
            let items: Vec<Node> = items.collect();
            path.pop();
            items.into()
        }
        Value::Map(map) => {
            let entry = |entry: &'n Entry| {
                path.push(&entry.key);
                let own = (!is_idle(object, path)).then(|| strip_idle(object, &entry.node, path));
                path.pop();
                Some(Entry {
                    node: own?,
                    ..entry.clone()
                })
            };
            map.iter().filter_map(entry).collect::<Map>().into()
        }
        other => other.clone(),
    };
    Node {
        value,
        place: node.place,
    }
}

/// Whether a field has no effect on machines. What names an object, and how many machines there are of which version, is no change
/// of them, but says what they are.
fn is_idle(object: &ManifestObject, path: &[&str]) -> bool {
    match path {
        [.., "annotations" | "apiVersion"] => true,
        ["kind" | "metadata", ..] | [.., "count" | "replicas"] => false,
        [.., "kubernetesVersion" | "kubernetesVersions" | "version"] => false,
        _ => answer(object, path).effect == NoEffect,
    }
}

/// How many parts a row has, if it leads to a path or to what that is in.
fn length_if_above(row: &str, path: &[&str]) -> Option<usize> {
    let mut path = path.iter();
    let mut length = 0;
    for part in row.split('.').filter(|part| !part.is_empty()) {
        let (key, is_list) = match part.strip_suffix("[]") {
            Some(key) => (key, true),
            None => (part, false),
        };
        let found = path.next()?;
        if key != "*" && key != *found || is_list && !path.next()?.starts_with('[') {
            return None;
        }
        length += 1 + usize::from(is_list);
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::Effect::{Hold, InPlace, NoEffect, NotKnown, Propagated, Refused, Rolls};
    use super::{KINDS, answer};
    use crate::objects::tests::read;

    #[test]
    fn the_longest_row_of_a_kind_and_version_applies() {
        let cases = [
            (
                "controlplane.cluster.x-k8s.io/v1beta1 KubeadmControlPlane spec.rolloutAfter",
                Rolls,
            ),
            (
                "controlplane.cluster.x-k8s.io/v1beta1 KubeadmControlPlane spec.other",
                NotKnown,
            ),
            (
                "controlplane.cluster.x-k8s.io/v1beta1 KubeadmControlPlane spec.kubeadmConfigSpec.clusterConfiguration.networking",
                Refused,
            ),
            (
                "controlplane.cluster.x-k8s.io/v1beta1 KubeadmControlPlane spec.kubeadmConfigSpec.clusterConfiguration.etcd.local",
                Rolls,
            ),
            (
                "controlplane.cluster.x-k8s.io/v1beta1 HostedControlPlane spec.version",
                Rolls,
            ),
            (
                "cluster.x-k8s.io/v1beta1 Cluster spec.topology.workers.machineDeployments.[a].failureDomain",
                Rolls,
            ),
            (
                "cluster.x-k8s.io/v1beta1 Cluster spec.topology.workers.machineDeployments.a.failureDomain",
                NotKnown,
            ),
            (
                "cluster.x-k8s.io/v1beta2 MachineDeployment metadata.labels",
                NoEffect,
            ),
            (
                "cluster.x-k8s.io/v1beta2 MachineDeployment spec.paused",
                Hold,
            ),
            (
                "cluster.x-k8s.io/v1beta2 MachineDeployment spec.template.spec.taints.[0]",
                Propagated,
            ),
            (
                "example.org/v1beta2 MachineDeployment spec.template.spec.taints",
                NotKnown,
            ),
            (
                "infrastructure.cluster.x-k8s.io/v1beta1 AWSMachineTemplate spec.template.spec.ami",
                Refused,
            ),
            (
                "infrastructure.cluster.x-k8s.io/v1beta1 AWSMachineTemplate spec.template.metadata",
                InPlace,
            ),
            (
                "infrastructure.cluster.x-k8s.io/v1beta1 Metal3MachineTemplate spec.nodeReuse",
                InPlace,
            ),
            (
                "infrastructure.cluster.x-k8s.io/v1beta1 Metal3Machine spec.image",
                NotKnown,
            ),
            (
                "infrastructure.cluster.x-k8s.io/v1beta1 AzureMachinePool spec.template.image",
                Rolls,
            ),
            (
                "infrastructure.cluster.x-k8s.io/v1beta1 AzureMachinePool spec.strategy",
                NotKnown,
            ),
            (
                "infrastructure.cluster.x-k8s.io/v1beta1 OscMachineTemplate spec.template.spec.node",
                Refused,
            ),
            (
                "infrastructure.cluster.x-k8s.io/v1beta2 OscMachineTemplate spec.template.spec.node",
                InPlace,
            ),
            (
                "infrastructure.cluster.x-k8s.io/v1beta2 OtherMachineTemplate spec.template.spec.node",
                NotKnown,
            ),
            (
                "kustomize.toolkit.fluxcd.io/v1 Kustomization spec.suspend",
                Hold,
            ),
            (
                "helm.toolkit.fluxcd.io/v2 HelmRelease spec.chart.spec.version",
                NotKnown,
            ),
            (
                "argoproj.io/v1alpha1 Application spec.sources.[0].targetRevision",
                NotKnown,
            ),
            (
                "source.toolkit.fluxcd.io/v1 GitRepository spec.ref.tag",
                NotKnown,
            ),
            (
                "source.toolkit.fluxcd.io/v1 OCIRepository spec.timeout",
                NoEffect,
            ),
        ];
        for (case, effect) in cases {
            let words: Vec<&str> = case.split(' ').collect();
            let text = format!("apiVersion: {}\nkind: {}\n", words[0], words[1]);
            let path: Vec<&str> = words[2].split('.').collect();
            assert_eq!(answer(&read(&text)[0], &path).effect, effect, "{case}");
        }
    }

    #[test]
    fn rows_are_sorted_and_none_is_there_twice() {
        for changes in KINDS {
            let paths = changes.rows.iter().map(|row| row.0);
            let paths: std::collections::BTreeSet<&str> = paths.collect();
            assert_eq!(paths.len(), changes.rows.len(), "{}", changes.kind);
        }
    }
}

//! What a change of a deployed object does to the machines that exist: one table for each kind and path. What no row holds is not
//! known.
//!
//! Source: the webhooks of the providers, and what their controllers compare: Cluster API's `MachineTemplateDeepCopyRolloutFields`
//! and KubeadmControlPlane's `UpToDate`, `matchesRKE2BootstrapConfig` and `matchServerConfig` of CAPRKE2, and
//! <https://cluster-api.sigs.k8s.io/reference/api/metadata-propagation>. A kind whose image is read has its row at its provider
//! ([`InPlaceChange`]).

use std::sync::LazyLock;

use yaml_tree::value::{Entry, Map, Node, Value};

use crate::objects::ManifestObject;
use crate::providers::InPlaceChange;
use crate::secrets::join;

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

/// A path of keys with `[]` for each item of a list and `*` for any key, and what a change there does. The longest one that leads to
/// a field, or to what it is in, applies.
struct Row {
    path: String,
    effect: Effect,
}

/// The rows of one kind.
struct Changes {
    /// The kind; with a `*`, each that ends so.
    kind: &'static str,
    group: &'static str,
    /// The only API version that it is about.
    version: Option<&'static str>,
    rows: Vec<Row>,
}

fn kind(kind: &'static str, group: &'static str, rows: Vec<Row>) -> Changes {
    Changes {
        kind,
        group,
        version: None,
        rows,
    }
}

/// Rows: what a change does, a parent such as `spec.rollout`, and fields below it with spaces between them.
macro_rules! rows {
    ($($effect:ident $parent:literal: $fields:literal)*) => {{
        let mut rows = Vec::new();
        $(add_rows(&mut rows, $effect, $parent, $fields);)*
        rows
    }};
}

fn add_rows(rows: &mut Vec<Row>, effect: Effect, parent: &str, fields: &str) {
    rows.extend(fields.split_whitespace().map(|field| Row {
        path: join(parent, field),
        effect,
    }));
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

/// Of every kind. An API version alone is another spelling.
static COMMON: LazyLock<Vec<Row>> = LazyLock::new(|| {
    rows! {
        NoEffect "": "apiVersion metadata status"
        NotKnown "metadata": "namespace"
    }
});

/// The annotation that keeps controllers from any object. Its key has dots, which a row cannot have.
const PAUSE: [&str; 3] = ["metadata", "annotations", "cluster.x-k8s.io/paused"];

/// The first of a kind applies.
static KINDS: LazyLock<Vec<Changes>> = LazyLock::new(|| {
    vec![
        kind(
            "Cluster",
            CLUSTER_API,
            rows! {
                NoEffect "spec": "availabilityGates"
                InPlace "spec": "controlPlaneEndpoint"
                Hold "spec": "paused"
                Contents "spec.topology": "class classRef.name"
                // It has no function, and the next API version leaves it out.
                NoEffect "spec.topology": "rolloutAfter"
                // The node pools have it.
                NoEffect "spec.topology": "version"
                Propagated "spec.topology.controlPlane": "deletion metadata nodeDeletionTimeout nodeDrainTimeout"
                Propagated "spec.topology.controlPlane": "nodeVolumeDetachTimeout readinessGates taints"
                NoEffect "spec.topology.controlPlane": "replicas"
                Propagated "spec.topology.workers.*[]": "deletion metadata minReadySeconds nodeDeletionTimeout nodeDrainTimeout"
                Propagated "spec.topology.workers.*[]": "nodeVolumeDetachTimeout readinessGates taints"
                Rolls "spec.topology.workers.*[]": "failureDomain"
                NoEffect "spec.topology.workers.*[]": "replicas rollout strategy"
                Hold "spec.topology.workers.*[]": "rollout.strategy.type strategy.type"
            },
        ),
        kind(
            "ClusterClass",
            CLUSTER_API,
            rows! {
                NoEffect "spec": "kubernetesVersions"
                Contents "spec.controlPlane": "ref.name templateRef.name"
                Contents "spec.controlPlane.machineInfrastructure": "ref.name templateRef.name"
                Contents "spec.infrastructure": "ref.name templateRef.name"
                Contents "spec.workers.*[].template": "bootstrap.ref.name infrastructure.ref.name"
                Contents "spec.workers.*[]": "bootstrap.templateRef.name infrastructure.templateRef.name"
            },
        ),
        kind(
            "KubeadmControlPlane",
            CONTROL_PLANE,
            rows! {
                Rolls "spec": "kubeadmConfigSpec rollout.after rolloutAfter version"
                Refused "spec.kubeadmConfigSpec": "clusterConfiguration"
                Rolls "spec.kubeadmConfigSpec.clusterConfiguration": "apiServer certificateValidityPeriodDays controllerManager"
                Rolls "spec.kubeadmConfigSpec.clusterConfiguration": "encryptionAlgorithm etcd featureGates imageRepository scheduler"
                // CoreDNS is changed in the cluster.
                NoEffect "spec.kubeadmConfigSpec.clusterConfiguration": "dns"
                NoEffect "spec": "machineNaming machineNamingStrategy remediation remediationStrategy replicas"
                NoEffect "spec": "rollout.strategy rolloutStrategy"
                Rolls "spec.machineTemplate": "infrastructureRef spec.infrastructureRef"
                NoEffect "spec.machineTemplate": "infrastructureRef.apiVersion"
                Propagated "spec.machineTemplate": "metadata nodeDeletionTimeout nodeDrainTimeout nodeVolumeDetachTimeout readinessGates"
                Propagated "spec.machineTemplate.spec": "deletion readinessGates taints"
            },
        ),
        kind(
            "KubeadmControlPlaneTemplate",
            CONTROL_PLANE,
            rows! {
                Refused "spec.template": "spec"
            },
        ),
        kind(
            "RKE2ControlPlane",
            CONTROL_PLANE,
            rows! {
                Rolls "spec": "agentConfig files gzipUserData infrastructureRef postRKE2Commands preRKE2Commands"
                Rolls "spec": "privateRegistriesConfig serverConfig version"
                NoEffect "spec": "infrastructureRef.apiVersion remediationStrategy replicas rolloutStrategy"
                Refused "spec": "registrationMethod"
                Rolls "spec.machineTemplate": "infrastructureRef spec.infrastructureRef"
                NoEffect "spec.machineTemplate": "infrastructureRef.apiVersion"
                Propagated "spec.machineTemplate": "metadata nodeDeletionTimeout nodeDrainTimeout nodeVolumeDetachTimeout spec.deletion"
            },
        ),
        kind(
            "KThreesControlPlane",
            CONTROL_PLANE,
            rows! {
                Rolls "spec": "infrastructureTemplate kthreesConfigSpec machineTemplate.infrastructureRef version"
                NoEffect "spec": "infrastructureTemplate.apiVersion machineTemplate.infrastructureRef.apiVersion"
                NoEffect "spec": "remediationStrategy replicas"
            },
        ),
        // What the contract of control planes says of all.
        kind(
            "*ControlPlane",
            CONTROL_PLANE,
            rows! {
                Rolls "spec.machineTemplate": "infrastructureRef.name spec.infrastructureRef.name"
                NoEffect "spec": "replicas"
                Rolls "spec": "version"
            },
        ),
        kind(
            "MachineDeployment",
            CLUSTER_API,
            rows! {
                Refused "spec": "clusterName template.spec.clusterName"
                NoEffect "spec": "deletion machineNaming machineNamingStrategy progressDeadlineSeconds remediation replicas"
                NoEffect "spec": "revisionHistoryLimit rollout.strategy strategy"
                Propagated "spec": "minReadySeconds template.metadata"
                Hold "spec": "paused rollout.strategy.type strategy.type"
                Rolls "spec": "rollout.after rolloutAfter template.spec"
                NoEffect "spec.template.spec": "bootstrap.configRef.apiVersion infrastructureRef.apiVersion"
                Propagated "spec.template.spec": "deletion minReadySeconds nodeDeletionTimeout nodeDrainTimeout"
                Propagated "spec.template.spec": "nodeVolumeDetachTimeout readinessGates taints"
            },
        ),
        kind(
            "MachineSet",
            CLUSTER_API,
            rows! {
                Refused "spec": "clusterName"
                NoEffect "spec": "deletePolicy deletion replicas"
                InPlace "spec.template": "spec"
                Propagated "spec.template": "metadata spec.deletion spec.nodeDeletionTimeout spec.nodeDrainTimeout"
                Propagated "spec.template": "spec.nodeVolumeDetachTimeout"
            },
        ),
        kind(
            "MachinePool",
            CLUSTER_API,
            rows! {
                Refused "spec": "clusterName"
                NoEffect "spec": "replicas"
                Rolls "spec.template.spec": "version"
            },
        ),
        kind(
            "TalosConfigTemplate",
            BOOTSTRAP,
            rows! {
                Refused "": "spec"
            },
        ),
        kind(
            "*ConfigTemplate",
            BOOTSTRAP,
            rows! {
                InPlace "": "spec"
            },
        ),
        kind(
            "CloudStackMachineTemplate",
            INFRASTRUCTURE,
            rows! {
                InPlace "spec.template": "spec"
                Refused "spec.template.spec": "affinity affinityGroupIDs affinitygroupids details diskOffering offering sshKey template"
            },
        ),
        kind(
            "Metal3DataTemplate",
            INFRASTRUCTURE,
            rows! {
                Refused "spec": "metaData networkData"
            },
        ),
        // Cluster API copies it once, and no controller replaces machines for it.
        kind(
            "*Cluster",
            INFRASTRUCTURE,
            rows! {
                InPlace "spec": "controlPlaneEndpoint"
            },
        ),
        // Their webhooks compare nothing.
        kind(
            "NutanixMachineTemplate",
            INFRASTRUCTURE,
            rows! {
                InPlace "": "spec"
            },
        ),
        kind(
            "VCDMachineTemplate",
            INFRASTRUCTURE,
            rows! {
                InPlace "": "spec"
            },
        ),
        Changes {
            version: Some("v1beta1"),
            ..kind(
                "OscMachineTemplate",
                INFRASTRUCTURE,
                rows! {
                    Refused "spec.template": "spec"
                },
            )
        },
        kind(
            "OscMachineTemplate",
            INFRASTRUCTURE,
            rows! {
                InPlace "": "spec"
            },
        ),
        // EKS Anywhere: what its node pools have.
        kind(
            "Cluster",
            EKS_ANYWHERE,
            rows! {
                NoEffect "spec": "controlPlaneConfiguration.count kubernetesVersion"
                NoEffect "spec.workerNodeGroupConfigurations[]": "count kubernetesVersion"
            },
        ),
        // What deploys others: what it builds is compared as it is built.
        kind(
            "Kustomization",
            FLUX,
            rows! {
                NoEffect "spec": "buildMetadata deletionPolicy dependsOn healthCheckExprs healthChecks interval prune retryInterval"
                NoEffect "spec": "timeout validation wait"
                Contents "spec": "commonMetadata components ignoreMissingComponents images namePrefix nameSuffix patches path"
                Contents "spec": "postBuild targetNamespace"
                Hold "spec": "suspend"
            },
        ),
        kind(
            "HelmRelease",
            FLUX_HELM,
            rows! {
                NoEffect "spec.chart": "metadata spec.interval spec.verify"
                Contents "spec.chart.spec": "chart ignoreMissingValuesFiles valuesFile valuesFiles"
                NoEffect "spec": "dependsOn driftDetection healthCheckExprs interval maxHistory persistentClient test timeout waitStrategy"
                Contents "spec": "postRenderers values valuesFrom"
                Hold "spec": "suspend"
            },
        ),
        kind(
            "Application",
            ARGO_CD,
            rows! {
                NoEffect "spec": "info revisionHistoryLimit syncPolicy.retry"
                Contents "spec.source": "directory helm kustomize path"
                Contents "spec.sources[]": "directory helm kustomize path"
                Hold "spec": "syncPolicy.automated"
            },
        ),
        kind(
            "*",
            FLUX_SOURCE,
            rows! {
                NoEffect "spec": "interval timeout"
                Hold "spec": "suspend"
            },
        ),
    ]
});

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
    let own = own_rows(object);
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
    let rows = COMMON.iter().chain(own).map(|row| (&*row.path, row.effect));
    let mut length = None;
    for (row, effect) in rows.chain(beside).chain(of_provider) {
        let found = length_if_above(row, path);
        if found.is_some() && found >= length {
            (length, best) = (found, Answer { effect, row });
        }
    }
    best
}

/// The rows of an object's kind.
fn own_rows(object: &ManifestObject) -> impl Iterator<Item = &'static Row> {
    let (group, version) = (object.group(), object.version());
    let is_it = |changes: &&Changes| {
        let is_kind = match changes.kind.strip_prefix('*') {
            Some(end) => object.kind.ends_with(end),
            None => changes.kind == &*object.kind,
        };
        let is_version = changes.version.is_none_or(|only| only == version);
        is_kind && changes.group == group && is_version
    };
    let own = KINDS.iter().find(is_it);
    own.into_iter().flat_map(|own| &own.rows)
}

/// Whether an object keeps its controller from what changes: it is paused, or its machines are replaced only manually.
pub fn is_held(object: &ManifestObject) -> bool {
    let rows = own_rows(object).filter(|row| row.effect == Hold);
    let mut values = rows.map(|row| {
        let path: Vec<&str> = row.path.split('.').collect();
        object.node.get_path(&path)
    });
    holds(object.node.get_path(&PAUSE)) || values.any(holds)
}

/// Whether the value of a field that may hold changes back does so: `paused`, or a strategy other than the default.
pub fn holds(value: Option<&Node>) -> bool {
    value.is_some_and(|node| match &node.value {
        Value::Bool(is_paused) => *is_paused,
        value => value
            .as_str()
            .is_some_and(|text| &**text != "RollingUpdate"),
    })
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
    fn no_row_of_a_kind_is_there_twice() {
        for changes in KINDS.iter() {
            let paths = changes.rows.iter().map(|row| &*row.path);
            let paths: std::collections::BTreeSet<&str> = paths.collect();
            assert_eq!(paths.len(), changes.rows.len(), "{}", changes.kind);
        }
    }
}

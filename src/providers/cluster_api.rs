//! What Cluster API's own kinds and its bootstrap providers' say beside the machine templates: the Kubernetes version, and
//! which objects they refer to.
//!
//! Paths are keys with dots between; `[]` is every item of a list. Source: the CRDs of Cluster API, CAPRKE2 and the K3s
//! provider, each in the versions named.

/// Where an object says the Kubernetes version of its machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionField {
    /// The kind.
    pub kind: &'static str,
    /// Its API group.
    pub group: &'static str,
    /// Where the version stands; the same in every API version.
    pub path: &'static str,
    /// How it is spelt.
    pub form: VersionForm,
}

/// How a kind spells a Kubernetes version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionForm {
    /// `v1.31.8`, with any build.
    Semver,
    /// `v1.31.8+rke2r1`.
    Rke2,
    /// `v1.31.8+k3s1`.
    K3s,
}

const CLUSTER: &str = "cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";

/// Every field with a Kubernetes version.
pub const VERSIONS: &[VersionField] = &[
    version(
        "Cluster",
        CLUSTER,
        "spec.topology.version",
        VersionForm::Semver,
    ),
    version(
        "KubeadmControlPlane",
        CONTROL_PLANE,
        "spec.version",
        VersionForm::Semver,
    ),
    version(
        "RKE2ControlPlane",
        CONTROL_PLANE,
        "spec.version",
        VersionForm::Rke2,
    ),
    version(
        "KThreesControlPlane",
        CONTROL_PLANE,
        "spec.version",
        VersionForm::K3s,
    ),
    version(
        "MachineDeployment",
        CLUSTER,
        "spec.template.spec.version",
        VersionForm::Semver,
    ),
    version(
        "MachineSet",
        CLUSTER,
        "spec.template.spec.version",
        VersionForm::Semver,
    ),
    version(
        "MachinePool",
        CLUSTER,
        "spec.template.spec.version",
        VersionForm::Semver,
    ),
    version("Machine", CLUSTER, "spec.version", VersionForm::Semver),
];

/// Where an object says that version once more, if it does. Source: the CRD of the K3s provider.
pub const REPEATED_VERSIONS: &[VersionField] = &[version(
    "KThreesControlPlane",
    CONTROL_PLANE,
    "spec.kthreesConfigSpec.version",
    VersionForm::K3s,
)];

const fn version(
    kind: &'static str,
    group: &'static str,
    path: &'static str,
    form: VersionForm,
) -> VersionField {
    VersionField {
        kind,
        group,
        path,
        form,
    }
}

/// Where an object names another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The kind.
    pub kind: &'static str,
    /// Its API group.
    pub group: &'static str,
    /// The API versions that have the reference there.
    pub versions: &'static [&'static str],
    /// The reference itself, a map with `kind` and `name`.
    pub path: &'static str,
}

const OLD: &[&str] = &["v1beta1"];
const NEW: &[&str] = &["v1beta2"];
const BOTH: &[&str] = &["v1beta1", "v1beta2"];

/// Every reference to a template or to a bootstrap configuration: what a renamed template moves.
pub const REFERENCES: &[Reference] = &[
    reference(
        "KubeadmControlPlane",
        CONTROL_PLANE,
        OLD,
        "spec.machineTemplate.infrastructureRef",
    ),
    reference(
        "KubeadmControlPlane",
        CONTROL_PLANE,
        NEW,
        "spec.machineTemplate.spec.infrastructureRef",
    ),
    reference(
        "RKE2ControlPlane",
        CONTROL_PLANE,
        OLD,
        "spec.machineTemplate.infrastructureRef",
    ),
    // Deprecated, and still read.
    reference(
        "RKE2ControlPlane",
        CONTROL_PLANE,
        OLD,
        "spec.infrastructureRef",
    ),
    reference(
        "RKE2ControlPlane",
        CONTROL_PLANE,
        NEW,
        "spec.machineTemplate.spec.infrastructureRef",
    ),
    reference(
        "KThreesControlPlane",
        CONTROL_PLANE,
        OLD,
        "spec.infrastructureTemplate",
    ),
    reference(
        "KThreesControlPlane",
        CONTROL_PLANE,
        NEW,
        "spec.machineTemplate.infrastructureRef",
    ),
    reference(
        "MachineDeployment",
        CLUSTER,
        BOTH,
        "spec.template.spec.infrastructureRef",
    ),
    reference(
        "MachineDeployment",
        CLUSTER,
        BOTH,
        "spec.template.spec.bootstrap.configRef",
    ),
    reference(
        "MachineSet",
        CLUSTER,
        BOTH,
        "spec.template.spec.infrastructureRef",
    ),
    reference(
        "MachineSet",
        CLUSTER,
        BOTH,
        "spec.template.spec.bootstrap.configRef",
    ),
    reference(
        "MachinePool",
        CLUSTER,
        BOTH,
        "spec.template.spec.infrastructureRef",
    ),
    reference(
        "MachinePool",
        CLUSTER,
        BOTH,
        "spec.template.spec.bootstrap.configRef",
    ),
    reference("Cluster", CLUSTER, BOTH, "spec.infrastructureRef"),
    reference("Cluster", CLUSTER, BOTH, "spec.controlPlaneRef"),
    reference("ClusterClass", CLUSTER, OLD, "spec.infrastructure.ref"),
    reference("ClusterClass", CLUSTER, OLD, "spec.controlPlane.ref"),
    reference(
        "ClusterClass",
        CLUSTER,
        OLD,
        "spec.controlPlane.machineInfrastructure.ref",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        OLD,
        "spec.workers.machineDeployments[].template.infrastructure.ref",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        OLD,
        "spec.workers.machineDeployments[].template.bootstrap.ref",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        OLD,
        "spec.workers.machinePools[].template.infrastructure.ref",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        OLD,
        "spec.workers.machinePools[].template.bootstrap.ref",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        NEW,
        "spec.infrastructure.templateRef",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        NEW,
        "spec.controlPlane.templateRef",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        NEW,
        "spec.controlPlane.machineInfrastructure.templateRef",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        NEW,
        "spec.workers.machineDeployments[].infrastructure.templateRef",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        NEW,
        "spec.workers.machineDeployments[].bootstrap.templateRef",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        NEW,
        "spec.workers.machinePools[].infrastructure.templateRef",
    ),
    reference(
        "ClusterClass",
        CLUSTER,
        NEW,
        "spec.workers.machinePools[].bootstrap.templateRef",
    ),
];

const fn reference(
    kind: &'static str,
    group: &'static str,
    versions: &'static [&'static str],
    path: &'static str,
) -> Reference {
    Reference {
        kind,
        group,
        versions,
        path,
    }
}

//! The fields in which kinds of Cluster API, and control planes of its providers, declare the Kubernetes version of machines.
//!
//! Paths are keys separated by dots; `[]` is every item of a list. Source: the CRDs of Cluster API, CAPRKE2 and the K3s
//! provider.

/// A field with the Kubernetes version of an object's machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionField {
    /// The kind.
    pub kind: &'static str,
    /// Its API group.
    pub group: &'static str,
    /// The path of the version; the same in every API version.
    pub path: &'static str,
    /// The form of its values.
    pub form: VersionForm,
}

/// The form in which a kind writes a Kubernetes version.
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

/// Any kind with this suffix: the control planes of all providers have their version at one path
/// (<https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane>).
pub const ANY_CONTROL_PLANE: &str = "ControlPlane";

/// Every field with a Kubernetes version. The first one that matches a kind applies.
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
    version(
        ANY_CONTROL_PLANE,
        CONTROL_PLANE,
        "spec.version",
        VersionForm::Semver,
    ),
];

/// Fields that repeat the version of the same object. Source: the CRD of the K3s provider.
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

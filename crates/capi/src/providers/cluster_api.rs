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
}

const CLUSTER: &str = "cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";

/// Any kind with this suffix: the control planes of all providers have their version at one path
/// (<https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane>).
pub const ANY_CONTROL_PLANE: &str = "ControlPlane";

/// Every field with a Kubernetes version. The first one that matches a kind applies.
pub const VERSIONS: &[VersionField] = &[
    version("Cluster", CLUSTER, "spec.topology.version"),
    version("MachineDeployment", CLUSTER, IN_TEMPLATE),
    version("MachineSet", CLUSTER, IN_TEMPLATE),
    version("MachinePool", CLUSTER, IN_TEMPLATE),
    version("Machine", CLUSTER, "spec.version"),
    version(ANY_CONTROL_PLANE, CONTROL_PLANE, "spec.version"),
];

const IN_TEMPLATE: &str = "spec.template.spec.version";

/// Fields that repeat the version of the same object. Source: the CRD of the K3s provider.
pub const REPEATED_VERSIONS: &[VersionField] = &[version(
    "KThreesControlPlane",
    CONTROL_PLANE,
    "spec.kthreesConfigSpec.version",
)];

const fn version(kind: &'static str, group: &'static str, path: &'static str) -> VersionField {
    VersionField { kind, group, path }
}

//! Which objects belong to no namespace.

/// Kinds that are the cluster's, by group: Kubernetes' own, and those of projects that clusters commonly hold.
///
/// Source: `kubectl api-resources --namespaced=false` of Kubernetes 1.34; the projects' definitions.
const CLUSTER_SCOPED: [(&str, &[&str]); 23] = [
    (
        "",
        &["ComponentStatus", "Namespace", "Node", "PersistentVolume"],
    ),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    (
        "authentication.k8s.io",
        &["SelfSubjectReview", "TokenReview"],
    ),
    (
        "authorization.k8s.io",
        &[
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
    ),
    ("cert-manager.io", &["ClusterIssuer"]),
    (
        "certificates.k8s.io",
        &["CertificateSigningRequest", "ClusterTrustBundle"],
    ),
    (
        "cilium.io",
        &[
            "CiliumClusterwideNetworkPolicy",
            "CiliumLoadBalancerIPPool",
            "CiliumNode",
        ],
    ),
    ("core.rukpak.io", &["Bundle", "BundleDeployment"]),
    (
        "crd.projectcalico.org",
        &["BGPConfiguration", "FelixConfiguration", "IPPool"],
    ),
    (
        "external-secrets.io",
        &["ClusterExternalSecret", "ClusterSecretStore"],
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        &["FlowSchema", "PriorityLevelConfiguration"],
    ),
    ("gateway.networking.k8s.io", &["GatewayClass"]),
    ("kyverno.io", &["ClusterPolicy"]),
    (
        "networking.k8s.io",
        &["IPAddress", "IngressClass", "ServiceCIDR"],
    ),
    ("node.k8s.io", &["RuntimeClass"]),
    ("policy", &["PodSecurityPolicy"]),
    (
        "rbac.authorization.k8s.io",
        &["ClusterRole", "ClusterRoleBinding"],
    ),
    ("resource.k8s.io", &["DeviceClass", "ResourceSlice"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    (
        "snapshot.storage.k8s.io",
        &["VolumeSnapshotClass", "VolumeSnapshotContent"],
    ),
    (
        "storage.k8s.io",
        &[
            "CSIDriver",
            "CSINode",
            "StorageClass",
            "VolumeAttachment",
            "VolumeAttributesClass",
        ],
    ),
];

/// Whether objects of a kind are the cluster's, as far as is known without its definition: any other kind counts as a
/// namespace's, as kustomize has it.
pub fn is_cluster_scoped(group: &str, kind: &str) -> bool {
    let known = CLUSTER_SCOPED.binary_search_by(|(known, _)| (*known).cmp(group));
    known.is_ok_and(|place| CLUSTER_SCOPED[place].1.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::{CLUSTER_SCOPED, is_cluster_scoped};

    #[test]
    fn a_kind_is_known_by_its_group() {
        assert!(CLUSTER_SCOPED.is_sorted_by(|a, b| a.0 < b.0));
        assert!(is_cluster_scoped("", "Namespace"));
        assert!(is_cluster_scoped(
            "rbac.authorization.k8s.io",
            "ClusterRole"
        ));
        assert!(!is_cluster_scoped("example.org", "ClusterRole"));
        assert!(!is_cluster_scoped("apps", "Deployment"));
    }
}

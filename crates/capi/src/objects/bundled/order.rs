//! In which order objects are applied.

/// The order in which the consumer of a bundle applies its objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// All at once, as RukPak does by way of Helm: every kind is looked up in the cluster before the first object is applied.
    #[default]
    Together,
    /// By their kinds, as Flux and Argo CD do: definitions and namespaces first.
    Kind,
    /// By the names of their files, as `kubectl apply -f` does.
    Names,
}

/// Helm's order of kinds.
///
/// Source: helm, pkg/releaseutil/kind_sorter.go, `InstallOrder`.
const KINDS: [&str; 38] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// The place of a kind in Helm's order: kinds that it does not know come last, by their names.
pub fn rank(kind: &str) -> (usize, &str) {
    match KINDS.iter().position(|known| *known == kind) {
        Some(place) => (place, ""),
        None => (KINDS.len(), kind),
    }
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn definitions_come_before_what_they_define() {
        let mut kinds = [
            "Zebra",
            "Deployment",
            "Ape",
            "CustomResourceDefinition",
            "Namespace",
        ];
        kinds.sort_by_key(|kind| rank(kind));
        assert_eq!(
            kinds,
            [
                "Namespace",
                "CustomResourceDefinition",
                "Deployment",
                "Ape",
                "Zebra"
            ]
        );
    }
}

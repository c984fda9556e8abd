//! The kinds of infrastructure clusters, which contain the control plane endpoint and match a provider's machine templates.
//!
//! All of them have `spec.controlPlaneEndpoint.{host, port}` by Cluster API's contract; other required fields are in their CRDs.
//! An endpoint is set once: Cluster API copies it to the `Cluster`, where it is immutable.

use super::Kind;
use super::kind::INFRASTRUCTURE;

/// A kind of infrastructure cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfraCluster {
    /// `Metal3Cluster`
    pub kind: &'static str,
    /// Its API group.
    pub group: &'static str,
    /// Its supported API versions, the default first.
    pub versions: &'static [&'static str],
    /// The fields of `spec` that its CRD requires.
    pub required: &'static [&'static str],
    /// The kinds of machine templates of the same provider.
    templates: &'static [&'static str],
}

/// Every kind, by name; of two groups with one kind, the common one first.
pub const INFRA_CLUSTERS: &[InfraCluster] = &[
    known("AWSCluster", &["v1beta2"], &[], &["AWSMachineTemplate"]),
    known(
        "AzureCluster",
        &["v1beta1"],
        &["location"],
        &["AzureMachineTemplate"],
    ),
    known("DevCluster", BOTH, &["backend"], &["DevMachineTemplate"]),
    known("DockerCluster", BOTH, &[], &["DockerMachineTemplate"]),
    known(
        "ElementalCluster",
        &["v1beta1"],
        &[],
        &["ElementalMachineTemplate"],
    ),
    known(
        "GCPCluster",
        &["v1beta1"],
        &["project", "region"],
        &["GCPMachineTemplate"],
    ),
    known(
        "HetznerCluster",
        BOTH,
        &["controlPlaneRegions", "hetznerSecretRef", "sshKeys"],
        &["HCloudMachineTemplate", "HetznerBareMetalMachineTemplate"],
    ),
    known(
        "KubevirtCluster",
        &["v1alpha1"],
        &[],
        &["KubevirtMachineTemplate"],
    ),
    known("Metal3Cluster", BOTH, &[], &["Metal3MachineTemplate"]),
    known(
        "OpenStackCluster",
        BOTH,
        &["identityRef"],
        &["OpenStackMachineTemplate"],
    ),
    known(
        "ProxmoxCluster",
        &["v1alpha2", "v1alpha1"],
        &["dnsServers"],
        &["ProxmoxMachineTemplate"],
    ),
    known(
        "TinkerbellCluster",
        &["v1beta1"],
        &[],
        &["TinkerbellMachineTemplate"],
    ),
    known(
        "VSphereCluster",
        BOTH,
        &["server"],
        &["VSphereMachineTemplate"],
    ),
    InfraCluster {
        kind: "VSphereCluster",
        group: "vmware.infrastructure.cluster.x-k8s.io",
        versions: BOTH,
        required: &[],
        templates: &["VSphereMachineTemplate"],
    },
];

const BOTH: &[&str] = &["v1beta1", "v1beta2"];

const fn known(
    kind: &'static str,
    versions: &'static [&'static str],
    required: &'static [&'static str],
    templates: &'static [&'static str],
) -> InfraCluster {
    InfraCluster {
        kind,
        group: INFRASTRUCTURE,
        versions,
        required,
        templates,
    }
}

impl InfraCluster {
    /// The kind of template for a ClusterClass, if the provider has one with an endpoint: Azure's leaves it to the load balancer,
    /// and Tinkerbell has none.
    pub fn template(&self) -> Option<String> {
        let has_one = !matches!(self.kind, "AzureCluster" | "TinkerbellCluster");
        has_one.then(|| format!("{}Template", self.kind))
    }
}

/// The infrastructure cluster of a machine template's provider, in the template's API version if it exists, else in the kind's
/// default.
pub fn beside(template: &Kind, version: &str) -> Option<(&'static InfraCluster, &'static str)> {
    let is_same_provider = |cluster: &&InfraCluster| {
        cluster.group == template.group && cluster.templates.contains(&template.kind)
    };
    let cluster = INFRA_CLUSTERS.iter().find(is_same_provider)?;
    let mut versions = cluster.versions.iter();
    let same = versions.find(|known| **known == version);
    Some((cluster, same.unwrap_or(&cluster.versions[0])))
}

#[cfg(test)]
mod tests {
    use super::{INFRA_CLUSTERS, beside};
    use crate::providers::PROVIDERS;

    #[test]
    fn every_machine_template_has_its_infrastructure_cluster() {
        let mut seen = Vec::new();
        for provider in PROVIDERS {
            for kind in provider.kinds().iter().filter(|kind| kind.is_template()) {
                for version in kind.versions {
                    let found = beside(kind, version);
                    let (cluster, chosen) = found.unwrap_or_else(|| panic!("{}", kind.kind));
                    assert!(cluster.versions.contains(&chosen));
                    seen.push((cluster.group, cluster.kind));
                }
            }
        }
        for cluster in INFRA_CLUSTERS {
            assert!(
                seen.contains(&(cluster.group, cluster.kind)),
                "{}",
                cluster.kind
            );
        }
    }
}

//! The kinds of infrastructure clusters, which contain the control plane endpoint and match a provider's machine templates.
//!
//! All of them have `spec.controlPlaneEndpoint.{host, port}` by Cluster API's contract; other required fields are in their CRDs.
//! An endpoint is set once: Cluster API copies it to the `Cluster`, where it is immutable.

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
    /// Whether a ClusterClass may have a template of it with an endpoint.
    pub has_template: bool,
    /// What is known to happen where the endpoint is blank; none where the provider makes one, or nobody has looked.
    pub blank_endpoint: Option<BlankEndpoint>,
}

/// What happens where an infrastructure cluster names no endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlankEndpoint {
    /// The provider's webhook refuses it.
    Refused,
    /// No release of the provider's controller fills it in, and another controller may.
    Left,
}

impl InfraCluster {
    /// A kind of Cluster API's infrastructure group.
    pub(super) const fn new(
        kind: &'static str,
        versions: &'static [&'static str],
        required: &'static [&'static str],
    ) -> Self {
        Self {
            kind,
            group: INFRASTRUCTURE,
            versions,
            required,
            has_template: true,
            blank_endpoint: None,
        }
    }

    /// The kind of template for a ClusterClass, if the provider has one with an endpoint.
    pub fn template(&self) -> Option<String> {
        self.has_template.then(|| format!("{}Template", self.kind))
    }

    /// The API version beside a machine template of that one: the same if it exists, else the default.
    pub fn version_beside(&self, version: &str) -> &'static str {
        let mut versions = self.versions.iter();
        versions
            .find(|known| **known == version)
            .unwrap_or(&self.versions[0])
    }
}

#[cfg(test)]
mod tests {
    use crate::providers::PROVIDERS;

    #[test]
    fn the_infrastructure_cluster_has_the_templates_group_and_its_version_where_it_exists() {
        for provider in PROVIDERS {
            for kind in provider
                .data()
                .kinds
                .iter()
                .filter(|kind| kind.is_template())
            {
                let cluster = provider.infra_cluster(kind);
                assert_eq!(cluster.group, kind.group);
                for version in kind.versions {
                    let chosen = cluster.version_beside(version);
                    assert!(cluster.versions.contains(&chosen));
                    assert!(chosen == *version || !cluster.versions.contains(version));
                }
            }
        }
    }
}

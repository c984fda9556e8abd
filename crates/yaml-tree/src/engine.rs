//! The programs whose reading of values is reproduced. They differ in details, and a project says which one deploys it.

/// The program that will read the values.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Helm 3.19 and later, with the version constraints of Masterminds/semver 3.4 and built with Go 1.24.
    #[default]
    Helm3,
    /// Helm 3 before 3.19. (3.18 is built with Go 1.24 already: its loops over integers are refused here.)
    #[serde(rename = "helm3.18")]
    Helm3_18,
    /// Helm 4.
    Helm4,
    /// kubectl, and whatever else reads Kubernetes objects with apimachinery. It keeps 64-bit integers.
    Kubectl,
}

impl Engine {
    /// Whether it is Helm 3, which reads values with go-yaml v2 in one piece.
    pub fn is_helm3(self) -> bool {
        matches!(self, Self::Helm3 | Self::Helm3_18)
    }
}

//! Whose reading of values counts: the engines differ in a few corners, and a project says which one it deploys with.

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
    /// Helm 3, which Flux and Argo CD embed.
    #[default]
    Helm3,
    /// Helm 4.
    Helm4,
    /// kubectl, and whatever else reads Kubernetes objects with apimachinery. It keeps 64-bit integers.
    Kubectl,
}

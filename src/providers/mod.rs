//! The infrastructure providers: how each one's machine template says which image to boot, one file each.

mod capm3;

use std::sync::Arc;

use crate::model::image::is_oci;
use crate::model::value::{Map, Node};

/// An infrastructure provider of Cluster API.
pub trait Provider: Sync {
    /// The name in `cluster.capi_providers.infra_provider`.
    fn name(&self) -> &'static str;
    /// The image formats that its machines can boot, as `image-format` spells them.
    fn formats(&self) -> &'static [&'static str];
    /// The kind of its machine template.
    fn kind(&self) -> &'static str;
    /// The API group of its machine template.
    fn group(&self) -> &'static str;
    /// The API versions of its machine template that can be written, the default first.
    fn versions(&self) -> &'static [&'static str];
    /// The settings of a pool that end up in its machine template, the image apart: only those are evaluated.
    fn settings(&self) -> &'static [&'static str];
    /// The image object of a machine template.
    fn image_fields(&self, stamp: &Stamp, version: &str) -> Map;
    /// The whole `spec` of a machine template: the image, and of the pool's settings those that this version knows.
    fn template_spec(&self, stamp: Option<&Stamp>, settings: &Node, version: &str) -> Map;
    /// What the provider's webhook would refuse, each in one clause.
    fn problems(&self, stamp: Option<&Stamp>, settings: &Node, version: &str) -> Vec<String>;
}

/// Every provider, by name.
pub const PROVIDERS: &[&dyn Provider] = &[&capm3::Capm3];

/// The provider of that name.
pub fn find(name: &str) -> Option<&'static dyn Provider> {
    PROVIDERS
        .iter()
        .copied()
        .find(|provider| provider.name() == name)
}

/// What is stamped of an image, ready for a provider's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The key of the image; none where the values give the URL themselves.
    pub key: Option<Arc<str>>,
    /// Where machines fetch the image from.
    pub url: Arc<str>,
    /// `raw`, `qcow2` …; none where nothing says it, which is a finding of `format-missing`.
    pub format: Option<Arc<str>>,
    /// The hex digest, or the URL of a file that holds it.
    pub checksum: Option<Arc<str>>,
    /// `sha256`, `md5`, `sha512`.
    pub checksum_type: Option<Arc<str>>,
}

impl Stamp {
    /// Whether the machine pulls the image from a registry itself, so that the reference proves the content.
    pub fn is_oci(&self) -> bool {
        is_oci(&self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::PROVIDERS;

    #[test]
    fn names_are_unique_and_a_default_version_is_there() {
        for (index, provider) in PROVIDERS.iter().enumerate() {
            assert!(!provider.versions().is_empty());
            assert!(
                PROVIDERS[index + 1..]
                    .iter()
                    .all(|other| other.name() != provider.name())
            );
        }
    }
}

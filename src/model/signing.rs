//! Who signs images, as the values say it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::image::Image;
use super::place::Located;

/// The property of an image, or of a registry, that names the key: a PEM public key, or the path of a file that holds one.
pub const KEY_PROPERTY: &str = "cosign_publickey";

/// The keys that a cluster's values name (S18, S19), evaluated.
#[derive(Clone, Debug, Default)]
pub struct SigningKeys {
    /// `security.os_images.skip_signing_check`: nobody looks at signatures.
    pub skip: bool,
    /// `security.os_images.cosign_public_key`: for the builder's images whose registry names no key.
    pub default_key: Option<Located<Arc<str>>>,
    /// `os_images_oci_registries.<name>.cosign_publickey`, where it is not empty.
    pub registries: BTreeMap<Arc<str>, Located<Arc<str>>>,
}

impl SigningKeys {
    /// The key that an image is to be signed with: its own, its registry's, for the builder's images the default one. None
    /// where none is named, or nobody is to look.
    pub fn of(&self, image: &Image) -> Option<Located<Arc<str>>> {
        if self.skip {
            return None;
        }
        let own = image.facts.get(KEY_PROPERTY);
        let own = own.filter(|key| !key.value.is_empty() && !image.built);
        if let Some(own) = own {
            return Some(Located::new(Arc::clone(&own.value), own.place));
        }
        let registry = image.registry.as_ref().filter(|_| image.built)?;
        let named = self.registries.get(registry);
        named.or(self.default_key.as_ref()).cloned()
    }
}

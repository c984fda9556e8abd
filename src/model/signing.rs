//! Who signs images, as the values say it, and which images the project requires to be signed.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::Image;
use oci_artifacts::{Address, Reference};
use yaml_tree::place::{Located, Place};

/// The property of an image, or of a registry, that names the key: a PEM public key, or the path of a file that holds one.
pub const KEY_PROPERTY: &str = "cosign_publickey";

/// A key that the values name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedKey {
    /// Its text.
    Text(Located<Arc<str>>),
    /// A value that cannot be evaluated or is not a text: nothing can be verified with it.
    Failed(Place),
}

/// The keys that a cluster's values name (docs/sylva.md#facts, #signatures), evaluated.
#[derive(Clone, Debug, Default)]
pub struct SigningKeys {
    /// `security.os_images.skip_signing_check`: signatures are not checked, unless the project requires them.
    pub skip: bool,
    /// `security.os_images.cosign_public_key`: for the builder's images that name no registry, or one without a key.
    pub default_key: Option<NamedKey>,
    /// Whether the default key is for images with a `uri` of their own too: where the catalog has no others.
    pub is_for_own: bool,
    /// `os_images_oci_registries.<name>.cosign_publickey`, where it is not empty.
    pub registries: BTreeMap<Arc<str>, NamedKey>,
}

impl NamedKey {
    /// Where it is named.
    pub fn place(&self) -> Place {
        match self {
            Self::Text(text) => text.place,
            Self::Failed(place) => *place,
        }
    }
}

impl SigningKeys {
    /// The key that an image is to be signed with: its own, its registry's, else the default one. None where none is named.
    pub fn find_key(&self, image: &Image) -> Option<NamedKey> {
        let named = if image.built {
            let registry = image.registry.as_ref();
            registry.and_then(|registry| self.registries.get(registry).cloned())
        } else {
            let own = image.facts.get(KEY_PROPERTY);
            let own = own.filter(|key| !key.value.trim().is_empty());
            let named =
                own.map(|own| NamedKey::Text(Located::new(Arc::clone(&own.value), own.place)));
            let mistyped = image.facts.wrong_type(KEY_PROPERTY);
            let is_no_text = mistyped.is_some_and(|kind| kind != "null");
            named.or_else(|| is_no_text.then_some(NamedKey::Failed(image.place)))
        };
        let default = self.default_key.as_ref();
        named.or_else(|| default.filter(|_| image.built || self.is_for_own).cloned())
    }
}

/// Which images have to be signed whatever the values say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RequiredSignatures {
    /// None.
    #[default]
    Nowhere,
    /// All of them.
    Everywhere,
    /// Those below these prefixes.
    Below(Vec<Reference>),
}

impl RequiredSignatures {
    /// Whether an image with this reference or address has to be signed.
    pub fn cover(&self, address: &Address) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Everywhere => true,
            Self::Below(prefixes) => address.is_below(prefixes),
        }
    }
}

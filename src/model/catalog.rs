//! The image catalog as the values write it, evaluated but not yet expanded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Facts, fact};
use oci_artifacts::Digest;
use yaml_tree::place::{Located, Place, Sources};

use super::name::split_registry;

/// Everything that the values say of images.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The entries of both lists, in file order within each list's map: `os_images` first, then the builder's.
    pub entries: Vec<CatalogEntry>,
    /// `component_bundles`, in file order.
    pub bundles: Vec<CatalogEntry>,
    /// `os_images_oci_registries`, by name.
    pub registries: BTreeMap<Arc<str>, Registry>,
    /// `diskimage_builder_version` or `sylva_diskimagebuilder_version`.
    pub version: Option<Located<Arc<str>>>,
    /// `sylva_base_oci_registry`, where it is set (docs/sylva.md#the-catalog).
    pub base_registry: Option<Located<Arc<str>>>,
    /// The images of which something depends on a secret.
    pub unknown: BTreeSet<Arc<str>>,
}

/// A catalog and the files that its places point into.
#[derive(Clone, Debug)]
pub struct ReadCatalog {
    /// What the values say.
    pub catalog: Arc<Catalog>,
    /// Their files.
    pub sources: Sources,
}

impl Catalog {
    /// The registries that images come from, and that are not switched off (docs/sylva.md#the-catalog).
    pub fn registries_of_images(&self) -> BTreeSet<Arc<str>> {
        let named = { self.entries.iter() }.filter_map(|entry| self.registry_of(entry));
        let is_on = |name: &&Arc<str>| {
            let registry = self.registries.get(&**name);
            registry.is_none_or(|registry| registry.enabled)
        };
        named.filter(is_on).cloned().collect()
    }

    /// The registry of an entry: the one that it names; of `os_images`, the one that the chart's fact or the key `REGISTRY--NAME`
    /// says, if there is such a registry (docs/sylva.md#the-catalog).
    pub fn registry_of<'c>(&'c self, entry: &'c CatalogEntry) -> Option<&'c Arc<str>> {
        if entry.built {
            return entry.registry.as_ref().map(|name| &name.value);
        }
        let mut properties = entry.properties.iter();
        let fact = properties.find(|(name, _)| **name == *fact::OCI_REGISTRY);
        let of_key = split_registry(&entry.name.value).0;
        let name = fact.map(|(_, said)| &*said.value).or(of_key)?;
        self.registries.get_key_value(name).map(|(name, _)| name)
    }
}

/// An entry of `os_images_oci_registries` (docs/sylva.md#the-catalog).
#[derive(Clone, Debug)]
pub struct Registry {
    /// `oci://…`, without a trailing slash.
    pub url: Option<Located<Arc<str>>>,
    /// The version of every image it offers.
    pub tag: Option<Located<Arc<str>>>,
    /// The value that an expression takes the tag from: its path, at the place of its text.
    pub tag_value: Option<Located<Arc<str>>>,
    /// False skips all its images (docs/sylva.md#the-catalog).
    pub enabled: bool,
    /// The place of its key.
    pub place: Place,
}

/// One entry of the catalog.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// The key as evaluated; it may hold dots.
    pub name: Located<Arc<str>>,
    /// Whether it is in the builder's list (`sylva_diskimagebuilder_images`, `diskimage_builder_os_images`) rather than
    /// in `os_images`.
    pub built: bool,
    /// The list of the values that has it, as the user calls it.
    pub list: &'static str,
    /// `os_images_oci_registry`.
    pub registry: Option<Located<Arc<str>>>,
    /// Whether it is served, where entries of this catalog say so (docs/sylva.md#the-catalog): as `enabled` and
    /// `default_enabled` evaluate to.
    pub enabled: Option<Located<bool>>,
    /// `default_enabled` as written, which counts only beside no image of the user's own.
    pub default_enabled: Option<Located<bool>>,
    /// `uri`, `sha256`, `filename` and every other property that is a scalar, as text, by name. The proposal's and the old
    /// names are kept as written (`checksum`).
    pub properties: Vec<(Arc<str>, Located<Arc<str>>)>,
    /// The properties that are neither strings nor booleans, and what they are: numbers, whose text is among the
    /// properties, and maps, lists and nulls, which do not (docs/sylva.md#the-catalog, #selectors).
    pub mistyped: Vec<(Arc<str>, &'static str)>,
    /// The place of the entry's key.
    pub place: Place,
}

/// What a source knows of one image.
#[derive(Clone, Debug)]
pub struct Described {
    /// The image's key or its artifact's name, as the source writes it.
    pub name: Arc<str>,
    /// Where the source names it.
    pub place: Place,
    /// What is known, each fact with the source's origin.
    pub facts: Facts,
    /// The digest that the image is locked to, where the source is the lock.
    pub digest: Option<Located<Digest>>,
    /// The digest of the manifest that machines pull, where the source is the lock.
    pub pulled: Option<Digest>,
}

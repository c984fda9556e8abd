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
    /// The registries that images come from; of the builders' those that are not switched off (docs/sylva.md#the-catalog).
    pub fn registries_of_images(&self) -> BTreeSet<Arc<str>> {
        let is_on = |entry: &CatalogEntry, name: &Arc<str>| {
            let registry = self.registries.get(&**name);
            !entry.built || registry.is_none_or(|registry| registry.enabled)
        };
        if self.has_list() {
            let named = { self.entries.iter() }.filter_map(|entry| {
                let name = self.registry_of(entry)?;
                is_on(entry, name).then(|| Arc::clone(name))
            });
            named.collect()
        } else {
            // The images that other sources list may be of any.
            self.registries.keys().cloned().collect()
        }
    }

    /// Whether it has a builder's list. Without one, the images that other sources list are its images.
    pub fn has_list(&self) -> bool {
        self.entries.iter().any(|entry| entry.built)
    }

    /// The registry of an entry: the one that it names; of `os_images`, the one that the chart's fact or the key `REGISTRY--NAME`
    /// says, if there is such a registry (docs/sylva.md#the-catalog), else the one that its reference is of.
    pub fn registry_of<'c>(&'c self, entry: &'c CatalogEntry) -> Option<&'c Arc<str>> {
        if entry.built {
            return entry.registry.as_ref().map(|name| &name.value);
        }
        let mut properties = entry.properties.iter();
        let fact = properties.find(|(name, _)| **name == *fact::OCI_REGISTRY);
        let fact = fact.map(|(_, said)| &*said.value);
        let reference = entry.own_reference().map(|uri| &*uri.value);
        self.find_registry(&entry.name.value, fact, reference)
    }

    /// The registry of an image that no builder's list has, by its key, the chart's fact and its reference.
    pub fn find_registry(
        &self,
        key: &str,
        fact: Option<&str>,
        reference: Option<&str>,
    ) -> Option<&Arc<str>> {
        let name = fact.or(split_registry(key).0);
        let named = name.and_then(|name| self.registries.get_key_value(name));
        let found = named.map(|(name, _)| name);
        found.or_else(|| self.registry_of_reference(reference?))
    }

    /// The registry below whose `url` a reference is: of several, as generations of images have one, the one with its tag.
    fn registry_of_reference(&self, reference: &str) -> Option<&Arc<str>> {
        let registries = || self.registries.iter();
        let with_tag = registries().find(|(_, registry)| registry.has_image(reference));
        let found = with_tag.or_else(|| registries().find(|it| it.1.is_above(reference)));
        found.map(|(name, _)| name)
    }

    /// Whether an image that was exported from a cluster is one of an older generation: of a registry at its tag, of which no builder's
    /// list has this image. Where the tag is a builder's version, its list has all, if it has any (docs/sylva.md#the-catalog).
    pub fn is_of_older(&self, key: &str, reference: Option<&str>) -> bool {
        let (name, bare) = split_registry(key);
        let known = name.and_then(|name| Some((name, self.registries.get(name)?)));
        let Some(((name, registry), reference)) = known.zip(reference) else {
            return false;
        };
        let version = self.version.as_ref().map(|version| &version.value);
        let is_version =
            registry.tag_value.is_some() || registry.tag.as_ref().map(|tag| &tag.value) == version;
        let built = self.entries.iter().filter(|entry| entry.built);
        let mut listed = built.filter(|it| self.registry_of(it).is_some_and(|of| **of == *name));
        registry.has_image(reference)
            && !listed.any(|entry| is_version || *entry.name.value == *bare)
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

impl Registry {
    /// Whether a reference is below its `url`.
    fn is_above(&self, reference: &str) -> bool {
        let image = { self.url.as_ref() }.and_then(|url| {
            let image = reference.strip_prefix(url.value.trim_end_matches('/'));
            image?.strip_prefix('/')
        });
        image.is_some()
    }

    /// Whether a reference is below its `url`, at its tag.
    pub fn has_image(&self, reference: &str) -> bool {
        let tag = reference.rsplit_once(':').map(|(_, tag)| tag);
        self.is_above(reference) && self.tag.as_ref().map(|tag| &*tag.value) == tag
    }
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

impl CatalogEntry {
    /// The reference that it gives itself.
    pub fn own_reference(&self) -> Option<&Located<Arc<str>>> {
        let names = [
            fact::URI,
            "locations.oci",
            "locations.oci.url",
            "locations.https",
            "locations.https.url",
        ];
        let mut own = names.iter().filter_map(|name| {
            let mut properties = self.properties.iter();
            properties.find(|(known, _)| **known == **name)
        });
        own.next().map(|(_, uri)| uri)
    }
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

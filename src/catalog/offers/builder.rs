//! The builders of the catalog's images, found by what the values do: each has a version that registries' tags are made of.

use std::collections::BTreeSet;
use std::sync::Arc;

use oci_artifacts::{Reference, SCHEME, is_oci};
use yaml_tree::place::Located;

use crate::catalog::resolve;
use crate::decide::successor::same_line;
use crate::model::catalog::{Catalog, CatalogEntry, ReadCatalog};

/// The value with the version of the first builder.
const FIRST: &str = "sylva_diskimagebuilder_version";

/// A builder, whose images have one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Builder {
    /// The path of the value with its version; none for `sylva_diskimagebuilder_version` and its older name.
    pub value: Option<Arc<str>>,
    /// The version in the values, if there is one.
    pub version: Option<Arc<str>>,
    /// The registries with its images that the catalog names.
    pub registries: BTreeSet<Arc<str>>,
    /// Whether the value is a registry's own tag, which nothing else follows: an older generation's, perhaps.
    pub is_own_tag: bool,
}

impl Builder {
    /// Every builder: the first one first, then by their values' paths. Environments whose values have different versions have builders
    /// of their own, in the catalogs' order.
    pub fn find(catalogs: &[ReadCatalog]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for ReadCatalog { catalog, .. } in catalogs {
            let version = catalog.version.as_ref();
            let main = version.map(|version| Self {
                version: Some(Arc::clone(&version.value)),
                ..Self::default()
            });
            let of_entries = builder_entries(catalog).map(|entry| Self::from_entry(catalog, entry));
            for found in main.into_iter().chain(of_entries) {
                let is_same = |known: &&mut Self| {
                    known.value == found.value
                        && (found.version.is_none() || known.version == found.version)
                };
                match all.iter_mut().find(is_same) {
                    Some(known) => {
                        known.registries.extend(found.registries);
                    }
                    None => all.push(found),
                }
            }
        }
        all.retain(|builder| builder.version.is_some());
        all.sort_by(|one, other| one.value.cmp(&other.value));
        all
    }

    /// The builder of an entry.
    fn from_entry(catalog: &Catalog, entry: &CatalogEntry) -> Self {
        let name = entry.registry.as_ref().map(|name| &name.value);
        Self::from_registry(catalog, name)
    }

    /// The builder of a registry's images.
    fn from_registry(catalog: &Catalog, name: Option<&Arc<str>>) -> Self {
        let main = catalog.version.as_ref();
        let mut builder = Self {
            version: main.map(|version| Arc::clone(&version.value)),
            registries: name.cloned().into_iter().collect(),
            ..Self::default()
        };
        let registry = name.and_then(|name| catalog.registries.get(name));
        if let (Some(name), Some(registry)) = (name, registry)
            && let Some(tag) = &registry.tag
        {
            builder.version = Some(Arc::clone(&tag.value));
            builder.value = match &registry.tag_value {
                Some(value) if main.is_some_and(|main| main.place == value.place) => None,
                Some(value) => Some(Arc::clone(&value.value)),
                // The version repeated.
                None if main.is_some_and(|main| main.value == tag.value) => None,
                None => {
                    builder.is_own_tag = true;
                    Some(format!("os_images_oci_registries.{name}.tag").into())
                }
            };
        }
        builder
    }

    /// Whether an entry is this builder's, at the version that the builder has.
    pub fn is_of(&self, catalog: &Catalog, entry: &CatalogEntry) -> bool {
        let of = Self::from_entry(catalog, entry);
        of.value == self.value && of.version == self.version
    }

    /// Whether an entry is of this builder at the version of another environment.
    pub fn is_elsewhere(&self, catalog: &Catalog, entry: &CatalogEntry) -> bool {
        let mut entries = builder_entries(catalog);
        Self::from_entry(catalog, entry).value == self.value
            && !entries.any(|entry| self.is_of(catalog, entry))
    }

    /// Where the values write its version: the value itself, and tags that repeat it.
    pub fn versions<'c>(
        &self,
        catalog: &'c Catalog,
    ) -> impl Iterator<Item = Located<Arc<str>>> + use<'_, 'c> {
        let main = catalog.version.iter().filter(|_| self.value.is_none());
        let registries = catalog.registries.iter();
        let own = registries
            .filter(|(name, _)| Self::from_registry(catalog, Some(name)).value == self.value);
        let tags = own.filter_map(|(_, registry)| {
            let tag = registry.tag.as_ref()?;
            let place = registry.tag_value.as_ref().unwrap_or(tag).place;
            Some(Located::new(Arc::clone(&tag.value), place))
        });
        let all = main.cloned().chain(tags);
        all.filter(|found| Some(&found.value) == self.version.as_ref())
    }

    /// The keys that the builders' lists hold, and the addresses below which this builder's images are and others' are.
    pub fn sites(&self, catalogs: &[ReadCatalog]) -> Sites {
        let (mut sites, mut own) = (Sites::default(), BTreeSet::new());
        for ReadCatalog { catalog, .. } in catalogs {
            for entry in builder_entries(catalog) {
                let key = entry.name.value.replace('.', "-");
                let of = if self.is_of(catalog, entry) {
                    own.insert(key.clone());
                    &mut sites.own
                } else {
                    &mut sites.foreign
                };
                sites.listed.insert(key);
                let url = resolve::registry_prefix(entry, catalog);
                of.extend(url.and_then(|url| prefix(&url)));
            }
        }
        sites.others = sites.listed.difference(&own).cloned().collect();
        let Sites { own, foreign, .. } = &mut sites;
        foreign.retain(|site| !own.contains(site));
        sites
    }

    /// What people call it: by its registries, if the catalog names any.
    pub fn name(&self) -> String {
        if self.registries.is_empty() {
            return FIRST.to_owned();
        }
        let names: Vec<&str> = self.registries.iter().map(|name| &**name).collect();
        names.join(", ")
    }

    /// Whether a word names it: a registry, or its value.
    pub fn has_name(&self, name: &str) -> bool {
        self.registries.contains(name) || self.value.as_deref().unwrap_or(FIRST) == name
    }
}

/// What is known of a builder's registries.
#[derive(Debug, Default)]
pub struct Sites {
    /// The keys of the builders' lists.
    pub listed: BTreeSet<String>,
    /// Those of them that this builder's lists do not hold.
    pub others: BTreeSet<String>,
    /// The addresses below which this builder's images are.
    pub own: BTreeSet<Reference>,
    /// Those of other builders.
    pub foreign: BTreeSet<Reference>,
}

impl Sites {
    /// Whether a name without an address is that of another builder's image, or of its line, and of none of this builder's.
    pub fn is_others(&self, key: &str) -> bool {
        let is_it = |known: &String| known == key || same_line(known, key);
        self.others.iter().any(is_it) && !self.listed.difference(&self.others).any(is_it)
    }

    /// Whether a reference is directly below an address of this builder, as its images are.
    pub fn is_own(&self, reference: &str) -> bool {
        folder(reference).is_ok_and(|folder| self.own.contains(&folder))
    }

    /// The images of the catalog whose name or reference at a version begins with a word, and is longer: the word is cut short.
    pub fn find_cut<'s>(&'s self, word: &str, version: &str) -> impl Iterator<Item = &'s String> {
        let word = word.to_ascii_lowercase().replace('.', "-");
        let is_cut = move |whole: String| {
            whole
                .replace('.', "-")
                .strip_prefix(&*word)
                .is_some_and(|rest| !rest.is_empty())
        };
        let (own, version) = (&self.own, version.to_owned());
        self.listed.iter().filter(move |key| {
            let mut addresses = own
                .iter()
                .map(|site| format!("{SCHEME}{}/{key}:{version}", site.name()));
            is_cut(format!("{key}:{version}")) || addresses.any(&is_cut)
        })
    }

    /// What a link to one of this builder's images refers to.
    pub fn link_target<'w>(&self, word: &'w str) -> Option<&'w str> {
        let (scheme, reference) = word.split_once("://")?;
        let (_, name) = reference.rsplit_once('/')?;
        let is_link = ["http", "https"].contains(&&*scheme.to_ascii_lowercase());
        (is_link && name.contains(':') && self.is_own(reference)).then_some(reference)
    }

    /// Whether a word that is no reference holds one of this builder's, beside other characters.
    pub fn is_within(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        let has_tag = |site: &Reference| {
            let path = word.split_once(&site.name())?.1.strip_prefix('/')?;
            path.split('/').next()?.contains(':').then_some(())
        };
        !word.starts_with("http") && self.own.iter().any(|site| has_tag(site).is_some())
    }

    /// Whether a reference is below another builder's address.
    pub fn is_foreign(&self, reference: &str) -> bool {
        let is_below = |folder: Reference| {
            let mut foreign = self.foreign.iter();
            foreign.any(|site| folder.strip_prefix(site).is_some())
        };
        folder(reference).is_ok_and(is_below)
    }
}

/// The address that a reference is directly below, in its one spelling; the text where no registry has such an address.
pub(super) fn folder(reference: &str) -> Result<Reference, &str> {
    let (folder, _) = reference.rsplit_once('/').unwrap_or_default();
    Reference::parse_prefix(folder).ok_or(folder)
}

/// A registry's `url`: a host, and perhaps a path; none of another scheme.
fn prefix(url: &str) -> Option<Reference> {
    is_oci(url).then(|| Reference::parse_prefix(url))?
}

fn builder_entries(catalog: &Catalog) -> impl Iterator<Item = &CatalogEntry> {
    catalog.entries.iter().filter(|entry| entry.built)
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn a_registry_s_url_is_a_host_and_perhaps_a_path() {
        let read = |url| prefix(url).map(|prefix| prefix.name());
        assert_eq!(
            read("oci://R.Example/a/b/").as_deref(),
            Some("r.example/a/b")
        );
        assert_eq!(
            read("oci://r.example:5000").as_deref(),
            Some("r.example:5000")
        );
        assert_eq!(read("https://r.example/a"), None);
    }
}

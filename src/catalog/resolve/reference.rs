//! Computes the OCI reference of a catalog entry.

use std::sync::Arc;

use oci_artifacts::{SCHEME, is_oci};
use yaml_tree::place::Located;

use crate::model::catalog::{Catalog, CatalogEntry, Registry};
use crate::model::name::key_of;

use super::Problem;

/// The result for an entry's reference.
pub(super) enum Reference {
    /// `<registry.url>/<artifact>:<registry.tag>` (docs/sylva.md#the-catalog), or what the entry says itself.
    Known(Arc<str>),
    /// Its registry is switched off (docs/sylva.md#the-catalog).
    Disabled,
    /// No registry has that name (docs/sylva.md#the-catalog); the rule `registry-unknown` sees it in the image.
    UnknownRegistry,
    /// The name of a missing part.
    Incomplete(String),
}

/// Where the builder publishes below `sylva_base_oci_registry` (docs/sylva.md#the-catalog).
const BUILDER_PATH: &str = "/sylva-elements/diskimage-builder";

/// `sylva_base_oci_registry` off the cluster, where the chart's own source cannot be looked up (docs/sylva.md#the-catalog).
const DEFAULT_BASE: &str = "oci://registry.gitlab.com/sylva-projects";

/// Puts the reference together. An entry of the builder's list that names no registry takes the base registry and the
/// builder's version, as the proposal and the first releases had it.
pub(super) fn compose(entry: &CatalogEntry, catalog: &Catalog) -> Reference {
    if let Some(uri) = entry.own_reference() {
        return Reference::Known(Arc::clone(&uri.value));
    }
    let name = &entry.name.value;
    if !entry.built {
        return Reference::Incomplete(format!("`{name}` of `os_images` has no `uri`"));
    }
    let version = catalog.version.as_ref().map(|version| &*version.value);
    let Some(registry_name) = entry.registry.as_ref().map(|registry| &registry.value) else {
        let base = catalog.base_registry.as_ref();
        let base = base.map_or(DEFAULT_BASE, |base| base.value.trim_end_matches('/'));
        let missing = || {
            Reference::Incomplete(format!(
                "no `diskimage_builder_version` says which build of `{name}` to take"
            ))
        };
        return version.map_or_else(missing, |version| {
            Reference::Known(format!("{base}{BUILDER_PATH}/{name}:{version}").into())
        });
    };
    let Some(registry) = catalog.registries.get(registry_name) else {
        return Reference::UnknownRegistry;
    };
    if !registry.enabled {
        return Reference::Disabled;
    }
    let tag = registry.tag.as_ref().map(|tag| &*tag.value).or(version);
    let url = registry.url.as_ref();
    match (url.map(|url| url.value.trim_end_matches('/')), tag) {
        (Some(url), _) if !is_oci(url) => Reference::Incomplete(format!(
            "the `url` of registry `{registry_name}` is not `oci://…`"
        )),
        (Some(url), Some(tag)) => Reference::Known(format!("{url}/{name}:{tag}").into()),
        (None, _) => Reference::Incomplete(format!("registry `{registry_name}` has no `url`")),
        (_, None) => Reference::Incomplete(format!("registry `{registry_name}` has no `tag`")),
    }
}

/// That an entry with a `uri` of its own says it is of one registry, and the `uri` is what another one has at its tag.
pub(super) fn other_registry(entry: &CatalogEntry, catalog: &Catalog) -> Option<Problem> {
    let uri = entry.own_reference().filter(|_| !entry.built)?;
    let claimed = catalog.registry_of(entry)?;
    let has_it = |registry: &Registry| registry.has_image(&uri.value);
    if has_it(&catalog.registries[claimed]) {
        return None;
    }
    let mut registries = catalog.registries.iter();
    let (actual, _) = registries.find(|(_, registry)| has_it(registry))?;
    Some(Problem::OtherRegistry {
        key: key_of(&entry.name.value).unwrap_or_else(|_| Arc::clone(&entry.name.value)),
        claimed: Located::new(Arc::clone(claimed), entry.place),
        actual: Arc::clone(actual),
        place: uri.place,
    })
}

/// The prefix of the name in the reference of an entry that its registry serves; none of an entry with a reference of its
/// own, or whose reference is not whole.
pub(super) fn prefix(entry: &CatalogEntry, catalog: &Catalog) -> Option<String> {
    if entry.own_reference().is_some() {
        return None;
    }
    match compose(entry, catalog) {
        Reference::Known(uri) => uri.rsplit_once('/').map(|(path, _)| path.to_owned()),
        _ => None,
    }
}

/// The artifact that an `oci://` reference names; none of any other URL.
pub(super) fn artifact(uri: &str) -> Option<&str> {
    name_and_tag(uri).map(|(name, _)| name)
}

/// Whether two references name one build: the same artifact at the same tag, from whatever registry. Where either is no OCI
/// reference with a tag, nothing distinguishes them.
pub(super) fn is_same_build(left: &str, right: &str) -> bool {
    match (name_and_tag(left), name_and_tag(right)) {
        (Some((left, Some(left_tag))), Some((right, Some(right_tag)))) => {
            left == right && left_tag == right_tag
        }
        _ => true,
    }
}

fn name_and_tag(uri: &str) -> Option<(&str, Option<&str>)> {
    let path = is_oci(uri).then(|| &uri[SCHEME.len()..])?;
    let path = path.split('@').next().unwrap_or(path);
    let last = path.rsplit_once('/').map(|(_, last)| last)?;
    match last.split_once(':') {
        Some((name, tag)) => Some((name, Some(tag))),
        None => Some((last, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::prefix;
    use crate::model::catalog::{Catalog, CatalogEntry, Registry};
    use yaml_tree::place::{Located, Place};

    #[test]
    fn a_registry_serves_no_entry_that_has_a_reference_of_its_own() {
        let text = |text: &str| Located::new(text.into(), Place::NONE);
        let registry = Registry {
            url: Some(text("oci://lab.org/os")),
            tag: Some(text("1")),
            tag_value: None,
            enabled: true,
            place: Place::NONE,
        };
        let catalog = Catalog {
            registries: [("lab".into(), registry)].into(),
            ..Catalog::default()
        };
        let prefix = |properties: Vec<_>| {
            let entry = CatalogEntry {
                name: text("noble"),
                built: true,
                list: "sylva_diskimagebuilder_images",
                registry: Some(text("lab")),
                enabled: None,
                default_enabled: None,
                properties,
                mistyped: Vec::new(),
                place: Place::NONE,
            };
            prefix(&entry, &catalog)
        };
        assert_eq!(prefix(Vec::new()).as_deref(), Some("oci://lab.org/os"));
        let own = ("uri".into(), text("oci://own.org/os/noble:1"));
        assert_eq!(prefix(vec![own]), None);
    }
}

//! The image catalog: both lists, the registries and the versions, in the proposal's words and in Sylva's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::fact;
use yaml_tree::place::Located;
use yaml_tree::value::{Node, Value};

use super::report::{Report, is_true};
use crate::evaluate::{Branch, BranchEntry, Evaluator};
use crate::model::catalog::{Catalog, CatalogEntry, Registry};
use crate::model::signing::{KEY_NAMES, KEY_PROPERTY};
use crate::model::written::WrittenImage;

/// The lists of images that are given with their references: today's name and the one until 2024-03.
const GIVEN: [&str; 2] = ["os_images", "osImages"];
/// The lists of the builder's images: Sylva's name and the proposal's.
const BUILT: [&str; 2] = [
    "sylva_diskimagebuilder_images",
    "diskimage_builder_os_images",
];
/// The registries by name.
pub(super) const REGISTRIES: &str = "os_images_oci_registries";
/// The registry of everything that Sylva publishes (docs/sylva.md#the-catalog).
const BASE: &str = "sylva_base_oci_registry";
/// The component bundles.
const BUNDLES: &str = "component_bundles";
/// The builder's version, likewise.
const VERSION: [&str; 2] = [
    "sylva_diskimagebuilder_version",
    "diskimage_builder_version",
];

/// Every key that the catalog is made of.
pub(super) const KEYS: [&str; 9] = [
    GIVEN[0], GIVEN[1], BUILT[0], BUILT[1], VERSION[0], VERSION[1], REGISTRIES, BASE, BUNDLES,
];

/// What an entry is read for; any other key is a fact of its own, for selectors.
const ENTRY_KEYS: [&str; 22] = [
    "os_images_oci_registry",
    "enabled",
    "default_enabled",
    KEY_NAMES[0],
    KEY_NAMES[1],
    "signature",
    fact::URI,
    fact::FILENAME,
    fact::SHA256,
    fact::MD5,
    fact::IMAGE_FORMAT,
    fact::COMPRESSION,
    fact::SIZE,
    fact::ARCHIVE_SIZE,
    fact::OS,
    fact::OS_RELEASE,
    fact::HARDENED,
    fact::FLAVOR,
    fact::K8S_FLAVOR,
    fact::K8S_VERSION,
    fact::COMMIT_TAG,
    fact::OCI_REGISTRY,
];

/// The catalog, evaluated: the version only where there is a list of the builder's images, the base registry only where an image
/// needs it.
pub(super) fn catalog(evaluator: &Evaluator, report: &mut Report<'_>) -> Catalog {
    let root = evaluator.root();
    let (mut entries, mut has_builder) = (Vec::new(), false);
    let mut unknown = BTreeSet::new();
    for (names, built) in [(GIVEN, false), (BUILT, true)] {
        let first = entries.len();
        for name in names {
            has_builder |= images(&root, name, built, report, &mut entries, &mut unknown) && built;
        }
        entries[first..].sort_by_key(|entry: &CatalogEntry| (entry.place.file, entry.place.start));
    }
    switch(&mut entries);
    let mut bundles = Vec::new();
    images(
        &root,
        BUNDLES,
        false,
        report,
        &mut bundles,
        &mut BTreeSet::new(),
    );
    let needs_base = entries
        .iter()
        .any(|entry| entry.built && entry.registry.is_none());
    let version = { VERSION.iter() }
        .filter(|_| has_builder)
        .find_map(|name| report.string(&root, name));
    let base_registry = needs_base.then(|| report.string(&root, BASE)).flatten();
    let registries = registries(&root, report);
    // Each reference of the builder's images may hold them.
    if !std::mem::take(&mut report.unknown).is_empty() {
        let built = entries.extract_if(.., |entry| entry.built);
        unknown.extend(built.map(|entry| entry.name.value));
    }
    Catalog {
        version,
        base_registry,
        registries,
        entries,
        bundles,
        unknown,
    }
}

/// Where the builder's entries carry `enabled` or `default_enabled`, as they did up to 2025-03 (docs/sylva.md#the-catalog): the
/// second counts only beside no image of the user's own, and those are always served.
fn switch(entries: &mut [CatalogEntry]) {
    let has_own = entries.iter().any(|entry| !entry.built);
    let has_switches = entries
        .iter()
        .any(|entry| entry.built && (entry.enabled.is_some() || entry.default_enabled.is_some()));
    if !has_switches {
        return;
    }
    for entry in entries {
        if !entry.built {
            let served = Located::new(true, entry.place);
            entry.enabled.get_or_insert(served);
            continue;
        }
        let is_on = |flag: &&Located<bool>| flag.value;
        let default = entry.default_enabled.as_ref();
        let on = entry.enabled.as_ref().filter(is_on);
        let on = on.or(default.filter(is_on).filter(|_| !has_own)).cloned();
        let off = entry.enabled.as_ref().or(default);
        let off = off.map(|flag| Located::new(false, flag.place));
        entry.enabled = on.or(off);
    }
}

/// Adds the images of a list. Whether there is one, which may be empty.
fn images(
    root: &Branch,
    list: &'static str,
    built: bool,
    report: &mut Report<'_>,
    entries: &mut Vec<CatalogEntry>,
    unknown: &mut BTreeSet<Arc<str>>,
) -> bool {
    let Some(branch) = report.answer(root.child(list)) else {
        return false;
    };
    let Some(node) = report.answer(branch.shallow()) else {
        return false;
    };
    if !report.expect_map(list, &node) {
        return false;
    }
    for found in report.answer(branch.entries()).unwrap_or_default() {
        report.unknown.clear();
        let entry = image(&found, list, built, report);
        if report.unknown.is_empty() {
            entries.extend(entry);
        } else {
            unknown.extend(entry.map(|entry| entry.name.value));
        }
    }
    true
}

/// One image. What it says beside its name may be nothing (`{}`), or null.
fn image(
    found: &BranchEntry,
    list: &'static str,
    built: bool,
    report: &mut Report<'_>,
) -> Option<CatalogEntry> {
    let mut entry = CatalogEntry {
        name: Located::new(Arc::clone(&found.key), found.key_place),
        built,
        list,
        registry: None,
        enabled: None,
        default_enabled: None,
        properties: Vec::new(),
        mistyped: Vec::new(),
        place: found.key_place,
    };
    let said = match found.branch.shallow() {
        Ok(Some(node)) => node,
        // An expression leaves the image out.
        Ok(None) => return None,
        Err(failure) => {
            report.answer::<()>(Err(failure));
            return Some(entry);
        }
    };
    report.expect_map(&found.branch.path(), &said);
    let mut written = WrittenImage::new(Arc::clone(&found.key), found.key_place);
    for property in report.answer(found.branch.entries()).unwrap_or_default() {
        let node = property.branch.node();
        let names_key = KEY_NAMES
            .iter()
            .any(|name| name.split('.').next() == Some(&*property.key));
        // An image whose key cannot be evaluated is not one without a key.
        if node.is_err() && names_key {
            written.mistyped.push((KEY_PROPERTY.into(), FAILED));
        }
        let Some(node) = report.answer(node) else {
            continue;
        };
        let path = property.branch.path();
        // Bundles have keys of their own.
        if list != BUNDLES {
            let (of, place) = (found.branch.path(), property.key_place);
            if report.expect_spelling(&of, &property.key, place, &ENTRY_KEYS) {
                report.expect_signer(&of, &property.key, &node);
            }
        }
        // Which key an image is signed with decides about no image.
        if let Some((secret, _)) = node.opaque().filter(|_| !names_key) {
            report.wrong_type(&path, secret, "a string");
            continue;
        }
        match &*property.key {
            "os_images_oci_registry" => entry.registry = report.text_of(&path, &node),
            "enabled" => entry.enabled = flag(&path, &node, report),
            "default_enabled" => entry.default_enabled = flag(&path, &node, report),
            _ => written.read(&property.key, &node, None),
        }
    }
    entry.properties = written.properties;
    entry.mistyped = written.mistyped;
    Some(entry)
}

/// What an expression is that cannot be evaluated.
const FAILED: &str = "an expression that fails";

/// A boolean, or the text of one that an expression printed.
pub(super) fn flag(path: &str, node: &Node, report: &mut Report<'_>) -> Option<Located<bool>> {
    let flag = match &node.value {
        Value::Null => return None,
        Value::Bool(flag) => *flag,
        Value::String(text) if &**text == "true" => true,
        Value::String(text) if matches!(&**text, "false" | "") => false,
        _ => {
            report.wrong_type(path, node, "a boolean");
            return None;
        }
    };
    Some(Located::new(flag, node.place))
}

fn registries(root: &Branch, report: &mut Report<'_>) -> BTreeMap<Arc<str>, Registry> {
    let entries = report.entries(root, REGISTRIES).into_iter();
    let registries = entries.map(|found| {
        let registry = registry(root, &found, report);
        (found.key, registry)
    });
    registries.collect()
}

/// Reads no more than what references need: a registry's key is none of it.
fn registry(root: &Branch, found: &BranchEntry, report: &mut Report<'_>) -> Registry {
    let url = report.string(&found.branch, "url").map(|url| {
        let trimmed = url.value.trim_end_matches('/');
        Located::new(Arc::from(trimmed), url.place)
    });
    let enabled = report
        .answer(found.branch.child("enabled"))
        .and_then(|branch| report.answer(branch.node()));
    let tag = report.string(&found.branch, "tag");
    let tag_value = tag.as_ref().and_then(|tag| {
        let written = report.answer(found.branch.child("tag"))?;
        value_of(root, written, &tag.value, report)
    });
    Registry {
        url,
        tag,
        tag_value,
        enabled: enabled.is_none_or(|node| is_true(&node.value)),
        place: found.key_place,
    }
}

/// The value that is written as this text, where an expression only passes it on, perhaps over others that do.
fn value_of(
    root: &Branch,
    expression: Branch,
    text: &str,
    report: &mut Report<'_>,
) -> Option<Located<Arc<str>>> {
    let (mut branch, mut seen) = (expression, BTreeSet::new());
    loop {
        let path: Arc<str> = value_path(branch.text()?)?.into();
        if !seen.insert(Arc::clone(&path)) {
            return None;
        }
        let keys: Vec<&str> = path.split('.').collect();
        branch = report.answer(root.get_path(&keys))?;
        if branch.text().is_some_and(|written| **written == *text) {
            return Some(Located::new(path, branch.place()));
        }
    }
}

/// The one value that an expression reads.
fn value_path(expression: &str) -> Option<&str> {
    const VALUES: &str = ".Values.";
    let (_, rest) = expression.split_once(VALUES)?;
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
    (!rest.contains(VALUES)).then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::{CatalogEntry, Located, switch};
    use yaml_tree::place::{FileId, Place};

    #[test]
    fn an_image_that_is_switched_off_twice_is_off_by_its_own_switch() {
        let flag = |start: u32| {
            let place = Place {
                file: FileId(0),
                start,
                end: start + 5,
            };
            Some(Located::new(false, place))
        };
        let mut entries = [CatalogEntry {
            name: Located::new("noble".into(), Place::NONE),
            built: true,
            list: "sylva_diskimagebuilder_images",
            registry: None,
            enabled: flag(10),
            default_enabled: flag(30),
            properties: Vec::new(),
            mistyped: Vec::new(),
            place: Place::NONE,
        }];
        switch(&mut entries);
        assert_eq!(entries[0].enabled, flag(10));
    }
}

//! The image catalogue that the values hold, in either vocabulary.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::evaluate::BranchEntry;
use crate::model::catalogue::{Catalogue, CatalogueEntry};
use crate::model::json;
use crate::model::place::Located;
use crate::model::value::{Node, Value};
use crate::model::workspace::Registry;

use super::reader::Reader;

/// The builder's list: as Sylva names it, and as the proposal did.
const BUILT: [&str; 2] = [
    "sylva_diskimagebuilder_images",
    "diskimage_builder_os_images",
];
/// Images with a place of their own: today's name, and the one up to March 2024.
const DECLARED: [&str; 2] = ["os_images", "osImages"];
/// The builder's release.
const VERSION: [&str; 2] = [
    "sylva_diskimagebuilder_version",
    "diskimage_builder_version",
];
/// The registries by name.
const REGISTRIES: &str = "os_images_oci_registries";
/// The registry of everything that Sylva publishes (S13).
const BASE: &str = "sylva_base_oci_registry";

/// Every key of the values that the catalogue is made of: a cluster that sets none of them has the shared one.
pub(super) const KEYS: [&str; 8] = [
    BUILT[0],
    BUILT[1],
    DECLARED[0],
    DECLARED[1],
    VERSION[0],
    VERSION[1],
    REGISTRIES,
    BASE,
];

/// The catalogue, evaluated.
pub(super) fn catalogue(reader: &mut Reader<'_>) -> Catalogue {
    let mut entries = Vec::new();
    for (names, built) in [(DECLARED, false), (BUILT, true)] {
        for name in names {
            for found in reader.entries(&[name]) {
                entries.extend(entry(reader, name, found, built));
            }
        }
    }
    Catalogue {
        entries,
        registries: registries(reader),
        version: VERSION.iter().find_map(|name| reader.text(&[name])),
        base_registry: reader.text(&[BASE]).filter(|base| !base.value.is_empty()),
    }
}

fn entry(
    reader: &mut Reader<'_>,
    list: &str,
    found: BranchEntry,
    built: bool,
) -> Option<CatalogueEntry> {
    let path = format!("{list}.{}", found.key);
    let mut entry = CatalogueEntry {
        name: Located::new(Arc::clone(&found.key), found.key_place),
        built,
        registry: None,
        enabled: None,
        properties: Vec::new(),
        mistyped: Vec::new(),
        place: found.key_place,
    };
    let Some(node) = reader.whole(&found.branch) else {
        return Some(entry);
    };
    let Value::Map(map) = &node.value else {
        reader.mistyped(
            &node,
            &path,
            "a map",
            None,
            format!("write `{}: {{}}`", found.key),
        );
        return None;
    };
    // `enabled` counts before `default_enabled`, whatever their order.
    let mut flags: [Option<Located<bool>>; 2] = [None, None];
    for item in map.iter() {
        let path = format!("{path}.{}", item.key);
        match &*item.key {
            "enabled" => flags[0] = reader.flag_of(&item.node, &path),
            "default_enabled" => flags[1] = reader.flag_of(&item.node, &path),
            "os_images_oci_registry" => entry.registry = reader.text_of(&item.node, &path),
            name => property(name, &item.node, &mut entry),
        }
    }
    entry.enabled = flags.into_iter().flatten().next();
    Some(entry)
}

/// The scalars of an entry by name; those of a map below it (`persistence.size`) by their path.
fn property(name: &str, node: &Node, into: &mut CatalogueEntry) {
    let text = match &node.value {
        Value::String(text) => Arc::clone(text),
        Value::Bool(flag) => flag.to_string().into(),
        value => {
            into.mistyped.push((name.into(), value.kind()));
            match value {
                Value::Number(_) => json::to_json(value, json::Html::Plain).into(),
                Value::Map(map) => {
                    for inner in map.iter() {
                        property(&format!("{name}.{}", inner.key), &inner.node, into);
                    }
                    return;
                }
                _ => return,
            }
        }
    };
    into.properties
        .push((name.into(), Located::new(text, node.place)));
}

fn registries(reader: &mut Reader<'_>) -> BTreeMap<Arc<str>, Registry> {
    let mut registries = BTreeMap::new();
    for found in reader.entries(&[REGISTRIES]) {
        let path = [REGISTRIES, &*found.key];
        let text = |reader: &mut Reader<'_>, name: &str| reader.text(&[path[0], path[1], name]);
        let enabled = reader.node(&[path[0], path[1], "enabled"]);
        let enabled =
            enabled.and_then(|node| reader.flag_of(&node, &format!("{}.enabled", path.join("."))));
        let registry = Registry {
            url: text(reader, "url"),
            tag: text(reader, "tag"),
            enabled: enabled.is_none_or(|enabled| enabled.value),
            place: found.key_place,
        };
        registries.insert(Arc::clone(&found.key), registry);
    }
    registries
}

//! What each level of the values says of images, and what a pool inherits (S26).

use std::sync::Arc;

use crate::model::cluster::{Choice, ChoiceLevel, LevelName};
use crate::model::place::Located;
use crate::model::selector::{Selector, Term, Wanted};
use crate::model::value::{Entry, Map, Node, Value};

use super::reader::Reader;

/// A pool's image key: Sylva's name, and the proposal's.
const KEYS: [&str; 2] = ["image_key", "os_image_key"];
const SELECTOR: &str = "os_image_selector";

/// The settings of one level, evaluated: those that choose an image, and those that a provider's template takes.
pub(super) struct LevelValues {
    pub(super) name: LevelName,
    pub(super) settings: Map,
}

/// Reads one level.
pub(super) fn level(
    reader: &mut Reader<'_>,
    name: LevelName,
    infra: &str,
    wanted: &[&'static str],
) -> LevelValues {
    let path = name.path(infra);
    let mut settings = Map::default();
    let known = KEYS
        .iter()
        .chain([&SELECTOR])
        .chain(IMAGE_FIELDS.iter())
        .chain(wanted.iter());
    if let Some(branch) = reader.branch(&path) {
        for key in known {
            let child = branch.child(key);
            let Some(child) = reader.or_tell(child).flatten() else {
                continue;
            };
            let node = child.node();
            let Some(node) = reader.or_tell(node).flatten() else {
                continue;
            };
            settings.insert(Entry {
                key: Arc::from(*key),
                key_place: child.place(),
                node,
            });
        }
    }
    LevelValues { name, settings }
}

const IMAGE_FIELDS: [&str; 4] = [
    "machine_image_url",
    "machine_image_format",
    "machine_image_checksum",
    "machine_image_checksum_type",
];

/// What a level, or the sum of several, chooses.
pub(super) fn choice(reader: &mut Reader<'_>, settings: &Map, path: &str) -> Choice {
    let mut text = |name: &str| {
        let node = settings.get(name)?.clone();
        reader.text_of(&node, &format!("{path}.{name}"))
    };
    let mut choice = Choice {
        key: KEYS.iter().find_map(|name| text(name)),
        selector: None,
        url: text(IMAGE_FIELDS[0]).filter(|url| !url.value.is_empty()),
        format: text(IMAGE_FIELDS[1]),
        checksum: text(IMAGE_FIELDS[2]),
        checksum_type: text(IMAGE_FIELDS[3]),
    };
    choice.selector = settings
        .get(SELECTOR)
        .and_then(|node| selector(reader, node, path));
    choice
}

fn selector(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Located<Selector>> {
    match &node.value {
        Value::Map(map) => Some(Located::new(terms(map), node.place)),
        Value::Null => None,
        _ => {
            let path = format!("{path}.{SELECTOR}");
            reader.mistyped(
                node,
                &path,
                "a map",
                None,
                format!("write `{SELECTOR}: {{os: ubuntu}}`"),
            );
            None
        }
    }
}

/// A selector as it is written.
pub(super) fn terms(map: &Map) -> Selector {
    let term = |entry: &Entry| Term {
        fact: Arc::clone(&entry.key),
        wanted: match &entry.node.value {
            Value::String(pattern) => Wanted::Pattern(Arc::clone(pattern)),
            Value::Bool(flag) => Wanted::Bool(*flag),
            other => Wanted::Invalid(other.kind()),
        },
        place: entry.node.place,
        key_place: entry.key_place,
    };
    Selector {
        terms: map.iter().map(term).collect(),
    }
}

/// Each level's own words.
pub(super) fn levels(
    reader: &mut Reader<'_>,
    values: &[LevelValues],
    infra: &str,
) -> Vec<ChoiceLevel> {
    let mut levels = Vec::with_capacity(values.len());
    for level in values {
        let before = reader.findings.len();
        let path = level.name.path(infra).join(".");
        levels.push(ChoiceLevel {
            choice: choice(reader, &level.settings, &path),
            name: level.name.clone(),
        });
        // A pool that inherits the fault would tell it again.
        reader.findings.truncate(before);
    }
    levels
}

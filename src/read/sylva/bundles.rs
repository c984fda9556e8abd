//! Which component bundle a pool says it gets.

use std::sync::Arc;

use super::report::Report;
use crate::model::cluster::BundleChoice;
use crate::model::selector::Selector;
use yaml_tree::json::scalar_text;
use yaml_tree::place::Located;
use yaml_tree::value::{Map, Node, Value};

/// The bundle's key: our name, and the proposal's, whose value is a reference.
const KEYS: [&str; 2] = ["component_bundle_key", "componentsBundle"];
const SELECTOR: &str = "component_bundle_selector";
const ENV: &str = "component_bundle_env";

/// The settings that choose a component bundle.
pub(super) const BUNDLE: &[&str] = &[ENV, KEYS[0], SELECTOR, KEYS[1]];

/// What a pool's settings, merged, say of its bundle.
pub(super) fn choice(settings: &Node, report: &mut Report<'_>) -> BundleChoice {
    let Some(map) = settings.value.as_map() else {
        return BundleChoice::default();
    };
    let mut text = |key: &str| match map.get(key)? {
        node if node.value == Value::Bool(false) => None,
        node => report.text_of(key, node),
    };
    let key = text(KEYS[0]).or_else(|| text(KEYS[1]));
    BundleChoice {
        key,
        selector: inner(map, SELECTOR, report)
            .map(|(map, place)| Located::new(Selector::from_map(&map), place)),
        env: env(map, report),
    }
}

/// A map below the settings; none for nothing, null or `false`.
fn inner(
    map: &Map,
    key: &str,
    report: &mut Report<'_>,
) -> Option<(Arc<Map>, yaml_tree::place::Place)> {
    let node = map.get(key)?;
    match &node.value {
        Value::Map(inner) => Some((Arc::clone(inner), node.place)),
        Value::Null | Value::Bool(false) => None,
        _ => {
            report.wrong_type(key, node, "a map");
            None
        }
    }
}

/// Variables by name; numbers and booleans are taken as they read, as every variable is a text in the end.
fn env(map: &Map, report: &mut Report<'_>) -> Vec<(Arc<str>, Located<Arc<str>>)> {
    let Some((map, _)) = inner(map, ENV, report) else {
        return Vec::new();
    };
    let mut variables = Vec::new();
    for entry in map.iter() {
        match scalar_text(&entry.node.value) {
            Some(text) => {
                variables.push((Arc::clone(&entry.key), Located::new(text, entry.node.place)));
            }
            None => report.wrong_type(&format!("{ENV}.{}", entry.key), &entry.node, "a string"),
        }
    }
    variables
}

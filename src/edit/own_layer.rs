//! A setting of values that several clusters read, written for some of them: into a values file that only they read.

use std::path::Path;
use std::sync::Arc;

use yaml_tree::edit::{Edit, Position, Target};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source, Sources};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::fix::apply_edits;
use crate::files::is_kustomization;
use crate::model::fix::Fix;

/// The lowest values file of a cluster in these of its layers.
pub(crate) fn find_file<'s>(
    sources: &'s Sources,
    layers: &[&Path],
    engine: Engine,
) -> Option<&'s Arc<Source>> {
    let in_layer = |layer: &&Path| {
        let mut all = sources.all();
        all.find(|source| Path::new(&*source.path).starts_with(layer) && is_values(source, engine))
    };
    layers.iter().find_map(in_layer)
}

/// Whether a file holds plain values: it is no object of Kubernetes, no kustomization, not encrypted, and not named after secrets.
fn is_values(source: &Source, engine: Engine) -> bool {
    let values = yaml_tree::values(&source.text, FileId(0), engine);
    let has = |values: &Node, key| values.get_path(&[key]).is_some();
    let is_plain = values.is_ok_and(|values| !has(&values, "kind") && !has(&values, "sops"));
    is_plain && !is_kustomization(Path::new(&*source.path)) && !source.is_hidden
}

/// The text of a values file with the value that a fix writes to another file, at the same keys; none where that is not possible.
/// Keys that are not there are made.
pub(crate) fn write_value(fix: &Fix, text: &str, engine: Engine) -> Option<String> {
    let shared = yaml_tree::values(&fix.spot.source.text, FileId(0), engine).ok()?;
    let keys = find_keys(&shared, fix.spot.start).filter(|_| fix.within.is_none())?;
    let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
    let own = yaml_tree::values(text, FileId(0), engine).ok()?;
    let is_there = |depth: &usize| own.get_path(&keys[..*depth]).is_some();
    let depth = (1..=keys.len()).take_while(is_there).last().unwrap_or(0);
    if depth == keys.len() {
        return (own.text(&keys) == Some(&*fix.value)).then(|| text.to_owned());
    }
    let below = keys[depth + 1..].iter().rev();
    let value = below.fold(Value::from(&*fix.value), |value, key| {
        Value::from(Map::from_sorted(vec![Entry::from_value(*key, value)]))
    });
    let edit = Edit::Insert {
        map: Target::keys(&keys[..depth]),
        key: keys[depth].to_owned(),
        value,
        position: Position::Last,
    };
    let mut text = apply_edits(text, engine, &[edit]).ok()?;
    // It may have had no line of values that shows how one ends.
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Some(text)
}

/// The keys that lead to the value that begins at a byte; none where it is in a list.
fn find_keys(node: &Node, start: u32) -> Option<Vec<Arc<str>>> {
    node.value.as_map()?.iter().find_map(|entry| {
        if entry.node.place.start == start && entry.node.value.as_map().is_none() {
            return Some(vec![Arc::clone(&entry.key)]);
        }
        let mut keys = find_keys(&entry.node, start)?;
        keys.insert(0, Arc::clone(&entry.key));
        Some(keys)
    })
}

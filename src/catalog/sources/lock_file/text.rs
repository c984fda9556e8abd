//! The lock as text: one block an image, sorted, a blank line between two, so that git merges what two people added.

use std::sync::Arc;

use crate::model::lock::{LOCK_VERSION, Lock, LockedImage};
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Node, Value};

/// The note for readers of the file.
const HEAD: &str = "# Written by `metalmark lock`; commit it. Each image's digest, and what the artifact says of itself.";

/// The whole file. The same lock is the same bytes; what is read back is the same lock.
pub fn text(lock: &Lock) -> String {
    let mut text = format!("{HEAD}\nversion: {LOCK_VERSION}\nimages:");
    if lock.images().is_empty() {
        text.push_str(" []\n");
    } else {
        text.push('\n');
    }
    for image in lock.images() {
        text.push('\n');
        text.push_str(&block(image));
    }
    text
}

/// One image, its fields in the order in which people look for them.
fn block(image: &LockedImage) -> String {
    let mut block = String::new();
    let mut field = |name: &str, value: Value| {
        let map: Map = [Entry::from_value(name, value)].into_iter().collect();
        block.push_str(&yaml_tree::emit_at(&Value::from(map), 2));
    };
    field("key", string(&image.key.value));
    field("reference", string(&image.reference.value));
    field("digest", Value::from(image.digest.value.as_str()));
    if let Some(mirror) = &image.mirror {
        field("mirror", string(mirror));
    }
    let facts = image.facts.iter();
    let facts = facts.map(|(name, fact)| (Arc::clone(name), Some(&fact.value)));
    if let Some(facts) = map(facts) {
        field("facts", facts);
    }
    let origin = [
        ("registry".into(), image.origin.registry.as_ref()),
        ("version".into(), image.origin.version.as_ref()),
    ];
    if let Some(origin) = map(origin) {
        field("origin", origin);
    }
    let signers = image.verified.iter().filter_map(|verified| {
        map([
            ("key".into(), Some(&verified.key)),
            ("form".into(), Some(&verified.form)),
        ])
    });
    let mut signers: Vec<Value> = signers.collect();
    match signers.len() {
        0 => {}
        1 => field("verified", signers.remove(0)),
        _ => field("verified", list(signers)),
    }
    block.replace_range(..2, "- ");
    block
}

fn list(items: Vec<Value>) -> Value {
    let node = |value| Node {
        value,
        place: Place::NONE,
    };
    Value::List(Arc::new(items.into_iter().map(node).collect()))
}

fn string(text: &Arc<str>) -> Value {
    Value::String(Arc::clone(text))
}

/// The present entries as a map; `None` if there are none.
fn map<'a>(entries: impl IntoIterator<Item = (Arc<str>, Option<&'a Arc<str>>)>) -> Option<Value> {
    let entries = entries.into_iter();
    let entries = entries.filter_map(|(name, text)| Some(Entry::from_value(name, string(text?))));
    let map: Map = entries.collect();
    (!map.is_empty()).then(|| Value::from(map))
}

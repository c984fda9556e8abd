//! A values file: whatever it says, its places stand in it, and what is written of it reads back as it was.

use yaml_tree::Lists;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place};
use yaml_tree::value::{Node, Number, Value};

const FILE: FileId = FileId(0);

pub(super) fn run(data: &[u8]) -> bool {
    let mut is_read = false;
    for engine in [Engine::Helm3, Engine::Helm4, Engine::Kubectl] {
        let Ok(text) = yaml_tree::decode(data, engine) else {
            continue;
        };
        match yaml_tree::read(&text, FILE, engine) {
            Ok(read) => {
                is_read = true;
                for notice in &read.notices {
                    is_within(&text, notice.place);
                }
                for document in &read.documents {
                    places(&text, document);
                    written(&document.value);
                }
                if let Err(error) = read.values() {
                    is_within(&text, error.place);
                }
            }
            Err(error) => is_within(&text, error.place),
        }
    }
    is_read
}

/// A place can be cut out of the text.
pub(super) fn is_within(text: &str, place: Place) {
    if place.is_known() {
        let range = place.start as usize..place.end as usize;
        assert!(
            text.get(range.clone()).is_some(),
            "{range:?} of {}",
            text.len()
        );
    }
}

fn places(text: &str, node: &Node) {
    is_within(text, node.place);
    match &node.value {
        Value::Map(map) => {
            for entry in &**map {
                is_within(text, entry.key_place);
                places(text, &entry.node);
            }
        }
        Value::List(items) => items.iter().for_each(|item| places(text, item)),
        _ => {}
    }
}

/// What is written, for clusters and as `toYaml` does it, is the same value to every reader.
fn written(value: &Value) {
    /// Aliases make much of little; one reading of that is enough.
    const MOST: usize = 1 << 20;
    let ours = yaml_tree::emit(value);
    if ours.len() > MOST {
        return;
    }
    // Helm writes a key `<<` without quotes, which no reader takes for a text.
    let lists = if has_merge_key(value) {
        &[][..]
    } else {
        &[Lists::AtKey, Lists::Indented]
    };
    let helms: Vec<String> = lists
        .iter()
        .map(|lists| yaml_tree::as_helm(value, *lists))
        .collect();
    // A text of Helm's that starts with a wide space and a brace is JSON to kubectl, and a fault; ours is quoted there.
    let helms = helms.iter().map(|text| (text, &[Engine::Helm3][..]));
    let ours = (&ours, &[Engine::Helm3, Engine::Kubectl][..]);
    for (text, engines) in helms.chain([ours]) {
        for engine in engines {
            let read = yaml_tree::read(text, FILE, *engine)
                .unwrap_or_else(|error| panic!("{error} of {engine:?} in\n{text}"));
            let [back] = &read.documents[..] else {
                panic!("{} documents in\n{text}", read.documents.len());
            };
            assert!(
                alike(&back.value, value),
                "{engine:?} reads {:?} of\n{text}\nfor {value:?}",
                back.value
            );
        }
    }
}

fn has_merge_key(value: &Value) -> bool {
    match value {
        Value::Map(map) => {
            { map.iter() }.any(|entry| &*entry.key == "<<" || has_merge_key(&entry.node.value))
        }
        Value::List(items) => items.iter().any(|item| has_merge_key(&item.value)),
        _ => false,
    }
}

/// Whether two values are one to every engine: `1`, `1.0`, and zero below zero are. So are two texts with the same labels: which
/// kind of scalar such a text is depends on its quotes, and writers choose these by what they see of it.
fn alike(one: &Value, other: &Value) -> bool {
    let number = |number: &Number| match number {
        Number::Int(number) => *number as f64,
        Number::Float(number) => *number,
    };
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => number(one) == number(other),
        (Value::Opaque(one), Value::Opaque(other)) => one.text == other.text,
        (Value::List(one), Value::List(other)) => {
            let pairs = one.iter().zip(other.iter());
            one.len() == other.len() && { pairs }
                .all(|(one, other)| alike(&one.value, &other.value))
        }
        (Value::Map(one), Value::Map(other)) => {
            let pairs = one.iter().zip(other.iter());
            one.len() == other.len() && { pairs }.all(|(one, other)| {
                one.key == other.key && alike(&one.node.value, &other.node.value)
            })
        }
        (one, other) => one.same(other),
    }
}

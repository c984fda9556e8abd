//! What became of templates since a commit: an edit by hand under the same name is told of as one by this run is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::place::{Place, Source};
use crate::model::value::{Node, Value};
use crate::objects::{FieldChange, Manifests, Since, Standing, objects};

use super::plan::Plan;

/// What an object is found by in its file.
type Name<'a> = (&'a str, &'a str, &'a str);

/// Tells each template's choice what became of it since its file was that of `before`. `before` is asked once a file that holds
/// templates; none is a file that was not there.
pub fn since(all: &[Standing], plan: &mut Plan, mut before: impl FnMut(&Source) -> Option<String>) {
    let mut start = 0;
    for file in all.chunk_by(|a, b| Arc::ptr_eq(a.file(), b.file())) {
        let range = start..start + file.len();
        start = range.end;
        let guarded: Vec<usize> = range
            .filter(|index| Manifests::guarded(&all[*index]).is_some())
            .collect();
        if guarded.is_empty() {
            continue;
        }
        let source = file[0].file();
        let new = plan.files.iter().find(|(own, _)| Arc::ptr_eq(own, source));
        let new = new.map_or(&source.text, |(_, text)| text);
        let old = before(source).unwrap_or_default();
        let same = old == *new;
        let (old, new) = match same {
            true => (Vec::new(), Vec::new()),
            false => (read(&old), read(new)),
        };
        let (old, new) = (named(&old), named(&new));
        for index in guarded {
            let object = &all[index];
            let choice = &mut plan.choices[index];
            if choice.is_rotated || object.is_kept() {
                continue;
            }
            choice.since = match (same, old.get(&name(object)), new.get(&name(object))) {
                (false, Some(old), Some(new)) => compared(object, old, new),
                _ => Since::Same,
            };
        }
    }
}

fn read(text: &str) -> Vec<Standing> {
    let source = Arc::new(Source::new("", text));
    objects(&source).map_or_else(|_| Vec::new(), |found| found.objects)
}

fn name(object: &Standing) -> Name<'_> {
    (&object.kind, &object.namespace, &object.name)
}

fn named(objects: &[Standing]) -> BTreeMap<Name<'_>, &Standing> {
    // The first of one name counts, as for references.
    objects
        .iter()
        .rev()
        .map(|object| (name(object), object))
        .collect()
}

/// What differs of an object between then and the end of this run.
fn compared(object: &Standing, old: &Standing, new: &Standing) -> Since {
    let Some(path) = Manifests::guarded(object) else {
        return Since::Same;
    };
    let keys: Vec<&str> = path.split('.').collect();
    let found = match (old.node.at(&keys), new.node.at(&keys)) {
        (Some(old), Some(new)) => difference(old, new, path.to_owned()),
        (None, None) => None,
        _ => Some(path.to_owned()),
    };
    let Some(path) = found else {
        return Since::Same;
    };
    let place = place(&object.node, &path);
    Since::Changed(FieldChange {
        spot: place.and_then(|place| object.spot(place)),
        path,
        overwrites: true,
    })
}

/// The way to the first thing that differs.
fn difference(old: &Node, new: &Node, path: String) -> Option<String> {
    match (&old.value, &new.value) {
        (Value::Map(a), Value::Map(b)) => {
            let keys = a.iter().chain(b.iter()).map(|entry| &entry.key);
            let mut found = keys.filter_map(|key| {
                let below = format!("{path}.{key}");
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => difference(a, b, below),
                    _ => Some(below),
                }
            });
            found.next()
        }
        (a, b) => (!a.same(b)).then_some(path),
    }
}

/// Where a path, or as much of it as there is, stands in an object.
fn place(node: &Node, path: &str) -> Option<Place> {
    let (mut node, mut place) = (node, None);
    for key in path.split('.') {
        match node.at(&[key]) {
            Some(below) => node = below,
            None => break,
        }
        place = Some(node.place);
    }
    place
}

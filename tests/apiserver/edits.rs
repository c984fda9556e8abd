//! Edits in place: what stamping writes, read by kubectl, is what kubectl's own patch of the same fields makes.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::kubectl::Kubectl;
use super::objects::{Object, objects};
use super::server::{content, server};
use super::shapes::SHAPES;
use crate::support::repository;
use crate::support::stage::{Stage, project};

/// The checksum of the image that most shapes name.
const CHECKSUM: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// One object of a shape: as it was with kubectl's patch of it, and as it is stamped.
struct Pair {
    title: String,
    patched: Value,
    stamped: Value,
}

/// A text whose patches start at `/value` is no object: it becomes the `value` of one.
fn wrapped(text: String, patches: &[&str]) -> String {
    if !patches.iter().any(|patch| patch.contains("\"/value/")) {
        return text;
    }
    let lines = text.lines().map(|line| format!("  {line}\n"));
    let start = "apiVersion: v1\nkind: Wrapper\nmetadata: {name: wrapper}\nvalue:\n";
    lines.fold(start.to_owned(), |text, line| text + &line)
}

/// Takes the string at a way out of objects.
fn take(objects: &mut [Value], way: &str) -> String {
    let (index, pointer) = way[1..].split_once('/').expect("an index");
    let index: usize = index.parse().expect("an index");
    let place = objects[index].pointer_mut(&format!("/{pointer}"));
    match place.map(Value::take) {
        Some(Value::String(text)) => text,
        other => panic!("{way}: {other:?}"),
    }
}

/// The shapes before and after stamping with a project whose image has that checksum.
fn stamped(checksum: &str) -> [Stage; 2] {
    let sides = [(); 2].map(|()| {
        let shapes = project().folder("fixtures/stamp/shapes");
        shapes.edit("metalmark.yaml", CHECKSUM, &format!("'{checksum}'"));
        shapes
    });
    sides[1].run("stamp").exit(0);
    sides
}

/// All objects of all shapes.
fn pairs(kubectl: &Kubectl, folders: &[Stage; 2], checksum: &str) -> Vec<Pair> {
    let mut read: BTreeMap<&str, [Vec<Value>; 2]> = BTreeMap::new();
    for depth in 0..3 {
        let rows = SHAPES
            .iter()
            .filter(|(name, _)| name.matches('#').count() == depth);
        let rows: Vec<_> = rows.collect();
        let mut texts = [Vec::new(), Vec::new()];
        for (name, patches) in &rows {
            for (side, texts) in texts.iter_mut().enumerate() {
                let text = match name.rsplit_once('#') {
                    None => folders[side].read(name),
                    Some((parent, way)) => take(
                        &mut read.get_mut(parent).expect("its parent is before it")[side],
                        way,
                    ),
                };
                texts.push(wrapped(text, patches));
            }
        }
        let [mut before, mut after] = texts.map(|texts| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            kubectl.read(&texts).into_iter()
        });
        for (name, patches) in rows {
            let count = patches.len();
            let sides = [&mut before, &mut after];
            let sides = sides.map(|side| side.by_ref().take(count).collect::<Vec<_>>());
            assert!(sides.iter().all(|side| side.len() == count), "{name}");
            read.insert(name, sides);
        }
        assert_eq!(
            (before.next(), after.next()),
            (None, None),
            "more objects than patches"
        );
    }
    let mut by_patch: BTreeMap<&str, Vec<(String, Value, Value)>> = BTreeMap::new();
    for (name, patches) in SHAPES {
        let [before, after] = read.remove(name).expect("read");
        for (patch, (before, after)) in patches.iter().zip(before.into_iter().zip(after)) {
            let title = format!("{name}: {} {}", before["kind"], before["metadata"]["name"]);
            by_patch
                .entry(patch)
                .or_default()
                .push((title, before, after));
        }
    }
    let mut found = Vec::new();
    for (patch, objects) in by_patch {
        let patch = patch
            .replace("{url}", "https://images.example.org/noble-2.raw")
            .replace("{jammy}", &"fedcba9876543210".repeat(4))
            .replace("{sum}", checksum);
        let texts: Vec<String> = objects
            .iter()
            .map(|(_, before, _)| before.to_string())
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let patched = kubectl.patch(&texts, &patch);
        assert_eq!(patched.len(), objects.len(), "{patch}");
        found.extend(
            objects
                .into_iter()
                .zip(patched)
                .map(|((title, _, stamped), patched)| Pair {
                    title,
                    patched,
                    stamped,
                }),
        );
    }
    found
}

/// That each stamped object is the patched one.
fn compare(checksum: &str) {
    let Some(kubectl) = Kubectl::find() else {
        return;
    };
    let folders = stamped(checksum);
    for pair in pairs(&kubectl, &folders, checksum) {
        assert_eq!(pair.stamped, pair.patched, "{}", pair.title);
    }
}

#[test]
fn every_shape_is_in_the_table() {
    let folder = repository().join("fixtures/stamp/shapes");
    let files = fs::read_dir(folder).expect("shapes");
    let names = files.map(|entry| entry.expect("readable").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("text")).collect();
    names.retain(|name| name != "metalmark.yaml");
    names.sort();
    let rows = SHAPES.iter().map(|(name, _)| *name);
    let rows: Vec<&str> = rows.filter(|name| !name.contains('#')).collect();
    assert_eq!(names, rows);
}

#[test]
fn a_stamped_shape_is_what_kubectls_patch_makes_of_it() {
    compare(CHECKSUM);
}

#[test]
fn a_checksum_of_digits_is_stamped_as_text() {
    compare(&"1234567890123456".repeat(4));
}

/// The shapes that the server refuses whatever their image is, and why.
const REFUSED: [(&str, &str); 4] = [
    (
        "17-providers.yaml",
        "spec.template.spec.network: Required value",
    ),
    (
        "17-providers.yaml",
        "spec.template.spec.network: Required value",
    ),
    ("35-folded-text-around.yaml", "Invalid value: \"long key\""),
    ("46-variables.yaml", "spec.controlPlane: Required value"),
];

#[test]
fn a_stamped_shape_is_stored_as_kubectls_patch_of_it() {
    let (Some(kubectl), Some(mut server)) = (Kubectl::find(), server()) else {
        return;
    };
    let folders = stamped(CHECKSUM);
    let patched: BTreeMap<String, Value> = pairs(&kubectl, &folders, CHECKSUM)
        .into_iter()
        .map(|pair| (pair.title, pair.patched))
        .collect();
    let (mut stored, mut refused) = (0, Vec::new());
    for (name, _) in SHAPES {
        // The strings of these are compared by kubectl alone.
        let has_strings = SHAPES
            .iter()
            .any(|(other, _)| other.starts_with(&format!("{name}#")));
        if name.contains('#') || has_strings {
            continue;
        }
        let text = fs::read_to_string(folders[1].path().join(name)).expect("text");
        for object in objects(&text) {
            server.prepare([&object]);
            let title = format!("{name}: {} \"{}\"", object.json["kind"], object.name());
            let Some(patched) = patched.get(&title).filter(|_| server.serves(&object)) else {
                continue;
            };
            let reply = server.apply(&object);
            if !reply.is_ok() {
                refused.push((*name, reply.message().to_owned()));
                continue;
            }
            let own = content(server.get(&object).body);
            server.clear();
            let reply = server.apply(&Object::of(patched.clone()));
            assert!(reply.is_ok(), "{title}: {}", reply.message());
            assert_eq!(own, content(server.get(&object).body), "{title}");
            server.clear();
            stored += 1;
        }
    }
    assert_eq!(refused.len(), REFUSED.len(), "{refused:?}");
    for ((name, message), (wanted, reason)) in refused.iter().zip(REFUSED) {
        assert!(
            *name == wanted && message.contains(reason),
            "{name}: {message}"
        );
    }
    assert_eq!(stored, 48);
}

//! Stamping with `--rotate` on a server: what a GitOps controller applies and prunes leaves no reference dangling, edits no
//! template in place, and every machine boots the new image.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::objects::{Object, objects};
use super::server::{Server, content, server};
use crate::support::repository;
use crate::support::stage::{Stage, project};

/// The annotation of a template that is kept for existing machines; its value is the name of the new one.
const KEPT: &str = "/metadata/annotations/metalmark.dev~1kept";

/// The objects below a folder.
pub(super) fn fleet(folder: &Path) -> Vec<Object> {
    let files = walkdir::WalkDir::new(folder.join("clusters")).sort_by_file_name();
    let files = files.into_iter().map(|entry| entry.expect("readable"));
    let files = files.filter(|entry| entry.file_type().is_file());
    let texts = files.map(|entry| fs::read_to_string(entry.path()).expect("text"));
    texts.flat_map(|text| objects(&text)).collect()
}

/// Stamps a fleet with that build of the image.
pub(super) fn rotate(stage: &Stage, build: u32) {
    rotate_to(stage, build, build);
}

fn rotate_to(stage: &Stage, build: u32, patch: u32) {
    let text = fs::read_to_string(repository().join("fixtures/stamp/fleet/metalmark.yaml"));
    let text = text
        .expect("text")
        .replace("build-1", &format!("build-{build}"));
    let text = text.replace(&"1".repeat(64), &build.to_string().repeat(64));
    let text = text.replace("version: 1.34.1", &format!("version: 1.34.{patch}"));
    stage.write("metalmark.yaml", text);
    stage.run("stamp --rotate --set-version").exit(0);
}

/// What an object refers to in its namespace: every map with a kind, a name, and a group.
fn references(object: &Object) -> Vec<Object> {
    fn walk(value: &Value, namespace: &str, found: &mut Vec<Object>) {
        match value {
            Value::Object(map) => {
                let text = |key| map.get(key).and_then(Value::as_str);
                let group = text("apiGroup").map(|group| format!("{group}/v1beta2"));
                let version = text("apiVersion").map(str::to_owned).or(group);
                if let (Some(version), Some(kind), Some(name)) =
                    (version, text("kind"), text("name"))
                {
                    let metadata = json!({"name": name, "namespace": namespace});
                    found.push(Object::of(
                        json!({"apiVersion": version, "kind": kind, "metadata": metadata}),
                    ));
                }
                map.values().for_each(|value| walk(value, namespace, found));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, namespace, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&object.json["spec"], object.namespace(), &mut found);
    found
}

/// Every object by its title, as the server has it.
type State = BTreeMap<String, Value>;

/// Applies a folder as a GitOps controller does, with what is no longer in it pruned. No template may change under its name:
/// providers refuse that by webhooks, which this server does not have.
fn synchronize(server: &mut Server, folder: &Path, before: &State) -> State {
    let objects = fleet(folder);
    for object in &objects {
        let reply = server.apply(object);
        assert!(reply.is_ok(), "{}: {}", object.title(), reply.message());
    }
    let titles: BTreeSet<String> = objects.iter().map(Object::title).collect();
    assert_eq!(titles.len(), objects.len(), "two objects of one name");
    for (_, stored) in before.iter().filter(|(title, _)| !titles.contains(*title)) {
        server.delete(&Object::of(stored.clone()));
    }
    let stored = objects
        .iter()
        .map(|object| (object.title(), content(server.get(object).body)));
    let after: State = stored.collect();
    for (title, stored) in &after {
        let earlier = before.get(title).filter(|_| title.contains("Template "));
        let is_same = earlier.is_none_or(|earlier| earlier["spec"] == stored["spec"]);
        assert!(is_same, "{title} is edited in place");
    }
    after
}

/// The image URL of each machine template that somebody refers to, by who refers to it. Fails if a reference dangles.
fn booted(server: &Server, folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for object in fleet(folder) {
        for to in references(&object) {
            if !to.kind().starts_with("Metal3MachineTemplate")
                && !to.kind().starts_with("KubeadmConfigTemplate")
            {
                continue;
            }
            let reply = server.get(&to);
            assert!(
                reply.is_ok(),
                "{} refers to {}: {}",
                object.title(),
                to.title(),
                reply.message()
            );
            if let Some(Value::String(url)) = reply.body.pointer("/spec/template/spec/image/url") {
                found.insert(format!("{} -> {}", object.title(), to.title()), url.clone());
            }
        }
    }
    found
}

/// A state without kept templates.
fn living(state: &State) -> State {
    let living = state
        .iter()
        .filter(|(_, stored)| stored.pointer(KEPT).is_none());
    living
        .map(|(title, stored)| (title.clone(), stored.clone()))
        .collect()
}

/// A value with new names of templates and the new version put back.
fn restored(value: &Value, names: &BTreeMap<String, String>) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    ("name", Value::String(name)) => json!(names.get(name).unwrap_or(name)),
                    ("version", Value::String(text)) => json!(text.replace("v1.34.1", "v1.34.0")),
                    _ => restored(value, names),
                };
                (key.clone(), value)
            });
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.iter().map(|item| restored(item, names)).collect(),
        other => other.clone(),
    }
}

/// The fleet on the server, and its folder.
fn applied(server: &mut Server) -> (Stage, State) {
    let scratch = project().folder("fixtures/stamp/fleet");
    server.prepare(&fleet(scratch.path()));
    let state = synchronize(server, scratch.path(), &State::new());
    (scratch, state)
}

#[test]
fn every_reference_resolves_to_the_new_image() {
    let Some(mut server) = server() else { return };
    let (folder, before) = applied(&mut server);
    let first = booted(&server, folder.path());
    rotate(&folder, 1);
    synchronize(&mut server, folder.path(), &before);
    let after = booted(&server, folder.path());
    assert_eq!(first.len(), after.len());
    let referring = after.len();
    for (title, url) in after {
        // The pool whose template is marked `ignore`.
        let build = match &*title {
            title if title.contains("other/") => "0",
            title if title.contains("rke2") => "1-rke2",
            _ => "1",
        };
        assert_eq!(
            url,
            format!("https://images.example.org/build-{build}.raw"),
            "{title}"
        );
    }
    assert_eq!(
        referring, 13,
        "control planes, deployments, sets, pools and a class"
    );
}

#[test]
fn all_that_changes_is_names_versions_and_images() {
    let Some(mut server) = server() else { return };
    let (folder, before) = applied(&mut server);
    rotate(&folder, 1);
    let after = synchronize(&mut server, folder.path(), &before);
    let kept = after.values().filter_map(|stored| {
        let old = stored.pointer("/metadata/name")?.as_str()?.to_owned();
        Some((stored.pointer(KEPT)?.as_str()?.to_owned(), old))
    });
    let names: BTreeMap<String, String> = kept.collect();
    assert!(names.len() > 8, "{names:?}");
    let moved = after
        .values()
        .filter(|it| it.to_string().contains("v1.34.1"));
    assert_eq!(moved.count(), 11, "objects with a version");
    for (title, stored) in &before {
        let template = title.strip_prefix("Metal3MachineTemplate ");
        let rotated = template.filter(|template| !template.starts_with("other/"));
        let Some((namespace, old)) = rotated.and_then(|template| template.split_once('/')) else {
            assert_eq!(&restored(&after[title], &names), stored, "{title}");
            continue;
        };
        // The old template's own spec is compared by `synchronize`.
        let new = names.iter().find(|(_, of)| *of == old);
        let (new, _) = new.expect("a template in its place");
        assert!(new.starts_with(&old[..old.len().min(241)]), "{new}");
        let mut new = after[&format!("Metal3MachineTemplate {namespace}/{new}")].clone();
        new["metadata"]["name"] = json!(old);
        let image = new.pointer_mut("/spec/template/spec/image");
        let image = image.expect("an image");
        image["url"] = json!("https://images.example.org/build-0.raw");
        image["checksum"] = json!("0".repeat(64));
        assert_eq!(&new, stored, "{title}");
    }
}

#[test]
fn what_rotates_back_ends_with_the_first_objects() {
    let Some(mut server) = server() else { return };
    let (folder, before) = applied(&mut server);
    rotate(&folder, 1);
    let first = synchronize(&mut server, folder.path(), &before);
    rotate(&folder, 2);
    let second = synchronize(&mut server, folder.path(), &first);
    assert_ne!(living(&first), living(&second));
    // Kubernetes goes back to no older version.
    rotate_to(&folder, 1, 2);
    let third = synchronize(&mut server, folder.path(), &second);
    let templates = |state: &State| {
        let mut living = living(state);
        living.retain(|title, _| title.contains("Template "));
        living
    };
    assert_eq!(templates(&third), templates(&first));
}

//! The demo workspace: its registry is an image layout made of its info file, its lock what `metalmark lock` makes of that.

use std::collections::BTreeMap;
use std::fs;

use oci_artifacts::Digest;
use serde_json::json;
use snapbox::Data;

use super::remove_registry;
use crate::support::layout::LayoutWriter;
use crate::support::repository;
use crate::support::stage::{assert_text, project};

const DEMO: &str = "fixtures/workspaces/sylva-baremetal";

/// The images of the info file, `name: value` lines below their keys.
fn images() -> BTreeMap<String, BTreeMap<String, String>> {
    let file = repository().join(DEMO).join("os-images-info.yaml");
    let text = fs::read_to_string(file).expect("the info file");
    let mut images: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut key = String::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        match name.len() - name.trim_start().len() {
            6 => key = name.trim().to_owned(),
            8 => {
                let value = value.trim().trim_matches('"').to_owned();
                let image = images.entry(key.clone()).or_default();
                image.insert(name.trim().to_owned(), value);
            }
            _ => {}
        }
    }
    images
}

/// Manifests only: whoever locks an image does not need its bytes.
#[test]
fn the_registry_of_the_demo_is_what_its_info_file_says() {
    let images = images();
    assert_eq!(images.len(), 7);
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let mut layout = LayoutWriter::new(scratch.path());
    for facts in images.values() {
        let uri = facts["uri"].strip_prefix("oci://").expect("a reference");
        let annotations: BTreeMap<String, &str> = facts
            .iter()
            .filter(|(name, _)| *name != "uri")
            .map(|(name, value)| (format!("sylvaproject.org/diskimage/{name}"), &**value))
            .collect();
        let size: u64 = facts["archive-size"].parse().expect("bytes");
        let layer = json!({
            "mediaType": "application/vnd.cncf.flux.content.v1.tar+gzip",
            "digest": Digest::compute(uri.as_bytes()).as_str(),
            "size": size + 10_240,
        });
        layout.manifest(
            Some(uri),
            json!({"layers": [layer], "annotations": annotations}),
        );
    }
    let registry = repository().join(DEMO).join("registry");
    for entry in walkdir::WalkDir::new(scratch.path()).sort_by_file_name() {
        let entry = entry.expect("readable");
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(scratch.path()).expect("below");
            let text = fs::read_to_string(entry.path()).expect("text");
            assert_text(&text, Data::read_from(&registry.join(below), None));
        }
    }
}

#[test]
fn the_lock_of_the_demo_is_made_of_its_registry_and_renders_alone() {
    let stage = project().folder(DEMO);
    stage.remove("metalmark.lock");
    let _ = stage.run("lock").exit(0);
    let expected = repository().join(DEMO).join("metalmark.lock");
    assert_text(
        &stage.read("metalmark.lock"),
        Data::read_from(&expected, None),
    );
    let _ = stage.run("verify").exit(0);
    let whole = stage.run("render --stdout").outcome.stdout;
    remove_registry(&stage);
    stage.remove("os-images-info.yaml");
    stage.edit("metalmark.yaml", "[os-images-info.yaml]", "[]");
    let alone = stage.run("render --frozen --stdout").exit(0);
    assert_eq!(alone.outcome.stdout, whole);
}

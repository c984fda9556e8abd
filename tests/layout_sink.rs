//! Layouts that are written: whole at any moment, what they held before kept, read by others.

use std::fs;
use std::path::Path;
use std::process::Command;

use metalmark::files::layout_sink;
use oci_artifacts::layout::Layout;
use oci_artifacts::{Blob, FailureKind, Reference, Sink, Store};
use serde_json::{Value, json};

use super::programs;
use super::support::artifact::{artifact, blob, made};
use super::support::layout::LayoutWriter;
use super::support::registry::MANIFEST;

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

fn entries(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("index.json")).expect("an index");
    let index: Value = serde_json::from_str(&text).expect("JSON");
    index["manifests"].as_array().expect("a list").clone()
}

fn files(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("one").file_name();
    let mut names: Vec<String> = listed
        .map(|entry| name(entry).to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_layout_is_made_and_what_it_names_is_found() {
    let root = tempfile::tempdir().expect("a folder");
    let sink = layout_sink(root.path(), "out/layout").expect("a folder");
    let layer = made(3 << 20);
    let image = artifact(vec![layer.clone()], json!({}));
    let to = Reference::parse("r.example/group/one:1").expect("one");
    let put = sink.put(&to, &image).expect("put");
    assert_eq!((put.sent, put.is_unchanged), (2, false));
    let again = sink.put(&to, &image).expect("put");
    assert_eq!((again.sent, again.is_unchanged), (0, true));
    let folder = root.path().join("out/layout");
    assert_eq!(files(&folder), ["blobs", "index.json", "oci-layout"]);
    let layout = Layout::open(root.path(), "out/layout").expect("a layout");
    let manifest = layout
        .manifests(std::slice::from_ref(&to))
        .remove(0)
        .expect("it");
    assert_eq!(manifest.bytes, image.manifest);
    let mut copied = Vec::new();
    layout
        .copy(&to, &layer.descriptor, &mut copied)
        .expect("copied");
    assert!(layer.descriptor.digest.is_of(&copied));
    let file = folder
        .join("blobs/sha256")
        .join(layer.descriptor.digest.hex());
    fs::write(file, b"other").expect("written");
    let refused = layout.copy(&to, &layer.descriptor, &mut Vec::new());
    assert_eq!(
        refused.map_err(|failure| failure.kind),
        Err(FailureKind::Corrupt)
    );
    assert_eq!(
        sink.put(&to, &image).map(|put| put.sent),
        Ok(1),
        "a broken blob is mended"
    );
}

#[test]
fn what_a_layout_holds_stays_and_a_name_moves() {
    let root = tempfile::tempdir().expect("a folder");
    let kept = LayoutWriter::new(root.path()).image(Some("kept"), &[]);
    let index = root.path().join("index.json");
    let text = fs::read_to_string(&index).expect("an index");
    let text = text.replace("\"size\":", "\"x-unknown\":[1],\"size\":");
    fs::write(&index, text).expect("written");
    let sink = layout_sink(root.path(), ".").expect("a folder");
    let (first, second) = (
        artifact(vec![blob(LAYER, b"first")], json!({})),
        artifact(vec![blob(LAYER, b"second")], json!({})),
    );
    for image in [&first, &second] {
        sink.put_as(Some("moves"), image).expect("put");
    }
    let found = entries(root.path());
    let declared: Vec<_> = found
        .iter()
        .map(|entry| entry["digest"].as_str().expect("one"))
        .collect();
    assert_eq!(declared, [kept.as_str(), second.descriptor.digest.as_str()]);
    assert_eq!(found[0]["x-unknown"], json!([1]));
    // What refers to it is found without a name.
    let subject =
        json!({"mediaType": MANIFEST, "digest": second.descriptor.digest.as_str(), "size": 1});
    let referrer = artifact(vec![], json!({"subject": subject}));
    sink.put_as(None, &referrer).expect("put");
    assert!(sink.put_as(None, &referrer).expect("put").is_unchanged);
    let layout = Layout::open(root.path(), ".").expect("a layout");
    let of = Reference::parse("r.example/any").expect("one");
    let found = layout
        .referrers(&[(of, second.descriptor.digest.clone())])
        .remove(0);
    assert_eq!(found.map(|found| found.len()), Ok(1));
}

#[test]
fn a_layout_whose_creation_was_killed_is_repaired_and_other_folders_are_left_alone() {
    let root = tempfile::tempdir().expect("a folder");
    let image = artifact(vec![blob(LAYER, b"x")], json!({}));
    let folder = root.path().join("killed");
    fs::create_dir_all(folder.join("blobs/sha256")).expect("made");
    fs::write(folder.join(".metalmark-tmp-abc"), b"half").expect("written");
    let put = layout_sink(root.path(), "killed")
        .expect("a folder")
        .put_as(Some("1"), &image);
    assert_eq!(put.map(|put| put.sent), Ok(2));
    assert_eq!(files(&folder), ["blobs", "index.json", "oci-layout"]);
    let other = root.path().join("other");
    fs::create_dir(&other).expect("made");
    fs::write(other.join("notes.txt"), b"mine").expect("written");
    let refused = layout_sink(root.path(), "other")
        .expect("a folder")
        .put_as(Some("1"), &image);
    let refused = refused.expect_err("no layout").to_string();
    assert!(refused.contains("contains `notes.txt`"), "{refused}");
    assert_eq!(files(&other), ["notes.txt"]);
    fs::write(folder.join("index.json"), b"{\"manifests\": 5}").expect("written");
    let refused = layout_sink(root.path(), "killed")
        .expect("a folder")
        .put_as(Some("2"), &image);
    assert!(
        refused
            .expect_err("no index")
            .message
            .contains("is not an index")
    );
}

#[test]
fn content_that_is_not_as_declared_never_becomes_a_blob() {
    let root = tempfile::tempdir().expect("a folder");
    let declared = blob(LAYER, b"told");
    for content in ["tale", "told and more", "to"] {
        let lying = Blob {
            content: std::sync::Arc::new(content.as_bytes().to_vec()),
            ..declared.clone()
        };
        let image = artifact(vec![lying], json!({}));
        let refused = layout_sink(root.path(), "l")
            .expect("a folder")
            .put_as(Some("1"), &image);
        assert_eq!(
            refused.map_err(|failure| failure.kind),
            Err(FailureKind::Corrupt)
        );
        assert!(entries(&root.path().join("l")).is_empty());
        assert_eq!(
            files(&root.path().join("l/blobs/sha256")).len(),
            1,
            "the configuration"
        );
    }
}

#[test]
fn two_who_write_at_once_lose_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let root = root.path();
            scope.spawn(move || {
                let image = artifact(vec![blob(LAYER, &[number])], json!({}));
                let sink = layout_sink(root, "l").expect("a folder");
                sink.put_as(Some(&number.to_string()), &image).expect("put");
            });
        }
    });
    assert_eq!(entries(&root.path().join("l")).len(), 8);
}

#[test]
fn a_blob_folder_that_is_a_link_out_is_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let outside = tempfile::tempdir().expect("a folder");
    LayoutWriter::new(root.path());
    fs::remove_dir(root.path().join("blobs/sha256")).expect("removed");
    std::os::unix::fs::symlink(outside.path(), root.path().join("blobs/sha256")).expect("linked");
    let image = artifact(vec![blob(LAYER, b"x")], json!({}));
    let refused = layout_sink(root.path(), ".")
        .expect("a folder")
        .put_as(Some("1"), &image);
    assert!(refused.expect_err("a link").message.contains("leads out"));
    fs::remove_dir_all(root.path().join("blobs")).expect("removed");
    std::os::unix::fs::symlink(outside.path(), root.path().join("blobs")).expect("linked");
    let refused = layout_sink(root.path(), ".")
        .expect("a folder")
        .put_as(Some("1"), &image);
    assert!(refused.expect_err("a link").message.contains("leads out"));
    assert!(files(outside.path()).is_empty());
}

#[test]
fn skopeo_reads_what_was_put_there() {
    let Some(skopeo) = programs::find("skopeo") else {
        return;
    };
    let root = tempfile::tempdir().expect("a folder");
    let image = artifact(vec![blob(LAYER, b"x")], json!({}));
    let sink = layout_sink(root.path(), "l").expect("a folder");
    sink.put_as(Some("group/one:1"), &image).expect("put");
    let output = Command::new(skopeo)
        .current_dir(root.path())
        .args(["inspect", "--raw", "oci:l:group/one:1"])
        .output()
        .expect("it starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.stdout, image.manifest);
}

//! The limits of image layouts and of indexes of bundles.

use std::fs;
use std::path::Path;

use metalmark::files::layout_sink;
use oci_artifacts::layout::Layout;
use oci_artifacts::{Reference, Sink};
use serde_json::json;

use super::super::support::artifact::{artifact, blob};
use super::super::support::layout::LayoutWriter;
use super::most;
use crate::support::stage::project;

/// Puts a file of a layout behind spaces, so that it is that long.
fn lengthen(file: &Path, length: usize) {
    let text = fs::read_to_string(file).expect("a file");
    let text = format!("{}{text}", " ".repeat(length - text.len()));
    fs::write(file, text).expect("written");
}

#[test]
fn a_layouts_marker_is_as_long_as_is_stated() {
    most(4 << 10, "has more than 4096 bytes", |length| {
        let scratch = tempfile::tempdir().expect("a folder");
        LayoutWriter::new(&scratch.path().join("l"));
        lengthen(&scratch.path().join("l/oci-layout"), length);
        Layout::open(scratch.path(), "l").map(drop)
    });
}

#[test]
fn a_layouts_index_is_as_long_as_is_stated() {
    let too_long = (64 << 20) + 1;
    let scratch = tempfile::tempdir().expect("a folder");
    LayoutWriter::new(&scratch.path().join("l"));
    lengthen(&scratch.path().join("l/index.json"), too_long);
    let refused = Layout::open(scratch.path(), "l").map(drop);
    let refused = refused.expect_err("one more is refused").to_string();
    assert!(
        refused.contains("has more than 67108864 bytes"),
        "{refused}"
    );
    let sink = layout_sink(scratch.path(), "l").expect("a folder");
    let artifact = artifact(vec![blob("text/plain", b"some bytes")], json!({}));
    let to = Reference::parse("r.example/a:1").expect("a reference");
    let refused = sink.put(&to, &artifact).map(drop);
    assert!(refused.is_err(), "the same where one is written to");
}

#[test]
fn indexes_nest_as_deep_as_is_stated() {
    most(16, "indexes are nested more than 16 deep", |depth| {
        let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        let project = project().file("app/manifests/a.yaml", object);
        for level in 0..depth {
            let from = if level + 1 == depth {
                "app".to_owned()
            } else {
                format!("'index:{}.yaml'", level + 1)
            };
            let text = format!("version: 1\nbundles: [{{name: a, from: {from}}}]\n");
            project.write(&format!("{level}.yaml"), text);
        }
        let outcome = project.run("bundle pack index:0.yaml --to dir:out").outcome;
        match outcome.status {
            0 => Ok(()),
            _ => Err(outcome.stderr + &outcome.stdout),
        }
    });
}

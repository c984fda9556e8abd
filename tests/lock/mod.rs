//! `metalmark lock`, `verify` and `--frozen`, by the real binary, on image layouts in the place of registries.

mod content;
mod demo;
mod downgrade;
mod facts;
mod frozen;
mod invalid;
mod key_policy;
mod keys;
mod matrix;
mod merge;
mod moved;
mod online;
mod pages;
mod provenance;
mod signed;
mod store;
mod team;
mod trust;

use std::fs;

use oci_artifacts::Digest;
use serde_json::json;
use snapbox::str;
use yaml_tree::bytes::BASE64;

use super::support::cosign::{ANNOTATION, Key, SIMPLE, Signs, payload};
use super::support::layout::LayoutWriter;
use super::support::stage::{Stage, project};
use super::support::story::Story;

const NOBLE: &str = "ubuntu-noble-plain-rke2-1-31-8";
const JAMMY: &str = "ubuntu-jammy-plain-rke2-1-31-8";

const PROJECT_FILE: &str = "version: 1\n\
    clusters: [{name: edge-1, values: [values.yaml]}]\n\
    registries: {mirrors: {registry.example.org/os: 'oci-layout:registry'}}\n\
    outputs: [{target: manifests, path: out}]\n";

/// A project of one cluster with two images of one registry, which is mirrored by a layout.
fn site() -> Stage {
    let stage = project().file("metalmark.yaml", PROJECT_FILE);
    write_values(&stage, "0.4.12", &[NOBLE, JAMMY], "");
    stage
}

/// What happens to it, with short names of its images.
fn story(stage: &Stage) -> Story<'_> {
    Story::new(stage).name(NOBLE, "NOBLE").name(JAMMY, "JAMMY")
}

/// The same, both images in the registry and locked.
fn locked_site() -> Stage {
    let stage = site();
    write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
    let _ = stage.run("lock").exit(0);
    stage
}

/// The cluster's values: its catalog at a version, and what else is said of the registry.
fn write_values(stage: &Stage, version: &str, images: &[&str], registry: &str) {
    let entry = |key: &&str| format!("  {key}: {{os_images_oci_registry: sylva}}\n");
    let images: String = images.iter().map(entry).collect();
    stage.write(
        "values.yaml",
        format!(
            "sylva_diskimagebuilder_images:\n{images}os_images_oci_registries:\n  sylva:\n    url: oci://registry.example.org/os\n    \
             tag: {version}\n{registry}cluster:\n  name: edge-1\n  k8s_version: v1.31.8+rke2r1\n  capi_providers:\n    \
             infra_provider: capm3\n    bootstrap_provider: cabpr\n  capm3: {{image_key: {NOBLE}}}\n  control_plane_replicas: 1\n"
        ),
    );
}

/// Puts a text before the cluster's values.
fn prepend_values(stage: &Stage, text: &str) {
    let values = stage.read("values.yaml");
    stage.write("values.yaml", format!("{text}{values}"));
}

/// Appends to the project file.
fn append_settings(stage: &Stage, lines: &str) {
    let file = stage.read("metalmark.yaml");
    stage.write("metalmark.yaml", format!("{file}{lines}\n"));
}

/// The registry, made anew.
fn registry(stage: &Stage) -> LayoutWriter {
    let root = stage.path().join("registry");
    let _ = fs::remove_dir_all(&root);
    LayoutWriter::new(&root)
}

/// The registry with these images at a version, made anew; `build` is a hex digit.
fn write_registry(stage: &Stage, images: &[&str], version: &str, build: &str) {
    let mut layout = registry(stage);
    for image in images {
        push(&mut layout, image, version, build);
    }
}

/// The registry, made anew, with images that these keys signed.
fn write_signed(stage: &Stage, images: &[(&str, &[&Key])]) {
    let mut layout = registry(stage);
    for (image, keys) in images {
        let digest = push(&mut layout, image, "0.4.12", "a");
        sign(&mut layout, image, &digest, keys, image);
    }
}

/// Signs an image under a name, as cosign stores it: at a tag.
fn sign(layout: &mut LayoutWriter, image: &str, digest: &Digest, keys: &[&Key], name: &str) {
    let text = payload(digest, &format!("registry.example.org/os/{name}"));
    let layer = |key: &&Key| {
        let mut layer = layout.blob(SIMPLE, text.as_bytes());
        layer["annotations"] = json!({ANNOTATION: BASE64.encode(&key.sign(text.as_bytes()))});
        layer
    };
    let layers: Vec<_> = keys.iter().map(layer).collect();
    let tag = format!(
        "registry.example.org/os/{image}:sha256-{}.sig",
        digest.hex()
    );
    layout.manifest(Some(&tag), json!({"layers": layers}));
}

/// Takes the registry away, so that nobody can be asked.
fn remove_registry(stage: &Stage) {
    fs::remove_dir_all(stage.path().join("registry")).expect("removed");
}

/// The text of a file that may not be there.
fn read(stage: &Stage, path: &str) -> String {
    fs::read_to_string(stage.path().join(path)).unwrap_or_default()
}

fn lock_of(stage: &Stage) -> String {
    read(stage, "metalmark.lock")
}

/// Pushes one image with the facts that a node needs.
fn push(layout: &mut LayoutWriter, image: &str, version: &str, build: &str) -> Digest {
    let name = format!("registry.example.org/os/{image}:{version}");
    let facts = facts(image, version, build);
    let facts = facts.iter().map(|(name, value)| (*name, &**value));
    layout.image(Some(&name), &facts.collect::<Vec<_>>())
}

/// What a node needs to know of an image.
fn facts(image: &str, version: &str, build: &str) -> Vec<(&'static str, String)> {
    vec![
        ("sylva/filename", format!("{image}-{version}.raw")),
        ("sylva/image-format", "raw".to_owned()),
        ("sylva/k8s-version", "1.31.8+rke2r1".to_owned()),
        ("sylva/sha256", build.repeat(64)),
    ]
}

#[test]
fn what_is_new_is_requested_and_what_is_locked_is_kept() {
    let stage = locked_site();
    let lock = stage.read("metalmark.lock");
    remove_registry(&stage);
    let mut story = story(&stage);
    story.note("the registry is gone");
    story.runs(&["lock", "lock --check", "render --frozen"]);
    assert_eq!(stage.read("metalmark.lock"), lock);
    write_values(&stage, "0.4.12", &[NOBLE], "");
    story.note("an image less");
    story.runs(&["lock --check", "lock", "lock --check"]);
    story.is(str![[r#"
# the registry is gone
$ lock => 0
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
$ lock --check => 0
no findings in 1 cluster
$ render --frozen => 0
created  out/edge-1.yaml  +20
1 file rendered: 1 created
# an image less
$ lock --check => 1
warning[lock-unused]: the lock holds `oci://registry.example.org/os/JAMMY:0.4.12`, which no cluster requires --> metalmark.lock:5:8
$ lock => 0
dropped JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
metalmark.lock: 1 kept, 0 added, 0 updated, 1 dropped; written
$ lock --check => 0
no findings in 1 cluster

"#]]);
}

#[test]
fn a_raised_version_makes_the_lock_stale_until_it_is_locked() {
    let stage = locked_site();
    write_values(&stage, "0.4.13", &[NOBLE, JAMMY], "");
    let mut story = story(&stage);
    // Where nothing may be missing, what no pool boots is an error too.
    story.runs(&["check", "check --frozen"]);
    write_registry(&stage, &[NOBLE, JAMMY], "0.4.13", "b");
    story.runs(&["lock", "check --frozen"]);
    story.is(str![[r#"
$ check => 1
error[lock-stale]: the lock holds another reference of image `NOBLE` --> values.yaml:2:3 ::: metalmark.lock:19:14
warning[lock-stale]: the lock holds another reference of image `JAMMY` --> values.yaml:3:3 ::: metalmark.lock:6:14
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:14:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:14:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
3 errors, 2 warnings in 1 cluster; 1 node pool checked: 1 by name only
$ check --frozen => 1
error[lock-stale]: the lock holds another reference of 2 images: `JAMMY`, `NOBLE` --> values.yaml:3:3 ::: metalmark.lock:6:14 ::: metalmark.lock:19:14
error[checksum-missing]: the sha256 of image `NOBLE` is not known --> values.yaml:14:22
error[format-missing]: the format of image `NOBLE` is not known --> values.yaml:14:22
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1` --> values.yaml:14:22
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only
$ lock => 0
dropped JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
added   JAMMY sha256:f561b84bf56a… oci://registry.example.org/os/JAMMY:0.4.13
dropped NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
added   NOBLE sha256:276229ff6e8a… oci://registry.example.org/os/NOBLE:0.4.13
metalmark.lock: 0 kept, 2 added, 0 updated, 2 dropped; written
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
}

#[test]
fn what_could_not_be_had_leaves_a_gap_and_the_rest_is_written() {
    let stage = site();
    write_registry(&stage, &[NOBLE], "0.4.12", "a");
    let mut story = story(&stage);
    story.runs(&["lock"]);
    write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
    for blob in stage.list("registry/blobs/sha256") {
        let blob = format!("registry/blobs/sha256/{blob}");
        if stage.read(&blob).contains("ubuntu-jammy") {
            stage.write(&blob, "{}");
        }
    }
    let before = lock_of(&stage);
    story.note("the manifest of jammy is another");
    story.runs(&["lock"]);
    assert_eq!(lock_of(&stage), before);
    story.is(str![[r#"
$ lock => 1
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[catalog-drift]: the catalog names image `JAMMY`, and oci-layout:registry has no artifact of that name --> values.yaml:3:3
# the manifest of jammy is another
$ lock => 2
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
error: oci://registry.example.org/os/JAMMY:0.4.12: oci-layout:registry: `blobs/sha256/433d32059244eb502a9ddb6fd999fe3bc05d1638e7e36f02d8f1432f2640fa24` has 2 bytes, and its descriptor says 621 --> values.yaml:3:3 (`JAMMY`)

"#]]);
}

#[test]
fn nothing_is_known_of_images_whose_registry_is_not_there() {
    let stage = locked_site();
    fs::remove_dir_all(stage.path().join("registry")).expect("removed");
    let mut story = story(&stage);
    story.runs(&["verify", "lock --upgrade"]);
    story.is(str![[r#"
$ verify => 2
IMAGE                           TAG      SIGNED BY  REFERENCE
JAMMY  unknown  –          oci://registry.example.org/os/JAMMY:0.4.12
NOBLE  unknown  –          oci://registry.example.org/os/NOBLE:0.4.12
error: oci-layout:registry: there is no such folder --> metalmark.lock:6:14 (`JAMMY`)
$ lock --upgrade => 2
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error: oci-layout:registry: there is no such folder --> values.yaml:3:3 (`JAMMY`) --> values.yaml:2:3 (`NOBLE`)

"#]]);
}

#[test]
fn a_cluster_that_cannot_be_read_stops_neither_the_others_nor_takes_their_images() {
    let stage = site();
    let more = "{name: edge-2, values: [other.yaml]}, {name: edge-1,";
    stage.edit("metalmark.yaml", "{name: edge-1,", more);
    stage.write("other.yaml", stage.read("values.yaml"));
    write_registry(&stage, &[NOBLE, JAMMY], "0.4.12", "a");
    let _ = stage.run("lock").exit(0);
    let both = stage.read("metalmark.lock");
    let jammy_alone = both.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n");
    // The one image of the cluster that can be read is missing; the other stands for what the broken one asks for.
    write_values(&stage, "0.4.12", &[NOBLE], "");
    stage.write("other.yaml", "a: [");
    let mut story = story(&stage);
    for lock in [jammy_alone, both.clone()] {
        stage.write("metalmark.lock", &lock);
        story.runs(&["lock", "lock --check"]);
    }
    assert_eq!(stage.read("metalmark.lock"), both);
    story.is(str![[r#"
$ lock => 1
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 1 kept, 1 added, 0 updated, 0 dropped; written
error[yaml-syntax]: expected a value, found the end of the file --> other.yaml:1:5
error[value-missing]: `cluster` is not set
2 errors in 1 cluster
$ lock --check => 1
error[yaml-syntax]: expected a value, found the end of the file --> other.yaml:1:5
warning[lock-unused]: the lock holds `oci://registry.example.org/os/JAMMY:0.4.12`, which no cluster requires --> metalmark.lock:5:8
error[value-missing]: `cluster` is not set
2 errors, 1 warning in 1 cluster
$ lock => 1
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
error[yaml-syntax]: expected a value, found the end of the file --> other.yaml:1:5
error[value-missing]: `cluster` is not set
2 errors in 1 cluster
$ lock --check => 1
error[yaml-syntax]: expected a value, found the end of the file --> other.yaml:1:5
warning[lock-unused]: the lock holds `oci://registry.example.org/os/JAMMY:0.4.12`, which no cluster requires --> metalmark.lock:5:8
error[value-missing]: `cluster` is not set
2 errors, 1 warning in 1 cluster

"#]]);
}

#[test]
fn a_lock_that_cannot_be_relied_on_is_not_written_over() {
    let stage = locked_site();
    let conflict = format!("{}<<<<<<< HEAD\n", stage.read("metalmark.lock"));
    stage.write("metalmark.lock", &conflict);
    let mut story = story(&stage);
    story.runs(&["lock"]);
    assert_eq!(stage.read("metalmark.lock"), conflict);
    story.is(str![[r#"
$ lock => 1
error[lock-invalid]: git left a conflict here --> metalmark.lock:30:1

"#]]);
}

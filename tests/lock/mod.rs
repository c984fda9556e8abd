//! `metalmark lock`, `verify` and `--frozen`, by the real binary, on image layouts in the place of registries.

mod demo;
mod facts;
mod frozen;
mod invalid;
mod keys;
mod matrix;
mod merge;
mod moved;
mod online;
mod signed;
mod trust;

use std::fs;
use std::path::Path;

use super::support::layout::LayoutWriter;
use super::support::{Metalmark, Outcome};

/// A project of one cluster with two images of one registry, which is mirrored by a layout.
pub(crate) struct Project {
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) const NOBLE: &str = "ubuntu-noble-plain-rke2-1-31-8";
pub(crate) const JAMMY: &str = "ubuntu-jammy-plain-rke2-1-31-8";

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let project = Self { folder };
        let file = "version: 1\nclusters: [{name: edge-1, values: [values.yaml]}]\n\
                    registries: {mirrors: {registry.example.org/os: 'oci-layout:registry'}}\n\
                    outputs: [{target: manifests, path: out}]\n";
        project.write("metalmark.yaml", file);
        project.values("0.4.12", &[NOBLE, JAMMY], "");
        project
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("created");
        fs::write(file, text).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// The cluster's values: its catalog at a version, and what else is said of the registry.
    pub(crate) fn values(&self, version: &str, images: &[&str], registry: &str) {
        let entry = |key: &&str| format!("  {key}: {{os_images_oci_registry: sylva}}\n");
        let images: String = images.iter().map(entry).collect();
        self.write(
            "values.yaml",
            &format!(
                "sylva_diskimagebuilder_images:\n{images}os_images_oci_registries:\n  sylva:\n    url: oci://registry.example.org/os\n    \
                 tag: {version}\n{registry}cluster:\n  name: edge-1\n  k8s_version: v1.31.8+rke2r1\n  capi_providers:\n    \
                 infra_provider: capm3\n    bootstrap_provider: cabpr\n  capm3: {{image_key: {NOBLE}}}\n  control_plane_replicas: 1\n"
            ),
        );
    }

    /// The registry with these images at a version, made anew.
    pub(crate) fn registry(&self, images: &[&str], version: &str, build: &str) {
        let root = self.folder.path().join("registry");
        let _ = fs::remove_dir_all(&root);
        let mut layout = LayoutWriter::new(&root);
        for image in images {
            push(&mut layout, image, version, build);
        }
    }

    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        Metalmark::within(self.folder.path())
            .args(arguments.split_whitespace())
            .run()
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Pushes one image with the facts that a node needs.
pub(crate) fn push(
    layout: &mut LayoutWriter,
    image: &str,
    version: &str,
    build: &str,
) -> oci_artifacts::Digest {
    let name = format!("registry.example.org/os/{image}:{version}");
    let facts = facts(image, version, build);
    let facts: Vec<(&str, &str)> = facts
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    layout.image(Some(&name), &facts)
}

/// What a node needs to know of an image; `build` is a hex digit.
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
    let project = Project::new();
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    let first = project.run("lock");
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(
        first
            .stdout
            .ends_with("metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written\n"),
        "{}",
        first.stdout
    );
    let lock = project.read("metalmark.lock");
    assert!(
        lock.contains("version: \"0.4.12\"") && lock.contains("registry: sylva"),
        "{lock}"
    );
    // Whatever is locked is not asked for: the registry may be gone.
    fs::remove_dir_all(project.path().join("registry")).expect("removed");
    let second = project.run("lock");
    assert_eq!(second.status, 0, "{}", second.stderr);
    assert_eq!(
        second.stdout,
        "metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged\n"
    );
    assert_eq!(project.read("metalmark.lock"), lock);
    assert_eq!(project.run("lock --check").status, 0);
    assert_eq!(project.run("render --frozen").status, 0);
    project.values("0.4.12", &[NOBLE], "");
    assert_eq!(project.run("lock --check").status, 1);
    let dropped = project.run("lock");
    assert!(
        dropped.stdout.contains("dropped ubuntu-jammy"),
        "{}",
        dropped.stdout
    );
    assert_eq!(project.run("lock --check").status, 0);
}

#[test]
fn a_raised_version_makes_the_lock_stale_until_it_is_locked() {
    let project = Project::new();
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 0);
    project.values("0.4.13", &[NOBLE, JAMMY], "");
    let check = project.run("check");
    assert_eq!(check.status, 1);
    assert!(
        check
            .stdout
            .contains("error[lock-stale]: the lock holds another reference of image `ubuntu-noble"),
        "{}",
        check.stdout
    );
    assert!(
        check.stdout.contains("warning[lock-stale]"),
        "{}",
        check.stdout
    );
    // Where nothing may be missing, what no pool boots is an error too.
    let frozen = project.run("check --frozen").stdout;
    assert!(frozen.contains("error[lock-stale]"), "{frozen}");
    assert!(!frozen.contains("warning[lock-stale]"), "{frozen}");
    project.registry(&[NOBLE, JAMMY], "0.4.13", "b");
    let lock = project.run("lock --output json");
    assert_eq!(lock.status, 0, "{}", lock.stderr);
    let json: serde_json::Value = serde_json::from_str(&lock.stdout).expect("JSON");
    assert_eq!(
        json["summary"],
        serde_json::json!({"kept": 0, "added": 2, "updated": 0, "dropped": 2})
    );
    assert_eq!(project.run("check --frozen").status, 0);
}

#[test]
fn what_could_not_be_had_leaves_a_gap_and_the_rest_is_written() {
    let project = Project::new();
    project.registry(&[NOBLE], "0.4.12", "a");
    let drift = project.run("lock");
    assert_eq!(drift.status, 1, "{}", drift.stderr);
    assert!(
        drift.stderr.contains(&format!(
            "error[catalog-drift]: the catalog names image `{JAMMY}`"
        )),
        "{}",
        drift.stderr
    );
    assert!(drift.stdout.contains("1 added"), "{}", drift.stdout);
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    let index = project.path().join("registry/blobs/sha256");
    for blob in fs::read_dir(&index).expect("blobs") {
        let blob = blob.expect("readable").path();
        if fs::read_to_string(&blob).is_ok_and(|text| text.contains("ubuntu-jammy")) {
            fs::write(blob, "{}").expect("written");
        }
    }
    let before = project.read("metalmark.lock");
    let broken = project.run("lock");
    assert_eq!(broken.status, 2, "{}", broken.stderr);
    assert!(
        broken
            .stderr
            .contains("registry.example.org/os/ubuntu-jammy"),
        "{}",
        broken.stderr
    );
    assert_eq!(project.read("metalmark.lock"), before);
}

#[test]
fn a_cluster_that_cannot_be_read_stops_neither_the_others_nor_takes_their_images() {
    let project = Project::new();
    let file = project.read("metalmark.yaml");
    let more = "{name: edge-2, values: [other.yaml]}, {name: edge-1,";
    project.write("metalmark.yaml", &file.replace("{name: edge-1,", more));
    project.write("other.yaml", &project.read("values.yaml"));
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 0);
    let both = project.read("metalmark.lock");
    let noble = both.split("\n\n").take(1).chain(both.split("\n\n").skip(2));
    let noble = noble.collect::<Vec<_>>().join("\n\n");
    // The one image of the cluster that can be read is missing; the other stands for what the broken one asks for.
    project.values("0.4.12", &[NOBLE], "");
    project.write("other.yaml", "a: [");
    for lock in [noble, both.clone()] {
        project.write("metalmark.lock", &lock);
        let run = project.run("lock");
        assert_eq!(run.status, 1, "{}", run.stderr);
        assert!(run.stderr.contains("[yaml-syntax]"), "{}", run.stderr);
        assert!(run.stdout.contains("0 dropped"), "{}", run.stdout);
        assert!(project.read("metalmark.lock").contains(NOBLE));
        let check = project.run("lock --check");
        assert_eq!(check.status, 1, "{}", check.stdout);
        assert!(
            check.stdout.contains("error[yaml-syntax]"),
            "{}",
            check.stdout
        );
    }
    assert_eq!(project.read("metalmark.lock"), both);
}

#[test]
fn a_lock_that_cannot_be_relied_on_is_not_written_over() {
    let project = Project::new();
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 0);
    let conflict = format!("{}<<<<<<< HEAD\n", project.read("metalmark.lock"));
    project.write("metalmark.lock", &conflict);
    let lock = project.run("lock");
    assert_eq!(lock.status, 1);
    assert!(
        lock.stderr
            .contains("error[lock-invalid]: git left a conflict here\n  --> metalmark.lock:"),
        "{}",
        lock.stderr
    );
    assert_eq!(project.read("metalmark.lock"), conflict);
}

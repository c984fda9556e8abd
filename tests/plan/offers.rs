//! `plan --to-builder`: the steps that another version of the image builder offers.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Metalmark, Outcome, copy_of, repository};

/// A locked project, and an image layout with another version of the builder's images.
fn locked() -> (TempDir, PathBuf) {
    let scratch = copy_of(&repository().join("fixtures/update/locked"));
    let folder = scratch.path().join("before");
    (scratch, folder)
}

fn run(folder: &Path, line: &str) -> Outcome {
    Metalmark::within(folder).args(line.split(' ')).run()
}

fn texts(folder: &Path) -> Vec<(PathBuf, String)> {
    let files = walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter();
    let files = files.filter_map(Result::ok);
    let files = files.filter(|entry| entry.file_type().is_file());
    let read = |path: &Path| fs::read_to_string(path).expect("text");
    files
        .map(|entry| (entry.path().to_owned(), read(entry.path())))
        .collect()
}

#[test]
fn a_new_version_of_the_builder_is_planned_from_the_registries_and_nothing_is_written() {
    let (_scratch, folder) = locked();
    let before = texts(&folder);
    let outcome = run(&folder, "plan --to-builder 0.4.13");
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(
        outcome.stdout,
        "edge-a: 1.31.8+rke2r1 → 1.31.9+rke2r1\n\
         \x20 1.31.9+rke2r1  control-plane  ubuntu-noble-plain-rke2-1-31-9\n\
         \x20 1.31.9+rke2r1  md0  ubuntu-noble-plain-rke2-1-31-9\n\
         edge-b: 1.30.12+rke2r1 → 1.30.12+rke2r1\n\
         \x20 1.30.12+rke2r1  control-plane  ubuntu-noble-hardened-rke2-1-30-12\n\
         \x20 1.30.12+rke2r1  md0  opensuse-15-6-plain-rke2-1-30-12\n\n\
         2 clusters: 2 to upgrade in 2 steps, 0 at the newest patch, 0 blocked, with the images of 0.4.13\n"
    );
    let outcome = run(&folder, "plan --to 1.32 --to-builder 0.4.13 --output json");
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let plan: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(plan["builder"], "0.4.13");
    assert_eq!(plan["waves"], serde_json::json!([]));
    let [first, second] = [&plan["clusters"][0], &plan["clusters"][1]];
    assert_eq!(
        first["steps"][0]["images"]["md0"],
        "ubuntu-noble-plain-rke2-1-32-5"
    );
    assert_eq!(second["blocked"]["before"], "1.31");
    // With the catalog's own images there is no such step.
    let own = run(&folder, "plan --to 1.32 --output json");
    let own: Value = serde_json::from_str(&own.stdout).expect("JSON");
    assert_eq!(own["clusters"][0]["blocked"]["before"], "1.32");
    assert_eq!(texts(&folder), before, "nothing is written");
}

#[test]
fn the_facts_of_a_listed_image_may_come_from_a_file() {
    let (_scratch, folder) = locked();
    // Without the layout nothing can be fetched.
    fs::remove_dir_all(folder.join("../images")).expect("removed");
    fs::write(
        folder.join("names.txt"),
        "ubuntu-noble-plain-rke2-1-31-9\nubuntu-noble-hardened-rke2-1-30-12\nopensuse-15-6-plain-rke2-1-30-12\n",
    )
    .expect("written");
    let line = "plan --to-builder 0.4.13 --images names.txt";
    let outcome = run(&folder, line);
    assert_eq!(outcome.status, 1, "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains(
            "the catalog names image `ubuntu-noble-plain-rke2-1-31-9`, and there is no such folder"
        ),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stdout
            .contains("nothing follows `ubuntu-noble-plain-rke2-1-31-8`: control-plane, md0\n"),
        "{}",
        outcome.stdout
    );
    let image = |key: &str, os: &str, hardened: bool, version: &str| {
        let flavor = if hardened { "hardened" } else { "plain" };
        format!(
            "  {key}: {{filename: {key}.raw, image-format: raw, sha256: {}, {os}, flavor: {flavor}, hardened: '{hardened}', \
             k8s-flavor: rke2, k8s-version: {version}}}\n",
            "a".repeat(64)
        )
    };
    let (noble, leap) = (
        "os: ubuntu, os-release: noble",
        "os: opensuse, os-release: '15.6'",
    );
    let facts = [
        image(
            "ubuntu-noble-plain-rke2-1-31-9",
            noble,
            false,
            "1.31.9+rke2r1",
        ),
        image(
            "ubuntu-noble-hardened-rke2-1-30-12",
            noble,
            true,
            "1.30.12+rke2r1",
        ),
        image(
            "opensuse-15-6-plain-rke2-1-30-12",
            leap,
            false,
            "1.30.12+rke2r1",
        ),
    ]
    .concat();
    fs::write(folder.join("info.yaml"), format!("os_images:\n{facts}")).expect("written");
    let outcome = run(&folder, &format!("{line} --info info.yaml"));
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert!(
        outcome
            .stdout
            .contains("edge-a: 1.31.8+rke2r1 → 1.31.9+rke2r1\n"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_list_needs_a_version_and_a_version_without_images_is_an_error() {
    let (_scratch, folder) = locked();
    let outcome = run(&folder, "plan --to 1.32 --images names.txt");
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains("type `--to-builder VERSION` too"),
        "{}",
        outcome.stderr
    );
    let outcome = run(&folder, "plan --to-builder 9.9.9");
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains("no image of version `9.9.9`"),
        "{}",
        outcome.stderr
    );
    let outcome = run(&folder, "plan --to-builder 0.4.13 --apply 1");
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains("cannot be used with"),
        "{}",
        outcome.stderr
    );
}

//! `plan --to-builder`: the steps that another version of the image builder offers.

use std::fs;

use snapbox::str;

use super::read_json;
use crate::support::stage::{Stage, assert_text, project, table};

/// A locked project in the folder `before`, and an image layout with another version of the builder's images.
fn locked() -> Stage {
    project().folder("fixtures/update/locked")
}

#[test]
fn a_new_version_of_the_builder_is_planned_from_the_registries_and_nothing_is_written() {
    let stage = locked();
    let before = stage.texts();
    stage
        .run("-C before plan --to-builder 0.4.13")
        .exit(0)
        .stdout(str![[r#"
edge-a: 1.31.8+rke2r1 → 1.31.9+rke2r1
  1.31.9+rke2r1  control-plane  ubuntu-noble-plain-rke2-1-31-9
  1.31.9+rke2r1  md0  ubuntu-noble-plain-rke2-1-31-9
edge-b: 1.30.12+rke2r1 → 1.30.12+rke2r1
  1.30.12+rke2r1  control-plane  ubuntu-noble-hardened-rke2-1-30-12
  1.30.12+rke2r1  md0  opensuse-15-6-plain-rke2-1-30-12

2 clusters: 2 to upgrade in 2 steps, 0 at the newest patch, 0 blocked, with the images of 0.4.13

"#]]);
    // With the catalog's own images there is no step to 1.32.
    stage
        .run("-C before plan --to 1.32 --to-builder 0.4.13")
        .exit(1)
        .stdout(str![[r#"
edge-a: 1.31.8+rke2r1 → 1.32.5+rke2r1
  1.32.5+rke2r1  control-plane  ubuntu-noble-plain-rke2-1-32-5
  1.32.5+rke2r1  md0  ubuntu-noble-plain-rke2-1-32-5
edge-b: 1.30.12+rke2r1, blocked before 1.31: an image is missing
  no successor of `opensuse-15-6-plain-rke2-1-30-12`: md0
  no successor of `ubuntu-noble-hardened-rke2-1-30-12`: control-plane

missing: `opensuse-15-6-plain-rke2-1-31-*`, an image of 1.31 in the line of `opensuse-15-6-plain-rke2-1-30-12`, for 1 cluster
missing: `ubuntu-noble-hardened-rke2-1-31-*`, an image of 1.31 in the line of `ubuntu-noble-hardened-rke2-1-30-12`, for 1 cluster
missing: `opensuse-15-6-plain-rke2-1-32-*`, an image of 1.32 in the line of `opensuse-15-6-plain-rke2-1-30-12`, for 1 cluster
missing: `ubuntu-noble-hardened-rke2-1-32-*`, an image of 1.32 in the line of `ubuntu-noble-hardened-rke2-1-30-12`, for 1 cluster
2 clusters: 1 to upgrade in 1 step, 0 at 1.32 or newer, 1 blocked, with the images of 0.4.13

"#]]);
    stage
        .run("-C before plan --to 1.32")
        .exit(1)
        .stdout(str![[r#"
edge-a: 1.31.8+rke2r1, blocked before 1.32: an image is missing
  no successor of `ubuntu-noble-plain-rke2-1-31-8`: control-plane, md0
edge-b: 1.30.12+rke2r1, blocked before 1.31: an image is missing
  no successor of `opensuse-15-6-plain-rke2-1-30-12`: md0
  no successor of `ubuntu-noble-hardened-rke2-1-30-12`: control-plane

missing: `opensuse-15-6-plain-rke2-1-31-*`, an image of 1.31 in the line of `opensuse-15-6-plain-rke2-1-30-12`, for 1 cluster
missing: `ubuntu-noble-hardened-rke2-1-31-*`, an image of 1.31 in the line of `ubuntu-noble-hardened-rke2-1-30-12`, for 1 cluster
missing: `opensuse-15-6-plain-rke2-1-32-*`, an image of 1.32 in the line of `opensuse-15-6-plain-rke2-1-30-12`, for 1 cluster
missing: `ubuntu-noble-hardened-rke2-1-32-*`, an image of 1.32 in the line of `ubuntu-noble-hardened-rke2-1-30-12`, for 1 cluster
missing: `ubuntu-noble-plain-rke2-1-32-*`, an image of 1.32 in the line of `ubuntu-noble-plain-rke2-1-31-8`, for 1 cluster
2 clusters: 0 to upgrade in 0 steps, 0 at 1.32 or newer, 2 blocked

"#]]);
    let plan = read_json(&stage, "-C before plan --to 1.32 --to-builder 0.4.13");
    assert_eq!(
        (&plan["builder"], &plan["waves"]),
        (&"0.4.13".into(), &serde_json::json!([]))
    );
    assert_eq!(stage.texts(), before, "nothing is written");
}

#[test]
fn the_facts_of_a_listed_image_may_come_from_a_file() {
    let stage = locked();
    // Without the layout nothing can be fetched.
    fs::remove_dir_all(stage.path().join("images")).expect("removed");
    let images = [
        (
            "ubuntu-noble-plain-rke2-1-31-9",
            "noble",
            "false",
            "1.31.9+rke2r1",
        ),
        (
            "ubuntu-noble-hardened-rke2-1-30-12",
            "noble",
            "true",
            "1.30.12+rke2r1",
        ),
        (
            "opensuse-15-6-plain-rke2-1-30-12",
            "15.6",
            "false",
            "1.30.12+rke2r1",
        ),
    ];
    stage.write(
        "before/names.txt",
        images.map(|(key, ..)| format!("{key}\n")).concat(),
    );
    let words = "-C before plan --to-builder 0.4.13 --images names.txt";
    stage.run(words).exit(2).screen(str![[r#"
error: oci-layout:../images: there is no such folder
  --> values.yaml:15:3 (`opensuse-15-6-plain-rke2-1-30-12`)
  and oci-layout:../images
  --> values.yaml:13:3 (`ubuntu-noble-hardened-rke2-1-30-12`)
  and oci-layout:../images
  --> values.yaml:11:3 (`ubuntu-noble-plain-rke2-1-31-9`)
  help: copy what is locked there, with its signatures: `metalmark mirror --to oci-layout:../images`

"#]]);
    let facts = images.map(|(key, release, hardened, version)| {
        let (os, _) = key.split_once('-').expect("a system");
        let flavor = if hardened == "true" { "hardened" } else { "plain" };
        // What the lock knows has to be said alike.
        let sha256 = match key {
            "ubuntu-noble-hardened-rke2-1-30-12" => {
                "bc53c5ac2615eeac895011ebf15a7e68bd50b59605b06d756cd5d111f6648cb2".to_owned()
            }
            "opensuse-15-6-plain-rke2-1-30-12" => {
                "ad0ea3662ba5eaea7df118bdd917c2a23e2003a40ab3cfebf81e0a9d4601feb9".to_owned()
            }
            _ => "a".repeat(64),
        };
        format!(
            "  {key}: {{filename: {key}.raw, image-format: raw, sha256: {sha256}, os: {os}, os-release: '{release}', flavor: {flavor}, \
             hardened: '{hardened}', k8s-flavor: rke2, k8s-version: {version}}}\n"
        )
    });
    stage.write(
        "before/info.yaml",
        format!("os_images:\n{}", facts.concat()),
    );
    stage
        .run(&format!("{words} --info info.yaml"))
        .exit(0)
        .screen(str![[r#"
edge-a: 1.31.8+rke2r1 → 1.31.9+rke2r1
  1.31.9+rke2r1  control-plane  ubuntu-noble-plain-rke2-1-31-9
  1.31.9+rke2r1  md0  ubuntu-noble-plain-rke2-1-31-9
edge-b: 1.30.12+rke2r1 → 1.30.12+rke2r1
  1.30.12+rke2r1  control-plane  ubuntu-noble-hardened-rke2-1-30-12
  1.30.12+rke2r1  md0  opensuse-15-6-plain-rke2-1-30-12

2 clusters: 2 to upgrade in 2 steps, 0 at the newest patch, 0 blocked, with the images of 0.4.13

"#]]);
}

#[test]
fn a_list_needs_a_version_and_a_version_without_images_is_an_error() {
    let stage = locked();
    let cases = [
        "--to 1.32 --images names.txt",
        "--to-builder 9.9.9",
        "--to-builder 0.4.13 --apply 1",
    ];
    let errors = table(cases, |words| {
        let run = stage.run(&format!("-C before plan {words}")).exit(2);
        run.outcome.stderr.lines().map(str::to_owned).collect()
    });
    assert_text(
        &errors,
        str![[r#"
--to 1.32 --images names.txt
    error: a list of images says what a version of the builder offers
    help: type `--to-builder VERSION` too
--to-builder 9.9.9
    error: `oci://registry.example.org/sylva/diskimage-builder` has no image of version `9.9.9`
    help: there are images of 0.4.12, 0.4.13
--to-builder 0.4.13 --apply 1
    error: the argument '--to-builder <VERSION>' cannot be used with '--apply <WAVE>'
    
    Usage: metalmark plan --to-builder <VERSION> [CLUSTER]...
    
    For more information, try '--help'.

"#]],
    );
}

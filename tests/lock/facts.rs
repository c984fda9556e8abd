//! The facts of a lock against the artifact's: what `verify` tells of, what `lock --upgrade` repairs, what an empty one is.

use std::fs;

use serde_json::{Value, json};
use snapbox::str;

use super::{JAMMY, NOBLE, lock_of, locked_site, prepend_values, registry, site, story};
use super::{remove_registry, write_registry, write_values};
use crate::support::stage::{Is, Stage, assert_cases, table};

/// A project whose one image has these annotations and layers of these lengths, locked.
fn locked(annotations: &[(&str, &str)], layers: &[u64]) -> Stage {
    let stage = site();
    write_values(&stage, "0.4.12", &[NOBLE], "");
    let annotations = annotations.iter();
    let annotations = annotations.map(|(name, value)| (format!("sylva/{name}"), (*value).into()));
    let annotations: serde_json::Map<String, Value> = annotations.collect();
    // Without their bytes: a layer that a layout leaves out is not missed.
    let layers = layers.iter().zip(0..);
    let layers =
        layers.map(|(size, place)| json!({"mediaType": "a", "digest": layer(place), "size": size}));
    let layers: Vec<Value> = layers.collect();
    let name = format!("registry.example.org/os/{NOBLE}:0.4.12");
    registry(&stage).manifest(
        Some(&name),
        json!({"layers": layers, "annotations": annotations}),
    );
    let _ = stage.run("lock").exit(0);
    stage
}

/// The digest of a layer.
fn layer(place: usize) -> String {
    format!("sha256:{}", place.to_string().repeat(64))
}

/// What `verify` says of the image.
fn conflicts(stage: &Stage) -> Vec<String> {
    let reported = stage.run("verify").outcome.stderr;
    let findings = reported
        .lines()
        .filter(|line| line.contains("]: `archive-size`"));
    findings.map(str::to_owned).collect()
}

const VERSION: (&str, &str) = ("k8s-version", "1.31.8+rke2r1");

#[test]
fn a_fact_that_was_changed_added_or_removed_is_refused_everywhere_and_repaired_by_lock() {
    let line = "    k8s-version: \"1.31.8+rke2r1\"\n";
    let hash = "a".repeat(64);
    let stage = locked(&[VERSION, ("sha256", &hash)], &[5]);
    let whole = stage.read("metalmark.lock");
    let edits = [
        ("a fact is changed", line, line.replace("31.8", "31.9")),
        ("a fact is left out", line, String::new()),
        (
            "a fact is added",
            "  facts:\n",
            "  facts:\n    hardened: \"true\"\n".to_owned(),
        ),
        // The layer's digest is no checksum of the image where an annotation says another one.
        (
            "the layer's digest is its checksum",
            &hash,
            format!("\"{}\"", "0".repeat(64)),
        ),
    ];
    let mut story = story(&stage);
    for (what, from, to) in edits {
        stage.edit("metalmark.lock", from, &to);
        story.note(what);
        story.judge(&[
            "verify",
            "check",
            "lock --check",
            "render --frozen --stdout",
        ]);
        // Nobody is asked: the evidence says what the artifact says.
        fs::rename(stage.path().join("registry"), stage.path().join("away")).expect("renamed");
        story.judge(&["lock"]);
        assert_eq!(stage.read("metalmark.lock"), whole);
        fs::rename(stage.path().join("away"), stage.path().join("registry")).expect("renamed");
    }
    story.is(str![[r#"
# a fact is changed
$ verify, lock --check => 1
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `k8s-version` is `1.31.9+rke2r1` by its facts, `1.31.8` by the reference
error[lock-tampered]: `k8s-version` of `NOBLE` is `1.31.9+rke2r1` by the lock, `1.31.8+rke2r1` by the artifact's annotations
$ check, render --frozen --stdout => 1
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `k8s-version` is `1.31.9+rke2r1` by its facts, `1.31.8` by the reference
error[lock-tampered]: `k8s-version` of `NOBLE` is `1.31.9+rke2r1` by the lock, `1.31.8+rke2r1` by the artifact's annotations
error[format-missing]: the format of image `NOBLE` is not known
error[k8s-version-mismatch]: image `NOBLE` holds Kubernetes `1.31.9+rke2r1`, not `v1.31.8+rke2r1`
$ lock => 0
warning[lock-tampered]: `k8s-version` of `NOBLE` is `1.31.9+rke2r1` by the lock, `1.31.8+rke2r1` by the artifact's annotations
# a fact is left out
$ verify, lock --check => 1
error[lock-tampered]: the lock leaves out that `k8s-version` of `NOBLE` is `1.31.8+rke2r1`
$ check, render --frozen --stdout => 1
error[lock-tampered]: the lock leaves out that `k8s-version` of `NOBLE` is `1.31.8+rke2r1`
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock => 0
warning[lock-tampered]: the lock leaves out that `k8s-version` of `NOBLE` is `1.31.8+rke2r1`
# a fact is added
$ verify, lock --check => 1
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `hardened` is `true` by its facts, `false` by the reference
error[lock-tampered]: `hardened` of `NOBLE` is `true` by the lock, nothing by the artifact's annotations
$ check, render --frozen --stdout => 1
error[artifact-other-image]: `oci://registry.example.org/os/NOBLE:0.4.12` is another image than it is called: `hardened` is `true` by its facts, `false` by the reference
error[lock-tampered]: `hardened` of `NOBLE` is `true` by the lock, nothing by the artifact's annotations
error[format-missing]: the format of image `NOBLE` is not known
$ lock => 0
warning[lock-tampered]: `hardened` of `NOBLE` is `true` by the lock, nothing by the artifact's annotations
# the layer's digest is its checksum
$ verify, lock --check => 1
error[lock-tampered]: `sha256` of `NOBLE` is `0000000000000000000000000000000000000000000000000000000000000000` by the lock, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the artifact's annotations
$ check, render --frozen --stdout => 1
error[lock-tampered]: `sha256` of `NOBLE` is `0000000000000000000000000000000000000000000000000000000000000000` by the lock, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the artifact's annotations
error[format-missing]: the format of image `NOBLE` is not known
$ lock => 0
warning[lock-tampered]: `sha256` of `NOBLE` is `0000000000000000000000000000000000000000000000000000000000000000` by the lock, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the artifact's annotations

"#]]);
}

/// Layers hold the archive compressed once more: a tenth less is possible, more is not.
#[test]
fn layers_may_be_a_tenth_smaller_than_the_archive_that_they_hold() {
    assert_cases(
        str![[r#"
1000 in 1000
1000 in 900
1000 in 899
    warning[fact-conflict]: `archive-size` of `ubuntu-noble-plain-rke2-1-31-8` is 1000 bytes, and the artifact's layers have 899
1000 in 450 450
1000 in 450 449
    warning[fact-conflict]: `archive-size` of `ubuntu-noble-plain-rke2-1-31-8` is 1000 bytes, and the artifact's layers have 899
1009 in 909
1009 in 908
    warning[fact-conflict]: `archive-size` of `ubuntu-noble-plain-rke2-1-31-8` is 1009 bytes, and the artifact's layers have 908
9 in 9
9 in 8
    warning[fact-conflict]: `archive-size` of `ubuntu-noble-plain-rke2-1-31-8` is 9 bytes, and the artifact's layers have 8
0 in
1000 in
    warning[fact-conflict]: `archive-size` of `ubuntu-noble-plain-rke2-1-31-8` is 1000 bytes, and the artifact's layers have 0
1000 in 18446744073709551615 1
1 kB in 1

"#]],
        |case| {
            let (archive, layers) = case.split_once(" in").expect("two sides");
            let layers = layers.split_whitespace().map(|size| size.parse());
            let layers: Vec<u64> = layers.map(|size| size.expect("bytes")).collect();
            conflicts(&locked(&[("archive-size", archive)], &layers))
        },
    );
}

#[test]
fn a_checksum_that_is_empty_in_the_lock_is_none() {
    let table = table(["", &"a".repeat(64)], |checksum| {
        let facts = [("image-format", "raw"), VERSION, ("sha256", checksum)];
        let stage = locked(&facts, &[5]);
        assert!(stage.read("metalmark.lock").contains("sha256: "));
        ["check --frozen", "render --frozen --stdout"]
            .map(|command| {
                let outcome = stage.run(command).outcome;
                let reported = format!("{}{}", outcome.stdout, outcome.stderr);
                let is_missing = reported.contains("error[checksum-missing]");
                format!("{command}: {}, missing: {is_missing}", outcome.status)
            })
            .to_vec()
    });
    table.is(str![[r#"

    check --frozen: 1, missing: true
    render --frozen --stdout: 1, missing: true
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    check --frozen: 0, missing: false
    render --frozen --stdout: 0, missing: false

"#]]);
}

#[test]
fn odd_annotations_are_reported_when_they_are_locked() {
    let stage = locked(&[("note", "a/b")], &[5]);
    stage.remove("metalmark.lock");
    let mut story = story(&stage);
    story.runs(&["lock"]);
    story.is(str![[r#"
$ lock => 0
added   NOBLE sha256:e1c65bb3c186… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
warning[fact-conflict]: image `NOBLE`: the value of annotation `sylva/note` holds a `/`: Sylva's own job keeps only what follows the last one --> values.yaml:2:3

"#]]);
}

#[test]
fn what_the_values_call_the_origin_follows_without_a_question() {
    let stage = locked_site();
    let before = stage.read("metalmark.lock");
    let values = stage.read("values.yaml");
    let renamed = values.replace("registry: sylva", "registry: builder");
    stage.write("values.yaml", renamed.replace("  sylva:\n", "  builder:\n"));
    remove_registry(&stage);
    let mut story = story(&stage);
    story.runs(&["lock"]);
    story.is(str![[r#"
$ lock => 0
updated JAMMY sha256:433d32059244… oci://registry.example.org/os/JAMMY:0.4.12
updated NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 0 added, 2 updated, 0 dropped; written

"#]]);
    let expected = before.replace("registry: sylva\n", "registry: builder\n");
    assert_ne!(expected, before);
    assert_eq!(stage.read("metalmark.lock"), expected);
}

/// The others are locked all the same.
#[test]
fn a_reference_that_is_none_is_reported_at_its_line() {
    let stage = site();
    write_registry(&stage, &[NOBLE], "0.4.12", "a");
    write_values(&stage, "0.4.12", &[NOBLE], "");
    prepend_values(
        &stage,
        "os_images:\n  broken: {uri: 'oci://registry.example.org/OS/x:1'}\n",
    );
    let mut story = story(&stage);
    story.runs(&["lock"]);
    story.is(str![[r#"
$ lock => 1
added   NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[catalog-drift]: `oci://registry.example.org/OS/x:1` is not an OCI reference: a repository is lower-case letters, digits, `.`, `_`, `-` and `/` --> values.yaml:2:3

"#]]);
    let lock = lock_of(&stage);
    assert!(lock.contains(NOBLE) && !lock.contains("broken"), "{lock}");
    assert!(!lock.contains(JAMMY), "{lock}");
}

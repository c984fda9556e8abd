//! The facts of a lock against the artifact's: what `verify` tells of, what `lock --upgrade` repairs, what an empty one is.

use std::fs;

use serde_json::{Value, json};

use super::{JAMMY, NOBLE, Project};
use crate::support::layout::LayoutWriter;

/// A project whose one image has these annotations and layers of these lengths, locked.
fn locked(annotations: &[(&str, &str)], layers: &[u64]) -> Project {
    let project = Project::new();
    project.values("0.4.12", &[NOBLE], "");
    let mut layout = LayoutWriter::new(&project.path().join("registry"));
    let annotations: serde_json::Map<String, Value> = annotations
        .iter()
        .map(|(name, value)| (format!("sylva/{name}"), (*value).into()))
        .collect();
    // Without their bytes: a layer that a layout leaves out is not missed.
    let layers: Vec<Value> = layers
        .iter()
        .zip(0..)
        .map(|(size, place)| json!({"mediaType": "a", "digest": layer(place), "size": size}))
        .collect();
    let name = format!("registry.example.org/os/{NOBLE}:0.4.12");
    layout.manifest(
        Some(&name),
        json!({"layers": layers, "annotations": annotations}),
    );
    let run = project.run("lock");
    assert_eq!(run.status, 0, "{}", run.stderr);
    project
}

/// The digest of a layer.
fn layer(place: usize) -> String {
    format!("sha256:{}", place.to_string().repeat(64))
}

/// What `verify` says of the image.
fn conflicts(project: &Project) -> Vec<String> {
    let reported = project.run("verify --output json");
    if reported.stderr.is_empty() {
        return Vec::new();
    }
    let reported: Value = serde_json::from_str(&reported.stderr).expect("JSON");
    let findings = reported["findings"].as_array().expect("a list").iter();
    let conflicts = findings.map(|finding| {
        let rule = finding["rule"].as_str().expect("a rule");
        assert!(["fact-conflict", "lock-tampered"].contains(&rule), "{rule}");
        finding["message"].as_str().expect("text").to_owned()
    });
    conflicts.collect()
}

const VERSION: (&str, &str) = ("k8s-version", "1.31.8+rke2r1");

#[test]
fn a_fact_that_was_changed_added_or_removed_is_refused_everywhere_and_repaired_by_lock() {
    let lock_line = "    k8s-version: \"1.31.8+rke2r1\"\n";
    let hash = "a".repeat(64);
    let tarball = layer(0).replace("sha256:", "");
    let quoted = format!("\"{tarball}\"");
    let rows = [
        (
            lock_line,
            "    k8s-version: \"1.31.9+rke2r1\"\n",
            format!(
                "`k8s-version` of `{NOBLE}` is `1.31.9+rke2r1` by the lock, `1.31.8+rke2r1` by the artifact's annotations"
            ),
        ),
        (
            lock_line,
            "",
            format!("the lock leaves out that `k8s-version` of `{NOBLE}` is `1.31.8+rke2r1`"),
        ),
        (
            "  facts:\n",
            "  facts:\n    hardened: \"true\"\n",
            format!(
                "`hardened` of `{NOBLE}` is `true` by the lock, nothing by the artifact's annotations"
            ),
        ),
        // The layer's digest is no checksum of the image where an annotation says another one.
        (
            &hash,
            &quoted,
            format!(
                "`sha256` of `{NOBLE}` is `{tarball}` by the lock, `{hash}` by the artifact's annotations"
            ),
        ),
    ];
    let project = locked(&[VERSION, ("sha256", &hash)], &[5]);
    let whole = project.read("metalmark.lock");
    assert_eq!(conflicts(&project), Vec::<String>::new());
    for (from, to, expected) in rows {
        let edited = whole.replace(from, to);
        assert_ne!(edited, whole, "{from}");
        project.write("metalmark.lock", &edited);
        assert_eq!(conflicts(&project), [expected]);
        for command in [
            "verify",
            "check",
            "lock --check",
            "render --frozen --stdout",
        ] {
            let run = project.run(command);
            assert_eq!(run.status, 1, "{command}");
            let reported = format!("{}{}", run.stdout, run.stderr);
            assert!(
                reported.contains("error[lock-tampered]"),
                "{command}: {reported}"
            );
        }
        // Nobody is asked: the evidence says what the artifact says.
        fs::rename(project.path().join("registry"), project.path().join("away")).expect("renamed");
        let lock = project.run("lock");
        assert_eq!(lock.status, 0, "{}", lock.stderr);
        assert!(lock.stdout.contains("1 updated"), "{}", lock.stdout);
        assert!(
            lock.stderr.contains("warning[lock-tampered]"),
            "{}",
            lock.stderr
        );
        assert_eq!(project.read("metalmark.lock"), whole);
        fs::rename(project.path().join("away"), project.path().join("registry")).expect("renamed");
    }
}

/// Layers hold the archive compressed once more: a tenth less is possible, more is not.
#[test]
fn layers_may_be_a_tenth_smaller_than_the_archive_that_they_hold() {
    for (archive, layers, is_reported) in [
        ("1000", &[1000][..], false),
        ("1000", &[900], false),
        ("1000", &[899], true),
        ("1000", &[450, 450], false),
        ("1000", &[450, 449], true),
        ("1009", &[909], false),
        ("1009", &[908], true),
        ("9", &[9], false),
        ("9", &[8], true),
        ("0", &[], false),
        ("1000", &[], true),
        ("1000", &[u64::MAX, 1], false),
        ("1 kB", &[1], false),
    ] {
        let project = locked(&[("archive-size", archive)], layers);
        let size: u64 = layers.iter().fold(0, |sum, size| sum.saturating_add(*size));
        let expected = format!(
            "`archive-size` of `{NOBLE}` is {archive} bytes, and the artifact's layers have {size}"
        );
        let expected: &[String] = if is_reported { &[expected] } else { &[] };
        assert_eq!(conflicts(&project), expected, "{archive} in {layers:?}");
    }
}

#[test]
fn a_checksum_that_is_empty_in_the_lock_is_none() {
    let facts = [("image-format", "raw"), VERSION];
    for (checksum, status) in [("", 1), (&*"a".repeat(64), 0)] {
        let project = locked(&[&facts[..], &[("sha256", checksum)]].concat(), &[5]);
        assert!(project.read("metalmark.lock").contains("sha256: "));
        for command in ["check --frozen", "render --frozen --stdout"] {
            let run = project.run(command);
            assert_eq!(run.status, status, "{command}: {}", run.stderr);
            let reported = format!("{}{}", run.stdout, run.stderr);
            let is_reported = reported.contains("error[checksum-missing]");
            assert_eq!(is_reported, checksum.is_empty(), "{command}: {reported}");
        }
    }
}

#[test]
fn odd_annotations_are_reported_when_they_are_locked() {
    let project = locked(&[("os", "a/b")], &[5]);
    std::fs::remove_file(project.path().join("metalmark.lock")).expect("removed");
    let run = project.run("lock");
    let expected =
        format!("[fact-conflict]: image `{NOBLE}`: the value of annotation `sylva/os` holds a `/`");
    assert!(run.stderr.contains(&expected), "{}", run.stderr);
}

#[test]
fn what_the_values_call_the_origin_follows_without_a_question() {
    let project = Project::new();
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 0);
    let before = project.read("metalmark.lock");
    let values = project.read("values.yaml");
    let renamed = values
        .replace("registry: sylva", "registry: builder")
        .replace("  sylva:\n", "  builder:\n");
    project.write("values.yaml", &renamed);
    std::fs::remove_dir_all(project.path().join("registry")).expect("removed");
    let run = project.run("lock");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("0 kept, 0 added, 2 updated"),
        "{}",
        run.stdout
    );
    let expected = before.replace("registry: sylva\n", "registry: builder\n");
    assert_eq!(project.read("metalmark.lock"), expected);
}

/// The others are locked all the same.
#[test]
fn a_reference_that_is_none_is_reported_at_its_line() {
    let project = Project::new();
    project.registry(&[NOBLE], "0.4.12", "a");
    project.values("0.4.12", &[NOBLE], "");
    let values = project.read("values.yaml");
    let broken = "os_images:\n  broken: {uri: 'oci://registry.example.org/OS/x:1'}\n";
    project.write("values.yaml", &format!("{broken}{values}"));
    let run = project.run("lock");
    assert_eq!(run.status, 1, "{}", run.stderr);
    let expected =
        "error[catalog-drift]: `oci://registry.example.org/OS/x:1` is not an OCI reference";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(run.stderr.contains("--> values.yaml:2:"), "{}", run.stderr);
    let lock = project.read("metalmark.lock");
    assert!(lock.contains(NOBLE) && !lock.contains("broken"), "{lock}");
}

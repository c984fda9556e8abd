//! `metalmark update` and `metalmark check --fix` on whole workspaces: the real binary, and every byte that it leaves.
//!
//! `fixtures/update/<case>/` holds a workspace before and after, the arguments, and what was printed. `BLESS=1` rewrites what
//! comes after.

mod bot;
mod world;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::programs;
use crate::support::{Metalmark, copy_of, golden, repository};

const CASES: [&str; 4] = ["locked", "proposal", "sylva", "unused-level"];

fn case(name: &str) -> PathBuf {
    repository().join("fixtures/update").join(name)
}

/// A folder's files by path.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let entries = walkdir::WalkDir::new(folder).into_iter();
    entries
        .filter_entry(|entry| entry.file_name() != ".git")
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).expect("below");
            let text = fs::read_to_string(entry.path()).expect("text");
            (path.to_owned(), text)
        })
        .collect()
}

#[test]
fn each_workspace_becomes_its_after() {
    for name in CASES {
        let case = case(name);
        let scratch = copy_of(&case);
        let folder = scratch.path().join("before");
        let arguments = fs::read_to_string(case.join("args")).expect("arguments");
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let outcome = Metalmark::within(&folder).args(arguments.clone()).run();
        let printed = format!(
            "exit {}\n--- stdout\n{}--- stderr\n{}",
            outcome.status, outcome.stdout, outcome.stderr
        );
        golden(&case.join("printed.txt"), &printed);
        let after = files(&folder);
        for (path, text) in &after {
            golden(&case.join("after").join(path), text);
        }
        assert_eq!(
            after.keys().collect::<Vec<_>>(),
            files(&case.join("after")).keys().collect::<Vec<_>>()
        );
        // A second run has nothing left to edit.
        let again = Metalmark::within(&folder).args(arguments).run();
        assert!(
            again.stderr.contains("the catalog lists what"),
            "{}",
            again.stderr
        );
        let mut twice = files(&folder);
        let mut once = after;
        for files in [&mut once, &mut twice] {
            files.remove(Path::new("summary.md"));
        }
        assert_eq!(once, twice);
    }
}

#[test]
fn check_says_what_it_would_do_and_does_nothing() {
    let scratch = copy_of(&case("sylva"));
    let folder = scratch.path().join("before");
    let before = files(&folder);
    let outcome = Metalmark::within(&folder)
        .args(["update", "0.4.13", "--images", "../notes.md", "--check"])
        .run();
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("would set values.yaml:15:33: version 0.4.13\nwould change values.yaml\n")
    );
    // Both clusters share the line.
    let set = outcome.stderr.matches("would set ").count();
    assert_eq!(set, 1, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("- by-selector/control-plane: ubuntu-noble-hardened-rke2-1-31-8:0.4.12 → "),
        "{}",
        outcome.stderr
    );
    assert_eq!(files(&folder), before);
    let up_to_date = Metalmark::within(&folder)
        .args(["update", "0.4.12", "--images", "values.yaml", "--check"])
        .run();
    assert_eq!(up_to_date.status, 0, "{}", up_to_date.stderr);
    assert_eq!(
        up_to_date.stderr,
        "the catalog lists what 0.4.12 offers\nOS images: 0.4.12\n\nWhich node pools will be re-provisioned is unknown: \
         the values name 0.4.12 already, and neither git nor a lock shows the version before.\nvalues.yaml:15:33: version 0.4.12\n"
    );
}

#[test]
fn only_a_catalog_that_lists_what_is_offered_is_said_to() {
    let (added, removed) = (
        "ubuntu-noble-plain-rke2-1-33-1",
        "ubuntu-noble-plain-rke2-1-29-15",
    );
    let (old, new) = (
        "ubuntu-noble-plain-rke2-1-31-8",
        "ubuntu-noble-plain-rke2-1-31-9",
    );
    let listed = [
        "ubuntu-noble-hardened-rke2-1-31-8",
        "ubuntu-noble-plain-rke2-1-30-12",
        old,
        removed,
    ]
    .join("\n");
    let folder = case("sylva").join("before");
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let file = scratch.path().join("names").display().to_string();
    for (offered, is_listed) in [
        (listed.clone(), true),
        (format!("{listed}\n{added}"), false),
        (listed.replace(removed, ""), false),
        (listed.replace(old, new), false),
    ] {
        fs::write(&file, &offered).expect("written");
        let outcome = Metalmark::within(&folder)
            .args(["update", "0.4.12", "--check", "--images", &file])
            .run();
        let reported = outcome
            .stderr
            .starts_with("the catalog lists what 0.4.12 offers\n");
        assert_eq!(
            (reported, outcome.status),
            (is_listed, i32::from(!is_listed)),
            "{offered}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn an_update_that_would_render_nothing_is_refused() {
    let scratch = copy_of(&case("locked"));
    let folder = scratch.path().join("before");
    // OpenStack's machines of this cluster boot no image, so there is nothing to stamp.
    let values = fs::read_to_string(folder.join("values.yaml")).expect("values");
    let values = values.replace("infra_provider: capm3", "infra_provider: capo");
    fs::write(folder.join("values.yaml"), values).expect("written");
    fs::write(folder.join("clusters/edge-a.yaml"), "cluster: {}\n").expect("written");
    fs::remove_file(folder.join("clusters/edge-b.yaml")).expect("removed");
    let rendered = files(&folder.join("rendered"));
    let outcome = Metalmark::within(&folder).args(["update", "0.4.13"]).run();
    let reported = format!("{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.status, 1, "{reported}");
    assert!(reported.contains("error[nothing-checked]"), "{reported}");
    assert_eq!(files(&folder.join("rendered")), rendered);
}

#[test]
fn a_catalog_without_clusters_is_raised() {
    let scratch = copy_of(&case("sylva").join("before"));
    let (folder, key) = (scratch.path(), "ubuntu-noble-plain-rke2-1-31-8");
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).expect("written");
    put("metalmark.yaml", "version: 1\nvalues: [values.yaml]\n");
    put("names", key);
    let outcome = Metalmark::within(folder)
        .args(["update", "0.4.13", "--images", "names"])
        .run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let values = fs::read_to_string(folder.join("values.yaml")).expect("values");
    assert!(values.contains("sylva_diskimagebuilder_version: 0.4.13 "));
}

#[test]
fn check_with_a_lock_counts_what_is_to_be_locked() {
    let scratch = copy_of(&case("locked"));
    let folder = scratch.path().join("before");
    let before = files(&folder);
    let outcome = Metalmark::within(&folder)
        .args(["update", "0.4.13", "--check", "--fix", "--k8s-versions"])
        .run();
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    for reported in [
        "would fix clusters/edge-a.yaml:6:16: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-9`\n",
        "- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ",
        "would set values.yaml:8:33: version 0.4.13\n",
        "would change clusters/edge-a.yaml\nwould lock 4 images\n",
    ] {
        assert!(
            outcome.stderr.contains(reported),
            "{reported}: {}",
            outcome.stderr
        );
    }
    assert_eq!(files(&folder), before);
}

#[test]
fn the_lock_shows_what_a_raised_version_rolls() {
    let scratch = copy_of(&case("locked"));
    let folder = scratch.path().join("before");
    raise(&folder);
    let outcome = Metalmark::within(&folder)
        .args(["update", "--fix", "--k8s-versions"])
        .run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let reported = &outcome.stderr;
    assert!(
        reported.contains("OS images: 0.4.12 → 0.4.13\n"),
        "{reported}"
    );
    assert!(
        reported.contains("- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ubuntu-noble-hardened-rke2-1-30-12:0.4.13\n"),
        "{reported}"
    );
    // The same bytes under both tags: nothing is stamped anew.
    assert!(!reported.contains("edge-b/md0"), "{reported}");
    assert!(
        reported.contains("3 node pools in 2 clusters will be re-provisioned.\n"),
        "{reported}"
    );
}

/// Raises the version as a bot does, and nothing else.
fn raise(folder: &Path) {
    let file = folder.join("values.yaml");
    let text = fs::read_to_string(&file).expect("values");
    let raised = text.replace("_version: 0.4.12", "_version: 0.4.13");
    assert_ne!(text, raised);
    fs::write(file, raised).expect("written");
}

#[test]
fn what_nothing_declares_is_unknown() {
    let scratch = copy_of(&case("locked"));
    let folder = scratch.path().join("before");
    raise(&folder);
    fs::remove_file(folder.join("metalmark.lock")).expect("removed");
    let outcome = Metalmark::within(&folder)
        .args(["update", "--fix", "--k8s-versions"])
        .run();
    assert!(
        outcome.stderr.contains(
            "2 node pools in 1 cluster will be re-provisioned; whether others are is unknown: \
             the values name 0.4.13 already, and neither git nor a lock shows the version before.\n"
        ),
        "{}",
        outcome.stderr
    );
}

/// A repository of git with the project in a folder, without its lock. Nothing is committed.
fn without_lock() -> Option<(TempDir, PathBuf)> {
    let scratch = crate::git::repository()?;
    let folder = scratch.path().join("before");
    crate::git::copy(&case("locked/images"), &scratch.path().join("images"));
    crate::git::copy(&case("locked/before"), &folder);
    fs::remove_file(folder.join("metalmark.lock")).expect("removed");
    Some((scratch, folder))
}

#[test]
fn git_shows_what_a_raised_version_rolls() {
    let Some((scratch, folder)) = without_lock() else {
        return;
    };
    crate::git::commit(scratch.path(), "Before");
    raise(&folder);
    let outcome = Metalmark::within(&folder)
        .args(["update", "--check", "--fix", "--k8s-versions"])
        .run();
    let reported = &outcome.stderr;
    assert!(
        reported.contains("OS images: 0.4.12 → 0.4.13\n"),
        "{reported}"
    );
    assert!(
        reported.contains(
            "4 node pools in 2 clusters will be re-provisioned, compared with the last commit.\n"
        ),
        "{reported}"
    );
    // Committed on a branch, as a bot does it: the branch's base tells.
    crate::git::git(scratch.path(), &["switch", "--quiet", "-c", "bot"]);
    crate::git::commit(scratch.path(), "Raise the builder");
    let outcome = Metalmark::within(&folder)
        .args(["update", "--check", "--fix", "--k8s-versions"])
        .run();
    let reported = &outcome.stderr;
    assert!(
        reported.contains("4 node pools in 2 clusters will be re-provisioned, compared with the merge base with main.\n"),
        "{reported}"
    );
}

#[test]
fn an_empty_catalog_is_filled_and_none_is_made_up() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let write = |name: &str, text: &str| {
        fs::write(scratch.path().join(name), text).expect("written");
    };
    write(
        "metalmark.yaml",
        "version: 1\nvalues: [values.yaml]\nclusters: [{name: edge, values: [edge.yaml]}]\n",
    );
    write("edge.yaml", "cluster: {name: edge}\n");
    let names = [
        "ubuntu-noble-plain-rke2-1-30-9",
        "opensuse-15-6-plain-rke2-1-31-9",
    ];
    write("offered.txt", &names.join("\n"));
    let run = |list: &str| {
        let version = if list.starts_with("diskimage_builder") {
            "diskimage_builder_version"
        } else {
            "sylva_diskimagebuilder_version"
        };
        write(
            "values.yaml",
            &format!("{version}: 0.4.12\n{list}cluster: {{}}\n"),
        );
        let outcome = Metalmark::within(scratch.path())
            .args(["update", "0.4.13", "--images", "offered.txt"])
            .run();
        let text = fs::read_to_string(scratch.path().join("values.yaml")).expect("values");
        (outcome, text)
    };
    for (empty, filled) in [(" {}", ""), ("", ""), (" {} # none yet", " # none yet")] {
        let (outcome, text) = run(&format!("sylva_diskimagebuilder_images:{empty}\n"));
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        let expected = format!(
            "sylva_diskimagebuilder_version: 0.4.13\nsylva_diskimagebuilder_images:{filled}\n  \
             {}: {{}}\n  {}: {{}}\ncluster: {{}}\n",
            names[1], names[0]
        );
        assert_eq!(text, expected);
    }
    let (_, text) = run("diskimage_builder_os_images: {}\n");
    let filled = format!("diskimage_builder_os_images:\n  {}: {{}}\n", names[1]);
    assert!(text.contains(&filled), "{text}");
    let (outcome, text) = run("");
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (
            2,
            "error: the values have no catalog to list images in\n\
             help: add `sylva_diskimagebuilder_images: {}` beside the version\n"
        )
    );
    assert!(text.contains("_version: 0.4.12\n"), "{text}");
}

#[test]
fn a_commit_without_a_catalog_shows_nothing() {
    let Some((scratch, folder)) = without_lock() else {
        return;
    };
    let values = fs::read_to_string(folder.join("values.yaml")).expect("values");
    fs::write(folder.join("values.yaml"), "cluster: {}\n").expect("written");
    crate::git::commit(scratch.path(), "Without a catalog");
    fs::write(folder.join("values.yaml"), values).expect("written");
    raise(&folder);
    let outcome = Metalmark::within(&folder)
        .args(["update", "--check", "--fix", "--k8s-versions"])
        .run();
    let reported = "neither git nor a lock shows the version before";
    assert!(outcome.stderr.contains(reported), "{}", outcome.stderr);
}

#[test]
fn a_version_that_nothing_is_listed_for_changes_nothing() {
    let scratch = copy_of(&case("sylva"));
    let folder = scratch.path().join("before");
    let before = files(&folder);
    let outcome = Metalmark::within(&folder)
        .args(["update", "0.5.0", "--release-notes", "../notes.md"])
        .run();
    assert_eq!(outcome.status, 2);
    assert_eq!(
        outcome.stderr,
        "error: `../notes.md` names no image of version `0.5.0`\nhelp: there are images of 0.4.12, 0.4.13\n"
    );
    assert_eq!(files(&folder), before);
}

#[test]
fn the_real_chart_keeps_every_other_byte() {
    let Some(root) = programs::named("SYLVA_CORE") else {
        return;
    };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = "charts/sylva-units/values.yaml";
    let before = fs::read_to_string(root.join(path)).expect("the chart's values");
    fs::create_dir_all(scratch.path().join("charts/sylva-units")).expect("created");
    fs::write(scratch.path().join(path), &before).expect("written");
    let project =
        format!("version: 1\nvalues: [{path}]\nclusters: [{{name: none, values: [own.yaml]}}]\n");
    fs::write(scratch.path().join("metalmark.yaml"), project).expect("written");
    fs::write(scratch.path().join("own.yaml"), "{}\n").expect("written");
    let lists = before
        .split("\nsylva_diskimagebuilder_images:")
        .nth(1)
        .expect("the catalog");
    let names = lists
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: Vec<String> = names
        .filter(|name| name.contains("-1-"))
        .map(|name| name.replace("-1-31-8", "-1-31-9"))
        .collect();
    assert!(names.len() > 8);
    fs::write(scratch.path().join("names"), names.join("\n")).expect("written");
    let outcome = Metalmark::within(scratch.path())
        .args(["update", "0.4.13", "--images", "names"])
        .run();
    let after = fs::read_to_string(scratch.path().join(path)).expect("the chart's values");
    let changed: Vec<(&str, &str)> = before
        .lines()
        .zip(after.lines())
        .filter(|(old, new)| old != new)
        .collect();
    assert!(changed.len() > 3, "{}", outcome.stderr);
    for (old, new) in changed {
        assert_eq!(
            old.replace("-1-31-8", "-1-31-9")
                .replace("0.4.12", "0.4.13"),
            new
        );
    }
    assert_eq!(before.lines().count(), after.lines().count());
}

const FIXABLE: &str = "\
sylva_diskimagebuilder_version: 0.4.12
os_images_oci_registries: {sylva: {url: 'oci://r.example/d', tag: 0.4.12, cosign_publickey: ''}}
sylva_diskimagebuilder_images:
  ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva}
  ubuntu-noble-plain-rke2-1-30-12: {os_images_oci_registry: sylva}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  machine_deployments:
    md0: {capm3: {image_key: \"ubuntu-nobel-plain-rke2-1-31-8\"}} # a slip
    md1: {capm3: {image_key: ubuntu-noble-plain-rke2-1-30-12}} # too old
    md2: {capm3: {os_image_selector: {os: ubuntu, os-release: 15.6}}}
    md3: {capm3: {image_key: '{{ .Values.nothing.at.all }}'}}
";

#[test]
fn check_fixes_what_is_certain_and_reports_the_rest() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let project = "version: 1\nclusters: [{name: edge, values: [edge.yaml]}]\n";
    fs::write(scratch.path().join("metalmark.yaml"), project).expect("written");
    let file = scratch.path().join("edge.yaml");
    fs::write(&file, FIXABLE).expect("written");
    let outcome = Metalmark::within(scratch.path())
        .args(["check", "--fix"])
        .run();
    let after = fs::read_to_string(&file).expect("read");
    let wanted = FIXABLE
        .replace("nobel", "noble")
        .replace(
            "image_key: ubuntu-noble-plain-rke2-1-30-12",
            "image_key: ubuntu-noble-plain-rke2-1-31-8",
        )
        .replace("15.6", "\"15.6\"");
    assert_eq!(after, wanted, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(
        outcome.stderr.matches("fixed edge.yaml:").count(),
        3,
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.status, 1);
    assert!(!outcome.stdout.contains("nobel"));
    // What is left cannot be mended by a machine, and nothing more is written.
    let again = Metalmark::within(scratch.path())
        .args(["check", "--fix"])
        .run();
    assert_eq!(again.stderr, "");
    assert_eq!(fs::read_to_string(&file).expect("read"), wanted);
}

#[test]
fn fixes_are_in_json() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let project = "version: 1\nclusters: [{name: edge, values: [edge.yaml]}]\n";
    fs::write(scratch.path().join("metalmark.yaml"), project).expect("written");
    fs::write(scratch.path().join("edge.yaml"), FIXABLE).expect("written");
    let outcome = Metalmark::within(scratch.path())
        .args(["check", "--output", "json"])
        .run();
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let findings = json["findings"].as_array().expect("a list");
    let slip = findings
        .iter()
        .find(|one| one["rule"] == "unknown-image")
        .expect("the slip");
    assert_eq!(slip["fix"]["value"], "ubuntu-noble-plain-rke2-1-31-8");
    assert_eq!(slip["fix"]["line"], 10);
    assert_eq!(slip["fix"]["path"], "edge.yaml");
}

#[test]
fn an_entry_that_an_expression_names_is_reported_once_for_all_clusters() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let put = |name: &str, text: &str| fs::write(scratch.path().join(name), text).expect("written");
    let project = "version: 1\nvalues: [values.yaml]\nclusters: [{name: a, values: [a.yaml]}, {name: b, values: [b.yaml]}]\n";
    put("metalmark.yaml", project);
    put(
        "values.yaml",
        "key: ubuntu-noble-plain-rke2-1-31-8\nsylva_diskimagebuilder_version: 0.4.12\nsylva_diskimagebuilder_images: {'{{ .Values.key }}': {}}\n",
    );
    // Each cluster has a catalog of its own.
    for name in ["a", "b"] {
        let values = format!("os_images: {{{name}: {{uri: x}}}}\ncluster: {{}}\n");
        put(&format!("{name}.yaml"), &values);
    }
    put("names", "ubuntu-noble-plain-rke2-1-31-8\n");
    let outcome = Metalmark::within(scratch.path())
        .args(["update", "0.4.13", "--images", "names"])
        .run();
    let reported =
        "values.yaml:3:33: an expression names the entry `ubuntu-noble-plain-rke2-1-31-8`";
    assert_eq!(
        outcome.stderr.matches(reported).count(),
        1,
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_entry_of_two_catalogs_is_renamed_once() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let put = |name: &str, text: &str| fs::write(scratch.path().join(name), text).expect("written");
    let project = "version: 1\nvalues: [values.yaml]\nclusters: [{name: a, values: [a.yaml]}, {name: b, values: [b.yaml]}]\n";
    put("metalmark.yaml", project);
    for name in ["a", "b"] {
        let values = format!("os_images: {{{name}: {{uri: x}}}}\ncluster: {{name: {name}}}\n");
        put(&format!("{name}.yaml"), &values);
    }
    let values = |version: &str, patch: u32| {
        format!(
            "sylva_diskimagebuilder_version: {version}\n\
             sylva_diskimagebuilder_images: {{ubuntu-noble-plain-rke2-1-31-{patch}: {{}}}}\n"
        )
    };
    put("values.yaml", &values("0.4.12", 8));
    put("names", "ubuntu-noble-plain-rke2-1-31-9\n");
    let outcome = Metalmark::within(scratch.path())
        .args(["update", "0.4.13", "--images", "names", "--keep-going"])
        .run();
    let after = fs::read_to_string(scratch.path().join("values.yaml")).expect("values");
    assert_eq!(after, values("0.4.13", 9), "{}", outcome.stderr);
}

#[test]
fn an_entry_that_an_expression_names_by_the_version_is_not_added_beside_it() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let put = |name: &str, text: &str| fs::write(scratch.path().join(name), text).expect("written");
    let project = "version: 1\nvalues: [values.yaml]\nclusters: [{name: a, values: [a.yaml]}]\n";
    put("metalmark.yaml", project);
    put("a.yaml", "cluster: {name: a}\n");
    put("names", "ubuntu-noble-plain-rke2-1-31-3\n");
    let values = |version: &str| {
        let key = r#"{{ .Values.sylva_diskimagebuilder_version | replace "0.4.1" "ubuntu-noble-plain-rke2-1-31-" }}"#;
        format!(
            "sylva_diskimagebuilder_version: {version}\nsylva_diskimagebuilder_images: {{'{key}': {{}}}}\n"
        )
    };
    put("values.yaml", &values("0.4.12"));
    let outcome = Metalmark::within(scratch.path())
        .args(["update", "0.4.13", "--images", "names"])
        .run();
    let after = fs::read_to_string(scratch.path().join("values.yaml")).expect("values");
    assert_eq!(after, values("0.4.13"), "{}", outcome.stderr);
}

#[test]
fn an_update_does_not_write_over_files_of_others() {
    let scratch = copy_of(&case("locked"));
    let folder = scratch.path().join("before");
    let path = folder.join("rendered/edge-a/edge-a.yaml");
    fs::remove_file(folder.join("rendered/.metalmark-owned")).expect("removed");
    fs::write(&path, "mine").expect("written");
    let outcome = Metalmark::within(&folder)
        .args(["update", "0.4.13", "--fix", "--k8s-versions"])
        .run();
    let reported = format!("{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.status, 1, "{reported}");
    assert!(reported.contains("error[file-not-owned]"), "{reported}");
    assert_eq!(fs::read_to_string(path).expect("there"), "mine");
}

//! Each fixture workspace, rendered by the real binary into every target: golden trees, and laws that hold for all of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::{Metalmark, copy_of, golden, is_long, repository};

/// Every target's name; tests/docs.rs compares docs/outputs.md with the same list.
fn targets() -> Vec<&'static str> {
    metalmark::render::targets::TARGETS
        .iter()
        .map(|target| target.name())
        .collect()
}

fn workspaces() -> Vec<PathBuf> {
    let folder = repository().join("fixtures/workspaces");
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .expect("workspaces")
        .map(|entry| entry.expect("readable").path())
        .collect();
    found.sort();
    found
}

/// The files below a folder with their texts, by path.
fn tree(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.expect("readable");
        if entry.file_type().is_file() {
            let below = entry
                .path()
                .strip_prefix(folder)
                .expect("below")
                .to_string_lossy()
                .into_owned();
            files.push((below, fs::read_to_string(entry.path()).expect("text")));
        }
    }
    files
}

/// A scratch copy without what is expected of it, with one output for each target that has an expected tree.
fn scratch(workspace: &Path) -> tempfile::TempDir {
    let scratch = copy_of(workspace);
    // Absent before the first blessing.
    let _ = fs::remove_dir_all(scratch.path().join("expected"));
    scratch
}

#[test]
fn every_workspace_renders_its_golden_trees() {
    for workspace in workspaces() {
        for target in targets() {
            let options = workspace.join(format!("{target}.outputs.yaml"));
            if !options.is_file() {
                continue;
            }
            let scratch = scratch(&workspace);
            let file = scratch.path().join("metalmark.yaml");
            let project = fs::read_to_string(&file).expect("a project file");
            let head = project.split("\noutputs:").next().expect("text");
            let tail = project
                .split("\npolicy:")
                .nth(1)
                .map(|tail| format!("\npolicy:{tail}"))
                .unwrap_or_default();
            fs::write(
                &file,
                format!(
                    "{head}\n{}{tail}",
                    fs::read_to_string(&options).expect("outputs")
                ),
            )
            .expect("written");
            let outcome = Metalmark::within(scratch.path()).args(["render"]).run();
            assert_eq!(
                outcome.status,
                0,
                "{} {target}:\n{}{}",
                workspace.display(),
                outcome.stderr,
                outcome.stdout
            );
            let expected = workspace.join("expected").join(target);
            let rendered = tree(&scratch.path().join("out"));
            for (path, text) in &rendered {
                golden(&expected.join(path), text);
            }
            let known = tree(&expected).into_iter().map(|(path, _)| path);
            let gone: Vec<String> = known
                .filter(|path| !rendered.iter().any(|(rendered, _)| rendered == path))
                .collect();
            assert!(
                gone.is_empty(),
                "{}: no longer rendered: {gone:?}",
                expected.display()
            );
        }
    }
}

#[test]
fn rendering_twice_changes_nothing_and_check_agrees() {
    // Some of them, and all in the long form.
    for workspace in workspaces()
        .into_iter()
        .step_by(if is_long() { 1 } else { 4 })
    {
        let scratch = scratch(&workspace);
        let first = Metalmark::within(scratch.path()).args(["render"]).run();
        assert_eq!(first.status, 0, "{}", first.stderr);
        let before = tree(scratch.path());
        let check = Metalmark::within(scratch.path())
            .args(["render", "--check"])
            .run();
        assert_eq!(check.status, 0, "{}", check.stdout);
        let second = Metalmark::within(scratch.path()).args(["render"]).run();
        assert_eq!(second.status, 0, "{}", second.stderr);
        assert_eq!(before, tree(scratch.path()));
    }
}

#[test]
fn drift_is_reported_with_its_difference_and_status_1() {
    let scratch = scratch(&repository().join("fixtures/workspaces/sylva-baremetal"));
    let check = Metalmark::within(scratch.path())
        .args(["render", "--check"])
        .run();
    assert_eq!(check.status, 1, "{}", check.stderr);
    assert!(
        check
            .stdout
            .contains("+++ b/rendered/clusters/edge-lyon/edge-lyon.yaml"),
        "{}",
        check.stdout
    );
    assert!(
        !scratch.path().join("rendered").exists(),
        "--check writes nothing"
    );
}

#[test]
fn a_secret_is_never_printed() {
    let workspace = repository().join("fixtures/workspaces/sylva-baremetal");
    let scratch = scratch(&workspace);
    let secrets = scratch.path().join("environment-values/mgmt/secrets.yaml");
    // A fault on the very line of the password, and a selector made of it.
    let text = "cluster:\n  capm3:\n    os_image_selector:\n      os: [hunter2-password]\n      os: [hunter3-password]\n";
    fs::write(&secrets, text).expect("written");
    for command in [
        ["check"].as_slice(),
        &["check", "--output", "json"],
        &["render", "--stdout"],
        &["explain", "mgmt"],
    ] {
        let outcome = Metalmark::within(scratch.path())
            .args(command.iter().copied())
            .run();
        let printed = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(
            !printed.contains("hunter"),
            "{command:?} printed a secret:\n{printed}"
        );
    }
}

#[test]
fn flags_do_the_same_job_as_the_project_file() {
    let workspace = repository().join("fixtures/workspaces/sylva-baremetal");
    let scratch = scratch(&workspace);
    let by_file = Metalmark::within(scratch.path()).args(["render"]).run();
    assert_eq!(by_file.status, 0, "{}", by_file.stderr);
    let flags = "render --values charts/sylva-units/values.yaml --clusters environment-values/workload-clusters/edge-*/values.yaml \
                 --info os-images-info.yaml --target manifests --out flat --image-url";
    let url = "https://os-images.example.org/{{ image.filename }}";
    let by_flags = Metalmark::within(scratch.path())
        .args(flags.split_whitespace())
        .args([url])
        .run();
    assert_eq!(by_flags.status, 0, "{}", by_flags.stderr);
    for cluster in ["edge-paris", "edge-lyon"] {
        let file = fs::read_to_string(
            scratch
                .path()
                .join(format!("rendered/clusters/{cluster}/{cluster}.yaml")),
        )
        .expect("by file");
        let flat = fs::read_to_string(scratch.path().join(format!("flat/{cluster}.yaml")))
            .expect("by flags");
        assert_eq!(file, flat);
    }
}

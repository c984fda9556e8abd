//! Stamping in place: golden workspaces, the shapes that people write, and the laws of an edit.

mod findings;
mod markers;
mod model;
mod names;
mod patches;
mod random;
mod rotation;
mod run;
mod schemas;
mod selectors;
mod shapes;
mod since;
mod versions;
mod written;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::support::{Metalmark, copy_of, golden, repository};

fn fixtures() -> PathBuf {
    repository().join("fixtures/stamp")
}

fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name();
    files
        .into_iter()
        .map(|entry| entry.expect("readable"))
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).expect("below");
            let text = fs::read_to_string(entry.path()).expect("text");
            (path.to_owned(), text)
        })
        .collect()
}

#[test]
fn each_workspace_becomes_its_after_and_stays_so() {
    for name in ["capm3", "capo", "capv", "rotate"] {
        let case = fixtures().join(name);
        let scratch = copy_of(&case);
        let folder = scratch.path().join("before");
        let arguments = fs::read_to_string(case.join("args")).expect("arguments");
        let run = || {
            Metalmark::within(&folder)
                .args(arguments.split_whitespace())
                .run()
        };
        let outcome = run();
        assert_eq!(outcome.status, 0, "{name}: {}", outcome.stderr);
        golden(&case.join("printed.txt"), &outcome.stdout);
        let once = files(&folder);
        for (path, text) in &once {
            golden(&case.join("after").join(path), text);
        }
        let again = run();
        assert_eq!(again.status, 0, "{name}: {}", again.stderr);
        assert_eq!(files(&folder), once, "{name}");
    }
}

#[test]
fn a_file_of_ten_thousand_lines_changes_in_its_image_lines() {
    let scratch = copy_of(&fixtures().join("shapes"));
    let template = fs::read_to_string(scratch.path().join("01-plain.yaml")).expect("text");
    let other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n";
    let filler = format!(
        "{other}{}",
        "  key: 'value' # as it was\n".replacen("key", "a", 1)
    );
    let mut long = filler.repeat(1_000);
    long.push_str("---\n");
    long.push_str(&template);
    long.push_str(&filler.repeat(700));
    assert!(long.lines().count() > 10_000);
    let path = scratch.path().join("long.yaml");
    fs::write(&path, &long).expect("written");
    let outcome = Metalmark::within(scratch.path())
        .args(["stamp", "long.yaml"])
        .run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let text = fs::read_to_string(&path).expect("text");
    let lines = long.lines().zip(text.lines());
    assert_eq!(lines.filter(|(old, new)| old != new).count(), 2);
    assert_eq!(long.lines().count(), text.lines().count());
}

#[test]
fn the_answer_is_there_for_machines_too() {
    let scratch = copy_of(&fixtures().join("shapes"));
    let outcome = Metalmark::within(scratch.path())
        .args(["stamp", "--check", "--output", "json", "01-plain.yaml"])
        .run();
    let answer: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(outcome.status, 1);
    assert_eq!(answer["changes"][0]["path"], "01-plain.yaml");
}

#[test]
fn nothing_is_written_while_an_image_is_unknown() {
    let scratch = copy_of(&fixtures().join("shapes"));
    let path = scratch.path().join("01-plain.yaml");
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replace("image=noble", "image=nobel")).expect("written");
    let before = files(scratch.path());
    let outcome = Metalmark::within(scratch.path()).args(["stamp"]).run();
    assert_eq!(outcome.status, 1);
    assert!(
        outcome.stderr.contains("write `noble`"),
        "{}",
        outcome.stderr
    );
    assert_eq!(files(scratch.path()), before);
}

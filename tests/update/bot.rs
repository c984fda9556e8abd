//! `update --from-renovate`: the preset's own command, run as Renovate runs it, in a scratch repository.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::{case, files};
use crate::git::{self, git};
use crate::support::{Metalmark, Outcome, copy_of, repository};

/// What Renovate runs after an upgrade, as the preset has it.
fn tasks() -> Value {
    let text = fs::read_to_string(repository().join("templates/hosts/renovate/metalmark.json"));
    let preset: Value = serde_json::from_str(&text.expect("the preset")).expect("it is JSON");
    preset["packageRules"][0]["postUpgradeTasks"].clone()
}

/// The data file as the preset's template makes it: one `each` over the upgrades, and a comma between them.
fn data(upgrades: &[[(&str, &str); 4]]) -> String {
    let tasks = tasks();
    let template = tasks["dataFileTemplate"].as_str().expect("a template");
    let (head, rest) = template.split_once("{{#each upgrades}}").expect("a loop");
    let (body, tail) = rest.split_once("{{/each}}").expect("its end");
    let (body, between) = body.split_once("{{#unless @last}}").expect("a comma");
    let (between, _) = between.split_once("{{/unless}}").expect("its end");
    let made: Vec<String> = upgrades
        .iter()
        .map(|fields| {
            fields.iter().fold(body.to_owned(), |text, (name, value)| {
                let field = format!("{{{{{{{name}}}}}}}");
                assert!(text.contains(&field), "{field}");
                text.replace(&field, value)
            })
        })
        .collect();
    let text = format!("{head}{}{tail}", made.join(between));
    assert!(!text.contains("{{"), "{text}");
    text
}

#[test]
fn the_bot_says_which_version_came_before() {
    let from = |current: &'static str| {
        let mut upgrade = builder("0.4.13");
        upgrade[2].1 = current;
        upgrade
    };
    for (upgrades, title) in [
        (&[from("0.4.10")][..], "0.4.10 → 0.4.13"),
        (&[from("0.4.10"), builder("0.9.9")], "0.4.10 → 0.4.13"),
        // Nobody knows.
        (&[from("")], "0.4.13"),
        (&[from("0.4.10"), from("0.4.11")], "0.4.13"),
        (&[], "0.4.13"),
    ] {
        let scratch = copy_of(&case("locked"));
        let folder = scratch.path().join("before");
        super::raise(&folder);
        fs::remove_file(folder.join("metalmark.lock")).expect("removed");
        // A cluster may have a catalog of its own, at its own version.
        let edge = folder.join("clusters/edge-b.yaml");
        let text = fs::read_to_string(&edge).expect("a cluster");
        fs::write(&edge, text + "sylva_diskimagebuilder_version: 0.4.1\n").expect("written");
        let outcome = run(&folder, Some(&data(upgrades)));
        let reported = format!("OS images: {title}\n");
        assert!(outcome.stderr.contains(&reported), "{}", outcome.stderr);
    }
}

fn builder(to: &'static str) -> [(&'static str, &'static str); 4] {
    [
        ("depName", "sylva-projects/sylva-elements/diskimage-builder"),
        ("packageFile", "before/values.yaml"),
        ("currentValue", "0.4.12"),
        ("newValue", to),
    ]
}

/// A clone as the bot has it: the base is committed.
fn clone() -> Option<TempDir> {
    let scratch = git::repository()?;
    git::copy(&case("locked/images"), &scratch.path().join("images"));
    for name in [
        "values.yaml",
        "metalmark.yaml",
        "metalmark.lock",
        "clusters",
        "rendered",
    ] {
        let from = case("locked/before").join(name);
        let to = scratch.path().join(name);
        if from.is_dir() {
            git::copy(&from, &to)
        } else {
            fs::copy(&from, &to).expect("copied");
        }
    }
    let project = scratch.path().join("metalmark.yaml");
    let text = fs::read_to_string(&project).expect("the project");
    fs::write(&project, text.replace("../images", "images")).expect("written");
    // The base's lock and manifests are up to date.
    for command in ["lock", "render"] {
        let outcome = Metalmark::within(scratch.path()).args([command]).run();
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    }
    git::commit(scratch.path(), "Base");
    Some(scratch)
}

/// Runs the preset's one command without a shell, with the data file in the environment.
fn run(folder: &Path, data: Option<&str>) -> Outcome {
    let tasks = tasks();
    let commands = tasks["commands"].as_array().expect("a list");
    assert_eq!(commands.len(), 1);
    let mut words = commands[0].as_str().expect("a command").split(' ');
    assert_eq!(words.next(), Some("metalmark"));
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_string_lossy().into_owned();
    let mut environment = vec![("LANG", "C")];
    if let Some(data) = data {
        fs::write(file.path(), data).expect("written");
        environment.push(("RENOVATE_POST_UPGRADE_COMMAND_DATA_FILE", &path));
    }
    let words: Vec<&str> = words.collect();
    Metalmark::within(folder)
        .args(words)
        .envs(&environment)
        .run()
}

#[test]
fn the_preset_s_command_does_what_the_bump_leaves_undone() {
    let Some(scratch) = clone() else { return };
    let folder = scratch.path();
    super::raise(folder);
    // Selected by its facts, so that only names, lock and manifests are left to do.
    let edge = folder.join("clusters/edge-a.yaml");
    let text = fs::read_to_string(&edge).expect("a cluster");
    let text = text
        .replace(
            "image_key: ubuntu-noble-plain-rke2-1-31-8 # chosen in spring",
            "os_image_selector: {os: ubuntu, hardened: false}",
        )
        .replace(
            "'{{ .Values.k8s_version_map | dig \"1.31\" \"\" }}'",
            "v1.31.9+rke2r1",
        );
    fs::write(&edge, text).expect("written");
    let outcome = run(folder, Some(&data(&[builder("0.4.13")])));
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(
        outcome.stderr.contains("OS images: 0.4.12 → 0.4.13\n"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stderr
            .contains("- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → "),
        "{}",
        outcome.stderr
    );
    let changed = git(folder, &["status", "--porcelain"]);
    for file in [
        "values.yaml",
        "metalmark.lock",
        "rendered/edge-b/edge-b.yaml",
    ] {
        assert!(changed.contains(&format!("M {file}")), "{changed}");
    }
    // Once more, and with the file gone: nothing is left to do, and nothing is written.
    let once = files(folder);
    for data in [Some(data(&[builder("0.4.13")])), None, Some(String::new())] {
        let again = run(folder, data.as_deref());
        assert_eq!(
            (again.status, again.stdout.as_str()),
            (0, ""),
            "{}",
            again.stderr
        );
        assert_eq!(files(folder), once);
    }
}

#[test]
fn another_dependency_s_version_is_not_the_builder_s() {
    let Some(scratch) = clone() else { return };
    let folder = scratch.path();
    let once = files(folder);
    let mut chart = builder("9.9.9");
    chart[0].1 = "acme/chart";
    let outcome = run(folder, Some(&data(&[chart])));
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    // Nothing changes and all is known, so there is nothing to sum up.
    assert!(
        outcome
            .stderr
            .contains("the catalog lists what 0.4.12 offers\n"),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains("OS images"), "{}", outcome.stderr);
    assert_eq!(files(folder), once);
}

#[test]
fn what_the_bot_says_comes_before_what_git_shows() {
    let Some(scratch) = clone() else { return };
    super::raise(scratch.path());
    let mut upgrade = builder("0.4.13");
    upgrade[2].1 = "0.4.10";
    let outcome = run(scratch.path(), Some(&data(&[upgrade])));
    let reported = "OS images: 0.4.10 → 0.4.13\n";
    assert!(outcome.stderr.contains(reported), "{}", outcome.stderr);
}

#[test]
fn what_a_merge_request_shows_ends_with_the_errors() {
    let Some(scratch) = clone() else { return };
    let folder = scratch.path();
    super::raise(folder);
    let outcome = run(folder, Some(&data(&[builder("0.4.13")])));
    assert_eq!((outcome.status, outcome.stdout.as_str()), (1, ""));
    // One cluster's error keeps everything as the bot left it.
    assert_eq!(git(folder, &["status", "--porcelain"]), " M values.yaml");
    assert_eq!(git(folder, &["diff", "--numstat"]), "1\t1\tvalues.yaml");
    let lines: Vec<&str> = outcome.stderr.lines().rev().take(4).collect();
    assert_eq!(
        lines,
        [
            "help: correct them, or type --keep-going to write what the update changes all the same",
            "what was written is undone, because there are errors",
            "  help: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-9`, which follows it",
            "clusters/edge-a.yaml:6:16: error[unknown-image]: image `ubuntu-noble-plain-rke2-1-31-8` is not in the catalog"
        ]
    );
}

#[test]
fn a_data_file_of_another_form_is_refused_without_a_word_of_it() {
    let Some(scratch) = clone() else { return };
    let outcome = run(scratch.path(), Some("{\"token\": \"hunter2\"}"));
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains(
            "which RENOVATE_POST_UPGRADE_COMMAND_DATA_FILE names, is not the list of upgrades"
        ),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains("hunter2"));
}

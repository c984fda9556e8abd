//! `update --from-renovate`: the preset's own command, run as Renovate runs it, in a scratch repository.

use std::fs;

use serde_json::Value;
use snapbox::str;

use super::{fixture, raise};
use crate::git::git;
use crate::support::repository;
use crate::support::stage::{Is, Run, Stage, table};

/// What Renovate runs after an upgrade, as the preset has it.
fn tasks() -> Value {
    let text = fs::read_to_string(repository().join("templates/hosts/renovate/metalmark.json"));
    let preset: Value = serde_json::from_str(&text.expect("the preset")).expect("it is JSON");
    preset["packageRules"][0]["postUpgradeTasks"].clone()
}

/// A dependency that goes from a version to another one.
type Upgrade<'a> = (&'a str, &'a str, &'a str);

pub(super) const BUILDER: &str = "sylva-projects/sylva-elements/diskimage-builder";

/// The data file as the preset's template makes it: one `each` over the upgrades, and a comma between them.
pub(super) fn data(upgrades: &[Upgrade<'_>]) -> String {
    let tasks = tasks();
    let template = tasks["dataFileTemplate"].as_str().expect("a template");
    let (head, rest) = template.split_once("{{#each upgrades}}").expect("a loop");
    let (body, tail) = rest.split_once("{{/each}}").expect("its end");
    let (body, between) = body.split_once("{{#unless @last}}").expect("a comma");
    let (between, _) = between.split_once("{{/unless}}").expect("its end");
    let made = upgrades.iter().map(|(name, from, to)| {
        let fields = [
            ("depName", *name),
            ("packageFile", "before/values.yaml"),
            ("currentValue", *from),
            ("newValue", *to),
        ];
        fields.iter().fold(body.to_owned(), |text, (name, value)| {
            let field = format!("{{{{{{{name}}}}}}}");
            assert!(text.contains(&field), "{field}");
            text.replace(&field, value)
        })
    });
    let text = format!("{head}{}{tail}", made.collect::<Vec<_>>().join(between));
    assert!(!text.contains("{{"), "{text}");
    text
}

/// A clone as the bot has it: the base is committed, its lock and its manifests are up to date.
fn clone() -> Option<Stage> {
    let stage = fixture("locked");
    for command in ["lock", "render"] {
        stage.run(&format!("-C before {command}")).exit(0);
    }
    stage.commit("Base")
}

fn run(stage: &Stage, data: Option<&str>) -> Run {
    run_in(stage, "-C before ", data)
}

/// Runs the preset's one command without a shell, with the data file in the environment.
pub(super) fn run_in(stage: &Stage, options: &str, data: Option<&str>) -> Run {
    let tasks = tasks();
    let commands = tasks["commands"].as_array().expect("a list");
    assert_eq!(commands.len(), 1);
    let command = commands[0].as_str().expect("a command");
    let words = command.strip_prefix("metalmark ").expect("of ours");
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_string_lossy().into_owned();
    let mut environment = vec![("LANG", "C")];
    if let Some(data) = data {
        fs::write(file.path(), data).expect("written");
        environment.push(("RENOVATE_POST_UPGRADE_COMMAND_DATA_FILE", &path));
    }
    stage.run_with(&format!("{options}{words}"), &environment)
}

/// The first line that a merge request shows.
fn title(run: &Run) -> String {
    let title = run
        .outcome
        .stderr
        .lines()
        .find(|line| line.starts_with("OS images"));
    title.unwrap_or("nothing changes").to_owned()
}

#[test]
fn the_bot_says_which_version_came_before() {
    let from = |current: &'static str| (BUILDER, current, "0.4.13");
    let cases = [
        ("one", vec![from("0.4.10")]),
        (
            "two that lead to other versions",
            vec![from("0.4.10"), (BUILDER, "0.4.12", "0.9.9")],
        ),
        ("nobody knows", vec![from("")]),
        (
            "two that come from other versions",
            vec![from("0.4.10"), from("0.4.11")],
        ),
    ];
    let titles = table(cases.iter().map(|(name, _)| name), |name| {
        let (_, upgrades) = cases.iter().find(|case| case.0 == **name).expect("it");
        let stage = fixture("locked");
        raise(&stage);
        stage.remove("before/metalmark.lock");
        // A cluster may have a catalog of its own, at its own version.
        let edge = stage.read("before/clusters/edge-b.yaml");
        stage.write(
            "before/clusters/edge-b.yaml",
            edge + "sylva_diskimagebuilder_version: 0.4.1\n",
        );
        vec![title(&run(&stage, Some(&data(upgrades))))]
    });
    titles.is(str![[r#"
one
    OS images: 0.4.10 → 0.4.13
two that lead to other versions
    OS images: 0.4.10 → 0.4.13
nobody knows
    OS images: 0.4.13
two that come from other versions
    OS images: 0.4.13

"#]]);
}

/// Of which builder an update was meant is not known, and all of them would be.
#[test]
fn a_data_file_without_an_upgrade_updates_nothing() {
    let Some(stage) = clone() else { return };
    raise(&stage);
    let before = stage.texts();
    for data in [data(&[]), String::new(), data(&[(BUILDER, "0.4.12", "")])] {
        let run = run(&stage, Some(&data)).exit(2);
        assert!(
            run.outcome.stderr.contains(
                "names, has no upgrade, so nothing is updated\nhelp: take `dataFileTemplate` as the preset has it"
            ),
            "{}",
            run.outcome.stderr
        );
    }
    assert_eq!(stage.texts(), before);
}

#[test]
fn the_preset_s_command_does_what_the_bump_leaves_undone() {
    let Some(stage) = clone() else { return };
    raise(&stage);
    // Selected by its facts, so that only names, lock and manifests are left to do.
    let edge = "before/clusters/edge-a.yaml";
    stage
        .edit(
            edge,
            "image_key: ubuntu-noble-plain-rke2-1-31-8 # chosen in spring",
            "os_image_selector: {os: ubuntu, hardened: false}",
        )
        .edit(
            edge,
            "'{{ .Values.k8s_version_map | dig \"1.31\" \"\" }}'",
            "v1.31.9+rke2r1",
        );
    let data = data(&[(BUILDER, "0.4.12", "0.4.13")]);
    run(&stage, Some(&data)).exit(0).stdout("").stderr(str![[r#"
OS images: 0.4.12 → 0.4.13
4 node pools in 2 clusters will be re-provisioned, compared with the last commit.

Changed

- ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9

Added

- ubuntu-noble-plain-rke2-1-32-5

Kubernetes versions

- v1.31.8+rke2r1 → v1.31.9+rke2r1

Node pools whose machines will be re-provisioned

- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → ubuntu-noble-plain-rke2-1-31-9:0.4.13
- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ubuntu-noble-hardened-rke2-1-30-12:0.4.13
- edge-b/md0: opensuse-15-6-plain-rke2-1-30-12:0.4.12 → opensuse-15-6-plain-rke2-1-30-12:0.4.13
`k8s_version_map.1.32` is missing, and there are images of Kubernetes 1.32 for `rke2`; add `k8s_version_map.1.32`, which is `v1.32.5+rke2r1` for `rke2`
fixed values.yaml:25:11: `k8s_version_map.1.31: v1.31.9+rke2r1`
dropped opensuse-15-6-plain-rke2-1-30-12 sha256:b04531d63b1a… oci://registry.example.org/sylva/diskimage-builder/opensuse-15-6-plain-rke2-1-30-12:0.4.12
added   opensuse-15-6-plain-rke2-1-30-12 sha256:c56b9ba5469b… oci://registry.example.org/sylva/diskimage-builder/opensuse-15-6-plain-rke2-1-30-12:0.4.13
dropped ubuntu-noble-hardened-rke2-1-30-12 sha256:5788f6cd1218… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-hardened-rke2-1-30-12:0.4.12
added   ubuntu-noble-hardened-rke2-1-30-12 sha256:9e5bf53c666e… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-hardened-rke2-1-30-12:0.4.13
dropped ubuntu-noble-plain-rke2-1-31-8 sha256:2aedbdb27902… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12
added   ubuntu-noble-plain-rke2-1-31-9 sha256:7125283f537f… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-plain-rke2-1-31-9:0.4.13
added   ubuntu-noble-plain-rke2-1-32-5 sha256:baba8cb2ddea… oci://registry.example.org/sylva/diskimage-builder/ubuntu-noble-plain-rke2-1-32-5:0.4.13
metalmark.lock: 0 kept, 4 added, 0 updated, 3 dropped; written
changed values.yaml

"#]]);
    git(stage.path(), &["status", "--porcelain"]).is(str![[r#"
 M before/clusters/edge-a.yaml
 M before/metalmark.evidence
 M before/metalmark.lock
 M before/rendered/edge-a/edge-a.yaml
 M before/rendered/edge-b/edge-b.yaml
 M before/values.yaml
"#]]);
    // Once more, and with the file gone: nothing is left to do, and nothing is written.
    let once = stage.texts();
    for data in [Some(&*data), None] {
        run(&stage, data).exit(0).stdout("");
        assert_eq!(stage.texts(), once);
    }
}

#[test]
fn another_dependency_s_version_is_not_the_builder_s() {
    let Some(stage) = clone() else { return };
    let once = stage.texts();
    // Nothing changes and all is known, so there is nothing to sum up.
    let data = data(&[("acme/chart", "0.4.12", "9.9.9")]);
    run(&stage, Some(&data)).exit(0).stderr(str![[r#"
the catalog lists what 0.4.12 offers
metalmark.lock: 3 kept, 0 added, 0 updated, 0 dropped; unchanged

"#]]);
    assert_eq!(stage.texts(), once);
}

#[test]
fn what_the_bot_says_comes_before_what_git_shows() {
    let Some(stage) = clone() else { return };
    raise(&stage);
    let run = run(&stage, Some(&data(&[(BUILDER, "0.4.10", "0.4.13")])));
    assert_eq!(title(&run), "OS images: 0.4.10 → 0.4.13");
}

#[test]
fn a_merge_request_shows_the_errors_first() {
    let Some(stage) = clone() else { return };
    raise(&stage);
    // Nothing follows an image of another release.
    let edge = "before/clusters/edge-a.yaml";
    stage.edit(edge, "ubuntu-noble-plain", "ubuntu-jammy-plain");
    let before = stage.texts();
    let run = run(&stage, Some(&data(&[(BUILDER, "0.4.12", "0.4.13")])))
        .exit(1)
        .stdout("");
    // One cluster's error keeps everything as the bot left it.
    assert_eq!(stage.texts(), before);
    run.stderr(str![[r#"
clusters/edge-a.yaml:6:16: error[unknown-image]: image `ubuntu-jammy-plain-rke2-1-31-8` is not in the catalog
  help: `ubuntu-noble-plain-rke2-1-31-9` is near
OS images: 0.4.12 → 0.4.13
Nothing is written, because of errors. It would do this:

Changed

- ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9

Added

- ubuntu-noble-plain-rke2-1-32-5

Kubernetes versions

- v1.31.8+rke2r1 → v1.31.9+rke2r1

Node pools whose machines will be re-provisioned

- edge-b/control-plane: ubuntu-noble-hardened-rke2-1-30-12:0.4.12 → ubuntu-noble-hardened-rke2-1-30-12:0.4.13
- edge-b/md0: opensuse-15-6-plain-rke2-1-30-12:0.4.12 → opensuse-15-6-plain-rke2-1-30-12:0.4.13

Node pools left without an image

- edge-a/control-plane: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → no image
- edge-a/md0: ubuntu-noble-plain-rke2-1-31-8:0.4.12 → no image
`k8s_version_map.1.32` is missing, and there are images of Kubernetes 1.32 for `rke2`; add `k8s_version_map.1.32`, which is `v1.32.5+rke2r1` for `rke2`
would fix values.yaml:25:11: `k8s_version_map.1.31: v1.31.9+rke2r1`
what was written is undone, because of the errors above
help: correct them and run this again
help: `metalmark render CLUSTER…` renders clusters alone, without the update

"#]]);
}

#[test]
fn a_data_file_of_another_form_is_refused_without_a_word_of_it() {
    let Some(stage) = clone() else { return };
    let run = run(&stage, Some("{\"token\": \"hunter2\"}")).exit(2);
    assert!(run.outcome.stderr.contains(
        "which RENOVATE_POST_UPGRADE_COMMAND_DATA_FILE names, is not the list of upgrades"
    ));
    assert!(!run.outcome.stderr.contains("hunter2"));
}

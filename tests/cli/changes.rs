//! What `render` says of the files that it changes: a line a file, a difference, a document.

use serde_json::Value;
use snapbox::str;

use super::super::support::stage::{Is, Stage, assert_text};
use super::{CLUSTER, fleet_with};

/// A project with two outputs. One file is as it is rendered, one was edited, one is nobody's, and one belongs to a cluster
/// that is gone.
fn project_with_edit() -> Stage {
    let outputs = "[{target: manifests, path: a}, {target: configmap, path: b}]";
    let fleet = fleet_with("[{target: manifests, path: rendered}]", outputs);
    for name in ["lyon", "nice", "rome"] {
        fleet.write(&format!("clusters/{name}/values.yaml"), CLUSTER);
    }
    fleet.run("render").exit(0);
    fleet.remove("clusters/nice/values.yaml");
    fleet.write("clusters/zug/values.yaml", CLUSTER);
    fleet.write("a/zug.yaml", "# somebody's\n");
    fleet.write("clusters/bern/values.yaml", CLUSTER);
    let edited = format!("{}own: line", fleet.read("a/lyon.yaml"));
    fleet.write("a/lyon.yaml", edited);
    fleet
}

#[test]
fn each_file_has_its_line() {
    let fleet = project_with_edit();
    fleet.run("render --adopt").exit(0).screen(str![[r#"
created  a/bern.yaml  +20
updated  a/lyon.yaml
deleted  a/nice.yaml
updated  a/zug.yaml  (adopted)
7 files rendered: 1 created, 2 updated, 1 deleted, 4 unchanged

"#]]);
    fleet.run("render --check").exit(0).screen(str![[r#"
7 files rendered: 7 unchanged

"#]]);
}

#[test]
fn the_changes_of_several_folders_are_one_json_document() {
    let run = project_with_edit()
        .run("render --adopt --output json")
        .exit(0);
    let document: Value = serde_json::from_str(&run.outcome.stdout).expect("one document");
    let lines = |key: &str| match &document[key] {
        Value::Array(items) => items.iter().map(|item| format!("{item}\n")).collect(),
        other => format!("{key} {other}\n"),
    };
    let text: String = ["changes", "drift", "summary"].map(lines).concat();
    text.is(str![[r#"
{"added":20,"adopted":false,"kind":"created","path":"a/bern.yaml","removed":0}
{"added":null,"adopted":false,"kind":"updated","path":"a/lyon.yaml","removed":null}
{"added":null,"adopted":false,"kind":"deleted","path":"a/nice.yaml","removed":null}
{"added":null,"adopted":true,"kind":"updated","path":"a/zug.yaml","removed":null}
drift true
summary {"created":1,"deleted":1,"unchanged":4,"updated":2}

"#]]);
}

#[test]
fn a_check_shows_the_difference() {
    let fleet = project_with_edit();
    fleet.remove("a/zug.yaml");
    let run = fleet.run("render --check --color always").exit(1);
    // What is not copied from a file, with its colors.
    let screen = run.outcome.stdout.replace('\u{1b}', "ESC");
    let is_copied = |line: &&str| line.starts_with(['+', ' ']) || line.starts_with("ESC[32m+");
    let is_removed = |line: &&str| line.starts_with("ESC[31m-") && !line.contains("own: line");
    let shown = screen
        .lines()
        .filter(|line| !is_copied(line) && !is_removed(line));
    assert_text(
        &shown.collect::<Vec<_>>().join("\n"),
        str![[r#"
ESC[1m--- /dev/nullESC[0m
ESC[1m+++ b/a/bern.yamlESC[0m
ESC[36m@@ -0,0 +1,20 @@ESC[0m
ESC[1m--- a/a/lyon.yamlESC[0m
ESC[1m+++ b/a/lyon.yamlESC[0m
ESC[36m@@ -18,4 +18,3 @@ESC[0m
ESC[31m-own: line
\ No newline at end of fileESC[0m
ESC[1m--- a/a/nice.yamlESC[0m
ESC[1m+++ /dev/nullESC[0m
ESC[36m@@ -1,20 +0,0 @@ESC[0m
ESC[1m--- /dev/nullESC[0m
ESC[1m+++ b/a/zug.yamlESC[0m
ESC[36m@@ -0,0 +1,20 @@ESC[0m
created  a/bern.yaml  +20
updated  a/lyon.yaml  -1
deleted  a/nice.yaml  -20
created  a/zug.yaml  +20
7 files rendered: 2 created, 1 updated, 1 deleted, 4 unchanged
"#]],
    );
}

#[test]
fn very_long_texts_are_counted_only() {
    let fleet = fleet_with("path: rendered", "path: long");
    fleet.run("render").exit(0);
    let line = "# Rendered by metalmark for cluster paris; edit the values, not this file.\n";
    fleet.write("long/paris.yaml", line.to_owned() + &"b\n".repeat(30_000));
    let screen = fleet.run("render --check").exit(1).outcome.stdout;
    let counted = screen.lines().filter(|line| line.starts_with('#'));
    assert_text(
        &counted.collect::<Vec<_>>().join("\n"),
        str!["# too long to compare: 30001 lines, then 20"],
    );
}

//! Where an upgrade is, from the commits of its repository.

use serde_json::json;
use snapbox::str;

use super::waves::fleet;
use super::{list, read_json};
use crate::git::{git, git_on};
use crate::support::stage::assert_text;
use crate::support::stage::{Stage, project, table};

/// Commits everything on a day, at noon.
fn commit(stage: &Stage, day: &str) {
    git_on(day, stage.path(), &["add", "--all", "--force", "."]);
    git_on(day, stage.path(), &["commit", "--quiet", "-m", "it"]);
}

/// Three clusters, a wave each, on the way to 1.31; none where there is no git.
fn begin() -> Option<Stage> {
    let options = "plan: {most: 1, soak: 2, owners: {a: lab}, windows: {c: Sunday}}\n";
    let clusters = [("a", 30), ("b", 30), ("c", 30)];
    let stage = fleet(options, &clusters).commit("before")?;
    stage.edit("metalmark.yaml", "{most", "{to: '1.31', most");
    commit(&stage, "2026-11-12");
    Some(stage)
}

/// Makes the edits of the first wave, and merges them on a day.
fn merge_wave(stage: &Stage, day: &str) {
    git(stage.path(), &["checkout", "--quiet", "-b", "wave"]);
    stage.run("plan --apply 1").exit(0);
    commit(stage, "2026-11-13");
    git(stage.path(), &["checkout", "--quiet", "main"]);
    git_on(day, stage.path(), &["merge", "--quiet", "--no-ff", "wave"]);
    git(stage.path(), &["branch", "--quiet", "-D", "wave"]);
}

#[test]
fn an_upgrade_is_followed_from_the_commit_that_writes_its_goal_to_its_end() {
    let Some(mut stage) = begin() else { return };
    stage.data("plan --status");
    stage.run("plan --status").exit(0).screen(str![[r#"
to 1.31 since 2026-11-12 (138394c210)
next: wave 1, to 1.31, 4 machines, lab: a
after wave 1: wave 2, to 1.31, 4 machines: b
after wave 2: wave 3, to 1.31, 4 machines, Sunday: c
3 clusters: 3 to upgrade in 3 steps, 0 at 1.31 or newer, 0 blocked

"#]]);
    merge_wave(&stage, "2026-11-20");
    // What is not committed is not merged.
    stage.run("plan --apply 1").exit(0);
    stage.run("plan --status").exit(0).screen(str![[r#"
to 1.31 since 2026-11-12 (138394c210)
merged 2026-11-20 (51e1475984): 1.30.4 → 1.31.4: a
soaks until 2026-11-22: wave 1, to 1.31, 4 machines: b
after wave 1: wave 2, to 1.31, 4 machines, Sunday: c
3 clusters: 2 to upgrade in 2 steps, 1 at 1.31 or newer, 0 blocked

"#]]);
    git(stage.path(), &["checkout", "--quiet", "."]);
    // Two days later.
    stage = stage.variable("SOURCE_DATE_EPOCH", "1795305600");
    stage.run("plan --status").exit(0).screen(str![[r#"
to 1.31 since 2026-11-12 (138394c210)
merged 2026-11-20 (51e1475984): 1.30.4 → 1.31.4: a
next: wave 1, to 1.31, 4 machines: b
after wave 1: wave 2, to 1.31, 4 machines, Sunday: c
3 clusters: 2 to upgrade in 2 steps, 1 at 1.31 or newer, 0 blocked

"#]]);
    merge_wave(&stage, "2026-11-22");
    merge_wave(&stage, "2026-11-22");
    stage.run("plan --status").exit(0).screen(str![[r#"
to 1.31 since 2026-11-12 (138394c210)
merged 2026-11-20 (51e1475984): 1.30.4 → 1.31.4: a
merged 2026-11-22 (9a756f47e5): 1.30.4 → 1.31.4: b
merged 2026-11-22 (c20f3393e9): 1.30.4 → 1.31.4: c
3 clusters: 0 to upgrade in 0 steps, 3 at 1.31 or newer, 0 blocked

"#]]);
}

#[test]
fn a_wave_that_was_reverted_and_merged_again_soaks_again() {
    let Some(stage) = begin() else { return };
    merge_wave(&stage, "2026-11-14");
    let days = ["2026-11-16", "2026-11-20"];
    for day in days {
        git_on(
            day,
            stage.path(),
            &["revert", "--no-edit", "-m", "1", "HEAD"],
        );
    }
    let status = read_json(&stage, "plan --status");
    assert_eq!(status["due"], "2026-11-22");
    let moves = list(&status, "merged").map(|it| (&it["day"], &it["moves"]));
    let expected = json!([
        ["2026-11-20", [{"from": "1.30.4", "to": "1.31.4", "clusters": ["a"]}]],
        ["2026-11-16", [{"from": "1.31.4", "to": "1.30.4", "clusters": ["a"]}]],
        ["2026-11-14", [{"from": "1.30.4", "to": "1.31.4", "clusters": ["a"]}]],
    ]);
    assert_eq!(json!(moves.collect::<Vec<_>>()), expected);
}

/// A commit with the marks of a merge in its project file began nothing, and is passed over.
#[test]
fn a_commit_with_a_broken_project_file_begins_no_upgrade() {
    let Some(stage) = begin() else { return };
    let whole = stage.read("metalmark.yaml");
    stage.write("metalmark.yaml", format!("<<<<<<< ours\n{whole}"));
    commit(&stage, "2026-11-13");
    stage.write("metalmark.yaml", whole);
    commit(&stage, "2026-11-14");
    let status = read_json(&stage, "plan --status");
    assert_eq!(status["begun"]["day"], "2026-11-12");
}

#[test]
fn the_json_of_an_upgrade_is_that_of_its_plan_with_the_state_of_each_wave() {
    let Some(stage) = begin() else { return };
    let states = |status: &serde_json::Value| {
        let states = list(status, "waves").map(|it| it["state"].clone());
        json!(states.collect::<Vec<_>>())
    };
    let mut status = read_json(&stage, "plan --status");
    assert_eq!(states(&status), json!(["next", "waiting", "waiting"]));
    assert_eq!(status["due"], json!(null));
    let begun = git(stage.path(), &["rev-parse", "HEAD"]);
    assert_eq!(
        status["begun"],
        json!({"commit": begun, "day": "2026-11-12"})
    );
    // Without the state it is the plan.
    let plan = read_json(&stage, "plan");
    for wave in status["waves"].as_array_mut().expect("waves") {
        wave.as_object_mut().expect("a wave").remove("state");
    }
    for (name, value) in plan.as_object().expect("a plan") {
        assert_eq!(status[name], *value, "{name}");
    }
    merge_wave(&stage, "2026-11-20");
    status = read_json(&stage, "plan --status");
    assert_eq!(states(&status), json!(["soaking", "waiting"]));
    assert_eq!(
        status["merged"][0]["commit"],
        git(stage.path(), &["rev-parse", "HEAD"])
    );
}

#[test]
fn what_a_clone_does_not_reach_and_what_stops_clusters_is_said() {
    let Some(stage) = begin() else { return };
    merge_wave(&stage, "2026-11-14");
    stage.edit("metalmark.yaml", "'1.31'", "'1.33'");
    stage.edit("clusters/b.yaml", "v1.30.4", "v1.30.5");
    commit(&stage, "2026-11-15");
    let from = format!("file://{}", stage.path().display());
    let clone = project();
    git(
        clone.path(),
        &["clone", "--quiet", "--depth", "1", &from, "clone"],
    );
    clone.run("-C clone plan --status").exit(1).stdout(str![[r#"
to 1.33; this clone is shallow, so what was merged before its first commit is not known: `git fetch --unshallow`
next: wave 1, to 1.31, 4 machines, Sunday: c
after wave 1: wave 2, to 1.32, 4 machines, lab: a
after wave 2: wave 3, to 1.32, 4 machines, Sunday: c
a: blocked before 1.33: an image is missing
b: not planned: image `ubuntu-noble-plain-kubeadm-1-30-4` of node pool `control-plane` is mismatched: `1.30.4` in the values
c: blocked before 1.33: an image is missing
missing: `ubuntu-noble-plain-kubeadm-1-33-*`, an image of 1.33 in the line of `ubuntu-noble-plain-kubeadm-1-32-4`, for 2 clusters
3 clusters: 2 to upgrade in 3 steps, 0 at 1.33 or newer, 2 blocked, 1 not planned

"#]]);
    clone
        .run("-C clone plan --status --output markdown")
        .exit(1)
        .stdout(str![[r#"
- to 1.33; this clone is shallow, so what was merged before its first commit is not known: `git fetch --unshallow`
- next: wave 1, to 1.31, 4 machines, Sunday: c
- after wave 1: wave 2, to 1.32, 4 machines, lab: a
- after wave 2: wave 3, to 1.32, 4 machines, Sunday: c
- a: blocked before 1.33: an image is missing
- b: not planned: image `ubuntu-noble-plain-kubeadm-1-30-4` of node pool `control-plane` is mismatched: `1.30.4` in the values
- c: blocked before 1.33: an image is missing
- missing: `ubuntu-noble-plain-kubeadm-1-33-*`, an image of 1.33 in the line of `ubuntu-noble-plain-kubeadm-1-32-4`, for 2 clusters
- 3 clusters: 2 to upgrade in 3 steps, 0 at 1.33 or newer, 2 blocked, 1 not planned

"#]]);
}

#[test]
fn a_shallow_clone_takes_its_first_commit_for_one_that_merged_a_wave() {
    let Some(stage) = begin() else { return };
    merge_wave(&stage, "2026-11-20");
    let from = format!("file://{}", stage.path().display());
    let clone = |depth: &str| {
        let clone = project();
        let depth = format!("--depth={depth}");
        git(clone.path(), &["clone", "--quiet", &depth, &from, "clone"]);
        let status = read_json(&clone, "-C clone plan --status");
        let merged = list(&status, "merged").count();
        json!([status["due"], status["waves"][0]["state"], merged])
    };
    assert_eq!(clone("1"), json!(["2026-11-22", "soaking", 0]));
    assert_eq!(clone("2"), json!(["2026-11-22", "soaking", 1]));
}

#[test]
fn an_upgrade_begins_with_the_project_file_also_in_a_shallow_clone() {
    let stage = fleet("plan: {to: '1.31', most: 1}\n", &[("a", 30)]);
    let file = stage.read("metalmark.yaml");
    stage.remove("metalmark.yaml");
    let Some(stage) = stage.commit("before") else {
        return;
    };
    stage.write("notes.md", "nothing of metalmark yet");
    commit(&stage, "2026-11-11");
    stage.write("metalmark.yaml", file);
    commit(&stage, "2026-11-12");
    let begun = git(stage.path(), &["rev-parse", "HEAD"]);
    let from = format!("file://{}", stage.path().display());
    let clone = project();
    git(
        clone.path(),
        &["clone", "--quiet", "--depth=2", &from, "clone"],
    );
    let status = read_json(&clone, "-C clone plan --status");
    assert_eq!(status["begun"]["commit"], begun);
    assert_eq!(status["due"], json!(null));
}

#[test]
fn a_slip_in_the_project_file_does_not_begin_an_upgrade_again() {
    let Some(stage) = begin() else { return };
    let begun = git(stage.path(), &["rev-parse", "HEAD"]);
    merge_wave(&stage, "2026-11-20");
    stage.edit("metalmark.yaml", "'1.31'", "1.31");
    commit(&stage, "2026-11-20");
    stage.edit("metalmark.yaml", "to: 1.31", "to: '1.31'");
    commit(&stage, "2026-11-20");
    let status = read_json(&stage, "plan --status");
    assert_eq!(status["begun"]["commit"], begun);
    assert_eq!(list(&status, "merged").count(), 1);
    assert_eq!(status["waves"][0]["state"], "soaking");
}

#[test]
fn a_status_needs_a_goal_that_is_committed() {
    let Some(stage) = begin() else { return };
    let cases = [
        (
            "a goal beside that of the project file",
            "plan --to 1.31 --status",
        ),
        ("a goal that is a number", "plan"),
        ("no goal", "plan --status"),
        ("no goal of a plan", "plan"),
        ("no project file", "plan --status"),
    ];
    let errors = table(cases.iter().map(|(name, _)| name), |name| {
        match **name {
            "a goal that is a number" => {
                stage.edit("metalmark.yaml", "'1.31'", "1.31");
            }
            "no goal" => {
                stage.edit("metalmark.yaml", "to: 1.31, ", "");
                commit(&stage, "2026-11-13");
            }
            "no project file" => {
                git(
                    stage.path(),
                    &["rm", "--quiet", "--cached", "metalmark.yaml"],
                );
                git(stage.path(), &["commit", "--quiet", "-m", "it"]);
            }
            _ => {}
        }
        let (_, words) = cases.iter().find(|case| case.0 == **name).expect("it");
        let run = stage.run(words).exit(2);
        run.outcome.stderr.lines().map(str::to_owned).collect()
    });
    assert_text(
        &errors,
        str![[r#"
a goal beside that of the project file
    error: the argument '--to <MINOR>' cannot be used with '--status'
    
    Usage: metalmark plan --to <MINOR> [CLUSTER]...
    
    For more information, try '--help'.
a goal that is a number
    error[project-file]: `plan.to` is a string, and this is a number
     --> metalmark.yaml:3:12
      |
    3 | plan: {to: 1.31, most: 1, soak: 2, owners: {a: lab}, windows: {c: Sunday}}
      |            ^^^^
      |
      = help: quote it
    
    1 error
    error: no goal is given
    help: type `--to MINOR` or `--patch-only`, or write `plan: {to: "1.33"}` to the project file
no goal
    error: no goal is given
    help: write `plan: {to: "1.33"}` to the project file
no goal of a plan
    error: no goal is given
    help: type `--to MINOR` or `--patch-only`, or write `plan: {to: "1.33"}` to the project file
no project file
    error: the last commit has no project file
    help: commit it

"#]],
    );
}

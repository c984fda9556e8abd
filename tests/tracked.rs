//! Hooks look at what git tracks: work in progress is rendered into nobody's commit, and nothing rendered is left out of one.

use std::process::Command;

use metalmark::files::Provenance;
use snapbox::str;

use super::git::git;
use super::support::copy_into;
use super::support::stage::{Is, Run, Stage, assert_text, project};

const WIP: &str = "environment-values/workload-clusters/edge-wip";

fn render(stage: &Stage, words: &str) -> Run {
    stage.run(&format!("render --frozen --tracked {words}"))
}

/// The lines of a run that are about git or about files.
fn said(run: Run) -> String {
    let screen = run.outcome.stdout + &run.outcome.stderr;
    let is_one = |line: &&str| line.contains("git") || line.contains(" rendered");
    let lines = screen.lines().filter(is_one);
    lines.map(|line| format!("{line}\n")).collect()
}

/// The demo workspace without what it is rendered to.
pub(super) fn demo() -> Stage {
    let stage = project().folder("fixtures/workspaces/sylva-baremetal");
    std::fs::remove_dir_all(stage.path().join("expected")).expect("removed");
    stage
}

/// The demo workspace, rendered and committed, with a cluster that is new to git.
fn with_work_in_progress() -> Option<Stage> {
    let stage = demo().commit("Add the clusters")?;
    render(&stage, "--fail-on-change").exit(1);
    let stage = stage.commit("Render the clusters")?;
    let paris = stage.path().join(WIP).with_file_name("edge-paris");
    copy_into(&paris, &stage.path().join(WIP));
    Some(stage)
}

#[test]
fn a_cluster_that_is_new_to_git_is_left_out() {
    let Some(stage) = with_work_in_progress() else {
        return;
    };
    for words in ["--fail-on-change", "--check"] {
        said(render(&stage, words).exit(0)).is(str![[r#"
6 files rendered: 6 unchanged
warning[project-file]: git does not track `environment-values/workload-clusters/edge-wip`, which this run leaves out
 = help: `git add environment-values/workload-clusters/edge-wip` where it belongs to this commit

"#]]);
    }
    assert!(!stage.path().join("rendered/clusters/edge-wip").exists());
    // Without the option it is looked at.
    stage.run("render --frozen --check").exit(1);
}

#[test]
fn rendered_files_that_are_new_to_git_fail_until_they_are_added() {
    let Some(stage) = with_work_in_progress() else {
        return;
    };
    let folder = stage.path();
    git(folder, &["add", WIP]);
    said(render(&stage, "--fail-on-change").exit(1)).is(str![[r#"
created  rendered/clusters/edge-wip/edge-wip.yaml  +69
7 files rendered: 1 created, 6 unchanged
rendered files have changed: `git add --all -- rendered/clusters`, then run this again

"#]]);
    said(render(&stage, "--fail-on-change").exit(1)).is(str![[r#"
7 files rendered: 7 unchanged
rendered files are new to git: `git add --all -- rendered/clusters`, then run this again

"#]]);
    said(render(&stage, "--check").exit(1)).is(str![[r#"
7 files rendered: 7 unchanged
rendered files are new to git: `git add --all -- rendered/clusters`, then run this again

"#]]);
    git(folder, &["add", "--all", "--", "rendered/clusters"]);
    render(&stage, "--fail-on-change").exit(0);
    git(folder, &["commit", "--quiet", "--message", "Add edge-wip"]);
    assert_eq!(git(folder, &["status", "--porcelain"]), "");
}

#[test]
fn a_file_that_the_project_names_must_be_tracked() {
    let Some(stage) = with_work_in_progress() else {
        return;
    };
    git(
        stage.path(),
        &[
            "rm",
            "--quiet",
            "--cached",
            "charts/sylva-units/management.values.yaml",
        ],
    );
    let run = render(&stage, "--check").outcome;
    let screen = run.stdout + &run.stderr;
    assert_ne!(run.status, 0);
    assert!(
        screen.contains("management.values.yaml") && screen.contains("git does not track"),
        "{screen}"
    );
}

#[test]
fn outside_of_a_repository_the_option_is_refused() {
    render(&demo(), "--check").exit(2).stderr(str![[r#"
error: `.` is not in a git repository, so there is nothing to compare with
help: run it in a clone, or start it there with -C

"#]]);
}

/// A merge request's comment says why the job is red.
#[test]
fn the_headline_of_a_comment_counts_files_that_are_out_of_date() {
    let run = demo()
        .run("render --frozen --check --output markdown")
        .exit(1);
    let mut lines = run.outcome.stdout.lines();
    let headline = lines.find(|line| line.starts_with("### "));
    assert_text(
        headline.expect("a line"),
        str![
            "### metalmark: 6 files out of date; 2 warnings in 1 cluster; 9 node pools checked: 7 proven, 1 by name only, 1 mismatched"
        ],
    );
}

/// What a bundle says of its origin is true of the bytes that it was made of: git reads objects, and compares no file.
#[test]
fn each_way_to_change_a_committed_folder_is_seen() {
    let stage = project()
        .file("in/a", "a")
        .file("in/b", "b")
        .file("elsewhere", "a");
    std::os::unix::fs::symlink("b", stage.path().join("in/link")).expect("linked");
    let Some(stage) = stage.commit("before") else {
        return;
    };
    // A submodule that is not checked out.
    let submodule = format!(
        "160000,{},in/submodule",
        git(stage.path(), &["rev-parse", "HEAD"])
    );
    git(
        stage.path(),
        &["update-index", "--add", "--cacheinfo", &submodule],
    );
    git(stage.path(), &["commit", "--quiet", "-m", "submodule"]);
    let is_changed = || Provenance::from_folder(&stage.path().join("in")).is_changed;
    let ways = [
        ("none", "true", false),
        ("a file beside the folder", "echo x > elsewhere", false),
        ("edited", "echo x > in/a", true),
        ("the same length", "printf b > in/a", true),
        (
            "staged, and put back",
            "echo x > in/a; git add in; printf a > in/a",
            true,
        ),
        ("deleted", "rm in/a", true),
        ("new", "echo x > in/c", true),
        (
            "new and ignored",
            "echo c > .git/info/exclude; echo x > in/c",
            true,
        ),
        ("one that no bundle takes", "echo x > in/.metalmark-x", false),
        ("executable", "chmod +x in/a", true),
        ("a file in the submodule", "mkdir -p in/submodule; echo x > in/submodule/x", true),
        (
            "a link to the same bytes",
            "rm in/a; ln -s ../elsewhere in/a",
            true,
        ),
        ("another link", "ln -sfn a in/link", true),
        ("a pipe", "rm in/a; mkfifo in/a", true),
        (
            "left out of a sparse checkout",
            "git update-index --skip-worktree in/a; rm in/a",
            true,
        ),
        (
            "edited, and said to be left out",
            "git update-index --skip-worktree in/a; echo x > in/a",
            true,
        ),
        (
            "edited, and said to be unchanged",
            "git update-index --assume-unchanged in/a; echo x > in/a",
            true,
        ),
        (
            "as another commit that stands in the commit's place",
            "echo x > in/a; git add in/a; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
             git replace HEAD $(git commit-tree $(git write-tree) -m x)",
            true,
        ),
    ];
    for (way, script, expected) in ways {
        let run = |script: &str| {
            let status = Command::new("sh")
                .args(["-ec", script])
                .current_dir(stage.path())
                .status();
            assert!(status.expect("sh runs").success(), "{way}");
        };
        run(script);
        assert_eq!(is_changed(), expected, "{way}");
        run(
            "git replace -d HEAD 2>/dev/null || true; git update-index --no-skip-worktree in/a; git update-index --no-assume-unchanged in/a;
             git reset -q --hard; rm -rf in/c in/.metalmark-x in/submodule/x .git/info/exclude",
        );
    }
}

//! Hooks look at what git tracks: work in progress is rendered into nobody's commit, and nothing rendered is left out of one.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::git::{commit, git, repository};
use super::support::{Metalmark, Outcome, copy_into, repository as ours};

const WIP: &str = "environment-values/workload-clusters/edge-wip";

fn render(folder: &Path, arguments: &[&str]) -> Outcome {
    let arguments = [&["render", "--frozen", "--tracked"], arguments].concat();
    Metalmark::within(folder).args(arguments).run()
}

/// The demo workspace, rendered and committed, with a cluster that is new to git.
fn with_work_in_progress() -> Option<TempDir> {
    let scratch = repository()?;
    let folder = scratch.path();
    copy_into(&ours().join("fixtures/workspaces/sylva-baremetal"), folder);
    fs::remove_dir_all(folder.join("expected")).expect("removed");
    commit(folder, "Add the clusters");
    let outcome = render(folder, &["--fail-on-change"]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    commit(folder, "Render the clusters");
    let paris = folder.join(WIP).with_file_name("edge-paris");
    copy_into(&paris, &folder.join(WIP));
    Some(scratch)
}

#[test]
fn a_cluster_that_is_new_to_git_is_left_out() {
    let Some(scratch) = with_work_in_progress() else {
        return;
    };
    for mode in ["--fail-on-change", "--check"] {
        let outcome = render(scratch.path(), &[mode]);
        assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
        let screen = outcome.stdout + &outcome.stderr;
        let warning = format!("git does not track `{WIP}`, which this run leaves out");
        assert!(screen.contains(&warning), "{screen}");
        assert!(!scratch.path().join("rendered/clusters/edge-wip").exists());
    }
    // Without the option it is looked at.
    let check = ["render", "--frozen", "--check"];
    assert_eq!(
        Metalmark::within(scratch.path()).args(check).run().status,
        1
    );
}

#[test]
fn rendered_files_that_are_new_to_git_fail_until_they_are_added() {
    let Some(scratch) = with_work_in_progress() else {
        return;
    };
    let folder = scratch.path();
    git(folder, &["add", WIP]);
    let advice = "`git add --all -- rendered/clusters`, then run this again";
    for (mode, why) in [
        ("--fail-on-change", "rendered files have changed: "),
        ("--fail-on-change", "rendered files are new to git: "),
        ("--check", "rendered files are new to git: "),
    ] {
        let outcome = render(folder, &[mode]);
        assert_eq!(outcome.status, 1, "{}{}", outcome.stdout, outcome.stderr);
        let said = format!("{why}{advice}");
        assert!(outcome.stderr.contains(&said), "{}", outcome.stderr);
    }
    git(folder, &["add", "--all", "--", "rendered/clusters"]);
    assert_eq!(render(folder, &["--fail-on-change"]).status, 0);
    git(folder, &["commit", "--quiet", "--message", "Add edge-wip"]);
    assert_eq!(git(folder, &["status", "--porcelain"]), "");
}

#[test]
fn a_file_that_the_project_names_must_be_tracked() {
    let Some(scratch) = with_work_in_progress() else {
        return;
    };
    let folder = scratch.path();
    git(
        folder,
        &[
            "rm",
            "--quiet",
            "--cached",
            "charts/sylva-units/management.values.yaml",
        ],
    );
    let outcome = render(folder, &["--check"]);
    assert_ne!(outcome.status, 0);
    let screen = outcome.stdout + &outcome.stderr;
    assert!(
        screen.contains("management.values.yaml") && screen.contains("git does not track"),
        "{screen}"
    );
}

#[test]
fn outside_of_a_repository_the_option_is_refused() {
    let scratch = tempfile::tempdir().expect("a folder");
    copy_into(
        &ours().join("fixtures/workspaces/sylva-baremetal"),
        scratch.path(),
    );
    let outcome = render(scratch.path(), &["--check"]);
    assert_eq!(outcome.status, 2, "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("is not in a git repository"),
        "{}",
        outcome.stderr
    );
}

/// A merge request's comment says why the job is red.
#[test]
fn the_headline_of_a_comment_counts_files_that_are_out_of_date() {
    let scratch = tempfile::tempdir().expect("a folder");
    copy_into(
        &ours().join("fixtures/workspaces/sylva-baremetal"),
        scratch.path(),
    );
    let markdown = ["render", "--frozen", "--check", "--output", "markdown"];
    let outcome = Metalmark::within(scratch.path()).args(markdown).run();
    assert_eq!(outcome.status, 1);
    let headline = "### metalmark: 6 files out of date; ";
    assert!(outcome.stdout.contains(headline), "{}", outcome.stdout);
}

//! Merge requests of several people: what git makes of their rendered files is what would be rendered.

use super::git::{commit, git};
use super::support::is_long;
use super::support::stage::{Stage, project};
use super::tracked::demo;

fn assert_settled(stage: &Stage, after: &str) {
    let run = stage.run("render --check --frozen").outcome;
    assert_eq!(run.status, 0, "after {after}: {}{}", run.stdout, run.stderr);
    assert_eq!(
        git(stage.path(), &["status", "--porcelain"]),
        "",
        "after {after}"
    );
}

/// The demo workspace with what `init` writes, rendered and committed.
fn rendered() -> Option<Stage> {
    let stage = demo().commit("Add the clusters")?;
    stage.run("init").exit(0);
    stage.run("render --frozen").exit(0);
    stage.commit("Render the clusters")
}

fn values(name: &str) -> String {
    format!("environment-values/workload-clusters/{name}/values.yaml")
}

/// What a merge request does.
enum Request {
    /// Adds a cluster.
    Adds(&'static str),
    /// Replaces a text in the values of a cluster.
    Changes(&'static str, &'static str, &'static str),
}

/// As a person makes it, on a branch of this name.
fn branch(stage: &Stage, name: &str, request: &Request) {
    git(stage.path(), &["checkout", "--quiet", "-b", name, "main"]);
    match request {
        Request::Adds(cluster) => {
            let paris = stage.read(&values("edge-paris"));
            stage.write(&values(cluster), paris.replace("edge-paris", cluster))
        }
        Request::Changes(cluster, from, to) => stage.edit(&values(cluster), from, to),
    };
    stage.run("render --frozen").exit(0);
    commit(stage.path(), name);
    git(stage.path(), &["checkout", "--quiet", "main"]);
}

const REQUESTS: [(&str, Request); 10] = [
    ("add-a", Request::Adds("edge-a")),
    ("add-b", Request::Adds("edge-b")),
    ("add-m", Request::Adds("edge-m")),
    ("add-n", Request::Adds("edge-n")),
    ("add-q", Request::Adds("edge-q")),
    ("add-z", Request::Adds("zone-1")),
    // Neighbors in the list of what is owned.
    (
        "lyon",
        Request::Changes(
            "edge-lyon",
            "replicas: 5",
            "replicas: 5\n      capm3: {hostSelector: {matchLabels: {room: b}}}",
        ),
    ),
    (
        "paris",
        Request::Changes(
            "edge-paris",
            "cluster-role: control-plane",
            "cluster-role: paris",
        ),
    ),
    // Two pools of one cluster, far from each other.
    (
        "storage",
        Request::Changes("edge-paris", "cluster-role: storage", "cluster-role: disks"),
    ),
    (
        "lab",
        Request::Changes(
            "lab-7",
            "  control_plane_replicas: 1",
            "  control_plane_replicas: 1\n  control_plane: {capm3: {hostSelector: {matchLabels: {room: c}}}}",
        ),
    ),
];

#[test]
fn branches_that_touch_different_clusters_merge_in_any_order() {
    let Some(stage) = rendered() else { return };
    let folder = stage.path();
    for (name, request) in &REQUESTS {
        branch(&stage, name, request);
    }
    let base = git(folder, &["rev-parse", "main"]);
    // Each step visits all ten in another order.
    let steps = [3, 1, 7, 9];
    for step in if is_long() { &steps } else { &steps[..1] } {
        git(folder, &["reset", "--quiet", "--hard", &base]);
        let order: Vec<&str> = (0..10).map(|at| REQUESTS[at * step % 10].0).collect();
        for name in &order {
            git(folder, &["merge", "--quiet", "--no-edit", name]);
            assert_settled(&stage, &format!("{name} in {order:?}"));
        }
        // The next change puts the list in order, and prunes what it says.
        let added = values("edge-a").replace("/values.yaml", "");
        git(folder, &["rm", "--quiet", "-r", &added]);
        stage.run("render --frozen").exit(0);
        assert!(!folder.join("rendered/clusters/edge-a").exists());
    }
}

#[test]
fn rebased_and_picked_commits_are_as_rendered() {
    let Some(stage) = rendered() else { return };
    let folder = stage.path();
    for (name, request) in &REQUESTS[..3] {
        branch(&stage, name, request);
    }
    git(folder, &["merge", "--quiet", "--no-edit", "add-b"]);
    git(folder, &["checkout", "--quiet", "add-a"]);
    git(folder, &["rebase", "--quiet", "main"]);
    assert_settled(&stage, "a rebase");
    git(folder, &["cherry-pick", "add-m"]);
    assert_settled(&stage, "a cherry-pick");
}

/// As Git for Windows is set up.
#[test]
fn a_clone_that_converts_line_ends_is_as_rendered() {
    let Some(stage) = rendered() else { return };
    let (clone, from) = (project(), stage.path().to_string_lossy());
    let converting = [
        "clone",
        "--quiet",
        "--config",
        "core.autocrlf=true",
        &from,
        ".",
    ];
    git(clone.path(), &converting);
    assert_settled(&clone, "a clone");
}

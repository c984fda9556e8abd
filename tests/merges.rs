//! Merge requests of several people: what git makes of their rendered files is what would be rendered.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::git::{commit, git, repository};
use super::support::{Metalmark, copy_into, is_long, repository as ours};

fn metalmark(folder: &Path, arguments: &[&str], after: &str) {
    let outcome = Metalmark::within(folder)
        .args(arguments.iter().copied())
        .run();
    let screen = outcome.stdout + &outcome.stderr;
    assert_eq!(outcome.status, 0, "{arguments:?} after {after}: {screen}");
}

fn is_settled(folder: &Path, after: &str) {
    metalmark(folder, &["render", "--check", "--frozen"], after);
    assert_eq!(git(folder, &["status", "--porcelain"]), "", "after {after}");
}

/// The demo workspace with what `init` writes, rendered and committed.
fn rendered() -> Option<TempDir> {
    let scratch = repository()?;
    let folder = scratch.path();
    copy_into(&ours().join("fixtures/workspaces/sylva-baremetal"), folder);
    fs::remove_dir_all(folder.join("expected")).expect("removed");
    metalmark(folder, &["init"], "a copy");
    metalmark(folder, &["render", "--frozen"], "an edit");
    commit(folder, "Render the clusters");
    Some(scratch)
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
fn branch(folder: &Path, name: &str, request: &Request) {
    git(folder, &["checkout", "--quiet", "-b", name, "main"]);
    let paris = fs::read_to_string(folder.join(values("edge-paris"))).expect("values");
    let (path, text) = match request {
        Request::Adds(cluster) => (values(cluster), paris.replace("edge-paris", cluster)),
        Request::Changes(cluster, from, to) => {
            let text = fs::read_to_string(folder.join(values(cluster))).expect("values");
            assert!(text.contains(from), "{cluster}: {from}");
            (values(cluster), text.replace(from, to))
        }
    };
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    fs::write(path, text).expect("written");
    metalmark(folder, &["render", "--frozen"], "an edit");
    commit(folder, name);
    git(folder, &["checkout", "--quiet", "main"]);
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
    let Some(scratch) = rendered() else { return };
    let folder = scratch.path();
    for (name, request) in &REQUESTS {
        branch(folder, name, request);
    }
    let base = git(folder, &["rev-parse", "main"]);
    // Each step visits all ten in another order.
    let steps = [3, 1, 7, 9];
    for step in if is_long() { &steps } else { &steps[..1] } {
        git(folder, &["reset", "--quiet", "--hard", &base]);
        let order: Vec<&str> = (0..10).map(|at| REQUESTS[at * step % 10].0).collect();
        for name in &order {
            git(folder, &["merge", "--quiet", "--no-edit", name]);
            is_settled(folder, &format!("{name} in {order:?}"));
        }
        // The next change puts the list in order, and prunes what it says.
        git(
            folder,
            &[
                "rm",
                "--quiet",
                "-r",
                &values("edge-a").replace("/values.yaml", ""),
            ],
        );
        metalmark(folder, &["render", "--frozen"], "an edit");
        assert!(!folder.join("rendered/clusters/edge-a").exists());
    }
}

#[test]
fn rebased_and_picked_commits_are_as_rendered() {
    let Some(scratch) = rendered() else { return };
    let folder = scratch.path();
    for (name, request) in &REQUESTS[..3] {
        branch(folder, name, request);
    }
    git(folder, &["merge", "--quiet", "--no-edit", "add-b"]);
    git(folder, &["checkout", "--quiet", "add-a"]);
    git(folder, &["rebase", "--quiet", "main"]);
    is_settled(folder, "a rebase");
    git(folder, &["cherry-pick", "add-m"]);
    is_settled(folder, "a cherry-pick");
}

/// As Git for Windows is set up.
#[test]
fn a_clone_that_converts_line_ends_is_as_rendered() {
    let Some(scratch) = rendered() else { return };
    let clone = tempfile::tempdir().expect("a folder");
    let to = clone.path().join("clone");
    let (from, shown) = (scratch.path().to_string_lossy(), to.to_string_lossy());
    git(
        clone.path(),
        &[
            "clone",
            "--quiet",
            "--config",
            "core.autocrlf=true",
            &from,
            &shown,
        ],
    );
    is_settled(&to, "a clone");
}

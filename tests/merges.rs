//! Merge requests of several people: what git makes of their rendered files is what would be rendered.

use snapbox::str;

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

/// The demo workspace with what `init` writes and files that Flux applies, rendered and committed.
fn rendered() -> Option<Stage> {
    let stage = demo();
    let outputs = "outputs:\n  - {target: flux, path: rendered/flux}\n";
    stage.edit("metalmark.yaml", "outputs:\n", outputs);
    let stage = stage.commit("Add the clusters")?;
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
    /// Deletes a cluster.
    Deletes(&'static str),
    /// Gives a cluster another name.
    Renames(&'static str, &'static str),
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
        Request::Deletes(cluster) => stage.remove(&values(cluster)),
        Request::Renames(from, to) => {
            let text = stage.read(&values(from)).replace(from, to);
            stage.remove(&values(from)).write(&values(to), text)
        }
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
    // Neighbors by their names.
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
        // The next change deletes what is gone.
        let added = values("edge-a").replace("/values.yaml", "");
        git(folder, &["rm", "--quiet", "-r", &added]);
        stage.run("render --frozen").exit(0);
        assert!(!folder.join("rendered/clusters/edge-a").exists());
    }
}

/// What each request is about, so that no two of a round contradict each other.
const DRAWN: [(&str, &str, Request); 12] = [
    ("add-caen", "edge-caen", Request::Adds("edge-caen")),
    ("add-calais", "edge-calais", Request::Adds("edge-calais")),
    ("add-dole", "edge-dole", Request::Adds("edge-dole")),
    ("add-lens", "edge-lens", Request::Adds("edge-lens")),
    ("delete-lyon", "edge-lyon", Request::Deletes("edge-lyon")),
    (
        "rename-lyon",
        "edge-lyon",
        Request::Renames("edge-lyon", "edge-laon"),
    ),
    (
        "move-lyon",
        "edge-lyon",
        Request::Changes("edge-lyon", "replicas: 5", "replicas: 6"),
    ),
    ("delete-paris", "edge-paris", Request::Deletes("edge-paris")),
    (
        "rename-paris",
        "edge-paris",
        Request::Renames("edge-paris", "edge-nancy"),
    ),
    (
        "storage-paris",
        "edge-paris",
        Request::Changes("edge-paris", "cluster-role: storage", "cluster-role: disks"),
    ),
    ("delete-lab", "lab-7", Request::Deletes("lab-7")),
    ("rename-lab", "lab-7", Request::Renames("lab-7", "lab-8")),
];

/// Clean merges turned main red without a cause, and two people who added clusters met in the list that Flux applied.
#[test]
fn after_thirty_merges_only_bytes_that_differ_turn_main_red() {
    let Some(stage) = rendered() else { return };
    let folder = stage.path();
    for (name, _, request) in &DRAWN {
        branch(&stage, name, request);
    }
    let base = git(folder, &["rev-parse", "main"]);
    let mut draw = 7_usize;
    let mut merges = 0;
    while merges < 30 {
        git(folder, &["reset", "--quiet", "--hard", &base]);
        let mut about = Vec::new();
        while about.len() < 5 {
            draw = draw
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (name, subject, _) = &DRAWN[(draw >> 33) % DRAWN.len()];
            if about.contains(subject) {
                continue;
            }
            about.push(*subject);
            // No two requests are about one file, but for what all clusters share.
            let _ = stage.shell(&format!("git merge --quiet --no-edit {name} || true"));
            let unmerged = git(folder, &["diff", "--name-only", "--diff-filter=U"]);
            let is_shared = |path: &str| path.starts_with("rendered/shared/");
            assert!(
                unmerged.lines().all(is_shared),
                "{name} after {about:?}: {unmerged}"
            );
            let check = stage.run("render --check --frozen").outcome;
            if check.status != 0 || !unmerged.is_empty() {
                stage.run("render --frozen").exit(0);
                let differs = git(folder, &["status", "--porcelain"]);
                assert_ne!(differs, "", "{name} after {about:?}: {}", check.stdout);
                commit(folder, "Render the merge");
            }
            merges += 1;
        }
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

/// Marks of a conflict are the one thing that is wrong with a file, whatever follows from them.
#[test]
fn marks_of_a_conflict_are_one_finding_at_the_first() {
    let values = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}\n";
    let stage = project()
        .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
        .cluster("edge", values);
    let conflict = |text: &str| format!("<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> topic\n");
    for file in ["edge.yaml", "metalmark.yaml"] {
        let text = stage.read(file);
        stage.write(file, conflict(&text));
        let checked = stage.check();
        assert_eq!(checked.status, 1, "{file}");
        assert_eq!(checked.findings.len(), 1, "{file}: {:?}", checked.findings);
        stage.write(file, text);
    }
    stage.write("edge.yaml", conflict(values));
    stage.run("check").exit(1).screen(str![[r#"
error[yaml-syntax]: git left a conflict of a merge here
 --> edge.yaml:1:1
  |
1 | <<<<<<< HEAD
  | ^^^^^^^^^^^^
  |
  = cluster: edge
  = help: keep one side of each conflict, and remove its marks: `<<<<<<<`, `=======`, `>>>>>>>`

1 error in 1 cluster

"#]]);
}

//! What git has and the work tree lacks: a sparse checkout, a submodule that nobody has initialized. It is not known, and never gone.

use std::path::Path;
use std::process::Command;

use snapbox::str;

use super::git::git;
use super::support::stage::{Is, Stage, project};

/// Three clusters in folders of their own, rendered and committed.
fn fleet() -> Option<Stage> {
    let stage = project()
        .catalog(&["noble rke2 1.31.8+rke2r1"])
        .settings("clusters: [{each: 'clusters/*/values.yaml'}]")
        .settings("outputs: [{target: helm-values, path: rendered}]");
    for name in ["a", "b", "c"] {
        let values = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble}}";
        stage.write(&format!("clusters/{name}/values.yaml"), values);
    }
    stage.run("render").exit(0);
    stage.commit("Render the clusters")
}

fn is_as_committed(stage: &Stage) {
    assert_eq!(git(stage.path(), &["status", "--porcelain"]), "");
}

#[test]
fn clusters_that_are_not_checked_out_are_not_gone() {
    let Some(stage) = fleet() else { return };
    let sparse = |words: &[&str]| git(stage.path(), &[&["sparse-checkout"], words].concat());
    sparse(&["set", "clusters/a", "rendered"]);
    assert_eq!(stage.list("clusters"), ["a/values.yaml"]);
    stage.run("check").exit(1).screen(str![[r#"
error[project-file]: git has not checked out `clusters/b/values.yaml` and 1 more, so not all clusters are known
 |
 = help: check them out (`git sparse-checkout add`, `git submodule update --init`, `git restore`), or name the clusters that are here: `metalmark check CLUSTER…`

1 error; 1 node pool checked: 1 proven

"#]]);
    let said = stage.run("images").exit(0).outcome.stderr;
    assert!(said.contains("git has not checked out"), "{said}");
    stage.run("render").exit(1).stderr(str![[r#"
error[project-file]: git has not checked out `clusters/b/values.yaml` and 1 more, so not all clusters are known
 |
 = help: check them out (`git sparse-checkout add`, `git submodule update --init`, `git restore`), or name the clusters that are here: `metalmark check CLUSTER…`

1 error; 1 node pool checked: 1 proven

"#]]);
    is_as_committed(&stage);
    // Whatever the level, nothing is deleted.
    let policy = "policy: {rules: {project-file: off}}\n";
    stage.write("metalmark.yaml", stage.read("metalmark.yaml") + policy);
    stage.run("render").exit(0).screen(str![[r#"
1 file rendered: 1 unchanged
the files that all clusters share stay as they are: they are made of every cluster's values
help: `metalmark render` without names renders them, where all are checked out

"#]]);
    assert_eq!(
        git(stage.path(), &["status", "--porcelain"]),
        " M metalmark.yaml"
    );
    git(stage.path(), &["checkout", "--quiet", "metalmark.yaml"]);
    // What is there can be worked on.
    stage.edit(
        "clusters/a/values.yaml",
        "v1.31.8+rke2r1",
        "v1.31.8+rke2r1, x: 1",
    );
    stage.run("render a").exit(0).screen(str![[r#"
1 file rendered: 1 unchanged
warning[project-file]: git has not checked out `clusters/b/values.yaml` and 1 more, so not all clusters are known
 |
 = help: check them out (`git sparse-checkout add`, `git submodule update --init`, `git restore`), or name the clusters that are here: `metalmark check CLUSTER…`

1 warning; 1 node pool checked: 1 proven
the files that all clusters share stay as they are: they are made of every cluster's values
help: `metalmark render` without names renders them, where all are checked out

"#]]);
    // The file is in the index alone, in each of its forms.
    for words in [
        ["update-index", "--index-version", "4"],
        ["update-index", "--index-version", "3"],
        ["sparse-checkout", "reapply", "--sparse-index"],
    ] {
        git(stage.path(), &words);
        stage.check().findings(str![[r#"
error[project-file] => git sparse-checkout add | git submodule update --init | git restore | metalmark check CLUSTER…

"#]]);
    }
    sparse(&["disable"]);
    stage.run("render").exit(0);
}

#[test]
fn a_cluster_that_is_named_and_not_checked_out_is_an_error() {
    let Some(stage) = fleet() else { return };
    stage.write(
        "metalmark.yaml",
        stage.read("metalmark.yaml").replace(
            "{each: 'clusters/*/values.yaml'}",
            "{name: a, values: [clusters/a/values.yaml]}, {name: b, values: [clusters/b/values.yaml]}",
        ),
    );
    git(stage.path(), &["sparse-checkout", "set", "clusters/a"]);
    stage.run("check").exit(2).screen(str![[r#"
error: cannot read `clusters/b/values.yaml`: git has not checked it out
help: check it out: `git sparse-checkout add`, `git submodule update --init`

"#]]);
    stage.run("check a").exit(0);
}

#[test]
fn manifests_that_are_not_checked_out_make_no_smaller_fleet() {
    let stage = project()
        .folder("fixtures/stamp/rotate/before")
        .commit("before");
    let Some(stage) = stage else { return };
    let left_out = "clusters/rke2.yaml";
    git(stage.path(), &["update-index", "--skip-worktree", left_out]);
    stage.remove(left_out);
    let run = stage.run("check").exit(1).outcome;
    let said = run.stdout + &run.stderr;
    assert!(
        said.contains("git has not checked out `clusters/rke2.yaml`"),
        "{said}"
    );
    std::fs::remove_dir_all(stage.path().join("clusters")).expect("removed");
    let run = stage.run("check").outcome;
    assert_ne!(run.status, 0, "{}", run.stdout);
}

#[test]
fn a_submodule_that_nobody_has_initialized_is_not_known() {
    let Some(stage) = fleet() else { return };
    git(stage.path(), &["rm", "-r", "--quiet", "clusters/b"]);
    let commit = git(stage.path(), &["rev-parse", "HEAD"]);
    let link = format!("160000,{commit},clusters/b");
    git(
        stage.path(),
        &["update-index", "--add", "--cacheinfo", &link],
    );
    let modules = "[submodule \"b\"]\n\tpath = clusters/b\n\turl = https://git.example/b\n";
    stage.write(".gitmodules", modules);
    std::fs::create_dir_all(stage.path().join("clusters/b")).expect("made");
    let before = stage.list("rendered");
    stage.run("render").exit(1).stderr(str![[r#"
error[project-file]: git has not checked out `clusters/b`, so not all clusters are known
 |
 = help: check them out (`git sparse-checkout add`, `git submodule update --init`, `git restore`), or name the clusters that are here: `metalmark check CLUSTER…`

1 error; 2 node pools checked: 2 proven

"#]]);
    assert_eq!(stage.list("rendered"), before);
}

#[test]
fn an_index_that_nobody_can_read_ends_the_run() {
    let Some(stage) = fleet() else { return };
    for bytes in [
        &b"DIRC\0\0\0\x03\0\0\0\x09"[..],
        b"DIRC",
        b"theirs, and longer",
    ] {
        stage.write(".git/index", bytes);
        let run = stage.run("check").exit(2).outcome;
        assert!(
            run.stderr.contains("is not an index of git"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn an_index_in_two_files_is_read_where_it_leaves_nothing_out() {
    let Some(stage) = fleet() else { return };
    git(stage.path(), &["update-index", "--split-index"]);
    stage.run("render").exit(0);
    let left_out = "clusters/b/values.yaml";
    git(stage.path(), &["update-index", "--skip-worktree", left_out]);
    stage.remove(left_out);
    stage.run("render").exit(2).stderr(str![[r#"
error: cannot read `[FOLDER]/.git/index`: git keeps its index in two files, so metalmark does not know which files are not checked out
help: `git update-index --no-split-index`, and remove `.git/sharedindex.*`

"#]]);
    git(stage.path(), &["update-index", "--no-split-index"]);
    stage.shell("rm .git/sharedindex.*").exit(0);
    stage.run("render").exit(1);
}

#[test]
fn a_repository_of_sha256_is_read_too() {
    let stage = project();
    let made = Command::new("git")
        .args(["init", "--quiet", "--object-format=sha256", "."])
        .current_dir(stage.path())
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let stage = stage
        .catalog(&["noble rke2 1.31.8+rke2r1"])
        .settings("clusters: [{each: 'clusters/*/values.yaml'}]");
    for name in ["a", "b"] {
        let values = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble}}";
        stage.write(&format!("clusters/{name}/values.yaml"), values);
    }
    let stage = stage.commit("Add them").expect("there is git");
    git(stage.path(), &["sparse-checkout", "set", "clusters/a"]);
    stage.check().findings(str![[r#"
error[project-file] => git sparse-checkout add | git submodule update --init | git restore | metalmark check CLUSTER…

"#]]);
}

/// The bytes of a broken link, of a pointer of Git LFS: never a smaller fleet.
#[test]
fn what_git_puts_in_place_of_a_file_is_no_cluster_that_is_gone() {
    let Some(stage) = fleet() else { return };
    let file = stage.path().join("clusters/b/values.yaml");
    let before = stage.list("rendered");
    let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n";
    std::fs::write(&file, lfs).expect("written");
    stage.run("render").exit(2).stderr(str![[r#"
error: cannot read `clusters/b/values.yaml`: Git LFS has not fetched it
help: `git lfs pull`

"#]]);
    std::fs::remove_file(&file).expect("removed");
    std::os::unix::fs::symlink("../elsewhere", &file).expect("linked");
    stage.run("render").exit(2).stderr(str![[r#"
error: cannot read `clusters/b/values.yaml`: it is a link that leads nowhere
help: restore what it leads to, or remove the link

"#]]);
    assert_eq!(stage.list("rendered"), before);
}

/// A pipeline and a person, or four jobs of one pipeline, in one folder.
#[test]
fn runs_at_the_same_time_end_clean() {
    let Some(stage) = fleet() else { return };
    for round in 0..3 {
        let path = stage.path().join("rendered");
        std::fs::remove_dir_all(&path).expect("removed");
        for number in 0..40 {
            let values = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble}}";
            stage.write(&format!("clusters/{round}-{number}/values.yaml"), values);
        }
        let runs: Vec<_> = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| stage.run("render").outcome))
                .collect();
            runs.into_iter()
                .map(|run| run.join().expect("ends"))
                .collect()
        });
        for run in runs {
            assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
        }
        stage.run("render --check").exit(0);
    }
}

#[test]
fn rendered_files_that_git_ignores_are_in_no_commit() {
    let Some(stage) = fleet() else { return };
    git(
        stage.path(),
        &["rm", "-r", "--quiet", "--cached", "rendered"],
    );
    let stage = stage.file(".gitignore", "rendered/\n").commit_tracked();
    stage.run("render --tracked --check").exit(1).stderr(str![[r#"
git ignores `rendered/a.values.yaml`, so that no commit has it: take it out of .gitignore (`git check-ignore -v rendered/a.values.yaml` names the line)

"#]]);
}

impl Stage {
    /// Commits what git does not ignore.
    fn commit_tracked(self) -> Self {
        git(self.path(), &["add", "--all", "."]);
        git(self.path(), &["commit", "--quiet", "-m", "more"]);
        self
    }
}

/// Where no thread can be had, a run ends with words.
#[test]
fn a_run_without_threads_ends_with_words() {
    let Some(stage) = fleet() else { return };
    let mut refused = 0;
    for kibibytes in (60_000..240_000).step_by(4_000) {
        let script =
            format!("(ulimit -v {kibibytes}; exec metalmark check) 2>&1; echo \"status $?\"");
        let said = stage.shell(&script).outcome.stdout;
        let is_panic = said.contains("panicked") || said.contains("status 101");
        assert!(!is_panic, "{kibibytes}: {said}");
        refused += usize::from(said.contains("no thread can be started"));
    }
    assert!(refused > 0, "no limit was in the band");
}

#[test]
fn a_clone_with_grafts_has_the_same_history() {
    let Some(stage) = fleet() else { return };
    git(stage.path(), &["checkout", "--quiet", "-b", "change"]);
    stage.edit(
        "clusters/a/values.yaml",
        "+rke2r1, capm3",
        "+rke2r1, y: 1, capm3",
    );
    let stage = stage.commit("Change it").expect("there is git");
    let impact = || stage.run("impact --output json").outcome.stdout;
    let before = impact();
    let head = git(stage.path(), &["rev-parse", "HEAD"]);
    stage.write(".git/info/grafts", head + "\n");
    assert_eq!(impact(), before);
}

#[test]
fn edits_that_a_killed_run_has_left_are_named_to_who_reads() {
    let Some(stage) = fleet() else { return };
    let root: &Path = stage.path();
    let mut held = metalmark::output::hold(root).expect("free");
    let path = root.join("catalog.yaml");
    let before = stage.read("catalog.yaml");
    let after = before.replace("1.31.8", "1.31.9");
    let replacement = metalmark::output::Replacement {
        path: &path,
        before: &before,
        after: &after,
    };
    metalmark::output::replace_all(&mut held, &[replacement]).expect("written");
    // A run that goes on is no killed one.
    let said = stage.run("check").outcome.stderr;
    assert!(!said.contains("killed"), "{said}");
    let [run_file] = &*stage_run_files(root) else {
        panic!("one run file");
    };
    let text = std::fs::read(run_file).expect("there");
    drop(held);
    std::fs::write(run_file, text).expect("written");
    stage.run("check").outcome.stderr.is(str![[r#"
a run that was killed has left its edits, 1 in all, the first in `catalog.yaml`
help: run the killed command again; any that writes, such as `metalmark render`, takes them back first

"#]]);
    stage.run("render").exit(0);
    assert_eq!(stage.read("catalog.yaml"), before);
    let said = stage.run("check").outcome.stderr;
    assert!(!said.contains("killed"), "{said}");
}

fn stage_run_files(root: &Path) -> Vec<std::path::PathBuf> {
    let folder = std::fs::read_dir(root.join(".git/metalmark")).expect("there");
    folder
        .map(|entry| entry.expect("readable").path())
        .collect()
}

/// Without the mirror, the registry itself would be queried, which may be what the mirror is there to avoid.
#[test]
fn no_registry_is_verified_past_a_mirror_that_is_wrong() {
    let stage = project().folder("fixtures/workspaces/elemental");
    for key in [
        "https://registry.example.org/sylva",
        "registry.example.org/./sylva",
    ] {
        let mirrors = format!("registries: {{mirrors: {{'{key}': 'oci-layout:registry'}}}}\n");
        let text = stage.read("metalmark.yaml");
        let at = text.find("registries:").map_or(&*text, |at| &text[..at]);
        stage.write("metalmark.yaml", format!("{at}{mirrors}"));
        let run = stage.run("verify").exit(2).outcome;
        assert!(
            run.stderr
                .contains(&format!("cannot be relied on: `{key}` is not a registry")),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_run_that_ends_by_its_budget_says_at_least_which_it_is() {
    let run = project()
        .shell("sleep 2 | metalmark fn --max-memory 1")
        .outcome;
    assert!(
        run.stderr
            .contains("were taken in work on `metalmark fn`\n"),
        "{}",
        run.stderr
    );
}

/// The way to a cluster's folder leads over a link, and what it leads to is not checked out.
#[test]
fn clusters_behind_a_link_to_what_is_not_checked_out_are_not_gone() {
    for (store, link) in [("store-b", "clusters/b"), ("store", "clusters")] {
        let Some(stage) = fleet() else { return };
        git(stage.path(), &["mv", link, store]);
        let target = if link == "clusters" {
            "store"
        } else {
            "../store-b"
        };
        std::os::unix::fs::symlink(target, stage.path().join(link)).expect("linked");
        let Some(stage) = stage.commit("Move") else {
            return;
        };
        stage.run("check").exit(0);
        let left_out = if store == "store" {
            "!/store/b/"
        } else {
            "!/store-b/"
        };
        git(
            stage.path(),
            &["sparse-checkout", "set", "--no-cone", "/*", left_out],
        );
        let before = stage.list("rendered");
        let run = stage.run("render").outcome;
        assert_ne!(run.status, 0, "{store}: {}{}", run.stdout, run.stderr);
        assert_eq!(stage.list("rendered"), before, "{store}: {}", run.stdout);
    }
}

#[test]
fn a_clone_that_was_interrupted_is_refused() {
    let Some(stage) = fleet() else { return };
    let git = stage.path().join(".git");
    std::fs::remove_file(git.join("index")).expect("removed");
    stage.remove("clusters/b/values.yaml");
    let before = stage.list("rendered");
    stage.run("render").exit(2).stderr(str![[r#"
error: cannot read `[FOLDER]/.git/index`: there is a commit and no index, as in a clone that was interrupted
help: `git reset`, and check out what is missing

"#]]);
    assert_eq!(stage.list("rendered"), before);
    // A repository without a commit has no index either.
    let head = std::fs::read_to_string(git.join("HEAD")).expect("a branch");
    std::fs::remove_dir_all(git.join("refs/heads")).expect("removed");
    stage.run("check").exit(0);
    for (file, text) in [
        ("packed-refs", head.replace("ref: ", "0123456789abcdef ")),
        (
            "HEAD",
            "0123456789abcdef0123456789abcdef01234567\n".to_owned(),
        ),
    ] {
        stage.write(&format!(".git/{file}"), text);
        let _ = stage.run("check").exit(2);
    }
}

/// `git update-index --assume-unchanged`, which hides a file's deletion from git.
#[test]
fn a_deleted_file_that_git_does_not_look_at_is_not_gone() {
    let Some(stage) = fleet() else { return };
    let left_out = "clusters/b/values.yaml";
    git(
        stage.path(),
        &["update-index", "--assume-unchanged", left_out],
    );
    stage.run("render").exit(0);
    stage.remove(left_out);
    for version in ["2", "4"] {
        git(stage.path(), &["update-index", "--index-version", version]);
        stage.run("render").exit(1).stderr(str![[r#"
error[project-file]: git has not checked out `clusters/b/values.yaml`, so not all clusters are known
 |
 = help: check them out (`git sparse-checkout add`, `git submodule update --init`, `git restore`), or name the clusters that are here: `metalmark check CLUSTER…`

1 error; 2 node pools checked: 2 proven

"#]]);
    }
    is_as_committed(&stage);
    // Of an index in two files, either may say so.
    git(stage.path(), &["update-index", "--split-index"]);
    let said = stage.run("render").exit(2).outcome.stderr;
    assert!(said.contains("keeps its index in two files"), "{said}");
    is_as_committed(&stage);
    git(stage.path(), &["update-index", "--no-split-index"]);
    git(
        stage.path(),
        &["update-index", "--no-assume-unchanged", left_out],
    );
    stage.run("render").exit(0);
    let gone = git(stage.path(), &["status", "--porcelain"]);
    assert!(gone.contains(" D rendered/b"), "{gone}");
}

/// A cluster in such a file was nobody's: no check was of it, and what was rendered of it was deleted.
#[test]
fn values_whose_file_a_pattern_misses_by_a_slip_are_named() {
    let values = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble}}";
    let stage = project()
        .catalog(&["noble rke2 1.31.8+rke2r1"])
        .settings(
            "clusters: [{each: 'clusters/*/values.yaml'}, {each: 'more/*.yml'}, {name: own, values: [clusters/own/values.yml]}]",
        )
        .file("clusters/a/values.yaml", values)
        .file("clusters/b/values.yml", values)
        .file("clusters/c/Values.yaml", values)
        .file("clusters/d/value.yaml", values)
        .file("clusters/a/values.yml", values)
        .file("clusters/own/values.yml", values)
        .file("clusters/base/kustomization.yaml", "resources: []")
        .file("clusters/README.md", "Clusters.")
        .file("more/e.yml", values)
        .file("more/f.yaml", values);
    stage.check().is(str![[r#"
warning[project-file] clusters/a/values.yml:1:1 `` => clusters
warning[project-file] clusters/b/values.yml:1:1 `` => clusters
warning[project-file] clusters/c/Values.yaml:1:1 `` => clusters
warning[project-file] clusters/d/value.yaml:1:1 `` => clusters
warning[project-file] more/f.yaml:1:1 `` => clusters
a/control-plane v1.31.8+rke2r1 (clusters/a/values.yaml:1:24): proven, noble (clusters/a/values.yaml:1:59) holds 1.31.8+rke2r1 (catalog.yaml:2:42)
e/control-plane v1.31.8+rke2r1 (more/e.yml:1:24): proven, noble (more/e.yml:1:59) holds 1.31.8+rke2r1 (catalog.yaml:2:42)
own/control-plane v1.31.8+rke2r1 (clusters/own/values.yml:1:24): proven, noble (clusters/own/values.yml:1:59) holds 1.31.8+rke2r1 (catalog.yaml:2:42)

"#]]);
}

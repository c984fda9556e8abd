//! Git executes programs that a repository's configuration names: none of them is run.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::git::{commit, git};
use crate::support::Metalmark;
use crate::support::stage::{Stage, project};

/// The commands that run git, each in the folder itself and at the top.
const COMMANDS: [&[&str]; 6] = [
    &["bundle", "push", "rendered", "oci://127.0.0.1:9/x:1"],
    &[
        "-C",
        "rendered",
        "bundle",
        "push",
        ".",
        "oci://127.0.0.1:9/x:1",
    ],
    &["-C", "rendered", "impact"],
    &["-C", "rendered", "impact", "--against", "HEAD"],
    &["-C", "rendered", "stamp", "--check", "--against", "HEAD"],
    &["-C", "rendered", "update"],
];

/// A clone of a workspace with a folder `rendered`.
fn clone() -> Option<Stage> {
    let workspace = project().folder("fixtures/workspaces/sylva-baremetal");
    workspace.file("rendered/a.yaml", "a: 1\n").commit("Base")
}

fn nothing_is_executed(top: &Path, what: &str) {
    for arguments in COMMANDS {
        let run = Metalmark::within(top).args(arguments.iter().copied()).run();
        assert!(run.status < 3, "{what}: {arguments:?}: {}", run.stderr);
        let ran = top.join("ran").exists() || top.join("rendered/ran").exists();
        assert!(!ran, "{what}: {arguments:?}: {}", run.stderr);
    }
}

/// Files of a commit that git takes for a bare repository, with a work tree or without.
#[test]
fn a_folder_that_looks_like_a_repository_is_none() {
    for worktree in ["worktree = .\n", "worktree = ..\n", "bare = true\n", ""] {
        let Some(clone) = clone() else { return };
        let top = clone.path();
        let config = format!(
            "[core]\nrepositoryformatversion = 0\n{worktree}fsmonitor = \"touch ran; false\"\n\
             [log]\nshowSignature = true\n[gpg]\nprogram = \"touch ran\"\n"
        );
        for (name, text) in [
            ("objects/.keep", ""),
            ("refs/.keep", ""),
            ("HEAD", "ref: refs/heads/m\n"),
            ("config", &config),
        ] {
            clone.write(&format!("rendered/{name}"), text);
        }
        commit(top, "A folder");
        nothing_is_executed(top, worktree);
        clone.write("rendered/metalmark.yaml", clone.read("metalmark.yaml"));
        let refused = Metalmark::within(&top.join("rendered"));
        let refused = refused.args(["impact", "--against", "HEAD"]).run();
        assert_eq!(refused.status, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("repository"), "{}", refused.stderr);
    }
}

/// What the user's own configuration names is not executed either: neither for attributes that a commit sets, nor to watch files.
#[test]
fn neither_filters_nor_monitors_are_executed() {
    let Some(clone) = clone() else { return };
    let top = clone.path();
    clone.write(
        ".gitattributes",
        "*.yaml filter=one.two diff=one\na.yaml filter=a=b\n",
    );
    commit(top, "Attributes");
    for (key, value) in [
        ("filter.one.two.clean", "touch ran; cat"),
        ("filter.one.two.process", "touch ran"),
        ("filter.one.two.required", "true"),
        // A setting of git is given as `NAME=VALUE`: none can be given for this filter.
        ("filter.a=b.clean", "touch ran; cat"),
        ("diff.one.textconv", "touch ran; cat"),
        ("core.fsmonitor", "touch ran; false"),
        ("log.showSignature", "true"),
        ("gpg.program", "touch ran"),
    ] {
        git(top, &["config", key, value]);
    }
    // Compared by content, for its times changed.
    clone.write("rendered/a.yaml", "a: 1\n");
    nothing_is_executed(top, "filters");
}

/// Through links, too.
#[test]
fn a_clone_is_found_from_each_of_its_folders() {
    let Some(clone) = clone() else { return };
    let elsewhere = tempfile::tempdir().expect("a folder");
    let link = elsewhere.path().join("link");
    symlink(clone.path(), &link).expect("linked");
    for folder in [clone.path(), &*link] {
        let run = Metalmark::within(folder);
        let run = run.args(["impact", "--against", "HEAD"]).run();
        assert_eq!(run.status, 0, "{}", run.stderr);
    }
}

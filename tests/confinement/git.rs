//! Git executes programs that a repository's configuration names: none of them is run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::git::{commit, git, repository};
use crate::support::{Metalmark, copy_of};

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
fn clone() -> Option<tempfile::TempDir> {
    let scratch = repository()?;
    let fixture = crate::support::repository().join("fixtures/workspaces/sylva-baremetal");
    let project = copy_of(&fixture);
    for entry in fs::read_dir(project.path()).expect("readable") {
        let entry = entry.expect("readable");
        fs::rename(entry.path(), scratch.path().join(entry.file_name())).expect("moved");
    }
    fs::create_dir_all(scratch.path().join("rendered")).expect("made");
    fs::write(scratch.path().join("rendered/a.yaml"), "a: 1\n").expect("written");
    Some(scratch)
}

fn nothing_is_executed(top: &Path, what: &str) {
    for arguments in COMMANDS {
        let run = Metalmark::within(top).args(arguments.iter().copied()).run();
        let ran = top.join("ran").exists() || top.join("rendered/ran").exists();
        assert!(!ran, "{what}: {arguments:?}: {}", run.stderr);
    }
}

/// Files of a commit that git takes for a bare repository, with a work tree or without.
#[test]
fn a_folder_that_looks_like_a_repository_is_none() {
    for worktree in ["worktree = .\n", "worktree = ..\n", "bare = true\n", ""] {
        let Some(scratch) = clone() else { return };
        let top = scratch.path();
        let folder = top.join("rendered");
        for part in ["objects", "refs"] {
            fs::create_dir_all(folder.join(part)).expect("made");
            fs::write(folder.join(part).join(".keep"), "").expect("written");
        }
        fs::write(folder.join("HEAD"), "ref: refs/heads/m\n").expect("written");
        let config = format!(
            "[core]\nrepositoryformatversion = 0\n{worktree}fsmonitor = \"touch ran; false\"\n\
             [log]\nshowSignature = true\n[gpg]\nprogram = \"touch ran\"\n"
        );
        fs::write(folder.join("config"), config).expect("written");
        commit(top, "Base");
        nothing_is_executed(top, worktree);
        fs::copy(top.join("metalmark.yaml"), folder.join("metalmark.yaml")).expect("copied");
        let run = Metalmark::within(&folder)
            .args(["impact", "--against", "HEAD"])
            .run();
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains("repository"), "{}", run.stderr);
    }
}

/// What the user's own configuration names is not executed either: neither for attributes that a commit sets, nor to watch files.
#[test]
fn neither_filters_nor_monitors_are_executed() {
    let Some(scratch) = clone() else { return };
    let top = scratch.path();
    fs::write(
        top.join(".gitattributes"),
        "*.yaml filter=one.two diff=one\na.yaml filter=a=b\n",
    )
    .expect("written");
    commit(top, "Base");
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
    fs::write(top.join("rendered/a.yaml"), "a: 1\n").expect("written");
    nothing_is_executed(top, "filters");
}

/// Through links, too.
#[test]
fn a_clone_is_found_from_each_of_its_folders() {
    let Some(scratch) = clone() else { return };
    commit(scratch.path(), "Base");
    let elsewhere = tempfile::tempdir().expect("a folder");
    symlink(scratch.path(), elsewhere.path().join("link")).expect("linked");
    for folder in [scratch.path(), &*elsewhere.path().join("link")] {
        let run = Metalmark::within(folder)
            .args(["impact", "--against", "HEAD"])
            .run();
        assert_eq!(run.status, 0, "{}", run.stderr);
    }
}

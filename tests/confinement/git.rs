//! Git executes programs that a repository's configuration names: none of them is run.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use snapbox::str;

use crate::git::{commit, git};
use crate::support::stage::{Is, Run, Stage, project};
use crate::support::{Metalmark, Outcome, copy_into, shell};

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
        let is_refused = refused.stderr.contains("cannot use bare repository");
        assert!(is_refused, "{}", refused.stderr);
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

/// Relative and empty elements of `PATH` lead into the clone.
#[test]
fn no_git_of_the_clone_runs() {
    let Some(clone) = clone() else { return };
    let top = clone.path();
    for folder in ["", "bin/", "rendered/", "rendered/bin/"] {
        let program = format!("{folder}git");
        clone.write(
            &program,
            format!("#!/bin/sh\ntouch '{}/ran'\n", top.display()),
        );
        set_permissions(top.join(program), Permissions::from_mode(0o755)).expect("set");
    }
    commit(top, "Programs");
    let found = std::env::var("PATH").unwrap_or_default();
    for before in ["./bin", "bin", ".", ""] {
        for line in ["impact --against HEAD", "-C rendered impact --against HEAD"] {
            let run = clone.run_with(line, &[("PATH", &format!("{before}:{found}"))]);
            let Outcome { status, stderr, .. } = run.outcome;
            assert!(status < 3, "{before}: {line}: {stderr}");
            assert!(!top.join("ran").exists(), "{before}: {line}: {stderr}");
        }
    }
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

/// Ways to set a clone up, as a script in it. None of them lets a program run, and none changes what a commit holds.
#[test]
fn no_set_up_of_a_clone_runs_a_program_or_hides_a_commit() {
    const RUN: &str = "touch ran; cat";
    let set_ups = [
        (
            "a filter without UTF-8",
            "printf '[filter \"\\377\"]\\nclean = RUN\\n' >> .git/config; printf '* filter=\\377\\n' > .git/info/attributes",
        ),
        (
            "textconv",
            "printf '[diff \"t\"]\\ntextconv = RUN\\ncommand = RUN\\n[diff]\\nexternal = RUN\\n' >> .git/config; echo '* diff=t' > .git/info/attributes",
        ),
        (
            "hooks",
            "for h in post-checkout pre-commit post-index-change reference-transaction; do printf '#!/bin/sh\\nRUN\\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done",
        ),
        (
            "an included file",
            "printf '[core]\\nfsmonitor = RUN\\npager = RUN\\n' > .git/more; git config include.path more",
        ),
        (
            "aliases and pagers",
            "git config alias.rev-parse '!RUN'; git config alias.cat-file '!RUN'; git config pager.config 'RUN'; git config pager.ls-files 'RUN'",
        ),
        (
            "a monitor and an untracked cache",
            "git update-index --untracked-cache; git config core.fsmonitor 'RUN'",
        ),
        (
            "a promisor",
            "git config remote.origin.url 'ext::sh -c touch% ran'; git config remote.origin.promisor true; git config protocol.ext.allow always; git config extensions.partialClone origin; git config core.repositoryFormatVersion 1; B=$(git rev-parse HEAD:metalmark.yaml); rm -f .git/objects/$(echo $B | cut -c1-2)/$(echo $B | cut -c3-)",
        ),
        (
            "another work tree",
            "git worktree add -q ../other; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor 'RUN'",
        ),
        ("a split index", "git update-index --split-index"),
        ("index version 4", "git update-index --index-version 4"),
        (
            "a sparse index",
            "git sparse-checkout set --cone --sparse-index environment-values charts rendered",
        ),
        (
            "objects elsewhere",
            "cp -r .git/objects ../objects; echo $PWD/../objects > .git/objects/info/alternates",
        ),
        (
            "quoted names",
            "git config core.quotePath true; mkdir é; echo a > é/ü.txt; git add -A; git commit -qm é",
        ),
        (
            "one letter case",
            "git config core.ignoreCase true; echo a > METALMARK.yml; git add -A; git commit -qm case",
        ),
        (
            "line endings",
            "git config core.autocrlf true; echo '* text=auto eol=crlf' > .git/info/attributes",
        ),
        ("a graft", "git rev-parse HEAD > .git/info/grafts"),
        (
            "sha256",
            "rm -rf .git; git init -q --object-format=sha256 -b main .; git add -A; git commit -qm 256",
        ),
        (
            "names like options",
            "git update-ref refs/heads/--output=ran HEAD; git update-ref refs/remotes/origin/-x HEAD",
        ),
    ];
    let Some(before) = clone() else { return };
    let variables = [
        ("GIT_AUTHOR_NAME", "A"),
        ("GIT_AUTHOR_EMAIL", "a"),
        ("GIT_COMMITTER_NAME", "A"),
        ("GIT_COMMITTER_EMAIL", "a"),
    ];
    for (what, script) in set_ups {
        // A folder deeper, so that a set-up may add folders beside it.
        let scratch = tempfile::tempdir().expect("a folder");
        let top = scratch.path().join("clone");
        copy_into(before.path(), &top);
        let made = shell(&top, &variables, &script.replace("RUN", RUN));
        assert!(
            made.status.success(),
            "{what}: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        let _ = std::fs::remove_file(top.join("ran"));
        nothing_is_executed(&top, what);
        let compare = Metalmark::within(&top).args(["impact", "--against", "HEAD"]);
        let compare = compare
            .envs(&[
                ("GIT_OBJECT_DIRECTORY", "/nowhere"),
                ("GIT_COMMON_DIR", "/nowhere"),
            ])
            .run();
        let expected = if what == "a promisor" { 2 } else { 0 };
        assert_eq!(compare.status, expected, "{what}: {}", compare.stderr);
    }
}

/// Two names that no text can hold would be one after they are made texts.
#[test]
fn a_name_in_a_commit_that_is_not_utf8_is_reported_as_on_disk() {
    use std::os::unix::ffi::OsStrExt as _;
    let plain = project().file(
        "a.yaml",
        "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: a}}",
    );
    let Some(clone) = plain.commit("Base") else {
        return;
    };
    let name = std::ffi::OsStr::from_bytes(b"x\xff.yaml");
    std::fs::write(clone.path().join(name), "a: 1\n").expect("written");
    let refused = |run: Run| run.exit(2).outcome.stderr;
    refused(clone.run("impact --against HEAD")).is(str![[r#"
error: cannot read ``: the name of `x�.yaml` in it is not UTF-8: rename it

"#]]);
    commit(clone.path(), "A name");
    std::fs::remove_file(clone.path().join(name)).expect("removed");
    refused(clone.run("impact --against HEAD")).is(str![[r#"
error: cannot read `.` at 910829c1b2: the name of `x�.yaml` in it is not UTF-8: rename it

"#]]);
}

//! What shells complete: the scripts, and the names of the project.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::programs;
use super::support::{Metalmark, copy_of, repository};

fn demo() -> tempfile::TempDir {
    copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"))
}

/// What completes the last of some words, as bash queries it.
fn completed(folder: &Path, words: &[&str]) -> Vec<String> {
    let last = (words.len() - 1).to_string();
    let outcome = Metalmark::within(folder)
        .envs(&[
            ("METALMARK_COMPLETE", "bash"),
            ("_CLAP_COMPLETE_INDEX", &last),
            ("_CLAP_COMPLETE_COMP_TYPE", "9"),
            ("_CLAP_COMPLETE_SPACE", "true"),
            ("_CLAP_IFS", "\n"),
        ])
        .args(["--"])
        .args(words.iter().copied())
        .run();
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    outcome.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn names_of_the_project_are_completed() {
    let folder = demo();
    let completed = |words: &[&str]| completed(folder.path(), words);
    let clusters = ["edge-lyon", "edge-paris"];
    assert_eq!(completed(&["metalmark", "explain", "edge"]), clusters);
    assert_eq!(completed(&["metalmark", "values", "edge"]), clusters);
    assert_eq!(
        completed(&["metalmark", "explain", "edge-paris/"]),
        [
            "edge-paris/control-plane",
            "edge-paris/md0",
            "edge-paris/storage"
        ]
    );
    assert_eq!(
        completed(&["metalmark", "explain", "opensuse-15-6-p"]),
        ["opensuse-15-6-plain-kubeadm-1-31-8"]
    );
    assert_eq!(
        completed(&["metalmark", "explain", "k8s-f"]),
        ["k8s-flavor-mismatch"]
    );
    assert_eq!(completed(&["metalmark", "rend"]), ["render"]);
    assert!(completed(&["metalmark", "values", "edge-paris", "e"]).is_empty());
}

#[test]
fn the_project_is_the_one_that_the_words_name() {
    let folder = demo();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("UTF-8");
    let project = format!("{place}/metalmark.yaml");
    let words: [&[&str]; 5] = [
        &["-C", place, "values", "edge-p"],
        &[&format!("-C{place}"), "values", "edge-p"],
        &["values", "-C", place, "edge-p"],
        &["--project", &project, "explain", "edge-p"],
        &[&format!("--project={project}"), "explain", "edge-p"],
    ];
    for words in words {
        let words = [&["metalmark"], words].concat();
        assert_eq!(
            completed(elsewhere.path(), &words),
            ["edge-paris"],
            "{words:?}"
        );
    }
    // Where there is no project there are no clusters, and nothing is printed of that.
    let words = ["metalmark", "values", "edge-p"];
    assert!(completed(elsewhere.path(), &words).is_empty());
    let words = ["metalmark", "explain", "k8s-f"];
    assert_eq!(completed(elsewhere.path(), &words), ["k8s-flavor-mismatch"]);
}

/// A shell puts the only candidate on its line, and runs it with the rest.
#[test]
fn a_name_that_a_shell_would_obey_is_not_completed() {
    let folder = demo();
    for name in [
        "edge-paris;reboot",
        "edge-paris$(reboot)",
        "edge-paris reboot",
    ] {
        let cluster = folder.path().join("environment-values/workload-clusters");
        let copy = cluster.join(name);
        fs::create_dir(&copy).expect("created");
        fs::copy(
            cluster.join("edge-paris/values.yaml"),
            copy.join("values.yaml"),
        )
        .expect("copied");
    }
    let words = ["metalmark", "values", "edge-p"];
    assert_eq!(completed(folder.path(), &words), ["edge-paris"]);
}

#[test]
fn bash_completes_with_the_script() {
    let Some(bash) = programs::find("bash") else {
        return;
    };
    let folder = demo();
    let binary = Path::new(env!("CARGO_BIN_EXE_metalmark"));
    let script = "source <(metalmark completions bash)\n\
                  COMP_WORDS=(metalmark explain edge-p) COMP_CWORD=2 COMP_TYPE=9\n\
                  \"$(complete -p metalmark | sed 's/.*-F \\([^ ]*\\) .*/\\1/')\" metalmark edge-p explain\n\
                  echo \"${COMPREPLY[@]}\"";
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = format!("{}:{path}", binary.parent().expect("a folder").display());
    let output = Command::new(bash)
        .args(["--norc", "-c", script])
        .current_dir(&folder)
        .env("PATH", folders)
        .output()
        .expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "edge-paris\n");
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let folder = tempfile::tempdir().expect("a folder");
        let outcome = Metalmark::within(folder.path())
            .args(["completions", shell])
            .run();
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert!(outcome.stdout.contains("METALMARK_COMPLETE"), "{shell}");
    }
}

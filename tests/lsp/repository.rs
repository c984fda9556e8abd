//! What the server does in a git repository: it compares with the merge base, and runs git and nothing else.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::client::{Client, usual};
use super::{LYON, PARIS};
use crate::git::{commit, copy, git, repository};
use crate::programs;

const REFRESH: &str = "workspace/inlayHint/refresh";

/// A clone of the demo workspace, with one commit.
fn clone() -> Option<tempfile::TempDir> {
    let scratch = repository()?;
    let ours = crate::support::repository();
    copy(
        &ours.join("fixtures/workspaces/sylva-baremetal"),
        scratch.path(),
    );
    commit(scratch.path(), "Base");
    Some(scratch)
}

#[test]
fn hints_count_the_machines_that_roll_since_the_merge_base() {
    let Some(folder) = clone() else { return };
    git(folder.path(), &["checkout", "--quiet", "-b", "change"]);
    let mut client = Client::start(folder.path(), &usual());
    client.open(PARIS);
    let storage = |client: &mut Client| {
        let hints = client.hints(PARIS);
        hints
            .into_iter()
            .find(|hint| hint.starts_with("image_key"))
            .expect("a hint")
    };
    let (old, new) = (
        "opensuse-15-6-hardened-rke2-1-31-8",
        "ubuntu-noble-hardened-rke2-1-31-8",
    );
    assert!(storage(&mut client).ends_with("proven)"));
    client.replace(PARIS, old, new);
    client.settled(PARIS);
    client.wait_for(REFRESH, 0);
    assert!(
        storage(&mut client).ends_with("proven); 2 machines roll"),
        "{}",
        storage(&mut client)
    );
    // Committed on the branch it still rolls them, and undone it does not.
    fs::write(folder.path().join(PARIS), client.text(PARIS)).expect("written");
    commit(folder.path(), "Change");
    client.open(LYON);
    assert!(client.hints(LYON)[0].ends_with("proven)"));
    assert!(storage(&mut client).ends_with("; 2 machines roll"));
    client.replace(PARIS, new, old);
    client.settled(PARIS);
    client.wait_for(REFRESH, 1);
    assert!(storage(&mut client).ends_with("proven)"));
    assert_eq!(client.shutdown(), 0);
}

/// Gives a clone everything that makes programs run, or leads outside.
fn make_hostile(top: &Path, outside: &Path) {
    fs::write(top.join(".gitattributes"), "*.yaml filter=one diff=one\n").expect("written");
    fs::create_dir_all(top.join(".git/hooks")).expect("made");
    let settings = [
        ("filter.one.clean", "touch ran; cat"),
        ("filter.one.smudge", "touch ran; cat"),
        ("filter.one.process", "touch ran"),
        ("diff.one.textconv", "touch ran; cat"),
        ("diff.external", "touch ran"),
        ("core.fsmonitor", "touch ran; false"),
        ("core.pager", "touch ran"),
        ("core.sshCommand", "touch ran"),
        ("credential.helper", "!touch ran"),
        ("log.showSignature", "true"),
        ("gpg.program", "touch ran"),
        ("remote.origin.url", "ext::touch ran"),
        ("remote.origin.promisor", "true"),
    ];
    for (key, value) in settings {
        git(top, &["config", key, value]);
    }
    let secret = "outside-of-the-clone: true\n";
    fs::write(outside.join("values.yaml"), secret).expect("written");
    symlink(outside.join("values.yaml"), top.join("link.yaml")).expect("linked");
    let kustomization = "configMapGenerator: [{name: a, files: [link.yaml]}]\n";
    fs::write(top.join("kustomization.yaml"), kustomization).expect("written");
    let bare = top.join("bare");
    for part in ["objects", "refs"] {
        fs::create_dir_all(bare.join(part)).expect("made");
    }
    fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").expect("written");
    let config = "[core]\nworktree = .\nfsmonitor = \"touch ran; false\"\n";
    fs::write(bare.join("config"), config).expect("written");
    fs::copy(top.join("metalmark.yaml"), bare.join("metalmark.yaml")).expect("copied");
}

#[test]
fn a_hostile_repository_runs_nothing_and_shows_nothing_from_outside() {
    let Some(folder) = clone() else { return };
    let outside = tempfile::tempdir().expect("a folder");
    make_hostile(folder.path(), outside.path());
    let log = outside.path().join("calls");
    let strace = programs::find("strace");
    let watcher: Vec<&OsStr> = match &strace {
        Some(strace) => vec![
            strace.as_os_str(),
            "-f".as_ref(),
            "-qq".as_ref(),
            "-e".as_ref(),
            "trace=execve,socket,connect".as_ref(),
            "-o".as_ref(),
            log.as_os_str(),
        ],
        None => Vec::new(),
    };
    let mut client = Client::start_under(&watcher, folder.path(), &usual());
    client.open(PARIS);
    client.open("bare/metalmark.yaml");
    client.open("kustomization.yaml");
    let first = client.hints(PARIS);
    let definition = "textDocument/definition";
    let file = client.about(definition, "kustomization.yaml", "[li|nk.yaml]");
    assert_eq!(file, serde_json::json!([]));
    client.replace(
        PARIS,
        "opensuse-15-6-hardened-rke2-1-31-8",
        "ubuntu-noble-hardened-rke2-1-31-8",
    );
    client.settled(PARIS);
    // The comparison has ended where it is compared with the commit.
    client.wait_for(REFRESH, 0);
    let sent = format!(
        "{first:?}{:?}{}{:?}",
        client.hints(PARIS),
        client.hover(PARIS, "name: edge|-paris"),
        client.settled("bare/metalmark.yaml"),
    );
    assert!(sent.contains("machines roll"), "{sent}");
    assert!(!sent.contains("outside-of-the-clone"), "{sent}");
    assert_eq!(client.shutdown(), 0);
    let made = walkdir::WalkDir::new(folder.path()).into_iter().flatten();
    let mut made = made.filter(|entry| entry.file_name() == "ran");
    assert!(made.next().is_none());
    if strace.is_some() {
        let calls = fs::read_to_string(log).expect("a log");
        let begun = calls
            .lines()
            .filter(|line| line.contains("execve(") && line.ends_with("= 0"));
        let other = |line: &&str| !line.contains("metalmark\", [") && !line.contains("/git\", [");
        let other: Vec<&str> = begun.filter(other).collect();
        assert!(other.is_empty(), "{other:#?}");
        let sockets: Vec<&str> = calls
            .lines()
            .filter(|line| line.contains("AF_INET"))
            .collect();
        assert!(sockets.is_empty(), "{sockets:#?}");
    }
}

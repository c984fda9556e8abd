//! What the server does in a git repository: it compares with the merge base, and runs git and nothing else.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{LYON, PARIS, sylva};
use crate::git::{commit, git};
use crate::programs;
use crate::support::lsp::{Client, usual};
use crate::support::stage::{Stage, project};

const REFRESH: &str = "workspace/inlayHint/refresh";

const IMAGES: [&str; 2] = [
    "opensuse-15-6-hardened-rke2-1-31-8",
    "ubuntu-noble-hardened-rke2-1-31-8",
];

#[test]
fn hints_count_the_machines_that_roll_since_the_merge_base() {
    let Some(folder) = sylva().commit("Base") else {
        return;
    };
    git(folder.path(), &["checkout", "--quiet", "-b", "change"]);
    let mut client = Client::start(&folder, &[PARIS]);
    let storage = |client: &mut Client| {
        let hints = client.hints(PARIS);
        hints
            .into_iter()
            .find(|hint| hint.starts_with("image_key"))
            .expect("a hint")
    };
    let [old, new] = IMAGES;
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
    folder.write(PARIS, client.text(PARIS));
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
fn make_hostile(clone: &Stage, outside: &Path) {
    for (key, value) in [
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
    ] {
        git(clone.path(), &["config", key, value]);
    }
    for (path, text) in [
        (".gitattributes", "*.yaml filter=one diff=one\n"),
        (".git/hooks/none", ""),
        (
            "kustomization.yaml",
            "configMapGenerator: [{name: a, files: [link.yaml]}]\n",
        ),
        ("bare/objects/none", ""),
        ("bare/refs/none", ""),
        ("bare/HEAD", "ref: refs/heads/main\n"),
        (
            "bare/config",
            "[core]\nworktree = .\nfsmonitor = \"touch ran; false\"\n",
        ),
        ("bare/metalmark.yaml", &clone.read("metalmark.yaml")),
    ] {
        clone.write(path, text);
    }
    let link = clone.path().join("link.yaml");
    symlink(outside.join("values.yaml"), link).expect("linked");
}

#[test]
fn a_hostile_repository_runs_nothing_and_shows_nothing_from_outside() {
    let Some(folder) = sylva().commit("Base") else {
        return;
    };
    let outside = project().file("values.yaml", "outside-of-the-clone: true\n");
    make_hostile(&folder, outside.path());
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
    let mut client = Client::start_under(&watcher, &folder, &usual());
    for file in [PARIS, "bare/metalmark.yaml", "kustomization.yaml"] {
        client.open(file);
    }
    let first = client.hints(PARIS);
    let definition = "textDocument/definition";
    let file = client.about(definition, "kustomization.yaml", "[li|nk.yaml]");
    assert_eq!(file, serde_json::json!([]));
    client.replace(PARIS, IMAGES[0], IMAGES[1]);
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
    let made = folder.list("").into_iter();
    let ran: Vec<String> = made.filter(|path| path.ends_with("ran")).collect();
    assert_eq!(ran, [""; 0]);
    if strace.is_some() {
        let calls = outside.read("calls");
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

//! Scratch repositories for the tests of what git tells. Without git they are skipped, and say so.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::programs;

/// The same commits on every machine: nobody's settings, one author, one day.
const ENVIRONMENT: [(&str, &str); 10] = [
    ("GIT_DEFAULT_HASH", "sha1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_AUTHOR_NAME", "Author"),
    ("GIT_AUTHOR_EMAIL", "author@example.org"),
    ("GIT_AUTHOR_DATE", "2026-11-20T12:00:00Z"),
    ("GIT_COMMITTER_NAME", "Author"),
    ("GIT_COMMITTER_EMAIL", "author@example.org"),
    ("GIT_COMMITTER_DATE", "2026-11-20T12:00:00Z"),
    ("GIT_ALLOW_PROTOCOL", "file"),
];

/// An empty repository; none where there is no git.
pub(crate) fn repository() -> Option<TempDir> {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    init(scratch.path()).then_some(scratch)
}

/// Makes a folder a repository. Whether there is a git to do so.
fn init(folder: &Path) -> bool {
    let begun = Command::new("git")
        .args(["init", "--quiet", "--initial-branch=main", "."])
        .current_dir(folder)
        .envs(ENVIRONMENT)
        .status();
    let is_repository = begun.is_ok_and(|status| status.success());
    if !is_repository {
        programs::missing("git");
    }
    is_repository
}

/// Runs git in a folder.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    git_on("2026-11-20", folder, arguments)
}

/// Runs git in a folder on a day, at noon.
pub(crate) fn git_on(day: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .envs(ENVIRONMENT)
        .env("GIT_COMMITTER_DATE", format!("{day}T12:00:00Z"))
        .output()
        .expect("git runs");
    let text = |bytes| String::from_utf8_lossy(bytes).trim_end().to_owned();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Commits everything; makes the folder a repository first if it is none. Whether there is a git to do so.
pub(crate) fn commit_all(folder: &Path, message: &str) -> bool {
    let is_repository = folder.join(".git").exists() || init(folder);
    if is_repository {
        commit(folder, message);
    }
    is_repository
}

/// Commits everything.
pub(crate) fn commit(folder: &Path, message: &str) {
    git(folder, &["add", "--all", "--force", "."]);
    git(
        folder,
        &["commit", "--quiet", "--allow-empty", "-m", message],
    );
}

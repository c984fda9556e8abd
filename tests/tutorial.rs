//! The tutorials: every command of a page is run, and its output is that of the page.
//!
//! `BLESS=1 cargo test tutorial` writes the outputs.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::support::copy_of;

#[test]
fn the_tutorial_on_manifests_is_true() {
    run("docs/tutorial-manifests.md", "fixtures/tutorials/manifests");
}

/// Runs the `console` blocks of a page in a copy of a folder.
fn run(page: &str, folder: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join(page)).expect("the page");
    let scratch = copy_of(&root.join(folder));
    let mut written = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        written += &format!("{line}\n");
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let Some(command) = line.strip_prefix("$ ") else {
                // A line of an output, which is written again.
                continue;
            };
            let mut command = format!("{command}\n");
            written += &format!("{line}\n");
            if command.contains("<<'END'") {
                for line in lines.by_ref() {
                    command += &format!("{line}\n");
                    written += &format!("{line}\n");
                    if line == "END" {
                        break;
                    }
                }
            }
            written += &output(&command, scratch.path());
        }
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(root.join(page), &written).expect("written");
    }
    assert_eq!(text, written, "BLESS=1 writes the outputs of {page}");
}

/// What a command prints, the findings and the summary as on a terminal.
fn output(command: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_metalmark"));
    let programs = binary.parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let done = Command::new("sh")
        .args(["-c", &format!("{{ {command} }} 2>&1")])
        .current_dir(folder)
        .env("PATH", format!("{programs}:{path}"))
        .env("NO_COLOR", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "Ada")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "ada@example.org")))
        .output()
        .expect("a shell runs");
    String::from_utf8(done.stdout).expect("UTF-8")
}

//! The tutorials: every command of a page is run, and its output is that of the page.
//!
//! `BLESS=1 cargo test tutorial` writes the outputs.

use std::fs;

use super::support::repository;
use super::support::stage::{Stage, project};

#[test]
fn the_tutorial_on_manifests_is_true() {
    run("docs/tutorial-manifests.md", "fixtures/tutorials/manifests");
}

/// Runs the `console` blocks of a page in a copy of a folder.
fn run(page: &str, folder: &str) {
    let file = repository().join(page);
    let text = fs::read_to_string(&file).expect("the page");
    let scratch = ["AUTHOR", "COMMITTER"]
        .iter()
        .fold(project().folder(folder), |stage, who| {
            stage
                .variable(&format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z")
                .variable(&format!("GIT_{who}_NAME"), "Ada")
                .variable(&format!("GIT_{who}_EMAIL"), "ada@example.org")
        });
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
            written += &output(&command, &scratch);
        }
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &written).expect("written");
    }
    assert_eq!(text, written, "BLESS=1 writes the outputs of {page}");
}

/// What a command prints, the findings and the summary as on a terminal.
fn output(command: &str, stage: &Stage) -> String {
    // It may fail, as a check does that finds something.
    let run = stage.shell(&format!("{{ {command} }} 2>&1 || true"));
    run.exit(0).outcome.stdout
}

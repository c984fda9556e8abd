//! The pages that a reader follows: every command is run, in order, and its output is that of the page.
//!
//! `BLESS=1 cargo test tutorial` writes the outputs.

use std::fs;

use super::support::repository;
use super::support::stage::{Stage, project};

const MANIFESTS: &str = "fixtures/tutorials/manifests";
const SYLVA: &str = "fixtures/tutorials/sylva";

#[test]
fn the_readme_is_true() {
    run("README.md", MANIFESTS);
}

#[test]
fn the_tutorial_on_manifests_is_true() {
    run("docs/tutorial-manifests.md", MANIFESTS);
}

#[test]
fn the_tutorial_on_sylva_is_true() {
    run("docs/tutorial-sylva.md", SYLVA);
}

#[test]
fn the_concepts_are_true() {
    run("docs/concepts.md", SYLVA);
}

#[test]
fn the_page_on_ci_is_true() {
    run("docs/ci.md", MANIFESTS);
}

#[test]
fn the_page_on_adoption_is_true() {
    run("docs/adopt.md", MANIFESTS);
}

#[test]
fn the_page_on_air_gaps_is_true() {
    run("docs/air-gap.md", "fixtures/workspaces/sylva-baremetal");
}

#[test]
fn the_page_on_plans_is_true() {
    run("docs/plan.md", SYLVA);
}

#[test]
fn troubleshooting_is_true() {
    run("docs/troubleshooting.md", SYLVA);
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

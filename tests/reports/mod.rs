//! The formats that code hosts read: each is what its reader takes, which the tests of rules ask for each rule; the paths lead from the
//! repository's folder, and a finding is known again in the next run.

mod valid;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use metalmark::report::REPORTS;
use metalmark::rules::RULES;
use serde_json::Value;

use super::rules::edge;
use super::support::stage::Stage;
use super::support::{Metalmark, Outcome, copy_into, copy_of, repository};
use valid::{gitlab, junit, sarif, workflow_commands};

/// Runs a line with every format written to a file of its name below `reports`.
fn run(folder: &Path, line: &str) -> Outcome {
    let reports = REPORTS
        .iter()
        .map(|report| format!("--report={0}=reports/{0}", report.name()));
    let words: Vec<String> = line
        .split_whitespace()
        .map(str::to_owned)
        .chain(reports)
        .collect();
    Metalmark::within(folder)
        .args(words.iter().map(String::as_str))
        .run()
}

fn report(folder: &Path, format: &str) -> String {
    fs::read_to_string(folder.join("reports").join(format)).expect("the report is there")
}

fn json(folder: &Path, format: &str) -> Value {
    serde_json::from_str(&report(folder, format)).expect("it is JSON")
}

/// Every report of a run, each checked by the rules of its reader; how many things are listed.
fn listed(folder: &Path) -> usize {
    let listed = gitlab(&json(folder, "gitlab"));
    assert_eq!(sarif(&json(folder, "sarif")), listed);
    assert_eq!(workflow_commands(&report(folder, "github")), listed);
    junit(&report(folder, "junit"));
    let markdown = report(folder, "markdown");
    assert!(
        markdown.starts_with("<!-- metalmark -->\n### metalmark: "),
        "{markdown}"
    );
    assert!(markdown.len() < 65_536);
    listed
}

/// Every report of a run, each checked by the rules of its reader; the rules that found something.
pub(crate) fn valid_reports(project: &Stage, words: &str) -> BTreeSet<String> {
    let outcome = run(project.path(), words);
    assert!(outcome.status < 2, "{words}: {}", outcome.stderr);
    assert!(listed(project.path()) > 0, "{words}");
    let found = json(project.path(), "gitlab");
    let found = found.as_array().expect("a list").iter();
    let rules = found.map(|entry| entry["check_name"].as_str().expect("a rule").to_owned());
    let rules = rules.collect();
    fs::remove_dir_all(project.path().join("reports")).expect("removed");
    rules
}

/// A copy of the demo workspace, rendered.
fn rendered() -> tempfile::TempDir {
    let folder = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    let outcome = Metalmark::within(folder.path()).args(["render"]).run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    folder
}

#[test]
fn a_clean_tree_is_test_cases_that_pass() {
    let folder = rendered();
    let outcome = run(folder.path(), "render --check");
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let cases = junit(&report(folder.path(), "junit"));
    assert_eq!(cases.failed, BTreeSet::new());
    // Every rule and drift, for four clusters and what is none of theirs.
    assert_eq!(cases.passed.len(), (RULES.len() + 1) * 5);
}

#[test]
fn drift_is_listed_with_the_files_that_differ() {
    let folder = rendered();
    let file = walkdir::WalkDir::new(folder.path().join("rendered"))
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .find(|entry| entry.path().extension().is_some_and(|end| end == "yaml"))
        .expect("something is rendered");
    let text = fs::read_to_string(file.path()).expect("text");
    fs::write(file.path(), text + "edited: true\n").expect("written");
    let outcome = run(folder.path(), "render --check");
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    listed(folder.path());
    let shown = file
        .path()
        .strip_prefix(folder.path())
        .expect("below")
        .to_string_lossy();
    let found = json(folder.path(), "gitlab");
    let drift: Vec<&Value> = found
        .as_array()
        .expect("a list")
        .iter()
        .filter(|entry| entry["check_name"] == "drift")
        .collect();
    assert_eq!(drift.len(), 1);
    assert_eq!(drift[0]["location"]["path"], *shown);
    let cases = junit(&report(folder.path(), "junit"));
    assert_eq!(
        cases.failed,
        BTreeSet::from(["drift/the project".to_owned()])
    );
    assert!(report(folder.path(), "markdown").contains("<summary>1 file would change</summary>"));
}

#[test]
fn one_document_on_stdout_holds_findings_and_drift() {
    let folder = rendered();
    fs::write(
        folder
            .path()
            .join("environment-values/workload-clusters/edge-9.yaml"),
        "",
    )
    .ok();
    for (line, status) in [
        ("check --output gitlab", 0),
        ("render --check --output gitlab", 0),
    ] {
        let outcome = Metalmark::within(folder.path()).args(line.split(' ')).run();
        assert_eq!(
            (outcome.status, outcome.stderr.as_str()),
            (status, ""),
            "{line}"
        );
        let document = serde_json::from_str(&outcome.stdout).expect("one document");
        gitlab(&document);
    }
}

/// The fingerprints of a check.
fn fingerprints(folder: &Path) -> BTreeSet<String> {
    let outcome = run(folder, "check");
    assert!(outcome.status < 2, "{}", outcome.stderr);
    let entries = json(folder, "gitlab");
    let entries = entries.as_array().expect("a list").iter();
    let prints = entries.map(|entry| entry["fingerprint"].as_str().expect("text").to_owned());
    prints.collect()
}

/// A cluster on an image of another version.
fn mismatched() -> Stage {
    edge("capm3: {image_key: noble-30}")
}

#[test]
fn a_finding_is_known_again_where_its_line_has_moved() {
    let both = "capm3: {image_key: noble-31, machine_image_url: 'https://s/x'}";
    let unused = edge("capm3: {image_key: noble-31}");
    unused.edit(
        "metalmark.yaml",
        "image-unused: off",
        "image-unused: warning",
    );
    for project in [mismatched(), edge(both), unused] {
        let before = fingerprints(project.path());
        assert!(!before.is_empty());
        for file in ["metalmark.yaml", "catalog.yaml", "edge.yaml"] {
            let text = project.read(file);
            project.write(file, format!("# a line\n\n# and more\n{text}"));
        }
        assert_eq!(fingerprints(project.path()), before);
    }
}

#[test]
fn paths_lead_from_the_repositorys_folder() {
    let outer = tempfile::tempdir().expect("a scratch folder");
    fs::create_dir(outer.path().join(".git")).expect("made");
    fs::create_dir(outer.path().join("deploy")).expect("made");
    copy_into(mismatched().path(), &outer.path().join("deploy/lab one"));
    let outcome = Metalmark::within(outer.path())
        .args([
            "-C",
            "deploy/lab one",
            "check",
            "--output=gitlab",
            "--report=sarif=s.sarif",
        ])
        .run();
    let entries: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
    let entries = entries.as_array().expect("a list");
    assert!(!entries.is_empty());
    for entry in entries {
        let path = entry["location"]["path"].as_str().expect("text");
        assert!(path.starts_with("deploy/lab one/"), "{path}");
        assert!(outer.path().join(path).is_file(), "{path}");
    }
    // The report's own path is meant where `-C` leads.
    let text = fs::read_to_string(outer.path().join("deploy/lab one/s.sarif")).expect("there");
    assert!(text.contains("\"uri\": \"deploy/lab%20one/"), "{text}");
}

#[test]
fn a_report_that_cannot_be_written_ends_the_run() {
    let folder = mismatched();
    fs::write(folder.path().join("taken"), "").expect("written");
    let line = ["check", "--report", "sarif=taken/report.sarif"];
    let outcome = Metalmark::within(folder.path()).args(line).run();
    assert_eq!(outcome.status, 2, "{}", outcome.stdout);
    assert!(
        outcome
            .stderr
            .starts_with("error: cannot write `taken/report.sarif`: "),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_format_that_there_is_not_is_reported_with_those_there_are() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (text, reported) in [
        ("sarfi=x", "the formats are human, concise, json, sarif"),
        ("sarif", "write sarif=FILE"),
    ] {
        let outcome = Metalmark::within(folder.path())
            .args(["check", "--report", text])
            .run();
        assert_eq!(outcome.status, 2);
        assert!(outcome.stderr.contains(reported), "{}", outcome.stderr);
    }
}

#[test]
fn the_status_is_the_same_in_every_format() {
    let folder = mismatched();
    for report in REPORTS {
        let outcome = Metalmark::within(folder.path())
            .args(["check", "--output", report.name()])
            .run();
        assert_eq!(
            (outcome.status, outcome.stderr.as_str()),
            (1, ""),
            "{}",
            report.name()
        );
        let again = Metalmark::within(folder.path())
            .args(["check", "--output", report.name()])
            .run();
        assert_eq!(outcome.stdout, again.stdout);
    }
}

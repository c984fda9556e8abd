//! The table of rules compared with what belongs to it: its files, its fixtures, its documentation.
//!
//! `fixtures/rules/<id>/{bad,good}` are small projects that the real binary is run on. `bad` must report the rule, and its
//! whole report is `bad/expected.txt`; `good` must have nothing to complain of. A file `args` beside the project file holds
//! other arguments than `check`; a folder `before` holds the files that were other ones in the last commit. `BLESS=1` rewrites the reports and docs/rules.md.

mod advice;
mod bundles;
mod checksums;
mod choices;
mod endpoints;
mod formats;
mod manifests;
mod matches;
mod rows;
mod selectors;
mod skew;
mod versions;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use metalmark::model::rule::{Level, RuleId};
use metalmark::rules::{RULES, rule};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares with a file, or rewrites it when blessing.
fn assert_file(path: &Path, expected: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, expected).expect("the file can be written");
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, expected, "{}: run with BLESS=1", path.display());
}

#[test]
fn each_page_and_each_file_is_a_rules_own() {
    let names = |folder: &str, ending: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(root().join(folder)).expect("the rules' folder can be read");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let names = names.filter_map(|name| Some(name.to_str()?.strip_suffix(ending)?.to_owned()));
        names.collect()
    };
    let ids: BTreeSet<String> = RuleId::ALL.iter().map(RuleId::to_string).collect();
    assert_eq!(names("src/rules/pages", ".md"), ids);
    let mut files = names("src/rules", ".rs");
    for shared in ["change_input", "input", "mod", "not_locked", "proposals"] {
        assert!(files.remove(shared), "{shared}");
    }
    for file in files {
        let id: RuleId = file.replace('_', "-").parse().expect(&file);
        let text = read(&root().join(format!("src/rules/{file}.rs")));
        let first = text.lines().next().unwrap_or_default();
        let sentence = first.trim_start_matches("//! ").trim_end_matches('.');
        let summary = rule(id).summary();
        assert_eq!(sentence.to_lowercase(), summary.to_lowercase());
    }
}

fn documentation() -> String {
    let mut text = String::from(
        "# Rules\n\nEvery finding carries the id of its rule. `metalmark explain ID` prints its page. The level is the \
         default; a\nproject sets its own, for all clusters, some of them or single pools, and waives single findings with a \
         reason and an end. Where a\nrule has options, a map sets them beside the level: `ID: {level: warning, OPTION: 2}`.\n\n```yaml\npolicy:\n  rules: {k8s-version-mismatch: error, image-unused: off}\n  clusters: \
         {lab-*: {k8s-version-mismatch: warning}, edge-*/md0: {version-skew: off}}\n  waivers: [{rule: checksum-by-url, \
         where: legacy-7, reason: \"old image server\", until: 2027-03-01}]\n```\n\n| rule | level | what it finds |\n|---|---|---|\n",
    );
    for rule in RULES {
        let level = match rule.id.level() {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Off => "off",
        };
        let (id, summary) = (rule.id, rule.summary());
        text.push_str(&format!("| [{id}](#{id}) | {level} | {summary} |\n"));
    }
    for rule in RULES {
        text.push_str(&format!("\n## {}\n\n{}\n", rule.id, rule.explanation()));
    }
    text
}

#[test]
fn the_documentation_lists_every_rule() {
    assert_file(&root().join("docs/rules.md"), &documentation());
}

/// What a run of the binary came to.
struct Run {
    status: Option<i32>,
    output: String,
}

/// Runs the binary in a fixture, with the fixture's own arguments or `check`; none where it needs git and there is none.
fn run(folder: &Path) -> Option<Run> {
    if !folder.join("before").is_dir() {
        return Some(run_in(folder, folder));
    }
    let scratch = super::git::repository()?;
    let project = scratch.path();
    super::git::copy(folder, project);
    super::git::copy(&folder.join("before"), project);
    super::git::commit(project, "before");
    super::git::copy(folder, project);
    Some(run_in(folder, project))
}

fn run_in(folder: &Path, project: &Path) -> Run {
    let arguments = fs::read_to_string(folder.join("args")).unwrap_or_else(|_| "check".into());
    let output = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .env_clear()
        .env("SOURCE_DATE_EPOCH", "1795219200")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(project)
        .args(arguments.split_whitespace())
        .output()
        .expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run {
        status: output.status.code(),
        output: text(&output.stdout) + &text(&output.stderr),
    }
}

fn fixture(id: RuleId, side: &str) -> PathBuf {
    root().join("fixtures/rules").join(id.as_str()).join(side)
}

#[test]
fn every_rule_has_its_fixtures_and_no_fixture_lacks_a_rule() {
    let folders = fs::read_dir(root().join("fixtures/rules")).expect("the fixtures can be read");
    let found: BTreeSet<String> = folders
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let wanted: BTreeSet<String> = RuleId::ALL.iter().map(RuleId::to_string).collect();
    assert_eq!(found, wanted);
    for id in RuleId::ALL {
        for side in ["bad", "good"] {
            let project = fixture(*id, side).join("metalmark.yaml");
            assert!(project.is_file(), "{} is missing", project.display());
        }
    }
}

#[test]
fn each_bad_project_is_reported_as_expected() {
    let mut silent = Vec::new();
    for rule in RULES {
        let folder = fixture(rule.id, "bad");
        let Some(run) = run(&folder) else { continue };
        if !run.output.contains(&format!("[{}]", rule.id)) {
            silent.push(format!(
                "{}: status {:?}\n{}",
                rule.id, run.status, run.output
            ));
            continue;
        }
        assert_ne!(run.status, Some(2), "{}: {}", rule.id, run.output);
        assert_file(&folder.join("expected.txt"), &run.output);
    }
    assert!(
        silent.is_empty(),
        "these rules did not report:\n{}",
        silent.join("\n")
    );
}

#[test]
fn each_good_project_has_nothing_of_its_rule_and_no_error() {
    let mut faulty = Vec::new();
    for rule in RULES {
        let Some(run) = run(&fixture(rule.id, "good")) else {
            continue;
        };
        if run.status != Some(0) || run.output.contains(&format!("[{}]", rule.id)) {
            faulty.push(format!(
                "{}: status {:?}\n{}",
                rule.id, run.status, run.output
            ));
        }
    }
    assert!(
        faulty.is_empty(),
        "these projects are faulty:\n{}",
        faulty.join("\n")
    );
}

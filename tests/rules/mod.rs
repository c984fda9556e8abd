//! The rules. Each has a test of its name here: a project in which it finds something, the whole screen, and the edit after which
//! it finds nothing. The smaller cases of a rule stand beside it as tables. `BLESS=1` rewrites docs/rules.md.

mod advice;
mod boot;
mod bundles;
mod checksums;
mod choices;
mod endpoints;
mod formats;
mod locks;
mod manifests;
mod matches;
mod outputs;
mod rows;
mod selectors;
mod skew;
mod templates;
pub(crate) mod values;
mod versions;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use metalmark::model::rule::{Level, RuleId};
use metalmark::rules::{RULES, rule};

pub(crate) use bundles::registry_bundle;

use super::reports::valid_reports;
use super::support::golden;
use super::support::stage::{Run, Stage, project};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
         reason and a last day. If a\nrule has options, write a map with them and the level: `ID: {level: warning, OPTION: 2}`.\n\n```yaml\npolicy:\n  rules: {k8s-version-mismatch: error, image-unused: off}\n  clusters: \
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
    golden(&root().join("docs/rules.md"), &documentation());
}

/// Runs these words on a project that fails by a rule. What is found is in every report, as its reader takes it.
#[track_caller]
fn fails(rule: &str, project: &Stage, words: &str) -> Run {
    run(rule, project, words).exit(1)
}

/// The same where a rule only warns.
#[track_caller]
fn warns(rule: &str, project: &Stage, words: &str) -> Run {
    run(rule, project, words).exit(0)
}

#[track_caller]
fn run(rule: &str, project: &Stage, words: &str) -> Run {
    let run = project.run(words);
    let screen = format!("{}{}", run.outcome.stdout, run.outcome.stderr);
    assert!(screen.contains(&format!("[{rule}]: ")), "{rule}:\n{screen}");
    if words.starts_with("check") || words.starts_with("render") {
        let reports = valid_reports(project, words);
        assert!(reports.contains(rule), "{rule}: {reports:?}");
    }
    run
}

/// Runs these words on a project in which a rule finds nothing, and no other an error.
#[track_caller]
fn passes(rule: &str, project: &Stage, words: &str) {
    let outcome = project.run(words).exit(0).outcome;
    let screen = outcome.stdout + &outcome.stderr;
    assert!(!screen.contains(&format!("[{rule}]")), "{rule}:\n{screen}");
    assert!(!screen.is_empty(), "{rule}: `{words}` prints nothing");
}

/// Values of a Metal3 cluster with these settings, a line each, below others.
fn values(others: &str, settings: &str) -> String {
    let head = "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}";
    let settings = settings.replace('\n', "\n  ");
    let others = others.trim_end();
    format!("{others}\n{head}\n  {settings}\n")
        .trim_start()
        .to_owned()
}

/// The cluster `edge` with these settings and values of its own.
fn bare(others: &str, settings: &str) -> Stage {
    project().cluster("edge", &values(others, settings))
}

/// The cluster `edge` with these settings, over these images.
fn booting(images: &[&str], settings: &str) -> Stage {
    project()
        .catalog(images)
        .settings("policy: {rules: {image-unused: off}}")
        .cluster("edge", &values("", settings))
}

/// The cluster `edge` with these settings, over an image of its version, `noble-31`, and one of an older version, `noble-30`.
pub(crate) fn edge(settings: &str) -> Stage {
    let noble = "os=ubuntu os-release=noble hardened=false";
    let images = [
        format!("noble-31 rke2 1.31.8+rke2r1 {noble}"),
        format!("noble-30 rke2 1.30.12+rke2r1 {noble}"),
    ];
    booting(&images.each_ref().map(String::as_str), settings)
}

#[test]
fn every_rule_has_a_test_of_both_sides() {
    let files = fs::read_dir(root().join("tests/rules")).expect("the folder");
    let texts = files.map(|file| read(&file.expect("a file").path()));
    let tests: String = texts.collect::<Vec<_>>().join("\n");
    let bodies: Vec<&str> = tests.split("#[test]\n").skip(1).collect();
    for id in RuleId::ALL {
        let name = format!("fn {}()", id.as_str().replace('-', "_"));
        let body = bodies.iter().find(|body| body.starts_with(&name));
        let body = body.unwrap_or_else(|| panic!("no test `{name}`"));
        let body: String = body.split_whitespace().collect();
        let has = |side: &str| body.contains(&format!("{side}(\"{id}\","));
        assert!(has("fails") || has("warns"), "`{name}` shows no finding");
        assert!(has("passes"), "`{name}` has no good side");
    }
}

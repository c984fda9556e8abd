//! Findings as test results: one suite a rule, in it one case a cluster, so that a clean run shows what it looked at.
//!
//! There is no standard; what is written here is what GitLab (<https://docs.gitlab.com/ci/testing/unit_test_reports/>) and
//! Jenkins read. A case fails by findings at error level; warnings are its output.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::issue::{self, Issue};
use super::{Changes, Findings, Report};
use crate::model::finding::Level;

/// For what reads test results.
pub(super) struct JUnit;

/// The case of what is no cluster's in particular.
const PROJECT: &str = "the project";

/// Where rules by clusters are more, clusters without a finding of a rule have no case of their own in it: GitLab reads
/// 500,000 cases a pipeline.
const MOST: usize = 100_000;

impl Report for JUnit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn summary(&self) -> &'static str {
        "JUnit XML: a suite for each rule, a case for each cluster"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let issues = issue::issues(findings);
        let compared = matches!(findings.run.changes, Changes::Drift(_));
        let kinds: Vec<&str> = issue::kinds()
            .map(|kind| kind.code)
            .filter(|code| compared || *code != issue::DRIFT.code)
            .collect();
        let mut clusters = findings.run.clusters.clone();
        if clusters.len().saturating_mul(kinds.len()) > MOST {
            clusters.clear();
        }
        let suites: Vec<Suite<'_>> = kinds
            .iter()
            .map(|code| suite(code, &clusters, &issues))
            .collect();
        let tests: usize = suites.iter().map(|suite| suite.cases.len()).sum();
        let failures: usize = suites.iter().map(Suite::failures).sum();
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<testsuites name=\"metalmark\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">"
        )?;
        suites.iter().try_for_each(|suite| suite.write(out))?;
        writeln!(out, "</testsuites>")
    }
}

struct Suite<'a> {
    code: &'a str,
    /// What was found, by case.
    cases: BTreeMap<&'a str, Vec<&'a Issue<'a>>>,
}

fn suite<'a>(code: &'a str, clusters: &[&'a str], issues: &'a [Issue<'a>]) -> Suite<'a> {
    let names: BTreeSet<&str> = clusters.iter().copied().chain([PROJECT]).collect();
    let mut cases: BTreeMap<&str, Vec<&Issue<'_>>> =
        names.into_iter().map(|name| (name, Vec::new())).collect();
    for issue in issues.iter().filter(|issue| issue.code == code) {
        let nobody = issue.clusters.is_empty().then_some(PROJECT);
        for name in issue.clusters.iter().copied().chain(nobody) {
            cases.entry(name).or_default().push(issue);
        }
    }
    Suite { code, cases }
}

impl Suite<'_> {
    fn failures(&self) -> usize {
        self.cases.values().filter(|issues| fails(issues)).count()
    }

    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let code = escaped(self.code);
        writeln!(
            out,
            "  <testsuite name=\"{code}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\">",
            self.cases.len(),
            self.failures()
        )?;
        for (name, issues) in &self.cases {
            let file = issues.first().map(|issue| escaped(&issue.site.path));
            let file = file.map_or(String::new(), |file| format!(" file=\"{file}\""));
            let head = format!(
                "    <testcase classname=\"{code}\" name=\"{}\"{file}",
                escaped(name)
            );
            if issues.is_empty() {
                writeln!(out, "{head}/>")?;
                continue;
            }
            writeln!(out, "{head}>")?;
            writeln!(out, "      {}", outcome(&code, issues))?;
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")
    }
}

fn fails(issues: &[&Issue<'_>]) -> bool {
    issues.iter().any(|issue| issue.level == Level::Error)
}

fn outcome(code: &str, issues: &[&Issue<'_>]) -> String {
    let all: Vec<String> = issues.iter().map(|issue| told(issue)).collect();
    let text = escaped(&all.join("\n\n"));
    let error = issues.iter().find(|issue| issue.level == Level::Error);
    match error {
        Some(error) => {
            let message = escaped(&error.message);
            format!("<failure type=\"{code}\" message=\"{message}\">{text}</failure>")
        }
        None => format!("<system-out>{text}</system-out>"),
    }
}

fn told(issue: &Issue<'_>) -> String {
    let level = match issue.level {
        Level::Error => "error",
        Level::Warning | Level::Off => "warning",
    };
    let site = &issue.site;
    let column = site
        .range
        .map_or(String::new(), |range| format!(":{}", range.column));
    format!(
        "{level}: {}\n  at {}:{}{column}",
        issue.told(),
        site.path,
        site.line()
    )
}

/// Text for XML, both in attributes and between tags. What XML 1.0 has no place for is replaced
/// (<https://www.w3.org/TR/xml/#charsets>).
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

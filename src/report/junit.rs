//! Findings as test results: one suite per rule with one case per cluster, so that a clean run shows what it checked.
//!
//! There is no standard; what is written here is what GitLab (<https://docs.gitlab.com/ci/testing/unit_test_reports/>) and
//! Jenkins read. A case fails by findings at error level; warnings are its output.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::issue::{self, Issue};
use super::{Changes, Findings, Report};
use crate::model::rule::Level;
use crate::printer::{Printer, Safe};

/// For what reads test results.
pub(super) struct JUnit;

/// The case of findings that belong to no cluster.
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

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        let issues = issue::issues(findings);
        let compared = matches!(findings.run.changes, Changes::Drift(_));
        let kinds: Vec<&'static str> = issue::kinds()
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
        let head = Safe::concat([
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"metalmark\" tests=\""
                .into(),
            tests.into(),
            "\" failures=\"".into(),
            failures.into(),
            "\" errors=\"0\">\n".into(),
        ]);
        out.markup(&head)?;
        suites.iter().try_for_each(|suite| suite.write(out))?;
        out.markup(&"</testsuites>\n".into())
    }
}

struct Suite<'a> {
    code: &'static str,
    /// What was found, by case.
    cases: BTreeMap<&'a str, Vec<&'a Issue<'a>>>,
}

fn suite<'a>(code: &'static str, clusters: &[&'a str], issues: &'a [Issue<'a>]) -> Suite<'a> {
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

    fn write(&self, out: &mut Printer) -> io::Result<()> {
        out.markup(&Safe::concat([
            "  <testsuite name=\"".into(),
            self.code.into(),
            "\" tests=\"".into(),
            self.cases.len().into(),
            "\" failures=\"".into(),
            self.failures().into(),
            "\" errors=\"0\" skipped=\"0\">\n".into(),
        ]))?;
        for (name, issues) in &self.cases {
            out.markup(&self.case(name, issues))?;
        }
        out.markup(&"  </testsuite>\n".into())
    }

    fn case(&self, name: &str, issues: &[&Issue<'_>]) -> Safe {
        let head = Safe::concat([
            "    <testcase classname=\"".into(),
            self.code.into(),
            "\" name=\"".into(),
            Safe::xml(name),
            "\"".into(),
        ]);
        let Some(first) = issues.first() else {
            return Safe::concat([head, "/>\n".into()]);
        };
        Safe::concat([
            head,
            " file=\"".into(),
            Safe::xml(&first.site.path),
            "\">\n      ".into(),
            outcome(self.code, issues),
            "\n    </testcase>\n".into(),
        ])
    }
}

fn fails(issues: &[&Issue<'_>]) -> bool {
    issues.iter().any(|issue| issue.level == Level::Error)
}

fn outcome(code: &'static str, issues: &[&Issue<'_>]) -> Safe {
    let all: Vec<String> = issues.iter().map(|issue| display(issue)).collect();
    let text = Safe::xml(&all.join("\n\n"));
    let error = issues.iter().find(|issue| issue.level == Level::Error);
    match error {
        Some(error) => Safe::concat([
            "<failure type=\"".into(),
            code.into(),
            "\" message=\"".into(),
            Safe::xml(&error.message),
            "\">".into(),
            text,
            "</failure>".into(),
        ]),
        None => Safe::concat(["<system-out>".into(), text, "</system-out>".into()]),
    }
}

fn display(issue: &Issue<'_>) -> String {
    let level = issue.level.as_str();
    let site = &issue.site;
    let column = site
        .range
        .map_or(String::new(), |range| format!(":{}", range.column));
    format!(
        "{level}: {}\n  at {}:{}{column}",
        issue.text(),
        site.path,
        site.line()
    )
}

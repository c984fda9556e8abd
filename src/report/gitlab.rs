//! Findings for GitLab's merge requests: the Code Quality report.
//!
//! Fields and severities: <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>. GitLab takes two
//! entries with one fingerprint for one, and compares fingerprints between branches.

use std::io;

use serde_json::{Value, json};

use super::issue::{self, Issue};
use super::{Findings, Report};
use crate::model::rule::Level;
use crate::printer::Printer;

/// For GitLab.
pub(super) struct GitLab;

impl Report for GitLab {
    fn name(&self) -> &'static str {
        "gitlab"
    }

    fn summary(&self) -> &'static str {
        "GitLab Code Quality: the list in a merge request"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        let entries: Vec<Value> = issue::issues(findings).iter().map(entry).collect();
        out.json(&entries)
    }
}

fn entry(issue: &Issue<'_>) -> Value {
    let severity = match issue.level {
        Level::Error => "critical",
        Level::Warning => "minor",
        Level::Off => "info",
    };
    json!({
        "check_name": issue.code,
        "description": issue.text().replace('\n', "; "),
        "fingerprint": issue.fingerprint,
        "severity": severity,
        "location": {"path": issue.site.path, "lines": {"begin": issue.site.line()}},
    })
}

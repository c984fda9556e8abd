//! A summary of a project in a few lines: its content, its most frequent findings, and the next command.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::drawing::address;
use super::lines::Lines;
use super::{Findings, quantity};
use crate::model::rule::{Level, RuleId};

/// The screen of a run without a command. `project` is the project file; without one, `kind` is what was read.
pub fn overview(
    findings: &Findings<'_>,
    project: Option<&str>,
    kind: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let summary = &findings.summary;
    let clusters = quantity(summary.checked, "cluster");
    let read = kind.unwrap_or("Cluster API manifests");
    match project {
        Some(file) => writeln!(out, "{file}: {clusters}")?,
        None => writeln!(out, "{read}: {clusters}, no project file")?,
    }
    print_judged(findings, out)?;
    let next = if kind.is_some() {
        "`metalmark init` writes the project file, which the other commands read"
    } else if summary.errors + summary.warnings > 0 {
        "`metalmark check` shows each finding at its place"
    } else if summary.pools.proven == summary.pools.checked {
        "`metalmark impact` shows what a change does"
    } else {
        "`metalmark clusters` shows why node pools are not proven"
    };
    writeln!(out, "next: {next}; `metalmark help` lists the commands")
}

/// Prints how the pools are judged; of errors, the number by rule and the most frequent one at its place.
pub fn print_judged(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", findings.summary.text())?;
    errors(findings, out)
}

fn errors(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    let causes = findings.group_by_cause().into_iter();
    let causes: Vec<_> = causes
        .filter(|alike| alike[0].judged.level == Level::Error)
        .collect();
    let mut by_rule: BTreeMap<RuleId, usize> = BTreeMap::new();
    for alike in &causes {
        *by_rule.entry(alike[0].judged.finding.rule).or_default() += alike.len();
    }
    let mut by_rule: Vec<(RuleId, usize)> = by_rule.into_iter().collect();
    by_rule.sort_by_key(|(rule, count)| (std::cmp::Reverse(*count), *rule));
    let rules: Vec<String> = by_rule
        .iter()
        .map(|(rule, count)| format!("{rule} {count}"))
        .collect();
    // The first of those that are equally frequent, for that is shown first.
    let Some(most) = causes.iter().rev().max_by_key(|alike| alike.len()) else {
        return Ok(());
    };
    let count = quantity(findings.summary.errors, "error");
    writeln!(out, "{count} must be fixed first: {}", rules.join(", "))?;
    let times = match most.len() {
        1 => String::new(),
        times => format!(" ({times} times)"),
    };
    let finding = &most[0].judged.finding;
    let mut lines = Lines::default();
    let place =
        { finding.labels.first() }.map(|label| address(label, &findings.run.root, &mut lines));
    let place = place.map_or(String::new(), |place| format!("{place}: "));
    writeln!(out, "  such as: {place}{}{times}", finding.message)
}

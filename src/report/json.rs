//! Findings as one JSON object for programs; docs/json.md describes it.

use std::io;

use super::lines::{Lines, Range};
use super::{Changes, Findings, Group, JSON_VERSION, JudgedPool, Report, Summary, WriteChanges};
use crate::model::finding::Label;
use crate::model::fix::Fix;
use crate::model::rule::Level;
use crate::printer::Printer;

/// For programs.
pub(super) struct Json;

impl Report for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "for programs: one object, docs/json.md describes it"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        let mut lines = Lines::default();
        let document = Document {
            version: JSON_VERSION,
            findings: findings
                .groups
                .iter()
                .map(|group| finding_entry(group, &mut lines))
                .collect(),
            pools: findings.pools,
            summary: &findings.summary,
        };
        out.json(&document)
    }

    fn lists_pools(&self) -> bool {
        true
    }

    fn changes(&self) -> Option<WriteChanges> {
        Some(print_changes)
    }
}

fn print_changes(changes: &Changes<'_>, out: &mut Printer) -> io::Result<()> {
    match changes {
        Changes::None => Ok(()),
        Changes::Written(folders) | Changes::Drift(folders) => super::changes_json(folders, out),
    }
}

#[derive(serde::Serialize)]
struct Document<'a> {
    version: u32,
    findings: Vec<FindingEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pools: Option<&'a [JudgedPool]>,
    summary: &'a Summary,
}

#[derive(serde::Serialize)]
struct FindingEntry<'a> {
    rule: &'a str,
    level: Level,
    message: &'a str,
    cluster: Option<&'a str>,
    clusters: &'a [&'a str],
    pool: Option<&'a str>,
    image: Option<&'a str>,
    help: &'a [String],
    fix: Option<Edit<'a>>,
    labels: Vec<Located<'a>>,
}

/// An edit that `check --fix` makes.
#[derive(serde::Serialize)]
struct Edit<'a> {
    text: &'a str,
    path: &'a str,
    #[serde(flatten)]
    range: Range,
    value: &'a str,
}

#[derive(serde::Serialize)]
struct Located<'a> {
    path: &'a str,
    #[serde(flatten)]
    range: Range,
    text: &'a str,
}

fn finding_entry<'a>(group: &'a Group<'a>, lines: &mut Lines) -> FindingEntry<'a> {
    let finding = &group.judged.finding;
    let subject = &finding.subject;
    FindingEntry {
        rule: finding.rule.as_str(),
        level: group.judged.level,
        message: &finding.message,
        cluster: subject.cluster.as_deref(),
        clusters: &group.clusters,
        pool: subject.pool.as_deref(),
        image: subject.image.as_deref(),
        help: &finding.help,
        fix: finding.fix.as_ref().map(|fix| edit(fix, lines)),
        labels: finding
            .labels
            .iter()
            .map(|label| locate_label(label, lines))
            .collect(),
    }
}

fn edit<'a>(fix: &'a Fix, lines: &mut Lines) -> Edit<'a> {
    Edit {
        text: &fix.text,
        path: &fix.spot.source.path,
        range: lines.get(&fix.spot.source).range_of(&fix.spot),
        value: &fix.value,
    }
}

fn locate_label<'a>(label: &'a Label, lines: &mut Lines) -> Located<'a> {
    let spot = &label.spot;
    Located {
        path: &spot.source.path,
        range: lines.get(&spot.source).range_of(spot),
        text: &label.text,
    }
}

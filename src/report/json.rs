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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Json;
    use crate::model::finding::{Finding, Judged};
    use crate::model::rule::{Level, RuleId};
    use crate::printer::Printer;
    use crate::report::{Color, Findings, Report};
    use yaml_tree::place::{Source, Spot};

    fn printed(judged: &[Judged]) -> serde_json::Value {
        let findings = Findings::new(judged, 3, Color::Never);
        let text = Printer::print_to_string(Color::Never, |out| Json.findings(&findings, out));
        serde_json::from_str(&text.expect("memory takes it")).expect("it is JSON")
    }

    #[test]
    fn it_has_the_documented_shape() {
        let spot = Spot {
            source: Arc::new(Source::new("values.yaml", "a: é\nb: x\n")),
            start: 9,
            end: 10,
        };
        let mut finding = Finding::new(RuleId::ValueType, "it is wrong")
            .with_label(Some(spot), "here")
            .help("fix it");
        finding.subject.cluster = Some("edge-1".into());
        finding.subject.pool = Some("md0".into());
        let other = Judged {
            level: Level::Error,
            finding: Finding {
                subject: crate::model::finding::Subject {
                    cluster: Some("edge-2".into()),
                    ..finding.subject.clone()
                },
                ..finding.clone()
            },
        };
        let judged = [
            other,
            Judged {
                finding,
                level: Level::Error,
            },
        ];
        let expected = serde_json::json!({
            "version": 1,
            "findings": [{
                "rule": "value-type", "level": "error", "message": "it is wrong",
                "cluster": "edge-1", "clusters": ["edge-1", "edge-2"], "pool": "md0", "image": null,
                "help": ["fix it"], "fix": null,
                "labels": [{
                    "path": "values.yaml", "line": 2, "column": 4, "end_line": 2, "end_column": 5, "text": "here",
                }],
            }],
            "summary": {
                "errors": 1, "warnings": 0, "clusters_with_findings": 2, "clusters": 3,
                "pools": {"checked": 0, "proven": 0, "by_name": 0, "mismatched": 0, "unproven": 0, "skipped": {}},
            },
        });
        assert_eq!(printed(&judged), expected);
    }

    #[test]
    fn without_findings_the_list_is_empty() {
        assert_eq!(printed(&[])["findings"], serde_json::json!([]));
    }
}

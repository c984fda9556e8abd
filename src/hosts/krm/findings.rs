//! Findings as results.

use crate::model::finding::Judged;
use crate::model::rule::Level;
use crate::report::{Color, Findings, Lines};

use super::result::{FunctionResult, Severity};

/// One result for each thing to fix, in the order of the files.
pub(super) fn results(judged: &[Judged]) -> Vec<FunctionResult> {
    let findings = Findings::new(judged, 0, Color::Never);
    let (mut lines, groups) = (Lines::default(), findings.groups.iter());
    groups
        .map(|group| result(group.judged, &mut lines))
        .collect()
}

fn result(judged: &Judged, lines: &mut Lines) -> FunctionResult {
    let finding = &judged.finding;
    let severity = match judged.level {
        Level::Error => Severity::Error,
        Level::Warning | Level::Off => Severity::Warning,
    };
    let mut result = FunctionResult::new(severity, finding.message.as_str());
    result.tags.push(("rule", finding.rule.to_string()));
    let subject = &finding.subject;
    for (name, about) in [
        ("cluster", &subject.cluster),
        ("pool", &subject.pool),
        ("image", &subject.image),
    ] {
        result.tags.extend(about.clone().map(|about| (name, about)));
    }
    if let Some(label) = finding.labels.first() {
        let (line, column) = lines.line_column(&label.spot);
        result.file = Some((label.spot.source.path.to_string(), None));
        result.tags.push(("line", line.to_string()));
        result.tags.push(("column", column.to_string()));
    }
    if !finding.help.is_empty() {
        result.tags.push(("help", finding.help.join("\n")));
    }
    result
}

//! Findings a line each, as compilers print them for editors: `edge.yaml:4:22: error[unknown-image]: …`.

use std::io::{self, Write as _};

use super::drawing::address;
use super::findings::subject;
use super::lines::Lines;
use super::{Findings, Report, WriteChanges, human};
use crate::printer::Printer;

/// For people and editors that want a line a finding.
pub(super) struct Concise;

impl Report for Concise {
    fn name(&self) -> &'static str {
        "concise"
    }

    fn summary(&self) -> &'static str {
        "a line a finding: place, level, rule, message"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        let mut lines = Lines::default();
        for group in &findings.groups {
            let finding = &group.judged.finding;
            if let Some(label) = finding.labels.first() {
                let place = address(label, &findings.run.root, &mut lines);
                write!(out, "{place}: ")?;
            }
            let level = group.judged.level.as_str();
            let pool = finding.subject.pool.as_deref();
            let whom = subject(&finding.message, &group.clusters, pool);
            writeln!(out, "{level}[{}]: {}{whom}", finding.rule, finding.message)?;
        }
        findings.write_summary(out)
    }

    fn changes(&self) -> Option<WriteChanges> {
        human::Human.changes()
    }
}

//! How many findings each rule has, the most frequent first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use super::table::Table;
use super::{Findings, Report, WriteChanges, human};
use crate::printer::Printer;
use crate::rules::rule;

/// For an overview of many findings.
pub struct Statistics;

impl Report for Statistics {
    fn name(&self) -> &'static str {
        "statistics"
    }

    fn summary(&self) -> &'static str {
        "how many findings each rule has"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        for group in &findings.groups {
            let of_rule = (Reverse(group.judged.level), group.judged.finding.rule);
            *counts.entry(of_rule).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        if !counts.is_empty() {
            let mut table = Table::new(&["count", "level", "rule", "what it finds"]);
            for ((Reverse(level), id), count) in counts {
                let cells = [
                    &*count.to_string(),
                    level.as_str(),
                    id.as_str(),
                    rule(id).summary(),
                ];
                table.row(cells.map(str::to_owned));
            }
            table.write(out)?;
        }
        findings.write_summary(out)
    }

    fn changes(&self) -> Option<WriteChanges> {
        human::Human.changes()
    }
}

//! The findings of the page, each with its clusters, its lines and what to do.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use super::tables::{Ids, Tables};
use crate::model::rule::{Level, RuleId};
use crate::report::drawing;
use crate::report::fingerprint::Fingerprints;
use crate::report::{Findings, Group, Lines, Run};
use crate::rules::rule;

/// A finding as a row; texts and clusters are numbers.
#[derive(Serialize)]
pub(super) struct FindingRow {
    /// Findings with one number report the same of different places.
    cause: u32,
    rule: u32,
    pub(super) level: Level,
    message: u32,
    /// Those that have it; of a cluster that is gone nothing.
    pub(super) clusters: Vec<u32>,
    pools: Vec<u32>,
    image: u32,
    file: u32,
    line: usize,
    column: usize,
    /// The lines of the files, drawn.
    snippet: u32,
    help: Vec<u32>,
    /// What it is known by from one run to the next.
    #[serde(skip)]
    pub(super) fingerprint: String,
}

/// What distinguishes a group from others of its list.
fn address(group: &Group<'_>) -> usize {
    std::ptr::from_ref(group).addr()
}

/// Makes rows of findings.
pub(super) struct Found<'a> {
    /// The clusters of the page.
    clusters: &'a HashMap<Arc<str>, u32>,
    run: &'a Run<'a>,
    rules: Ids<RuleId>,
}

impl<'a> Found<'a> {
    pub(super) fn new(clusters: &'a HashMap<Arc<str>, u32>, run: &'a Run<'a>) -> Self {
        Self {
            clusters,
            run,
            rules: Ids::default(),
        }
    }

    /// The findings of a run, in its order.
    pub(super) fn rows(&mut self, findings: &Findings<'_>, tables: &mut Tables) -> Vec<FindingRow> {
        let mut lines = Lines::default();
        let mut fingerprints = Fingerprints::default();
        let mut causes = HashMap::new();
        for (alike, cause) in findings.group_by_cause().into_iter().zip(0..) {
            causes.extend(alike.into_iter().map(|group| (address(group), cause)));
        }
        let row = |group| {
            let row = self.row(group, &mut lines, &mut fingerprints, tables);
            let cause = causes.get(&address(group)).copied().unwrap_or(row.cause);
            FindingRow { cause, ..row }
        };
        findings.groups.iter().map(row).collect()
    }

    fn row(
        &mut self,
        group: &Group<'_>,
        lines: &mut Lines,
        fingerprints: &mut Fingerprints,
        tables: &mut Tables,
    ) -> FindingRow {
        let finding = &group.judged.finding;
        let first = finding.labels.first().map(|label| &label.spot);
        let file = first.map_or("", |spot| &*spot.source.path);
        let (line, column) = match first {
            Some(spot) if !spot.source.text.is_empty() => lines.line_column(spot),
            _ => (0, 0),
        };
        let clusters = group.clusters.iter();
        let pool = finding.subject.pool.as_deref().into_iter();
        let pools = pool.chain(group.other_pools.iter().copied());
        FindingRow {
            cause: 0,
            rule: self.rules.id(finding.rule),
            level: group.judged.level,
            message: tables.text(&finding.message),
            clusters: clusters
                .filter_map(|name| self.clusters.get(*name).copied())
                .collect(),
            pools: pools.map(|pool| tables.text(pool)).collect(),
            image: tables.optional(finding.subject.image.as_deref()),
            file: tables.text(file),
            line,
            column,
            snippet: tables.text(&drawing::text(&finding.labels, self.run, lines)),
            help: finding.help.iter().map(|help| tables.text(help)).collect(),
            fingerprint: fingerprints.compute(finding, file),
        }
    }

    /// The rules that found something: id and summary.
    pub(super) fn rules(&self, tables: &mut Tables) -> Vec<(u32, u32)> {
        let rules = self.rules.values().into_iter();
        rules
            .map(|id| (tables.text(id.as_str()), tables.text(rule(*id).summary())))
            .collect()
    }
}

//! Findings in the order of the user's files, each once: those that many clusters share are one, with the clusters' names.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Color, JudgedPool, quantity};
use crate::decide::pool_counts::PoolCounts;
use crate::model::finding::{Judged, Label};
use crate::model::manifest::ChangeSet;
use crate::model::rule::Level;
use crate::printer::{Detail, Printer};

/// What a [`super::Report`] is given.
pub struct Findings<'a> {
    /// Sorted by place, then by level, rule and message. Findings without a place come last.
    pub groups: Vec<Group<'a>>,
    /// Their number.
    pub summary: Summary,
    /// The node pools one by one, where the command lists them.
    pub pools: Option<&'a [JudgedPool]>,
    /// How much of them people are shown.
    pub detail: Detail,
    /// Whether the stream takes colors.
    pub color: Color,
    /// What else is known of the run.
    pub run: Run<'a>,
}

/// What a code host's formats need beside the findings.
#[derive(Clone, Default)]
pub struct Run<'a> {
    /// The clusters that were checked, sorted.
    pub clusters: Vec<&'a str>,
    /// The project's folder below the repository's, without a slash at either end; empty where they are one.
    pub folder: String,
    /// The same folder as people type it where the run started; empty where it started there.
    pub root: PathBuf,
    /// What became of the rendered files.
    pub changes: Changes<'a>,
}

impl Run<'_> {
    /// A run in a folder, as people type it.
    pub fn from_folder(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            ..Self::default()
        }
    }
}

/// What a run does to its output folders.
#[derive(Clone, Copy, Default)]
pub enum Changes<'a> {
    /// Nothing was rendered, or nothing may be written.
    #[default]
    None,
    /// They are written.
    Written(&'a [ChangeSet]),
    /// They are drift: compared with the existing files, and not written.
    Drift(&'a [ChangeSet]),
}

/// One thing to fix.
pub struct Group<'a> {
    /// The finding; of the first cluster, where several share it.
    pub judged: &'a Judged,
    /// The clusters that have it, sorted; none where it is nobody's in particular.
    pub clusters: Vec<&'a str>,
    /// The other pools of the first finding's cluster that have it, sorted.
    pub other_pools: Vec<&'a str>,
}

/// How many things are to be fixed.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Groups at error level.
    pub errors: usize,
    /// Groups at warning level.
    pub warnings: usize,
    /// Clusters that have a finding.
    #[serde(rename = "clusters_with_findings")]
    pub clusters: usize,
    /// Clusters that were checked.
    #[serde(rename = "clusters")]
    pub checked: usize,
    /// The node pools that were checked.
    pub pools: PoolCounts,
}

impl Summary {
    /// `1 error, 2 warnings in 1 cluster`.
    pub(super) fn text(&self) -> String {
        let counts = [(self.errors, "error"), (self.warnings, "warning")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, noun)| quantity(*count, noun)).collect();
        let place = |clusters| match clusters {
            0 => String::new(),
            clusters => format!(" in {}", quantity(clusters, "cluster")),
        };
        let found = if counts.is_empty() {
            format!("no findings{}", place(self.checked))
        } else {
            format!("{}{}", counts.join(", "), place(self.clusters))
        };
        match &*self.pools.text() {
            "" => found,
            pools => format!("{found}; {pools}"),
        }
    }
}

impl Group<'_> {
    /// The message, whom it is about, and a line for each thing to do.
    pub(crate) fn text(&self) -> String {
        let finding = &self.judged.finding;
        let pool = finding.subject.pool.as_deref();
        let subject = subject(&finding.message, &self.clusters, pool);
        with_help(format!("{}{subject}", finding.message), &finding.help)
    }
}

/// Whom a message is about, where it does not name them: ` (cluster edge-1, pool md0)`.
pub(super) fn subject(message: &str, clusters: &[&str], pool: Option<&str>) -> String {
    let named = |name: &str| message.contains(&format!("`{name}`"));
    match clusters {
        [] => String::new(),
        [cluster] if named(cluster) && pool.is_none_or(named) => String::new(),
        [cluster] => {
            let pool = pool.map_or(String::new(), |pool| format!(", pool {pool}"));
            format!(" (cluster {cluster}{pool})")
        }
        [first, others @ ..] => {
            format!(" (cluster {first} and {} more)", others.len())
        }
    }
}

/// A message, and a line for each thing to do.
pub(super) fn with_help(mut text: String, help: &[impl AsRef<str>]) -> String {
    for help in help {
        text.push_str("\nhelp: ");
        text.push_str(help.as_ref());
    }
    text
}

impl<'a> Findings<'a> {
    /// Sorts, groups and counts. The order in which findings were made does not matter. `checked` is the number of
    /// clusters that were looked at.
    pub fn new(judged: &'a [Judged], checked: usize, color: Color) -> Self {
        let mut sorted: Vec<&Judged> = judged
            .iter()
            .filter(|one| one.level != Level::Off)
            .collect();
        sorted.sort_by(|a, b| compare_places(a, b).then_with(|| compare_subjects(a, b)));
        let same = |a: &&Judged, b: &&Judged| compare_places(a, b) == Ordering::Equal;
        let groups: Vec<Group<'_>> = sorted.chunk_by(same).map(group).collect();
        let count = |level| {
            groups
                .iter()
                .filter(|group| group.judged.level == level)
                .count()
        };
        let clusters: BTreeSet<&str> = groups
            .iter()
            .flat_map(|group| group.clusters.iter().copied())
            .collect();
        let summary = Summary {
            errors: count(Level::Error),
            warnings: count(Level::Warning),
            clusters: clusters.len(),
            checked,
            pools: PoolCounts::default(),
        };
        Self {
            groups,
            summary,
            pools: None,
            detail: Detail::default(),
            color,
            run: Run::default(),
        }
    }

    /// The findings in their order, errors that others may follow from before them; those that report the same of different places
    /// together, at the first of them, unless people want each. The other places that matter are the same ones, too.
    pub fn group_by_cause(&self) -> Vec<Vec<&Group<'a>>> {
        let mut causes: Vec<Vec<&Group<'_>>> = Vec::new();
        let mut known: HashMap<_, usize> = HashMap::new();
        for group in &self.groups {
            let finding = &group.judged.finding;
            let others: Vec<_> = finding.labels.iter().skip(1).map(place_and_text).collect();
            let fault = finding.labels.first().map(|label| &label.text);
            let what = (group.judged.level, finding.rule, &finding.message);
            let cause = (what, &finding.help, fault, others);
            let index = if finding.labels.is_empty() || self.detail == Detail::Whole {
                causes.len()
            } else {
                *known.entry(cause).or_insert(causes.len())
            };
            match causes.get_mut(index) {
                Some(alike) => alike.push(group),
                None => causes.push(vec![group]),
            }
        }
        causes.sort_by_key(|alike| {
            let first = alike[0].judged;
            !(first.level == Level::Error && first.finding.rule.is_cause())
        });
        causes
    }

    /// As much of them as people want.
    pub fn with_detail(mut self, detail: Detail) -> Self {
        if detail == Detail::Quiet {
            self.groups
                .retain(|group| group.judged.level == Level::Error);
        }
        Self { detail, ..self }
    }

    /// Writes the summary, unless people want errors only.
    pub(super) fn write_summary(&self, out: &mut Printer) -> io::Result<()> {
        if self.detail == Detail::Quiet {
            return Ok(());
        }
        writeln!(out, "{}", self.summary.text())
    }

    /// With the node pools that were checked.
    pub fn with_pools(mut self, pools: &PoolCounts) -> Self {
        self.summary.pools = pools.clone();
        self
    }

    /// With the node pools one by one.
    pub fn with_pool_list(self, pools: Option<&'a [JudgedPool]>) -> Self {
        Self { pools, ..self }
    }

    /// With what else is known of the run.
    pub fn with_run(self, run: Run<'a>) -> Self {
        Self { run, ..self }
    }
}

fn group<'a>(same: &[&'a Judged]) -> Group<'a> {
    let clusters = same
        .iter()
        .filter_map(|one| one.finding.subject.cluster.as_deref());
    let clusters: BTreeSet<&str> = clusters.collect();
    let first = &same[0].finding.subject;
    let of_cluster = same.iter().map(|one| &one.finding.subject);
    let of_cluster = of_cluster.filter(|subject| subject.cluster == first.cluster);
    let others = of_cluster.filter_map(|subject| subject.pool.as_deref());
    let others: BTreeSet<&str> = others
        .filter(|pool| first.pool.as_deref() != Some(*pool))
        .collect();
    Group {
        judged: same[0],
        clusters: clusters.into_iter().collect(),
        other_pools: others.into_iter().collect(),
    }
}

/// Findings that this calls equal are one thing to fix. Offsets order as lines and columns do, and cost nothing.
fn compare_places(a: &Judged, b: &Judged) -> Ordering {
    let (left, right) = (place(a), place(b));
    let known_first = left.is_none().cmp(&right.is_none());
    known_first
        .then_with(|| left.cmp(&right))
        .then_with(|| b.level.cmp(&a.level))
        .then_with(|| a.finding.rule.cmp(&b.finding.rule))
        .then_with(|| a.finding.message.cmp(&b.finding.message))
}

/// The file and the range of the fault.
fn place(one: &Judged) -> Option<(&str, u32, u32)> {
    let (place, _) = place_and_text(one.finding.labels.first()?);
    Some(place)
}

/// A place, and what is written beside it.
fn place_and_text(label: &Label) -> ((&str, u32, u32), &str) {
    let spot = &label.spot;
    ((&spot.source.path, spot.start, spot.end), &label.text)
}

/// Breaks ties, down to the last word, so that the first of a group is the same one in every run.
fn compare_subjects(a: &Judged, b: &Judged) -> Ordering {
    let labels = |one: &Judged| -> Vec<_> {
        let labels = one.finding.labels.iter().map(|label| {
            let spot = &label.spot;
            let path = Arc::clone(&spot.source.path);
            (path, spot.start, spot.end, label.text.clone())
        });
        labels.collect()
    };
    a.finding
        .subject
        .cmp(&b.finding.subject)
        .then_with(|| a.finding.help.cmp(&b.finding.help))
        .then_with(|| labels(a).cmp(&labels(b)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Findings;
    use crate::model::finding::{Finding, Judged};
    use crate::model::rule::{Level, RuleId};
    use crate::report::Color;
    use yaml_tree::place::{Source, Spot};

    fn judged(path: &str, start: u32, message: &str, cluster: &str, level: Level) -> Judged {
        let spot = (!path.is_empty()).then(|| Spot {
            source: Arc::new(Source::new(path, "text\n")),
            start,
            end: start,
        });
        let mut finding = Finding::new(RuleId::ValueType, message).with_label(spot, "");
        finding.subject.cluster = (!cluster.is_empty()).then(|| cluster.to_owned());
        Judged { finding, level }
    }

    fn shown(judged: &[Judged]) -> Vec<(&str, Vec<&str>)> {
        let groups = Findings::new(judged, 0, Color::Never).groups.into_iter();
        groups
            .map(|group| (&*group.judged.finding.message, group.clusters))
            .collect()
    }

    #[test]
    fn findings_are_in_the_order_of_the_files_and_those_without_a_place_last() {
        let error = Level::Error;
        let findings = [
            judged("", 0, "nowhere", "", error),
            judged("b", 0, "other file", "", error),
            judged("a", 2, "later", "", error),
            judged("a", 1, "warning", "", Level::Warning),
            judged("a", 1, "z error", "", error),
            judged("a", 1, "off", "", Level::Off),
        ];
        let expected = ["z error", "warning", "later", "other file", "nowhere"];
        let order = |findings: &[Judged]| -> Vec<String> {
            let shown = shown(findings).into_iter();
            shown.map(|(message, _)| message.to_owned()).collect()
        };
        assert_eq!(order(&findings), expected);
        let reversed: Vec<Judged> = findings.iter().rev().cloned().collect();
        assert_eq!(order(&reversed), expected);
    }
}

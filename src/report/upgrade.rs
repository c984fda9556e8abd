//! Where an upgrade is: what was merged, by commit, which wave is next, and what stops the rest.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::plan::{PlanReport, block_reason, missing_text, wave};
use super::{CommentFormat, Format};
use crate::model::date::Date;
use crate::printer::{Printer, Safe};

/// The commits of an upgrade.
#[derive(Debug, Default)]
pub struct UpgradeHistory {
    /// The commit that wrote the goal; none where the clone does not reach back to it.
    pub begun: Option<DatedCommit>,
    /// Those that changed what clusters run, newest first.
    pub merged: Vec<MergedStep>,
    /// The day from which the next wave is due, as far as it is known; none where nothing was merged yet.
    pub due: Option<Date>,
}

/// A commit and its day.
#[derive(Debug, Serialize)]
pub struct DatedCommit {
    /// Its full ID.
    pub commit: String,
    /// The day on which it was committed, in UTC.
    pub day: String,
}

/// What a commit changed.
#[derive(Debug, Serialize)]
pub struct MergedStep {
    /// The commit.
    #[serde(flatten)]
    pub at: DatedCommit,
    /// The clusters, by what they ran and what they run since; `unknown` where that is not known.
    pub moves: Vec<Move>,
}

/// Clusters that one commit took from one version to another.
#[derive(Debug, Serialize)]
pub struct Move {
    /// What they ran.
    pub from: String,
    /// What they run since.
    pub to: String,
    /// The clusters.
    pub clusters: Vec<Arc<str>>,
}

/// The state of an upgrade on a day.
pub struct UpgradeReport<'a> {
    /// What is left of it.
    pub plan: PlanReport<'a>,
    /// What was merged.
    pub history: &'a UpgradeHistory,
    /// The day.
    pub today: Date,
}

impl DatedCommit {
    fn words(&self) -> String {
        format!(
            "{} ({})",
            self.day,
            self.commit.get(..10).unwrap_or(&self.commit)
        )
    }
}

impl UpgradeReport<'_> {
    /// The day until which nothing may follow what merged last; none where it is over.
    fn soak_end(&self) -> Option<String> {
        let due = self.history.due.filter(|due| *due > self.today);
        due.map(|due| due.to_string())
    }

    /// The plan's JSON, with what was merged, and the state of each wave.
    fn json(&self) -> Value {
        let mut json = self.plan.json();
        let is_soaking = self.soak_end().is_some();
        let states = self
            .plan
            .waves
            .iter()
            .map(|wave| match (wave.number, is_soaking) {
                (1, true) => "soaking",
                (1, false) => "next",
                _ => "waiting",
            });
        if let Some(waves) = json["waves"].as_array_mut() {
            for (wave, state) in waves.iter_mut().zip(states) {
                wave["state"] = state.into();
            }
        }
        json["begun"] = serde_json::json!(self.history.begun);
        json["merged"] = serde_json::json!(self.history.merged);
        json["due"] = serde_json::json!(self.history.due.map(|due| due.to_string()));
        json
    }

    /// The upgrade in lines: the past, the waves, what stops clusters, what is missing, the sum.
    fn lines(&self) -> Vec<String> {
        let UpgradeHistory { begun, merged, .. } = self.history;
        let goal = self.plan.goal;
        let mut lines = vec![match begun {
            Some(begun) => format!("to {goal} since {}", begun.words()),
            None => format!(
                "to {goal}; this clone is shallow, so what was merged before its first commit is not known: `git fetch --unshallow`"
            ),
        }];
        for step in merged.iter().rev() {
            for Move { from, to, clusters } in &step.moves {
                let clusters = super::plan::first_names(clusters.iter().map(ToString::to_string));
                lines.push(format!(
                    "merged {}: {from} → {to}: {clusters}",
                    step.at.words()
                ));
            }
        }
        for it in self.plan.waves {
            let state = match (it.number, self.soak_end()) {
                (1, None) => "next".to_owned(),
                (1, Some(due)) => format!("soaks until {due}"),
                (number, _) => format!("after wave {}", number - 1),
            };
            lines.push(format!("{state}: {}", wave(it)));
        }
        let plans = self.plan.plans.iter();
        lines.extend(
            plans
                .filter(|plan| plan.blocked.is_some())
                .map(|plan| format!("{}: {}", plan.cluster, block_reason(plan))),
        );
        let missing = self.plan.missing();
        lines.extend(
            missing
                .iter()
                .map(|it| format!("missing: {}", missing_text(it))),
        );
        lines.push(self.plan.sum());
        lines
    }
}

/// Prints where an upgrade is.
pub fn upgrade(
    report: &UpgradeReport<'_>,
    format: CommentFormat,
    out: &mut Printer,
) -> io::Result<()> {
    match format {
        CommentFormat::Json | CommentFormat::Yaml => Format::from(format).data(&report.json(), out),
        CommentFormat::Human => {
            let mut lines = report.lines().into_iter();
            lines.try_for_each(|line| writeln!(out, "{line}"))
        }
        CommentFormat::Markdown => {
            let mut lines = report.lines().into_iter();
            lines.try_for_each(|line| {
                out.markup(&Safe::concat([
                    "- ".into(),
                    Safe::markdown(&line),
                    "\n".into(),
                ]))
            })
        }
    }
}

/// The moves between two states of clusters, by what they ran and run.
pub fn moves(before: &BTreeMap<Arc<str>, String>, after: &BTreeMap<Arc<str>, String>) -> Vec<Move> {
    let mut moves: BTreeMap<(&String, &String), Vec<Arc<str>>> = BTreeMap::new();
    for (cluster, to) in after {
        if let Some(from) = before.get(cluster).filter(|from| *from != to) {
            moves
                .entry((from, to))
                .or_default()
                .push(Arc::clone(cluster));
        }
    }
    let moves = moves.into_iter().map(|((from, to), clusters)| Move {
        from: from.clone(),
        to: to.clone(),
        clusters,
    });
    moves.collect()
}

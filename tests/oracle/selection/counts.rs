//! How many answers agree, and why others differ: a section of docs/oracle.md.

use std::collections::{BTreeMap, BTreeSet};

use super::project::Cluster;
use super::verdict::Mode;
use crate::oracle::section;

/// The counts of one run over all clusters.
#[derive(Default)]
pub(super) struct Counts {
    groups: BTreeMap<String, Group>,
    reasons: BTreeMap<&'static str, Reason>,
}

#[derive(Default)]
struct Group {
    clusters: BTreeSet<String>,
    agree: usize,
    differ: usize,
}

#[derive(Default)]
struct Reason {
    exact: usize,
    normalized: usize,
    example: String,
}

impl Counts {
    /// Counts a pool's answer in one mode: one that agrees, or the reason why it does not.
    pub(super) fn count(&mut self, cluster: &Cluster, mode: Mode, differs: Option<&'static str>) {
        let (group, _) = cluster.id.split_once('-').expect("group and number");
        let group = self.groups.entry(group.to_owned()).or_default();
        group.clusters.insert(cluster.id.clone());
        let Some(reason) = differs else {
            group.agree += 1;
            return;
        };
        group.differ += 1;
        let reason = self.reasons.entry(reason).or_default();
        match mode {
            Mode::Exact => reason.exact += 1,
            Mode::Normalized => reason.normalized += 1,
        }
        if reason.example.is_empty() {
            reason.example.clone_from(&cluster.id);
        }
    }

    /// Compares the section of docs/oracle.md with the counts; `SNAPSHOTS=overwrite` rewrites it.
    pub(super) fn is_documented(&self) {
        let mut text =
            "| group | clusters | answers that agree | that differ |\n|---|---|---|---|\n"
                .to_owned();
        let mut sum = (0, 0, 0);
        for (name, group) in &self.groups {
            let (clusters, agree, differ) = (group.clusters.len(), group.agree, group.differ);
            text += &format!("| {name} | {clusters} | {agree} | {differ} |\n");
            sum = (sum.0 + clusters, sum.1 + agree, sum.2 + differ);
        }
        let (clusters, agree, differ) = sum;
        text += &format!("| **all** | **{clusters}** | **{agree}** | **{differ}** |\n\n");
        for (reason, count) in &self.reasons {
            let (exact, normalized, example) = (count.exact, count.normalized, &count.example);
            let counts = format!("{exact} exact, {normalized} normalized (`{example}`)");
            text += &format!("* {counts}: {reason}\n");
        }
        section("selection.jsonl", &text);
    }
}

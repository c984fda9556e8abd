//! How many answers agree, and why others differ: a section of docs/oracle.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

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

    /// Compares the section of docs/oracle.md with the counts; `BLESS=1` rewrites it.
    pub(super) fn is_documented(&self) {
        let mut text =
            "| group | clusters | answers that agree | that differ |\n|---|---|---|---|\n"
                .to_owned();
        let (mut clusters, mut agree, mut differ) = (0, 0, 0);
        for (name, group) in &self.groups {
            let of_group = group.clusters.len();
            writeln!(
                text,
                "| {name} | {of_group} | {} | {} |",
                group.agree, group.differ
            )
            .expect("a string");
            (clusters, agree, differ) = (
                clusters + of_group,
                agree + group.agree,
                differ + group.differ,
            );
        }
        writeln!(
            text,
            "| **all** | **{clusters}** | **{agree}** | **{differ}** |\n"
        )
        .expect("a string");
        for (
            reason,
            Reason {
                exact,
                normalized,
                example,
            },
        ) in &self.reasons
        {
            writeln!(
                text,
                "* {exact} exact, {normalized} normalized (`{example}`): {reason}"
            )
            .expect("a string");
        }
        section("selection.jsonl", &text);
    }
}

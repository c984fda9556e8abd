//! Counts the node pools of a run: those with an image that is proven to fit, and those that were not checked, with the reason.

use std::collections::BTreeMap;

use super::proof::{self, PoolProof, Proof};
use crate::model::cluster::Pool;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::selection::{Outcome, Selection};
use crate::model::selector::Matching;

/// The node pools of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PoolCounts {
    /// Those whose image was compared with their Kubernetes version.
    pub checked: usize,
    /// Of these, those whose image holds the version, by more than its name.
    pub proven: usize,
    /// Of these, those whose image holds the version by its name alone.
    pub by_name: usize,
    /// Of these, those whose image holds another version.
    pub mismatched: usize,
    /// Of these, those about whose image nothing certain is known.
    pub unproven: usize,
    /// Those that were not checked, by the reason.
    pub skipped: BTreeMap<&'static str, usize>,
    /// The files that mention clusters and were not read, by the reason.
    #[serde(rename = "files_not_read", skip_serializing_if = "BTreeMap::is_empty")]
    pub unread_files: BTreeMap<&'static str, usize>,
}

/// What was checked of one node pool.
#[derive(Debug)]
pub enum PoolCheck<'a> {
    /// Its image was compared with its Kubernetes version.
    Checked(PoolProof<'a>),
    /// It was not, for this reason.
    Skipped(&'static str),
}

impl<'a> PoolCheck<'a> {
    /// What was checked of a pool.
    pub fn new(
        view: &'a ClusterView,
        pool: &'a Pool,
        selection: &'a Selection,
        matching: Matching,
    ) -> Self {
        if let Some(weighed) = proof::weigh_pool(view, pool, selection, matching) {
            return Self::Checked(weighed);
        }
        Self::Skipped(match proof::booted_image(view, pool, selection) {
            _ if pool.unknown.is_some() => pool.unknown.unwrap_or_default(),
            Some(booted) if booted.facts.is_bare() => "its image brings no Kubernetes",
            Some(_) => "no Kubernetes version",
            None if selection.outcome == Outcome::Nothing => "no image selected",
            None => "no image resolved",
        })
    }
}

impl PoolCounts {
    /// The pools of a cluster.
    pub fn count_pools(view: &ClusterView, matching: Matching) -> Self {
        let mut counts = Self::default();
        for SelectedPool { pool, selection } in view.pools() {
            match PoolCheck::new(view, pool, selection, matching) {
                PoolCheck::Checked(weighed) => counts.count(weighed.proof),
                PoolCheck::Skipped(reason) => *counts.skipped.entry(reason).or_default() += 1,
            }
        }
        counts
    }

    /// Counts one that was checked.
    pub fn count(&mut self, proof: Proof) {
        self.checked += 1;
        match proof {
            Proof::Proven => self.proven += 1,
            Proof::Refuted => self.mismatched += 1,
            Proof::NameOnly => self.by_name += 1,
            Proof::BuildUnknown | Proof::Partial | Proof::Unknown => self.unproven += 1,
        }
    }

    /// Adds those of another cluster.
    pub fn add(&mut self, other: &Self) {
        self.checked += other.checked;
        self.proven += other.proven;
        self.by_name += other.by_name;
        self.mismatched += other.mismatched;
        self.unproven += other.unproven;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    /// `3 node pools checked: 2 proven, 1 unproven; 1 skipped: no image selected`. Nothing where there is no pool.
    pub fn text(&self) -> String {
        let skipped = self.skipped.iter();
        let skipped = skipped.map(|(reason, count)| format!("{count} skipped: {reason}"));
        let unread = self.unread_files.iter().map(|(reason, count)| {
            let plural = if *count == 1 { "" } else { "s" };
            format!("{count} file{plural} not read: {reason}")
        });
        let others: Vec<String> = skipped.chain(unread).collect();
        let plural = if self.checked == 1 { "" } else { "s" };
        let mut text = match (self.checked, others.is_empty()) {
            (0, true) => return String::new(),
            (checked, _) => format!("{checked} node pool{plural} checked"),
        };
        let kinds = [
            (self.proven, "proven"),
            (self.by_name, "by name only"),
            (self.unproven, "unproven"),
            (self.mismatched, "mismatched"),
        ];
        let kinds = kinds.iter().filter(|(count, _)| *count > 0);
        let kinds: Vec<String> = kinds
            .map(|(count, kind)| format!("{count} {kind}"))
            .collect();
        if !kinds.is_empty() {
            text += &format!(": {}", kinds.join(", "));
        }
        for other in others {
            text += &format!("; {other}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::PoolCounts;
    use crate::decide::proof::Proof;

    #[test]
    fn pools_are_counted_by_what_is_known_of_them() {
        let mut counts = PoolCounts::default();
        assert_eq!(counts.text(), "");
        counts.count(Proof::Proven);
        assert_eq!(counts.text(), "1 node pool checked: 1 proven");
        let mut other = PoolCounts::default();
        other.count(Proof::NameOnly);
        other.count(Proof::Refuted);
        other.skipped.insert("no image selected", 2);
        counts.add(&other);
        assert_eq!(
            counts.text(),
            "3 node pools checked: 1 proven, 1 by name only, 1 mismatched; 2 skipped: no image selected"
        );
    }
}

//! Which findings matter where: levels by rule, cluster and pool, and waivers with a reason and an end.

use std::collections::BTreeMap;

use super::finding::{Finding, Level};
use super::place::Spot;

/// The project's policy, validated.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Levels for the whole project, by rule id.
    pub rules: BTreeMap<String, Level>,
    /// Levels for the clusters or pools that a pattern matches, in the order written; the last that matches wins.
    pub scoped: Vec<Scoped>,
    /// Findings that are accepted, with their reasons.
    pub waivers: Vec<Waiver>,
}

/// Levels for some clusters or pools.
#[derive(Clone, Debug)]
pub struct Scoped {
    /// `cluster` or `cluster/pool`.
    pub pattern: globset::GlobMatcher,
    /// Levels by rule id.
    pub rules: BTreeMap<String, Level>,
}

/// One accepted finding.
#[derive(Clone, Debug)]
pub struct Waiver {
    /// The rule.
    pub rule: String,
    /// Which clusters, pools (`cluster/pool`) or image keys.
    pub pattern: globset::GlobMatcher,
    /// Why.
    pub reason: String,
    /// The last day it holds, `YYYY-MM-DD`.
    pub until: Option<String>,
    /// Where it stands in the project file.
    pub spot: Option<Spot>,
}

impl Policy {
    /// The level of a finding: the rule's own, unless the project, then a cluster's or pool's pattern says otherwise.
    pub fn level(&self, finding: &Finding, default: Level) -> Level {
        let names = finding.subject.names();
        let scoped = self
            .scoped
            .iter()
            .rev()
            .filter(|scope| names.iter().any(|name| scope.pattern.is_match(name)))
            .find_map(|scope| scope.rules.get(finding.rule));
        *scoped
            .or_else(|| self.rules.get(finding.rule))
            .unwrap_or(&default)
    }
}

impl super::finding::Subject {
    /// What patterns are matched against: `cluster`, `cluster/pool`, the image key.
    pub fn names(&self) -> Vec<String> {
        let cluster = self.cluster.clone();
        let pool = self
            .cluster
            .as_ref()
            .zip(self.pool.as_ref())
            .map(|(cluster, pool)| format!("{cluster}/{pool}"));
        cluster
            .into_iter()
            .chain(pool)
            .chain(self.image.clone())
            .collect()
    }
}

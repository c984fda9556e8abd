//! The waves of an upgrade: which clusters make which step together, as one change to review.

use std::collections::BTreeSet;
use std::sync::Arc;

use globset::GlobMatcher;
use serde::Serialize;

use super::plan::ClusterPlan;

/// How clusters are spread over waves.
#[derive(Clone, Debug, Default)]
pub struct WaveSettings {
    /// The most clusters of a wave; all unless set.
    pub most: Option<Most>,
    /// The clusters that reach each version before the others, pattern by pattern.
    pub first: Vec<GlobMatcher>,
    /// Those that follow the others.
    pub last: Vec<GlobMatcher>,
    /// At most one of the clusters that match a pattern is in a wave.
    pub groups: Vec<GlobMatcher>,
    /// When clusters may be changed, in words; the last pattern that matches counts.
    pub windows: Vec<(GlobMatcher, Arc<str>)>,
}

/// How many clusters a wave may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Most {
    /// A number.
    Clusters(usize),
    /// A share of all clusters, and at least one.
    Percent(usize),
}

impl Most {
    /// `10` or `10%`, above 0.
    pub fn parse(text: &str) -> Option<Self> {
        let most = match text.strip_suffix('%') {
            Some(share) => Self::Percent(share.parse().ok().filter(|share| *share <= 100)?),
            None => Self::Clusters(text.parse().ok()?),
        };
        (!matches!(most, Self::Clusters(0) | Self::Percent(0))).then_some(most)
    }

    fn of(self, clusters: usize) -> usize {
        match self {
            Self::Clusters(count) => count,
            Self::Percent(share) => (clusters * share / 100).max(1),
        }
    }
}

/// Clusters that make a step together.
#[derive(Debug, Serialize)]
pub struct Wave {
    /// Counted from 1, in the order in which waves are made.
    pub number: usize,
    /// The minor version that they go to.
    pub to: String,
    /// The clusters, and which of its steps each makes.
    pub clusters: Vec<WaveStep>,
}

/// A step of a cluster.
#[derive(Debug, Serialize)]
pub struct WaveStep {
    /// The cluster.
    pub cluster: Arc<str>,
    /// Its place among the clusters of the plan.
    #[serde(skip)]
    pub plan: usize,
    /// Its place among the steps of the cluster.
    #[serde(skip)]
    pub step: usize,
    /// The version that the cluster goes to.
    pub version: String,
    /// When the cluster may be changed, in the words of the project file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Arc<str>>,
}

/// A wave that may take more clusters.
struct Open {
    wave: Wave,
    groups: BTreeSet<usize>,
}

/// The waves of some plans: the whole fleet reaches one minor before any of it goes to the next, and in each minor the first
/// clusters are followed by the others and these by the last.
pub fn waves(plans: &[ClusterPlan], settings: &WaveSettings) -> Vec<Wave> {
    let most = settings
        .most
        .map_or(usize::MAX, |most| most.of(plans.len()));
    let stages: Vec<usize> = plans
        .iter()
        .map(|plan| settings.stage(&plan.cluster))
        .collect();
    let steps = plans.iter().enumerate().flat_map(|(plan, of_plan)| {
        let steps = of_plan.steps.iter().enumerate();
        steps.map(move |(step, it)| (it.minor, plan, step))
    });
    let mut steps: Vec<_> = steps.collect();
    steps.sort_by_key(|(minor, plan, _)| (*minor, stages[*plan], *plan));
    let mut waves: Vec<Wave> = Vec::new();
    for block in steps.chunk_by(|one, other| one.0 == other.0 && stages[one.1] == stages[other.1]) {
        let mut open: Vec<Open> = Vec::new();
        // Waves before this one are full.
        let mut free = 0;
        for (minor, plan, step) in block {
            let of_plan = &plans[*plan];
            let groups = settings.groups_of(&of_plan.cluster);
            let fits = |it: &Open| it.wave.clusters.len() < most && it.groups.is_disjoint(&groups);
            while open
                .get(free)
                .is_some_and(|it| it.wave.clusters.len() >= most)
            {
                free += 1;
            }
            let at = (free..open.len()).find(|at| fits(&open[*at]));
            let at = at.unwrap_or_else(|| {
                open.push(Open {
                    wave: Wave {
                        number: waves.len() + open.len() + 1,
                        to: format!("{}.{}", minor.0, minor.1),
                        clusters: Vec::new(),
                    },
                    groups: BTreeSet::new(),
                });
                open.len() - 1
            });
            open[at].groups.extend(groups);
            open[at].wave.clusters.push(WaveStep {
                cluster: Arc::clone(&of_plan.cluster),
                plan: *plan,
                step: *step,
                version: of_plan.steps[*step].version.clone(),
                window: settings.window(&of_plan.cluster),
            });
        }
        waves.extend(open.into_iter().map(|it| it.wave));
    }
    waves
}

impl WaveSettings {
    /// When a cluster's turn is within a minor.
    fn stage(&self, cluster: &str) -> usize {
        let of = |patterns: &[GlobMatcher]| patterns.iter().position(|it| it.is_match(cluster));
        match (of(&self.first), of(&self.last)) {
            (Some(first), _) => first,
            (None, Some(last)) => self.first.len() + 1 + last,
            (None, None) => self.first.len(),
        }
    }

    fn window(&self, cluster: &str) -> Option<Arc<str>> {
        let mut windows = self.windows.iter().rev();
        let of = windows.find(|(pattern, _)| pattern.is_match(cluster));
        of.map(|(_, words)| Arc::clone(words))
    }

    fn groups_of(&self, cluster: &str) -> BTreeSet<usize> {
        let groups = self.groups.iter().enumerate();
        let of = groups.filter(|(_, pattern)| pattern.is_match(cluster));
        of.map(|(group, _)| group).collect()
    }
}

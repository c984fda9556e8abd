//! The waves of an upgrade: which clusters make which step together, as one change to review.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::plan::ClusterPlan;
use crate::model::wave_settings::{ClusterPattern, Most, WaveSettings};

/// Clusters that make a step together.
#[derive(Debug, Serialize)]
pub struct Wave {
    /// Counted from 1, in the order in which waves are made.
    pub number: usize,
    /// The minor version that they go to.
    pub to: String,
    /// The machines of its clusters; none where one of them does not say how many it has.
    pub machines: Option<usize>,
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
    groups: Groups,
}

/// The groups that have a cluster in a wave, by their place in the settings and the value of their label.
type Groups = BTreeSet<(usize, Arc<str>)>;

/// The most that a wave may have.
struct Limits {
    clusters: usize,
    machines: usize,
}

impl Limits {
    fn to_count(plans: &[ClusterPlan], settings: &WaveSettings) -> Self {
        let machines = plans.iter().filter_map(|plan| plan.machines).sum();
        let of = |most: Option<Most>, all| most.map_or(usize::MAX, |most| most.count(all));
        Self {
            clusters: of(settings.most, plans.len()),
            machines: of(settings.most_machines, machines),
        }
    }

    /// Whether a wave may take a cluster with a number of machines; with an unknown number only where nothing limits them.
    fn admit(&self, wave: &Wave, machines: Option<usize>) -> bool {
        let sum = wave.machines.zip(machines).map(|(all, own)| all + own);
        wave.clusters.len() < self.clusters
            && (self.machines == usize::MAX || sum.is_some_and(|sum| sum <= self.machines))
    }
}

/// The waves of some plans: the whole fleet reaches one minor before any of it goes to the next, and in each minor the first
/// clusters are followed by the others and these by the last. A cluster with more machines than a wave may have is alone in one.
pub fn waves(plans: &[ClusterPlan], settings: &WaveSettings) -> Vec<Wave> {
    let limits = Limits::to_count(plans, settings);
    let stages: Vec<usize> = plans.iter().map(|plan| settings.stage(plan)).collect();
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
            let groups = settings.groups_of(of_plan);
            while open
                .get(free)
                .is_some_and(|it| !limits.admit(&it.wave, Some(1)))
            {
                free += 1;
            }
            let fits = |it: &Open| {
                limits.admit(&it.wave, of_plan.machines) && it.groups.is_disjoint(&groups)
            };
            let at = (free..open.len()).find(|at| fits(&open[*at]));
            let at = at.unwrap_or_else(|| {
                open.push(Open {
                    wave: Wave {
                        number: waves.len() + open.len() + 1,
                        to: format!("{}.{}", minor.0, minor.1),
                        machines: Some(0),
                        clusters: Vec::new(),
                    },
                    groups: Groups::new(),
                });
                open.len() - 1
            });
            let Open { wave, groups: held } = &mut open[at];
            held.extend(groups);
            wave.machines = wave
                .machines
                .zip(of_plan.machines)
                .map(|(all, own)| all + own);
            wave.clusters.push(WaveStep {
                cluster: Arc::clone(&of_plan.cluster),
                plan: *plan,
                step: *step,
                version: of_plan.steps[*step].version.clone(),
                window: settings.window(of_plan),
            });
        }
        waves.extend(open.into_iter().map(|it| it.wave));
    }
    waves
}

impl WaveSettings {
    /// When a cluster's turn is within a minor.
    fn stage(&self, plan: &ClusterPlan) -> usize {
        let of = |patterns: &[ClusterPattern]| {
            patterns
                .iter()
                .position(|it| it.match_cluster(&plan.cluster, &plan.labels).is_some())
        };
        match (of(&self.first), of(&self.last)) {
            (Some(first), _) => first,
            (None, Some(last)) => self.first.len() + 1 + last,
            (None, None) => self.first.len(),
        }
    }

    fn window(&self, plan: &ClusterPlan) -> Option<Arc<str>> {
        let mut windows = self.windows.iter().rev();
        let of = windows
            .find(|(pattern, _)| pattern.match_cluster(&plan.cluster, &plan.labels).is_some());
        of.map(|(_, words)| Arc::clone(words))
    }

    fn groups_of(&self, plan: &ClusterPlan) -> Groups {
        let groups = self.groups.iter().enumerate();
        let of = groups.filter_map(|(group, pattern)| {
            Some((group, pattern.match_cluster(&plan.cluster, &plan.labels)?))
        });
        of.collect()
    }
}

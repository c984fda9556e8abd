//! The waves of an upgrade: which clusters make which step together, as one change to review.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
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
    /// When its clusters may be changed, in the words of the project file.
    pub window: Option<Arc<str>>,
    /// Who answers for its clusters, in the words of the project file.
    pub owners: BTreeSet<Arc<str>>,
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
}

/// A step that is to become part of a wave.
struct Candidate {
    plan: usize,
    step: usize,
    /// What waves are made of one after another: clusters of one minor, one stage and one window.
    turn: Turn,
    groups: Groups,
}

/// When waves with a step come: the minor, the stage within it, and the window.
type Turn = ((u32, u32), usize, Option<Arc<str>>);

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
/// clusters are followed by the others and these by the last. Clusters with different windows are in different waves. A cluster
/// with more machines than a wave may have is alone in one.
pub fn waves(plans: &[ClusterPlan], settings: &WaveSettings) -> Vec<Wave> {
    let limits = Limits::to_count(plans, settings);
    let steps = plans.iter().enumerate().flat_map(|(plan, of_plan)| {
        let (stage, window) = (settings.stage(of_plan), settings.window(of_plan));
        let groups = settings.groups_of(of_plan);
        let steps = of_plan.steps.iter().enumerate();
        steps.map(move |(step, it)| Candidate {
            plan,
            step,
            turn: (it.minor, stage, window.clone()),
            groups: groups.clone(),
        })
    });
    let mut left: Vec<Candidate> = steps.collect();
    left.sort_by(|one, other| (&one.turn, one.plan).cmp(&(&other.turn, other.plan)));
    let mut waves = Vec::new();
    for block in left.chunk_by(|one, other| one.turn == other.turn) {
        let mut left: Vec<&Candidate> = block.iter().collect();
        // Each wave is made of what the ones before it leave, so that the rest stays as it was where the first one is applied.
        while !left.is_empty() {
            sort_by_groups(&mut left);
            let (wave, rest) = fill(&left, waves.len() + 1, plans, settings, &limits);
            waves.push(wave);
            left = rest;
        }
    }
    waves
}

/// Puts the clusters of large groups first: a group takes as many waves as it has clusters.
fn sort_by_groups(left: &mut [&Candidate]) {
    let mut sizes: BTreeMap<&(usize, Arc<str>), usize> = BTreeMap::new();
    for group in left.iter().flat_map(|it| &it.groups) {
        *sizes.entry(group).or_default() += 1;
    }
    if !sizes.is_empty() {
        let waves = |it: &Candidate| it.groups.iter().map(|group| sizes[group]).max();
        left.sort_by_cached_key(|it| (Reverse(waves(it).unwrap_or(1)), it.plan));
    }
}

/// A wave of the first ones that fit together, and those that it leaves.
fn fill<'c>(
    left: &[&'c Candidate],
    number: usize,
    plans: &[ClusterPlan],
    settings: &WaveSettings,
    limits: &Limits,
) -> (Wave, Vec<&'c Candidate>) {
    let (minor, _, window) = &left[0].turn;
    let mut wave = Wave {
        number,
        to: format!("{}.{}", minor.0, minor.1),
        machines: Some(0),
        window: window.clone(),
        owners: BTreeSet::new(),
        clusters: Vec::new(),
    };
    let (mut rest, mut held) = (Vec::new(), Groups::new());
    for it in left {
        let plan = &plans[it.plan];
        let fits = limits.admit(&wave, plan.machines) && held.is_disjoint(&it.groups);
        if !(fits || wave.clusters.is_empty()) {
            rest.push(*it);
            continue;
        }
        held.extend(it.groups.iter().cloned());
        wave.machines = wave.machines.zip(plan.machines).map(|(all, own)| all + own);
        wave.owners.extend(settings.owner(plan));
        wave.clusters.push(WaveStep {
            cluster: Arc::clone(&plan.cluster),
            plan: it.plan,
            step: it.step,
            version: plan.steps[it.step].version.clone(),
        });
    }
    wave.clusters.sort_by_key(|it| it.plan);
    (wave, rest)
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
        words_for(&self.windows, plan)
    }

    fn owner(&self, plan: &ClusterPlan) -> Option<Arc<str>> {
        words_for(&self.owners, plan)
    }

    fn groups_of(&self, plan: &ClusterPlan) -> Groups {
        let groups = self.groups.iter().enumerate();
        let of = groups.filter_map(|(group, pattern)| {
            Some((group, pattern.match_cluster(&plan.cluster, &plan.labels)?))
        });
        of.collect()
    }
}

/// The words of the last pattern that matches.
fn words_for(words: &[(ClusterPattern, Arc<str>)], plan: &ClusterPlan) -> Option<Arc<str>> {
    let mut words = words.iter().rev();
    let of =
        words.find(|(pattern, _)| pattern.match_cluster(&plan.cluster, &plan.labels).is_some());
    of.map(|(_, words)| Arc::clone(words))
}

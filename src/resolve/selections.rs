//! What the pools of one cluster chose, and which images are served for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Resolved;
use crate::model::cluster::Cluster;
use crate::model::image::{ImageKey, Images};
use crate::model::matching::{self, ClusterFacts, Matching, Outcome, PatternCache, Selection};
use crate::model::workspace::{ClusterRead, ClusterView, Settings};

/// Joins a cluster and the images of its catalogue: each pool's selection, what is served, and all that was found.
pub fn cluster(
    read: ClusterRead,
    resolved: &Resolved,
    settings: &Settings,
    patterns: &PatternCache,
) -> ClusterView {
    let facts = ClusterFacts::of(&read.cluster);
    let images = &resolved.images;
    let mode = settings.matching;
    let select = |choice| matching::select(choice, &facts, images, mode, patterns);
    let pools = &read.cluster.pools;
    let selections: Vec<Selection> = pools.iter().map(|pool| select(&pool.choice)).collect();
    let served = match settings.images.serve_all {
        true => images.keys().cloned().collect(),
        false => served(&read.cluster, &selections, images, mode, patterns),
    };
    let problems = resolved.problems.iter();
    let mut findings = read.findings;
    findings.extend(problems.map(|problem| problem.finding(&read.sources)));
    ClusterView {
        images: Arc::clone(images),
        selections,
        registries: Arc::clone(&resolved.registries),
        served,
        sources: read.sources,
        findings,
        cluster: read.cluster,
    }
}

/// The images that are served for a cluster, sorted: where any entry says `enabled`, those that say `true` (T16); else those
/// that its pools chose and those that its additional selectors match (S27). A key that a pool names is a key here, where
/// upstream takes it for a pattern (T8).
pub fn served(
    cluster: &Cluster,
    selections: &[Selection],
    images: &Images,
    mode: Matching,
    patterns: &PatternCache,
) -> Vec<ImageKey> {
    if images.values().any(|image| image.enabled.is_some()) {
        let enabled = images
            .values()
            .filter(|image| image.enabled.as_ref().is_some_and(|enabled| enabled.value));
        return enabled.map(|image| Arc::clone(&image.key)).collect();
    }
    let mut keys: BTreeSet<ImageKey> = selections
        .iter()
        .filter_map(|selection| match &selection.outcome {
            Outcome::Image(key) => Some(Arc::clone(key)),
            _ => None,
        })
        .collect();
    for (_, selector) in &cluster.additional_selectors {
        // A selector that is refused serves nothing; the rules say so.
        keys.extend(matching::matching(selector, images, mode, patterns).unwrap_or_default());
    }
    keys.into_iter().collect()
}

//! What the pools of one cluster chose, and which images are served for it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Resolved, images};
use crate::error::Error;
use crate::model::catalogue::Catalogue;
use crate::model::cluster::{Cluster, Pool};
use crate::model::component_choice::{self, BundleOutcome, Wants};
use crate::model::image::{ImageKey, Images};
use crate::model::matching::{self, ClusterFacts, Matching, Outcome, PatternCache, Selection};
use crate::model::workspace::{ClusterRead, ClusterView, Settings};
use crate::sources::ImageFacts;

/// The catalogues that were expanded already. Clusters that share a catalogue share its images.
pub struct Catalogues {
    facts: ImageFacts,
    expanded: Mutex<Vec<(Arc<Catalogue>, Arc<Resolved>)>>,
}

/// How many catalogues are kept: the shared one and a few more, so that memory does not grow with the fleet.
const KEPT: usize = 16;

impl Catalogues {
    /// None yet; all will learn from these sources.
    pub fn new(facts: ImageFacts) -> Self {
        Self {
            facts,
            expanded: Mutex::default(),
        }
    }

    /// The sources that they learn from.
    pub fn facts(&self) -> &ImageFacts {
        &self.facts
    }

    fn resolved(&self, catalogue: &Arc<Catalogue>) -> Result<Arc<Resolved>, Error> {
        let lock = || self.expanded.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |expanded: &[(Arc<Catalogue>, Arc<Resolved>)]| {
            let same = |(known, _): &&(Arc<Catalogue>, _)| Arc::ptr_eq(known, catalogue);
            expanded
                .iter()
                .find(same)
                .map(|(_, resolved)| Arc::clone(resolved))
        };
        if let Some(resolved) = known(&lock()) {
            return Ok(resolved);
        }
        // Not under the lock: two threads that expand one catalogue at once come to the same.
        let resolved = Arc::new(images(catalogue, &self.facts.sources)?);
        let mut expanded = lock();
        if expanded.len() < KEPT && known(&expanded).is_none() {
            expanded.push((Arc::clone(catalogue), Arc::clone(&resolved)));
        }
        Ok(resolved)
    }
}

/// Joins a cluster and the images of its catalogue: each pool's selection, what is served, and all that was found.
///
/// # Errors
/// A source of facts cannot be read.
pub fn cluster(
    read: ClusterRead,
    catalogues: &Catalogues,
    settings: &Settings,
    patterns: &PatternCache,
) -> Result<ClusterView, Error> {
    let resolved = catalogues.resolved(&read.catalogue)?;
    let sources = read.sources.with_facts(&catalogues.facts.files);
    let facts = ClusterFacts::of(&read.cluster);
    let images = Arc::clone(&resolved.images);
    let mode = settings.matching;
    let select = |choice| matching::select(choice, &facts, &images, mode, patterns);
    let pools = &read.cluster.pools;
    let selections: Vec<Selection> = pools.iter().map(|pool| select(&pool.choice)).collect();
    let outcome = |(pool, selection): (&Pool, &Selection)| {
        let image = match &selection.outcome {
            Outcome::Image(key) => images.get(key),
            _ => None,
        };
        let wants = Wants::of(&read.cluster, pool, image);
        component_choice::choose(&pool.bundle, &wants, &resolved.bundles, patterns)
    };
    let bundle_outcomes: Vec<BundleOutcome> = pools.iter().zip(&selections).map(outcome).collect();
    let served = match settings.images.serve_all {
        true => images.keys().cloned().collect(),
        false => served(&read.cluster, &selections, &images, mode, patterns),
    };
    let problems = resolved.problems.iter();
    let mut findings = read.findings;
    findings.extend(problems.map(|problem| problem.finding(&sources)));
    Ok(ClusterView {
        images,
        bundles: Arc::clone(&resolved.bundles),
        selections,
        bundle_outcomes,
        registries: Arc::clone(&resolved.registries),
        served,
        lock: catalogues.facts.lock.clone(),
        sources,
        findings,
        cluster: read.cluster,
    })
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

//! What the pools of one cluster chose, and which images are served for it.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Resolved, images};
use crate::error::Error;
use crate::model::catalogue::Catalogue;
use crate::model::lock::SignedEntries;
use crate::model::matching::PatternCache;
use crate::model::selected::{Selected, selected};
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
    let images = Arc::clone(&resolved.images);
    let Selected {
        selections,
        bundle_outcomes,
        served,
    } = selected(
        &read.cluster,
        (&images, &resolved.bundles),
        settings,
        patterns,
    );
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
        signing: read.signing,
        signed: SignedEntries::default(),
        sources,
        findings,
        cluster: read.cluster,
    })
}

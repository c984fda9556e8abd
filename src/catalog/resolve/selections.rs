//! Selects the image of each pool of one cluster, and determines which images are served for it.

use parking_lot::Mutex;
use std::sync::Arc;

use super::{Resolved, images};
use crate::catalog::sources::ImageFacts;
use crate::decide::matching::PatternCache;
use crate::decide::selected::{Selected, resolve_choices};
use crate::error::Error;
use crate::model::catalog::Catalog;
use crate::model::cluster_view::{ClusterRead, ClusterView};
use crate::model::lock::SignedEntries;
use crate::model::settings::Settings;

/// The catalogs that were expanded already. Clusters that share a catalog share its images.
pub struct Catalogs {
    facts: ImageFacts,
    expanded: Mutex<Vec<(Arc<Catalog>, Arc<Resolved>)>>,
}

/// How many catalogs are kept: the shared one and a few more, so that memory does not grow with the fleet.
const KEPT: usize = 16;

impl Catalogs {
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

    fn resolve(&self, catalog: &Arc<Catalog>) -> Result<Arc<Resolved>, Error> {
        let lock = || self.expanded.lock();
        let known = |expanded: &[(Arc<Catalog>, Arc<Resolved>)]| {
            let same = |(known, _): &&(Arc<Catalog>, _)| Arc::ptr_eq(known, catalog);
            expanded
                .iter()
                .find(same)
                .map(|(_, resolved)| Arc::clone(resolved))
        };
        if let Some(resolved) = known(&lock()) {
            return Ok(resolved);
        }
        // Not under the lock: two threads that expand one catalog at once get the same result.
        let resolved = Arc::new(images(catalog, &self.facts.sources)?);
        let mut expanded = lock();
        if expanded.len() < KEPT && known(&expanded).is_none() {
            expanded.push((Arc::clone(catalog), Arc::clone(&resolved)));
        }
        Ok(resolved)
    }
}

/// Joins a cluster and the images of its catalog: each pool's selection, what is served, and all that was found.
///
/// # Errors
/// A source of facts cannot be read.
pub fn cluster(
    read: ClusterRead,
    catalogs: &Catalogs,
    settings: &Settings,
    patterns: &PatternCache,
) -> Result<ClusterView, Error> {
    let resolved = catalogs.resolve(&read.catalog)?;
    let sources = read.sources.with_facts(&catalogs.facts.files);
    let Selected {
        selections,
        bundle_outcomes,
        served,
    } = resolve_choices(
        &read.cluster,
        (&resolved.images, &resolved.bundles),
        settings,
        patterns,
    );
    let problems = resolved.problems.iter();
    let mut findings = read.findings;
    findings.extend(problems.map(|problem| problem.finding(&sources)));
    Ok(ClusterView {
        images: resolved.images.images(),
        bundles: Arc::clone(&resolved.bundles),
        selections,
        bundle_outcomes,
        registries: Arc::clone(&resolved.registries),
        served,
        lock: catalogs.facts.lock.clone(),
        signing: read.signing,
        signed: SignedEntries::default(),
        sources,
        findings,
        cluster: read.cluster,
    })
}

//! Gathers what the page shows while the stages run: of each cluster its own part, of images each once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use capi::image::Images;
use parking_lot::{Mutex, MutexGuard};

use super::cluster::ClusterPart;
use super::image::{self, Identity, ImagePart};
use super::pool::{self, Nearest, PoolInput};
use super::site::Sites;
use crate::decide::matching::PatternCache;
use crate::decide::proof;
use crate::model::cluster::Pool;
use crate::model::cluster_view::ClusterView;
use crate::model::selection::Selection;
use crate::model::selector::Matching;
use crate::report::Lines;
use crate::report::explain;

/// How many catalogs are remembered as described: those that clusters share. Others are one cluster's own.
const KEPT: usize = 16;

/// Gathers clusters in parallel; the result does not depend on their order.
pub struct Gatherer {
    matching: Matching,
    patterns: PatternCache,
    lines: Mutex<Lines>,
    images: Mutex<Described>,
    nearest: Mutex<HashMap<Question, Arc<Nearest>>>,
}

/// The images that were described, each by the first cluster, by its name, that has it.
#[derive(Default)]
struct Described {
    catalogs: Vec<(Arc<Images>, Arc<str>)>,
    images: BTreeMap<Identity, (Arc<str>, ImagePart)>,
}

/// A selector and the catalog that it was matched with, by the catalog's address, which [`Described`] keeps.
type Question = (usize, Vec<(String, String)>);

impl Gatherer {
    /// Nothing yet.
    pub fn new(matching: Matching) -> Self {
        Self {
            matching,
            patterns: PatternCache::default(),
            lines: Mutex::default(),
            images: Mutex::default(),
            nearest: Mutex::default(),
        }
    }

    /// What the page shows of a cluster.
    pub fn cluster(&self, view: &ClusterView) -> ClusterPart {
        let is_kept = self.describe(view);
        let mut sites = Sites::new(view, &self.lines);
        let pools = view
            .pools()
            .map(|of| {
                let input = PoolInput {
                    of,
                    image: self.pool_image(view, of.pool, of.selection),
                    nearest: self.nearest(view, of.selection, is_kept),
                };
                pool::part(view, input, &mut sites)
            })
            .collect();
        ClusterPart::new(view, pools, sites)
    }

    fn lock_images(&self) -> MutexGuard<'_, Described> {
        self.images.lock()
    }

    /// Describes the images of a cluster's catalog. Returns whether the catalog is one that is remembered.
    fn describe(&self, view: &ClusterView) -> bool {
        let name = &view.cluster.name;
        let mut described = self.lock_images();
        let Described { catalogs, images } = &mut *described;
        let known = catalogs
            .iter()
            .position(|(images, _)| Arc::ptr_eq(images, &view.images));
        let is_kept = match known {
            Some(index) if catalogs[index].1 <= *name => return true,
            Some(index) => {
                catalogs[index].1 = Arc::clone(name);
                true
            }
            None if catalogs.len() < KEPT => {
                catalogs.push((Arc::clone(&view.images), Arc::clone(name)));
                true
            }
            None => false,
        };
        for image in view.images.values() {
            let identity = image::identity(image);
            let known = images.get(&identity);
            if known.is_none_or(|(first, _)| *first > *name) {
                let part = image::part(view, image, &self.lines);
                images.insert(identity, (Arc::clone(name), part));
            }
        }
        is_kept
    }

    /// The image of a pool. One outside the catalog is described by its name.
    fn pool_image(
        &self,
        view: &ClusterView,
        pool: &Pool,
        selection: &Selection,
    ) -> Option<Identity> {
        if let Some(image) = view.described_image(selection) {
            return Some(image::identity(image));
        }
        let booted = proof::booted_image(view, pool, selection)?;
        let identity = Identity::from_name(booted.name);
        let mut described = self.lock_images();
        let part = || (Arc::from(""), image::part_from_name(&booted));
        described
            .images
            .entry(identity.clone())
            .or_insert_with(part);
        Some(identity)
    }

    /// The images that were compared with a pool's selector, each selector once.
    fn nearest(
        &self,
        view: &ClusterView,
        selection: &Selection,
        is_kept: bool,
    ) -> Option<Arc<Nearest>> {
        if selection.finalized.terms.is_empty() {
            return None;
        }
        let compare = || {
            let all = explain::candidate_accounts(view, selection, self.matching, &self.patterns);
            Arc::new(Nearest::from_candidates(all))
        };
        if !is_kept {
            return Some(compare());
        }
        let terms = explain::terms(&selection.finalized, &view.sources);
        let terms = terms.into_iter().map(|(fact, term)| (fact, term.value));
        let question = (Arc::as_ptr(&view.images).addr(), terms.collect());
        let lock = || self.nearest.lock();
        let known = lock().get(&question).cloned();
        Some(known.unwrap_or_else(|| {
            let nearest = compare();
            lock().insert(question, Arc::clone(&nearest));
            nearest
        }))
    }

    /// The images, by key and reference.
    pub(super) fn into_images(self) -> BTreeMap<Identity, ImagePart> {
        let images = self.images.into_inner().images;
        let images = images.into_iter();
        images
            .map(|(identity, (_, part))| (identity, part))
            .collect()
    }
}

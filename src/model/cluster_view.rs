//! One cluster: as it was read, and as its choices were resolved.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use capi::image::{Facts, Image, ImageKey, Images, fact};
use yaml_tree::place::Sources;
use yaml_tree::suggest::Words;

use super::catalog::{Catalog, Registry};
use super::cluster::{Cluster, Pool};
use super::finding::Finding;
use super::judgment::{Disagreement, Judgment};
use super::lock::{Lock, SignedEntries};
use super::name::NameSchemes;
use super::signing::SigningKeys;
use crate::model::selection::BundleOutcome;
use crate::model::selection::Selection;

/// One cluster as read: its values evaluated, its catalog not yet expanded.
#[derive(Clone, Debug)]
pub struct ClusterRead {
    /// The cluster.
    pub cluster: Cluster,
    /// The catalog that its values hold.
    pub catalog: Arc<Catalog>,
    /// The keys that its images are signed with, where this run checks signatures.
    pub signing: SigningKeys,
    /// The files that its places point into.
    pub sources: Sources,
    /// The folder whose manifests make it, which may name no file of its own but a base.
    pub folder: Option<PathBuf>,
    /// What reading and evaluating found.
    pub findings: Vec<Finding>,
}

/// One cluster, read and resolved: what rules check and targets render.
#[derive(Clone, Debug)]
pub struct ClusterView {
    /// The cluster.
    pub cluster: Cluster,
    /// Its catalog with facts, after [`crate::catalog::resolve`].
    pub images: Arc<Images>,
    /// The names of its images, once somebody looks for the one that a misspelled name means.
    pub known_names: Arc<OnceLock<Words>>,
    /// Its component bundles with facts. They have the same properties as images, but are not images.
    pub bundles: Arc<Images>,
    /// The result of each pool's selection, in the order of `cluster.pools`.
    pub selections: Vec<Selection>,
    /// The result of each pool's selection of a component bundle, in the same order.
    pub bundle_outcomes: Vec<BundleOutcome>,
    /// What is known of the image of each pool, in the same order.
    pub judgments: Vec<Judgment>,
    /// What two sides say differently of it.
    pub disagreements: Vec<Vec<Disagreement>>,
    /// How names of images are read.
    pub schemes: NameSchemes,
    /// The registries of the catalog, by name.
    pub registries: Arc<BTreeMap<Arc<str>, Registry>>,
    /// The keys of the images that are served for this cluster, sorted.
    pub served: Vec<ImageKey>,
    /// The lock, where there is one.
    pub lock: Option<Arc<Lock>>,
    /// The keys that its images are signed with, where this run checks signatures.
    pub signing: SigningKeys,
    /// The entries of the lock that these keys apply to.
    pub signed: SignedEntries,
    /// The files that its places point into.
    pub sources: Sources,
    /// What reading, evaluating and resolving found.
    pub findings: Vec<Finding>,
}

/// A node pool with the result of its selection.
#[derive(Clone, Copy, Debug)]
pub struct SelectedPool<'v> {
    /// The pool.
    pub pool: &'v Pool,
    /// What it selects.
    pub selection: &'v Selection,
    /// Whether that fits.
    pub judgment: &'v Judgment,
    /// What two sides say differently of it.
    pub disagreements: &'v [Disagreement],
}

impl ClusterView {
    /// The names of its images.
    pub fn names(&self) -> &Words {
        let all = || Words::new(self.images.values().map(|image| &*image.name));
        self.known_names.get_or_init(all)
    }

    /// The pools with the results of their selections.
    pub fn pools(&self) -> impl Iterator<Item = SelectedPool<'_>> {
        let pools = self.cluster.pools.iter().zip(&self.selections);
        let judged = self.judgments.iter().zip(&self.disagreements);
        pools.zip(judged).map(
            |((pool, selection), (judgment, disagreements))| SelectedPool {
                pool,
                selection,
                judgment,
                disagreements,
            },
        )
    }

    /// The pools with a component bundle, and that bundle.
    pub fn pool_bundles(&self) -> impl Iterator<Item = (&Pool, &Image)> {
        let pools = self.cluster.pools.iter().zip(&self.bundle_outcomes);
        pools.filter_map(|(pool, outcome)| match outcome {
            BundleOutcome::Bundle(key) => Some((pool, self.bundles.get(key)?)),
            _ => None,
        })
    }

    /// The component bundle of a pool.
    pub fn bundle(&self, pool: &Pool) -> Option<&Image> {
        let mut chosen = self.pool_bundles();
        chosen.find_map(|(known, bundle)| (known.name == pool.name).then_some(bundle))
    }

    /// The component bundle that brings Kubernetes onto a pool's image, which holds none by its facts.
    pub fn bringing_bundle(&self, pool: &Pool, facts: &Facts) -> Option<&Image> {
        let is_without = facts.is_bare() || facts.get(fact::K8S_VERSION).is_none();
        self.bundle(pool).filter(|_| is_without)
    }

    /// The image of the catalog that a pool selects.
    pub fn selected_image(&self, selection: &Selection) -> Option<&Image> {
        self.images.get(selection.image().catalog_key()?)
    }

    /// The image of the catalog that a pool boots: the one that it selects, or the one that is known under its name or URL.
    pub fn described_image(&self, selection: &Selection) -> Option<&Image> {
        self.images.get(selection.image().facts_key()?)
    }

    /// What the catalog calls the image of a key.
    pub fn catalog_name<'a>(&'a self, key: &'a str) -> &'a str {
        self.images.get(key).map_or(key, |image| &image.name)
    }

    /// Whether a pool boots an image, or it is served for this cluster.
    pub fn is_used(&self, key: &ImageKey) -> bool {
        let boots = |selection: &Selection| selection.all_images().any(|booted| booted == key);
        self.served.binary_search(key).is_ok() || self.selections.iter().any(boots)
    }
}

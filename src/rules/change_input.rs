//! What rules see of a cluster before and after a change.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::providers::Stamp;
use yaml_tree::place::{Located, Place, Source, Spot};

use crate::model::cluster::{Cluster, Pool, PoolName};
use crate::model::cluster_view::ClusterView;
use crate::model::finding::Subject;

/// What a rule sees of a cluster before and after a change.
pub struct ChangeInput<'a> {
    /// As it was.
    pub before: Side<'a>,
    /// As it will be.
    pub after: Side<'a>,
    /// The commit that the change starts from, as people quote it.
    pub revision: &'a str,
}

/// One side of a change to a cluster.
pub struct Side<'a> {
    /// The cluster, read and resolved.
    pub view: &'a ClusterView,
    /// What is stamped of each pool's image, in the order of the pools.
    pub stamps: &'a [Option<Stamp>],
    /// The version of the machine templates that the project requires.
    pub api_version: Option<&'a str>,
}

/// A pool that is on both sides of a change.
pub struct PoolPair<'a> {
    /// As it was.
    pub before: PoolSide<'a>,
    /// As it will be.
    pub after: PoolSide<'a>,
}

/// A pool on one side of a change.
#[derive(Clone, Copy)]
pub struct PoolSide<'a> {
    /// The pool.
    pub pool: &'a Pool,
    /// What is stamped of its image.
    pub stamp: Option<&'a Stamp>,
    cluster: &'a Cluster,
}

impl<'a> PoolPair<'a> {
    /// The Kubernetes versions before and after, where both are known.
    pub fn versions(&self) -> Option<[&'a Located<Arc<str>>; 2]> {
        let version = |side: &PoolSide<'a>| side.cluster.k8s_version_of(side.pool);
        Some([version(&self.before)?, version(&self.after)?])
    }
}

impl<'a> Side<'a> {
    /// Its pools, in their order.
    fn pools(&self) -> impl Iterator<Item = PoolSide<'a>> + Clone + use<'a> {
        let cluster = &self.view.cluster;
        let stamps = self.stamps.iter().map(Option::as_ref);
        let stamps = stamps.chain(std::iter::repeat(None));
        cluster
            .pools
            .iter()
            .zip(stamps)
            .map(move |(pool, stamp)| PoolSide {
                pool,
                stamp,
                cluster,
            })
    }
}

impl<'a> ChangeInput<'a> {
    /// For each pool after the change, in their order, the index of the one that it was: of several with its name, as two
    /// environments have them, that of its file.
    pub fn match_pools(&self) -> Vec<Option<usize>> {
        let (before, after) = (self.before.view, self.after.view);
        let file = |view: &'a ClusterView, pool: &Pool| {
            let source = view.sources.get(pool.place.file);
            source.map(|source| &source.path)
        };
        let mut left: BTreeMap<&PoolName, Vec<usize>> = BTreeMap::new();
        for (index, pool) in before.cluster.pools.iter().enumerate() {
            left.entry(&pool.name).or_default().push(index);
        }
        let mut found = vec![None; after.cluster.pools.len()];
        for is_by_file in [true, false] {
            for (found, new) in found.iter_mut().zip(&after.cluster.pools) {
                let Some(left) = left.get_mut(&new.name).filter(|_| found.is_none()) else {
                    continue;
                };
                let is_it = |index: &usize| {
                    let old = &before.cluster.pools[*index];
                    !is_by_file || file(before, old) == file(after, new)
                };
                let at = left.iter().position(is_it);
                *found = at.map(|at| left.remove(at));
            }
        }
        found
    }

    /// The pools that are on both sides.
    pub fn pools(&self) -> impl Iterator<Item = PoolPair<'a>> + use<'a> {
        let before: Vec<PoolSide<'a>> = self.before.pools().collect();
        let pairs = self.after.pools().zip(self.match_pools());
        pairs.filter_map(move |(after, old)| {
            let before = *before.get(old?)?;
            Some(PoolPair { before, after })
        })
    }

    /// A place after the change, with its file.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        self.after.view.sources.resolve(place)
    }

    /// A place before the change, with its file as `REVISION:path`.
    pub fn spot_before(&self, place: Place) -> Option<Spot> {
        let spot = self.before.view.sources.resolve(place)?;
        let path = format!("{}:{}", self.revision, spot.source.path);
        let source = Source::new(path, spot.source.text.as_str())
            .with_marks(spot.source.secrets.clone(), spot.source.is_hidden);
        Some(Spot {
            source: Arc::new(source),
            ..spot
        })
    }

    /// The subject of a finding about a pool after the change.
    pub fn subject(&self, pool: &Pool) -> Subject {
        Subject::pool(&self.after.view.cluster.name, &pool.name)
    }
}

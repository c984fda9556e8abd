//! What the lock of a cluster lacks.

use std::collections::BTreeSet;

use capi::image::{Image, ImageKey};

use super::cluster_view::ClusterView;
use super::lock::{LockedImage, Locking, is_lockable};

/// The images of a cluster's catalog that its lock does not hold, by key.
#[derive(Debug, Default)]
pub struct Gaps<'a> {
    /// Images whose key the lock does not have at all.
    pub missing: Vec<Gap<'a>>,
    /// Images whose key is locked for other references.
    pub stale: Vec<Gap<'a>>,
}

/// One image that is not locked.
#[derive(Clone, Copy, Debug)]
pub struct Gap<'a> {
    /// `image` or `component bundle`.
    pub what: &'static str,
    /// The image.
    pub image: &'a Image,
    /// The entries that the lock has for its key; of other references, all of them.
    pub locked: &'a [LockedImage],
    /// Whether a pool boots it or it is served for the cluster.
    pub is_used: bool,
}

/// The entries that a cluster's lock lacks. A missing lock lacks nothing, unless a lock is required.
pub fn gaps(view: &ClusterView, locking: Locking) -> Gaps<'_> {
    let mut gaps = Gaps::default();
    if view.lock.is_none() && locking == Locking::Loose {
        return gaps;
    }
    let chosen: BTreeSet<&ImageKey> = view.pool_bundles().map(|(_, it)| &it.key).collect();
    let images = view.images.values();
    let images = images.map(|image| ("image", image, view.is_used(&image.key)));
    let bundles = view.bundles.values();
    let bundles = bundles.map(|it| ("component bundle", it, chosen.contains(&it.key)));
    let unlocked = images
        .chain(bundles)
        .filter(|(_, it, _)| it.digest.is_none());
    for (what, image, is_used) in unlocked.filter(|(_, it, _)| is_lockable(it)) {
        let lock = view.lock.as_deref();
        let gap = Gap {
            what,
            image,
            locked: lock.map_or(&[], |lock| lock.entries_of(&image.key)),
            is_used,
        };
        match gap.locked {
            [] => gaps.missing.push(gap),
            _ => gaps.stale.push(gap),
        }
    }
    gaps
}

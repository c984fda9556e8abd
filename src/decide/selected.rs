//! The images that the pools of a cluster select from its catalog, and the images that are served for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use capi::image::{ImageKey, Images};

use super::component_choice::{self, Wants};
use super::matching::{self, ClusterFacts, PatternCache, Selectable, ServerImages};
use super::proof::judge_pools;
use crate::model::cluster::{Cluster, Pool};
use crate::model::cluster_view::ClusterView;
use crate::model::proposal::ProposedChange;
use crate::model::selection::BundleOutcome;
use crate::model::selection::Selection;
use crate::model::selector::Matching;
use crate::model::settings::Settings;

/// What the choices of a cluster's pools resolve to.
pub struct Selected {
    /// The image of each pool, in the pools' order.
    pub selections: Vec<Selection>,
    /// The component bundle of each pool, in the same order.
    pub bundle_outcomes: Vec<BundleOutcome>,
    /// The images that are served, sorted.
    pub served: Vec<ImageKey>,
}

/// Resolves the choices of a cluster's pools among images and component bundles.
pub fn resolve_choices(
    cluster: &Cluster,
    catalog: &Selectable,
    bundles: &Images,
    settings: &Settings,
    patterns: &PatternCache,
) -> Selected {
    let images: &Images = catalog;
    let (facts, mode) = (ClusterFacts::from_cluster(cluster), settings.matching);
    let select = |pool: &Pool| matching::select(&pool.choice, &facts, catalog, mode, patterns);
    let selections: Vec<Selection> = cluster.pools.iter().map(select).collect();
    let bundle = |(pool, selection): (&Pool, &Selection)| {
        let wants = || {
            let key = selection.image().catalog_key();
            Wants::for_pool(cluster, pool, key.and_then(|key| images.get(key)))
        };
        component_choice::choose(&pool.bundle, wants, bundles, patterns)
    };
    let pools = cluster.pools.iter().zip(&selections);
    Selected {
        bundle_outcomes: pools.map(bundle).collect(),
        served: if settings.images.serve_all {
            images.keys().cloned().collect()
        } else {
            images_to_serve(cluster, &selections, images, mode, patterns)
        },
        selections,
    }
}

/// The cluster after a change, its choices resolved again.
pub fn apply_change(
    change: &ProposedChange,
    view: &ClusterView,
    catalog: &Selectable,
    settings: &Settings,
) -> ClusterView {
    let mut view = view.clone();
    change.apply(&mut view.cluster);
    let patterns = PatternCache::default();
    let Selected {
        selections,
        bundle_outcomes,
        served,
    } = resolve_choices(&view.cluster, catalog, &view.bundles, settings, &patterns);
    let view = ClusterView {
        selections,
        bundle_outcomes,
        served,
        ..view
    };
    judge_pools(view, settings.matching)
}

/// The images that are served for a cluster, sorted: where any entry says `enabled`, those that say `true`
/// (docs/sylva.md#the-catalog); else those that its pools select or name by the URL at which they are served, and those that its
/// additional selectors match (docs/sylva.md#the-image-server). A key that a pool names is a key here, where upstream
/// takes it for a pattern (docs/sylva.md#the-image-server).
pub fn images_to_serve(
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
    let selected = { selections.iter() }.filter_map(|selection| selection.image().catalog_key());
    let by_url = { cluster.pools.iter() }.filter_map(|pool| pool.choice.served.as_ref());
    let mut keys: BTreeSet<ImageKey> = selected.chain(by_url).cloned().collect();
    let additional = additional_images(cluster, images, mode, patterns);
    keys.extend(additional.flat_map(ServerImages::into_all));
    keys.into_iter().collect()
}

/// What each additional selector serves: nothing where entries say `enabled`, or where it is refused, which the rules say.
pub fn additional_images(
    cluster: &Cluster,
    images: &Images,
    mode: Matching,
    patterns: &PatternCache,
) -> impl Iterator<Item = ServerImages> {
    let has_flags = images.values().any(|image| image.enabled.is_some());
    let selectors = cluster.additional_selectors.iter();
    selectors
        .filter(move |_| !has_flags)
        .filter_map(move |(_, selector)| {
            ServerImages::find(selector, cluster.library, images, mode, patterns).ok()
        })
}

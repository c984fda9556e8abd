//! What a check says of one node pool, as data: the image, the version, and whether they fit.

use std::sync::Arc;

use capi::unknown::Unknown;
use serde::Serialize;
use yaml_tree::place::{Located, Spot};

use super::explain::{PlacedValue, serialize_spot};
use crate::decide::proof;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::judgment::Grade;

/// A node pool with its image and its Kubernetes version; docs/json.md describes it.
#[derive(Debug, Serialize)]
pub struct JudgedPool {
    cluster: String,
    pub(super) pool: String,
    /// The image's key, or its name where the catalog has none.
    pub(super) image: Option<String>,
    /// Where the image is selected.
    #[serde(serialize_with = "serialize_spot")]
    at: Option<Spot>,
    /// The version that its nodes are to run.
    pub(super) k8s_version: Option<PlacedValue>,
    /// The version that the image holds, from the strongest source that is known.
    holds: Option<PlacedValue>,
    /// Who says so.
    source: Option<String>,
    pub(super) judgment: Grade,
    /// The same in words, with its evidence.
    pub(super) why: String,
    /// Why nothing is known.
    reason: Option<&'static str>,
}

impl JudgedPool {
    /// The pools of a cluster, in its order.
    pub fn list(view: &ClusterView) -> Vec<Self> {
        view.pools().map(|pool| Self::new(view, pool)).collect()
    }

    pub(super) fn new(view: &ClusterView, of: SelectedPool<'_>) -> Self {
        let SelectedPool {
            pool,
            selection,
            judgment,
            ..
        } = of;
        let held = judgment.fact();
        let booted = proof::booted_image(view, pool, selection);
        let image = booted.map(|booted| booted.name.to_owned());
        let place = |value: &Located<Arc<str>>| {
            PlacedValue::display(&value.value, value.place, &view.sources)
        };
        Self {
            cluster: view.cluster.name.to_string(),
            pool: pool.name.to_string(),
            image,
            at: view.sources.resolve(pool.choice.place()),
            k8s_version: view.cluster.k8s_version_of(pool).map(place),
            holds: held.map(|fact| PlacedValue::display(&fact.value, fact.place, &view.sources)),
            source: held.map(|fact| fact.origin.to_string()),
            judgment: judgment.grade(),
            why: judgment.to_string(),
            reason: judgment.reason().map(Unknown::text),
        }
    }
}

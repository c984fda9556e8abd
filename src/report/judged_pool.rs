//! What a check says of one node pool, as data: the image, the version, and whether they fit.

use std::sync::Arc;

use serde::Serialize;
use yaml_tree::place::{Located, Spot};

use super::explain::{PlacedValue, serialize_spot};
use crate::decide::pool_counts::PoolCheck;
use crate::decide::proof::{self, Proof};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::selector::Matching;

/// A node pool with its image and its Kubernetes version; docs/json.md describes it.
#[derive(Debug, Serialize)]
pub struct JudgedPool {
    cluster: String,
    pool: String,
    /// The image's key, or its name where the catalog has none.
    image: Option<String>,
    /// Where the image is selected.
    #[serde(serialize_with = "serialize_spot")]
    at: Option<Spot>,
    /// The version that its nodes are to run.
    k8s_version: Option<PlacedValue>,
    /// The version that the image holds, from the strongest source that is known.
    holds: Option<PlacedValue>,
    judgment: &'static str,
    /// Why nothing is known.
    reason: Option<&'static str>,
}

impl JudgedPool {
    /// The pools of a cluster, in its order.
    pub fn list(view: &ClusterView, matching: Matching) -> Vec<Self> {
        let pools = view.pools();
        pools.map(|pool| Self::new(view, pool, matching)).collect()
    }

    fn new(view: &ClusterView, of: SelectedPool<'_>, matching: Matching) -> Self {
        let SelectedPool { pool, selection } = of;
        let booted = proof::booted_image(view, pool, selection);
        let image = booted.map(|booted| booted.name.to_owned());
        let place = |value: &Located<Arc<str>>| {
            PlacedValue::display(&value.value, value.place, &view.sources)
        };
        let (judgment, held, reason) = match PoolCheck::new(view, pool, selection, matching) {
            PoolCheck::Checked(weighed) => (judge(weighed.proof), weighed.held, None),
            PoolCheck::Skipped(reason) => ("unknown", None, Some(reason)),
        };
        Self {
            cluster: view.cluster.name.to_string(),
            pool: pool.name.to_string(),
            image,
            at: view.sources.resolve(pool.choice.place()),
            k8s_version: view.cluster.k8s_version_of(pool).map(place),
            holds: held.map(|fact| PlacedValue::display(&fact.value, fact.place, &view.sources)),
            judgment,
            reason,
        }
    }
}

fn judge(proof: Proof) -> &'static str {
    match proof {
        Proof::Proven => "proven",
        Proof::NameOnly => "by_name",
        Proof::BuildUnknown | Proof::Partial | Proof::Unknown => "unproven",
        Proof::Refuted => "mismatched",
    }
}

//! Explains an image of the catalog, as data.

use std::collections::BTreeMap;

use serde::Serialize;

use super::pool::{self, FactAccount};
use crate::model::cluster_view::ClusterView;

/// One image, as one or more clusters have it.
#[derive(Debug, Serialize)]
pub struct ImageAccount {
    pub(super) image: String,
    pub(super) uri: Option<String>,
    pub(super) facts: BTreeMap<String, FactAccount>,
    /// The pools that boot it, as `cluster/pool`.
    pub(super) used_by: Vec<String>,
    /// The clusters that are served it.
    pub(super) served_for: Vec<String>,
}

impl ImageAccount {
    /// The account of the image with a key, or with a key of its artifact, in a cluster's catalog.
    pub fn new(key: &str, view: &ClusterView) -> Option<Self> {
        let image = view
            .images
            .get(key)
            .or_else(|| view.images.values().find(|image| &*image.artifact == key))?;
        let used_by = view
            .pools()
            .filter(|it| it.selection.image().catalog_key() == Some(&image.key))
            .filter(|it| !view.selects_by_secret(it.pool, it.selection))
            .map(|it| format!("{}/{}", view.cluster.name, it.pool.name));
        let served = view.served.binary_search(&image.key).is_ok();
        Some(Self {
            image: image.key.to_string(),
            uri: image
                .uri
                .as_ref()
                .map(|uri| view.sources.display(&uri.value, uri.place).to_owned()),
            facts: pool::facts(image, &view.sources),
            used_by: used_by.collect(),
            served_for: served
                .then(|| view.cluster.name.to_string())
                .into_iter()
                .collect(),
        })
    }

    /// The account with these pools and clusters, where they are known for the whole fleet.
    pub fn with_users(self, used_by: Vec<String>, served_for: Vec<String>) -> Self {
        Self {
            used_by,
            served_for,
            ..self
        }
    }

    /// Whether both have the same reference and facts.
    pub fn is_same(&self, other: &Self) -> bool {
        self.uri == other.uri && same_facts(&self.facts, &other.facts)
    }

    /// Adds the pools and clusters of another account of the same image.
    pub fn merge(&mut self, other: Self) {
        self.used_by.extend(other.used_by);
        self.served_for.extend(other.served_for);
    }
}

fn same_facts(
    known: &BTreeMap<String, FactAccount>,
    other: &BTreeMap<String, FactAccount>,
) -> bool {
    let values = |facts: &BTreeMap<String, FactAccount>| -> Vec<(String, String)> {
        facts
            .iter()
            .map(|(name, fact)| (name.clone(), fact.value.clone()))
            .collect()
    };
    values(known) == values(other)
}

//! The images that a change adds to the served ones, and those that it removes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::model::cluster_view::ClusterView;
use capi::image::{Image, ImageKey, fact};

/// An image that an image server holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServedImage {
    /// Its key.
    pub key: ImageKey,
    /// The artifact's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<Arc<str>>,
    /// The bytes that are fetched to serve it: its archive's, else its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download: Option<u64>,
}

/// The images of one side, by what makes them one: key, reference and digest.
pub type Served = BTreeMap<(ImageKey, Option<Arc<str>>, Option<Arc<str>>), ServedImage>;

/// What changes of the images that are served to any cluster.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ServedChange {
    /// Newly served.
    pub added: Vec<ServedImage>,
    /// No longer served.
    pub removed: Vec<ServedImage>,
    /// The bytes of all that are newly served, as far as their sizes are known.
    pub download: u64,
}

impl ServedChange {
    /// What is served after that was not before, and the other way round.
    pub fn compare(before: &Served, after: &Served) -> Self {
        let without = |these: &Served, those: &Served| {
            let rest = these.iter().filter(|(key, _)| !those.contains_key(*key));
            rest.map(|(_, image)| image.clone()).collect::<Vec<_>>()
        };
        let added = without(after, before);
        Self {
            download: added
                .iter()
                .filter_map(|image| image.download)
                .fold(0, u64::saturating_add),
            removed: without(before, after),
            added,
        }
    }
}

/// Adds the images that are served to a cluster.
pub fn add(view: &ClusterView, served: &mut Served) {
    for image in view.served.iter().filter_map(|key| view.images.get(key)) {
        let uri = image.uri.as_ref();
        let uri = uri.map(|uri| view.sources.display(&uri.value, uri.place).into());
        let digest = image.facts.get(fact::SHA256);
        let digest = digest.map(|digest| Arc::clone(&digest.value));
        let identity = (Arc::clone(&image.key), uri.clone(), digest);
        served.entry(identity).or_insert_with(|| ServedImage {
            key: Arc::clone(&image.key),
            uri,
            download: download(image),
        });
    }
}

fn download(image: &Image) -> Option<u64> {
    let size = |name| image.facts.text(name)?.parse().ok();
    size(fact::ARCHIVE_SIZE).or_else(|| size(fact::SIZE))
}

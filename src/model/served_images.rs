//! The images that any cluster is served. An output for all clusters has one image under each key.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use capi::image::{Fact, Image, ImageKey, Images};
use yaml_tree::place::Spot;

use super::finding::Finding;
use super::rule::RuleId;

/// The images that any cluster is served, by key, and the keys under which clusters have different ones.
#[derive(Clone, Debug, Default)]
pub struct ServedImages {
    /// The images; under a key with several, that of the first cluster.
    pub images: Arc<Images>,
    /// What is wrong with a key under which clusters have different images.
    pub collisions: BTreeMap<ImageKey, Finding>,
}

/// An image, and the cluster that is served it.
#[derive(Clone, Debug)]
pub struct ServedImage {
    /// The image.
    pub image: Image,
    /// The cluster.
    pub cluster: Arc<str>,
    /// Where the cluster's catalog names the image.
    pub spot: Option<Spot>,
}

impl ServedImages {
    /// The images of clusters, in the clusters' order.
    pub fn new(served: impl IntoIterator<Item = ServedImage>) -> Self {
        let mut first: BTreeMap<ImageKey, ServedImage> = BTreeMap::new();
        let mut collisions = BTreeMap::new();
        for other in served {
            match first.entry(Arc::clone(&other.image.key)) {
                Entry::Vacant(entry) => drop(entry.insert(other)),
                Entry::Occupied(entry) if is_alike(&entry.get().image, &other.image) => {}
                Entry::Occupied(entry) => {
                    let finding = || collision(entry.get(), &other);
                    let key = Arc::clone(entry.key());
                    collisions.entry(key).or_insert_with(finding);
                }
            }
        }
        let images = first.into_iter().map(|(key, served)| (key, served.image));
        Self {
            images: Arc::new(images.collect()),
            collisions,
        }
    }
}

/// Whether all that is written of two images is the same.
fn is_alike(one: &Image, other: &Image) -> bool {
    fn content(image: &Image) -> impl PartialEq {
        let facts = image.facts.iter();
        let facts: Vec<(&Arc<str>, &Arc<str>)> = facts
            .map(|(name, Fact { value, .. })| (name, value))
            .collect();
        let uri = image.uri.as_ref().map(|uri| &uri.value);
        let digest = image.digest.as_ref().map(|digest| &digest.value);
        (&image.artifact, &image.registry, uri, digest, facts)
    }
    content(one) == content(other)
}

fn collision(one: &ServedImage, other: &ServedImage) -> Finding {
    let key = &one.image.key;
    let message = format!(
        "the clusters `{}` and `{}` have different images under the key `{key}`, and a file for all clusters holds one",
        one.cluster, other.cluster
    );
    Finding::new(RuleId::ImageNameCollision, message)
        .with_subject(super::finding::Subject::image(key))
        .with_label(other.spot.clone(), format!("the one of `{}`", other.cluster))
        .with_label(one.spot.clone(), format!("the one of `{}`", one.cluster))
        .help("give one of the two another key")
        .help("or render a file for each cluster: `scope: cluster` where the target is `configmap`, else `{{ cluster.name }}` in the `path`")
}

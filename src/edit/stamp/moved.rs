//! Templates that move to other images than their requests name: what a wave of a plan changes.
//!
//! What says which image an object boots is edited first, so that the next run of `stamp` finds nothing to undo: the key in a marker
//! or in an entry of the project file. A selector stays: it selects by the version that moves with the image.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::decide::matching;
use crate::model::stamping::{ImageRequest, RequestedImage, StampEntry};
use capi::image::{ImageKey, Images};
use capi::objects::ManifestObject;
use yaml_tree::place::Spot;

use super::plan::{ObjectResult, Plan};
use super::request::Requested;
use super::requests;

/// The images that objects move to, by the object's index and the image that it boots.
pub type Moves = BTreeMap<usize, BTreeMap<ImageKey, ImageKey>>;

/// A key that a marker or an entry of the project file names.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedImage {
    /// The marker, or the entry.
    pub spot: Spot,
    /// The image as it is written there.
    pub name: Arc<str>,
    /// The image that it is to name.
    pub key: ImageKey,
}

/// What names the images that objects move away from.
///
/// # Errors
/// An object is to be left alone, or nothing says which of its fields hold an image; in one clause.
pub fn find_names(
    objects: &[ManifestObject],
    entries: &[StampEntry],
    images: &Images,
    moves: &Moves,
) -> Result<Vec<NamedImage>, String> {
    let requests = requests(objects, entries, &mut Plan::new(objects));
    let mut found: Vec<NamedImage> = Vec::new();
    for (index, keys) in moves {
        let object = &objects[*index];
        let own: Vec<&Requested> = requests.iter().filter(|it| it.object == *index).collect();
        if own.is_empty() && object.machine_kind().is_none() {
            return Err(format!(
                "no marker says which fields of {} hold its image",
                object.title()
            ));
        }
        for requested in own {
            match &requested.request.image {
                RequestedImage::Nothing => {
                    return Err(format!("a marker says to ignore {}", object.title()));
                }
                RequestedImage::Selector(_) => {}
                RequestedImage::Image(name) => {
                    let key = matching::find_image(name, images).and_then(|key| keys.get(key));
                    let Some((key, spot)) = key.zip(requested.request.spot.clone()) else {
                        continue;
                    };
                    let named = NamedImage {
                        spot,
                        name: Arc::clone(name),
                        key: Arc::clone(key),
                    };
                    if !found.contains(&named) {
                        found.push(named);
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Lets the objects that move boot their new image: those that a selector selects for, and those without a request.
pub(super) fn redirect(
    objects: &[ManifestObject],
    moves: &Moves,
    requests: &mut Vec<Requested>,
    results: &mut [ObjectResult],
) {
    for (index, keys) in moves {
        let mut distinct: Vec<&ImageKey> = keys.values().collect();
        distinct.dedup();
        let [key] = distinct[..] else { continue };
        let mut is_requested = false;
        for requested in requests.iter_mut().filter(|it| it.object == *index) {
            is_requested |= requested.field.is_none();
            if matches!(requested.request.image, RequestedImage::Selector(_)) {
                requested.request.image = RequestedImage::Image(Arc::clone(key));
            }
        }
        if !is_requested && objects[*index].machine_kind().is_some() {
            results[*index].is_made = true;
            requests.push(Requested {
                object: *index,
                field: None,
                request: ImageRequest {
                    image: RequestedImage::Image(Arc::clone(key)),
                    field: None,
                    region: None,
                    spot: objects[*index].name_spot(),
                },
            });
        }
    }
    requests.sort_by_key(|requested| requested.object);
}

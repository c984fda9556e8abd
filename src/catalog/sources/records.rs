//! Images by key, each with its facts: the project file's own records, and what the files of other sources hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::{ImageKey, Origin};
use yaml_tree::place::{FileId, Place};

use super::{ImageSource, Wanted};
use crate::error::Error;
use crate::model::catalog::Described;
use crate::model::name::key_of;
use crate::model::written::{self, WrittenImage};

/// Images by key.
#[derive(Debug)]
pub(super) struct Records {
    images: BTreeMap<ImageKey, Arc<Described>>,
    origin: Origin,
}

impl Records {
    /// The project file's records, their places in the file of that number.
    pub(super) fn new(images: &[WrittenImage], file: FileId) -> Self {
        Self::from_images(images, file, Origin::Record)
    }

    /// Images that another source describes.
    pub(super) fn from_images(images: &[WrittenImage], file: FileId, origin: Origin) -> Self {
        let described = images.iter().map(|image| description(image, file, origin));
        let keyed = |described: Described| (key(&described.name), Arc::new(described));
        Self {
            images: described.map(keyed).collect(),
            origin,
        }
    }

    /// No images yet.
    pub(super) fn empty(origin: Origin) -> Self {
        Self {
            images: BTreeMap::new(),
            origin,
        }
    }

    /// Whether there are no images.
    pub(super) fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// Adds an image, unless there is one of its key.
    pub(super) fn add(&mut self, described: Described) {
        let images = self.images.entry(key(&described.name));
        images.or_insert_with(|| Arc::new(described));
    }
}

/// The description of an image as written, with its places in the file of that number.
pub(super) fn description(image: &WrittenImage, file: FileId, origin: Origin) -> Described {
    let moved = |place: Place| {
        if place.is_known() {
            Place { file, ..place }
        } else {
            place
        }
    };
    let mut properties = image.properties.clone();
    for (_, text) in &mut properties {
        text.place = moved(text.place);
    }
    let mut facts = written::facts(&properties, origin);
    for (name, kind) in &image.mistyped {
        facts.mark_mistyped(name, kind);
    }
    Described {
        name: Arc::clone(&image.name),
        place: moved(image.place),
        facts,
        digest: None,
        pulled: None,
    }
}

fn key(name: &Arc<str>) -> ImageKey {
    key_of(name).unwrap_or_else(|_| Arc::clone(name))
}

impl ImageSource for Records {
    fn describe(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Option<Arc<Described>>, Error>> {
        // Sylva's chart calls an image of its catalog `REGISTRY--NAME` where it gathers facts (docs/sylva.md#the-catalog).
        let described = |wanted: &Wanted<'_>| {
            let of_registry = wanted.registry.and_then(|registry| {
                let key = format!("{registry}--{}", wanted.key);
                self.images.get(&*key)
            });
            Ok(of_registry.or_else(|| self.images.get(wanted.key)).cloned())
        };
        wanted.iter().map(described).collect()
    }

    fn list(&self) -> Vec<(ImageKey, Arc<Described>)> {
        let shared = |(key, described): (&ImageKey, &Arc<Described>)| {
            (Arc::clone(key), Arc::clone(described))
        };
        self.images.iter().map(shared).collect()
    }

    fn declares(&self) -> bool {
        self.origin == Origin::Record
    }
}

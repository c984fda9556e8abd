//! Facts from the project file's own records of images.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ImageSource, Wanted};
use crate::error::Error;
use crate::model::catalog::Described;
use crate::model::image::{ImageKey, Origin};
use crate::model::name::key_of;
use crate::model::place::{FileId, Place};
use crate::model::written::{self, WrittenImage};

/// The records by key.
#[derive(Debug)]
pub(super) struct Records {
    images: BTreeMap<ImageKey, Arc<Described>>,
    origin: Origin,
}

impl Records {
    /// The project file's records, their places in the file of that number.
    pub(super) fn new(images: &[WrittenImage], file: FileId) -> Self {
        Self::of(images, file, Origin::Record)
    }

    /// Images that another source describes.
    pub(super) fn of(images: &[WrittenImage], file: FileId, origin: Origin) -> Self {
        let moved = |place: Place| match place.is_known() {
            true => Place { file, ..place },
            false => place,
        };
        let described = |image: &WrittenImage| {
            let mut properties = image.properties.clone();
            for (_, text) in &mut properties {
                text.place = moved(text.place);
            }
            let described = Described {
                name: Arc::clone(&image.name),
                place: moved(image.place),
                facts: written::facts(&properties, origin),
                digest: None,
            };
            let key = key_of(&image.name).unwrap_or_else(|_| Arc::clone(&image.name));
            (key, Arc::new(described))
        };
        Self {
            images: images.iter().map(described).collect(),
            origin,
        }
    }
}

impl ImageSource for Records {
    fn describe(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Option<Arc<Described>>, Error>> {
        let known = |wanted: &Wanted<'_>| Ok(self.images.get(wanted.key).cloned());
        wanted.iter().map(known).collect()
    }

    fn listed(&self) -> Vec<(ImageKey, Arc<Described>)> {
        let shared = |(key, described): (&ImageKey, &Arc<Described>)| {
            (Arc::clone(key), Arc::clone(described))
        };
        self.images.iter().map(shared).collect()
    }

    fn declares(&self) -> bool {
        self.origin == Origin::Record
    }
}

//! What `render` keeps of a cluster: which objects are in its files, and the digests of their texts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Keeper;
use crate::output::{KnownFile, Part};
use crate::pipeline::outputs::Outputs;
use crate::pipeline::rendered::{ClusterImages, Made};
use crate::render::{FileObjects, Home};
use capi::image::ImageKey;

/// The rendered files of a cluster. They are compared with those on disk in each run.
pub(crate) struct RenderedFiles<'o> {
    /// Where they are written.
    pub(crate) outputs: &'o Outputs,
}

/// What is written of a cluster's files.
#[derive(Serialize, Deserialize)]
pub(crate) struct Written {
    cluster: Arc<str>,
    images: Vec<ImageKey>,
    home: Option<Home>,
    objects: Vec<FileObjects>,
    files: Vec<Vec<KnownFile>>,
}

impl Keeper<(Made, Vec<Part>)> for RenderedFiles<'_> {
    const STAGE: &'static str = "render";
    type Written = Written;

    fn written(&self, (made, parts): &(Made, Vec<Part>)) -> Option<Written> {
        // What a catalog of its own holds is not written.
        if !made.images.own.is_empty() {
            return None;
        }
        Some(Written {
            cluster: Arc::clone(&made.cluster),
            images: made.images.shared.clone(),
            home: made
                .objects
                .first()
                .and_then(|file| Some((**file.home()?).clone())),
            objects: made.objects.clone(),
            files: parts.iter().map(Part::known).collect::<Option<_>>()?,
        })
    }

    fn read(&self, written: Written) -> Option<(Made, Vec<Part>)> {
        let home = written.home.map(Arc::new);
        let objects = { written.objects.into_iter() }.map(|file| file.at_home(home.clone()));
        let made = Made {
            cluster: written.cluster,
            images: ClusterImages {
                shared: written.images,
                own: Vec::new(),
            },
            files: Vec::new(),
            objects: objects.collect(),
        };
        Some((made, self.outputs.unchanged(written.files)?))
    }
}

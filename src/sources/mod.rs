//! Where facts about images come from, beside the values and the images' names.
//!
//! Here is the info file. A registry, an OCI layout and the lock answer the same question and get a file each beside it.

mod info_file;

use std::path::Path;
use std::sync::Arc;

use crate::error::Error;
use crate::model::catalogue::Described;
use crate::model::finding::Finding;
use crate::model::image::ImageKey;
use crate::model::place::Sources;

/// One place that knows facts about images. It is asked for many at once: concurrency is the source's own affair.
pub trait ImageSource: Send + Sync {
    /// What it knows of each image, in the order asked; none of an image that it does not know.
    fn describe(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Option<Arc<Described>>, Error>>;

    /// The images that it lists by itself, sorted by key; for a workspace that has no catalogue of its own.
    fn listed(&self) -> Vec<(ImageKey, Arc<Described>)> {
        Vec::new()
    }
}

/// An image that facts are wanted of.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Its key.
    pub key: &'a ImageKey,
    /// Its OCI reference or URL, where one is known.
    pub uri: Option<&'a str>,
}

/// A source and what is wrong with it.
pub type Opened = (Box<dyn ImageSource>, Vec<Finding>);

/// Opens the source that a path names. Its file joins `sources`, shown as `shown`, so that findings can point into it.
///
/// # Errors
/// The file cannot be read.
pub fn open(path: &Path, shown: &str, sources: &mut Sources) -> Result<Opened, Error> {
    let (info, findings) = info_file::read(path, shown, sources)?;
    Ok((Box::new(info), findings))
}

//! Where facts about images come from, beside the values and the images' names.
//!
//! Here are the info file and the project file's records. A registry, an OCI layout and the lock answer the same question and get a file each beside it.

mod info_file;
mod records;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::model::catalogue::Described;
use crate::model::finding::Finding;
use crate::model::image::ImageKey;
use crate::model::place::{Place, Source, Sources};
use crate::model::written::WrittenImage;

/// One place that knows facts about images. It is asked for many at once: concurrency is the source's own affair.
pub trait ImageSource: Send + Sync {
    /// What it knows of each image, in the order asked; none of an image that it does not know.
    fn describe(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Option<Arc<Described>>, Error>>;

    /// The images that it lists by itself, sorted by key; for a workspace that has no catalogue of its own.
    fn listed(&self) -> Vec<(ImageKey, Arc<Described>)> {
        Vec::new()
    }

    /// Whether what it lists are images of the catalogue whatever else is in it: the user wrote them for this project.
    fn declares(&self) -> bool {
        false
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

/// The sources of a project, the strongest first, and their files.
#[derive(Default)]
pub struct ImageFacts {
    /// The sources.
    pub sources: Vec<Box<dyn ImageSource>>,
    /// The files that the facts' places point into, through [`Sources::with_facts`].
    pub files: Arc<Vec<Arc<Source>>>,
}

impl ImageFacts {
    /// Adds the records of a project file; they stand before all other sources.
    pub fn add_records(&mut self, images: &[WrittenImage], file: &Arc<Source>) {
        let number = Sources::facts_file(self.files.len());
        let records = records::Records::new(images, number);
        self.sources.insert(0, Box::new(records));
        Arc::make_mut(&mut self.files).push(Arc::clone(file));
    }
}

/// Opens the sources that the paths below `root` name, and tells what is wrong in them.
///
/// # Errors
/// A file cannot be read.
pub fn facts(root: &Path, paths: &[PathBuf]) -> Result<(ImageFacts, Vec<Finding>), Error> {
    let (mut sources, mut files, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (index, path) in paths.iter().enumerate() {
        let shown = path.to_string_lossy().replace('\\', "/");
        let file = Sources::facts_file(index);
        let read = info_file::read(&root.join(path), &shown, file)?;
        sources.push(Box::new(read.info) as Box<dyn ImageSource>);
        files.push(Arc::new(read.source));
        faults.extend(read.faults);
    }
    let files = Arc::new(files);
    let places = Sources::default().with_facts(&files);
    let finding = |fault: Fault| {
        let finding = Finding::new(fault.rule, fault.message);
        let finding = finding.at(places.resolve(fault.place), "");
        fault.help.into_iter().fold(finding, Finding::help)
    };
    let findings = faults.into_iter().map(finding).collect();
    Ok((ImageFacts { sources, files }, findings))
}

/// A finding before its place is looked up.
struct Fault {
    rule: &'static str,
    message: String,
    place: Place,
    help: Option<String>,
}

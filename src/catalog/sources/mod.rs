//! The sources of image facts, beside the values and the images' names.
//!
//! A file each: the info file, with what image-builder writes; a folder of image files; the index page of a web server; the folder with an OCI image
//! layout; the lock; the project file's own records; and the way to registries and image layouts behind the project's mirrors.

mod artifact;
mod image_files;
mod image_folder;
mod index_page;
mod info_file;
mod layout_folder;
mod lock_file;
mod records;
mod stores;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::image::ImageKey;
use oci_artifacts::{Address, Platform, layout};
use yaml_tree::place::{Place, Source, Sources};

use crate::budget;
use crate::error::Error;
use crate::files::Files;
use crate::model::catalog::Described;
use crate::model::finding::Finding;
use crate::model::lock::Lock;
use crate::model::rule::RuleId;
use crate::model::written::WrittenImage;

pub use artifact::{Artifact, Difference, artifacts};
pub use index_page::{OfferedImage, Page, base as page_base, is_page, page};
pub use lock_file::{
    RESTORE, bytes as lock_bytes, evidence_path, evidence_text, text as lock_text,
};
pub use stores::{Stores, stores};

/// One place that knows facts about images. It receives requests for many at once: concurrency is the source's own affair.
pub trait ImageSource: Send + Sync {
    /// The facts of each image, in the order of the requests; `None` for an unknown image.
    fn describe(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Option<Arc<Described>>, Error>>;

    /// The images that it lists by itself, sorted by key; for a workspace that has no catalog of its own.
    fn list(&self) -> Vec<(ImageKey, Arc<Described>)> {
        Vec::new()
    }

    /// Whether the listed images are always images of the catalog, because the user wrote them for this project.
    fn declares(&self) -> bool {
        false
    }
}

/// A request for the facts of an image.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Its key.
    pub key: &'a ImageKey,
    /// Its OCI reference or URL, where one is known.
    pub uri: Option<&'a Address>,
    /// The registry that it comes from, by its name in the values.
    pub registry: Option<&'a str>,
}

/// The sources of a project, the strongest first, and their files.
#[derive(Default)]
pub struct ImageFacts {
    /// The sources.
    pub sources: Vec<Box<dyn ImageSource>>,
    /// The files that the facts' places point into, through [`Sources::with_facts`].
    pub files: Arc<Vec<Arc<Source>>>,
    /// The lock, where the project has one.
    pub lock: Option<Arc<Lock>>,
}

impl ImageFacts {
    /// Adds the records of a project file; they precede all other sources.
    pub fn add_records(&mut self, images: &[WrittenImage], file: &Arc<Source>) {
        let number = Sources::facts_file(self.files.len());
        let records = records::Records::new(images, number);
        self.sources.insert(0, Box::new(records));
        Arc::make_mut(&mut self.files).push(Arc::clone(file));
    }
}

/// Opens the sources that the paths name, image layouts in folders below `root`, and reports what is wrong in them.
///
/// # Errors
/// A file cannot be read.
pub fn facts(
    root: &Path,
    tree: &dyn Files,
    paths: &[PathBuf],
    platform: &Platform,
    findings: &mut Vec<Finding>,
) -> Result<ImageFacts, Error> {
    let (mut sources, mut files, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    let mut unlocked = Vec::new();
    let mut lock: Option<Arc<Lock>> = None;
    let mut evidence: Option<Source> = None;
    for (index, path) in paths.iter().enumerate() {
        let shown = path.to_string_lossy().replace('\\', "/");
        let file = Sources::facts_file(index);
        let _work = budget::enter(format!("the facts of `{shown}`"))?;
        let opened = match FactSource::parse(index, path, &shown, tree) {
            FactSource::Layout(folder) => {
                let folder = layout_folder::open(root, folder, platform)?;
                FactsFile::from_images(&shown, folder)
            }
            FactSource::Page => {
                // Its facts are in the lock: nothing is queried while values are checked.
                let page = index_page::Locked::for_page(&shown, lock.as_deref());
                if page.is_empty() {
                    unlocked.push(index_page::missing_from_lock(&shown));
                }
                FactsFile::from_images(&shown, page)
            }
            FactSource::Lock => {
                let beside = Sources::facts_file(paths.len());
                let read = lock_file::read(tree, path, file, beside, platform)?;
                lock = Some(read.lock);
                evidence = Some(read.evidence);
                read.file
            }
            FactSource::Folder => image_folder::read(tree, path, &shown, file)?,
            FactSource::File => info_file::read(tree, path, &shown, file)?,
        };
        sources.push(opened.images);
        files.push(Arc::new(opened.source));
        faults.extend(opened.faults);
    }
    // Behind all files that are named: they keep their numbers.
    files.extend(evidence.map(Arc::new));
    let files = Arc::new(files);
    let places = Sources::default().with_facts(&files);
    let finding = |fault: Fault| {
        let finding = Finding::new(fault.rule, fault.message);
        let finding = finding.with_label(places.resolve(fault.place), "");
        finding.helps(fault.help)
    };
    findings.extend(faults.into_iter().map(finding).chain(unlocked));
    Ok(ImageFacts {
        sources,
        files,
        lock,
    })
}

/// What a path with image facts names.
enum FactSource<'p> {
    /// The folder of an OCI image layout.
    Layout(&'p str),
    /// The index page of a web server.
    Page,
    /// The lock, which is the first path where there is one.
    Lock,
    /// A folder of image files.
    Folder,
    /// An info file.
    File,
}

impl<'p> FactSource<'p> {
    fn parse(index: usize, path: &Path, shown: &'p str, tree: &dyn Files) -> Self {
        if let Some(folder) = shown.strip_prefix(layout::SCHEME) {
            Self::Layout(folder)
        } else if is_page(shown) {
            Self::Page
        } else if index == 0 && path.extension().is_some_and(|name| name == "lock") {
            Self::Lock
        } else if tree.is_folder(path) {
            Self::Folder
        } else {
            Self::File
        }
    }
}

/// What a path with image facts holds.
struct FactsFile {
    images: Box<dyn ImageSource>,
    source: Source,
    faults: Vec<Fault>,
}

impl FactsFile {
    /// Images whose facts have no places. They have a file all the same, so that those after it keep their numbers.
    fn from_images(shown: &str, images: impl ImageSource + 'static) -> Self {
        Self {
            images: Box::new(images),
            source: Source::new(shown, ""),
            faults: Vec::new(),
        }
    }
}

/// A finding before its place is looked up.
struct Fault {
    rule: RuleId,
    message: String,
    place: Place,
    help: Option<String>,
}

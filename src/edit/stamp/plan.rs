//! The result of a run: the image of each object, the edits of each file, and what is wrong with either.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::ImageKey;
use capi::objects::ManifestObject;
use yaml_tree::edit::Edit;
use yaml_tree::place::Spot;

use crate::edit::texts::EditedFile;
use crate::model::finding::{Finding, Subject};
use crate::read::Stamped;

/// The result of stamping.
#[derive(Default)]
pub struct Plan {
    /// The result for each object, in the objects' order.
    pub results: Vec<ObjectResult>,
    /// The Kubernetes versions that are written, by the object's index.
    pub versions: BTreeMap<usize, Arc<str>>,
    /// The files that change, each with its new text.
    pub files: Vec<EditedFile>,
    /// What is wrong with markers and selections.
    pub findings: Vec<Finding>,
    /// The edits of each object, in the text that holds it.
    pub(super) edits: BTreeMap<usize, Vec<Edit>>,
}

/// The result for an object.
#[derive(Clone, Debug, Default)]
pub struct ObjectResult {
    /// Whether anything says which image it boots: a marker or the project file.
    pub is_made: bool,
    /// The images: more than one where fields are selected one by one.
    pub images: Vec<ImageKey>,
    /// Where that is said.
    pub spot: Option<Spot>,
    /// Why nothing is stamped although it is said, each in one clause.
    pub problems: Vec<String>,
    /// The image fields that change.
    pub changes: Vec<FieldChange>,
    /// Whether it gets a new name with its new content.
    pub is_rotated: bool,
    /// Its change since the commit that it is compared with.
    pub since: TemplateChange,
}

impl ObjectResult {
    /// What a finding about the object applies to.
    pub(super) fn subject(&self, object: &ManifestObject) -> Subject {
        Subject {
            cluster: object.cluster_name().map(str::to_owned),
            pool: Some(object.name.to_string()).filter(|name| !name.is_empty()),
            image: self.images.first().map(ToString::to_string),
        }
    }
}

/// The change of a template between a commit and the end of a run.
#[derive(Clone, Debug, Default)]
pub enum TemplateChange {
    /// There is no commit to compare it with.
    #[default]
    Unknown,
    /// It is as it was, or it did not exist.
    Same,
    /// It has other content under the same name.
    Changed(FieldChange),
}

/// An image field that changes.
#[derive(Clone, Debug)]
pub struct FieldChange {
    /// The field, from the object's root.
    pub path: String,
    /// Its place; none where it is added.
    pub spot: Option<Spot>,
    /// Whether it said something before.
    pub overwrites: bool,
}

impl Plan {
    /// A plan that changes nothing of these objects.
    pub(super) fn new(objects: &[ManifestObject]) -> Self {
        Self {
            results: vec![ObjectResult::default(); objects.len()],
            ..Self::default()
        }
    }

    /// The images and versions that the objects have after the run.
    pub fn to_stamped(&self) -> Stamped {
        let results = self.results.iter().enumerate();
        let images = results.filter(|(_, result)| !result.images.is_empty());
        let images =
            images.map(|(index, result)| (index, (result.images.clone(), result.spot.clone())));
        Stamped {
            images: images.collect(),
            versions: self.versions.clone(),
        }
    }

    /// Adds an edit of an object.
    pub(super) fn edit(&mut self, object: usize, edit: Edit) {
        self.edits.entry(object).or_default().push(edit);
    }
}

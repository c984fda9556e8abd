//! The result of a run: which image each object boots, the edits of each file, and what is wrong with either.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;

use crate::model::finding::Finding;
use crate::model::image::ImageKey;
use crate::model::place::{Source, Spot};
use crate::model::stamping::StampEntry;
use crate::objects::ManifestObject;
use crate::read::Stamped;
use crate::yaml::edit::Edit;

use super::choose::Chooser;
use super::moved::{self, Moves};
use super::request::requests;
use super::{files, rotate, stamped, versions};

/// The result of stamping.
#[derive(Default)]
pub struct Plan {
    /// The result for each object, in the objects' order.
    pub choices: Vec<Choice>,
    /// The Kubernetes versions that are written, by the object's index.
    pub versions: BTreeMap<usize, Arc<str>>,
    /// The files that change, each with its new text.
    pub files: Vec<(Arc<Source>, String)>,
    /// What is wrong with markers and choices.
    pub findings: Vec<Finding>,
    /// The edits of each object, in the text that holds it.
    pub(super) edits: BTreeMap<usize, Vec<Edit>>,
}

/// The result for an object.
#[derive(Clone, Debug, Default)]
pub struct Choice {
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

/// How templates are stamped.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Options {
    /// Give a template whose image changes a name of its own, and move every reference to it.
    #[arg(long)]
    pub rotate: bool,
    /// With --rotate: how many templates of the past stay for machines that still refer to them.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "rotate")]
    pub keep: usize,
    /// Bring the Kubernetes version of control planes, machine deployments and clusters to their template's image's.
    #[arg(long)]
    pub set_version: bool,
}

/// Plans the edits of all files. Where an object has a problem nothing of it changes, and its choice says why. `unread` are files
/// that nobody can edit: a template that one of them names keeps its name.
pub fn plan(
    objects: &[ManifestObject],
    entries: &[StampEntry],
    chooser: &Chooser<'_>,
    options: &Options,
    unread: &[Arc<Source>],
) -> Plan {
    moving(objects, entries, chooser, (options, &Moves::new()), unread)
}

/// The same, with objects that move to other images than their requests name.
pub fn moving(
    objects: &[ManifestObject],
    entries: &[StampEntry],
    chooser: &Chooser<'_>,
    (options, moves): (&Options, &Moves),
    unread: &[Arc<Source>],
) -> Plan {
    let mut plan = Plan {
        choices: vec![Choice::default(); objects.len()],
        ..Plan::default()
    };
    let mut requests = requests(objects, entries, &mut plan.choices, &mut plan.findings);
    moved::redirect(objects, moves, &mut requests, &mut plan.choices);
    let runners = versions::runners(objects);
    // A version that follows the image says nothing of which image is meant.
    let versions = match options.set_version {
        true => BTreeMap::new(),
        false => versions::agreed(objects, &runners),
    };
    for requested in &requests {
        let runs = versions.get(&requested.object).map(|text| &**text);
        stamped::request(objects, requested, runs, chooser, &mut plan);
    }
    if options.set_version {
        versions::set(objects, &runners, &requests, chooser, &mut plan);
    }
    if options.rotate {
        rotate::rotate(objects, options.keep, unread, &mut plan);
    }
    let (files, is_whole) = files::changed(objects, &plan.edits, &mut plan.choices);
    // A name that changes in one file and not in another would leave references in the air.
    if is_whole || !options.rotate {
        plan.files = files;
    }
    plan
}

impl Plan {
    /// The images and versions that the objects have after the run.
    pub fn stamped(&self) -> Stamped {
        let choices = self.choices.iter().enumerate();
        let images = choices.filter(|(_, choice)| !choice.images.is_empty());
        let images =
            images.map(|(index, choice)| (index, (choice.images.clone(), choice.spot.clone())));
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

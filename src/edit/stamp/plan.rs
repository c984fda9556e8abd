//! What a run comes to: which image each object boots, the edits of each file, and what is wrong with either.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::finding::Finding;
use crate::model::place::Source;
use crate::model::stamping::StampEntry;
use crate::objects::{Choice, Standing};
use crate::yaml::edit::Edit;

use super::choose::Chooser;
use super::wish::wishes;
use super::{files, rotate, stamped, versions};

/// What stamping comes to.
#[derive(Default)]
pub struct Plan {
    /// What each object comes to, in the objects' order.
    pub choices: Vec<Choice>,
    /// The Kubernetes versions that are written, by the object's index.
    pub versions: BTreeMap<usize, Arc<str>>,
    /// The files that change, each with its new text.
    pub files: Vec<(Arc<Source>, String)>,
    /// What is wrong with markers and choices.
    pub findings: Vec<Finding>,
    /// The edits of each object, in the text that it stands in.
    pub(super) edits: BTreeMap<usize, Vec<Edit>>,
}

/// How templates are stamped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Rename a template whose image changes, and move what refers to it.
    pub rotate: bool,
    /// How many templates of the past are kept.
    pub keep: usize,
    /// Bring the Kubernetes version of those who use a template to its image's.
    pub set_version: bool,
}

/// Plans the edits of all files. Where an object has a problem nothing of it changes, and its choice says why. `unread` are files
/// that nobody can edit: a template that one of them names keeps its name.
pub fn plan(
    objects: &[Standing],
    entries: &[StampEntry],
    chooser: &Chooser<'_>,
    options: &Options,
    unread: &[Arc<Source>],
) -> Plan {
    let mut plan = Plan {
        choices: vec![Choice::default(); objects.len()],
        ..Plan::default()
    };
    let wishes = wishes(objects, entries, &mut plan.choices, &mut plan.findings);
    let runners = versions::runners(objects, chooser);
    // A version that follows the image says nothing of which image is meant.
    let versions = match options.set_version {
        true => BTreeMap::new(),
        false => versions::agreed(objects, &runners),
    };
    for wished in &wishes {
        let runs = versions.get(&wished.object).map(|text| &**text);
        stamped::wish(objects, wished, runs, chooser, &mut plan);
    }
    if options.set_version {
        versions::set(objects, &runners, &wishes, chooser, &mut plan);
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
    /// Adds an edit of an object.
    pub(super) fn edit(&mut self, object: usize, edit: Edit) {
        self.edits.entry(object).or_default().push(edit);
    }
}

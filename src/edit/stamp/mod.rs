//! Stamping in place: the image fields of manifests that people keep, brought to what their images say. Pure: it plans edits
//! of texts and touches no file.
//!
//! Which image an object boots is said by a marker comment in it or above it, else by the first entry of `stamps:` in the
//! project file that fits. Everything that is not an image field, a name that follows the content, or a reference to one
//! keeps its bytes.
//!
//! Never guesses: an object without a request is reported by a rule, and stays as it is.

mod choose;
mod fields;
mod files;
mod findings;
mod follow;
mod marker;
mod moved;
mod past;
mod plan;
mod request;
mod rotate;
mod since;
mod stamped;
mod subject;
mod variables;
mod versions;

pub use choose::Chooser;
pub use fields::{Change, changes, problems};
pub use findings::findings;
pub use follow::{Followed, Rendered, follow};
pub use moved::{Moves, NamedImage, find_names};
pub use plan::Plan;
pub use since::{immutable_path, record_changes};

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;

use crate::model::stamping::StampEntry;
use capi::objects::ManifestObject;
use yaml_tree::place::Source;

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

/// What a run is to do.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// How templates are stamped.
    pub options: Options,
    /// The objects that move to other images than their requests name.
    pub moves: Moves,
}

/// Plans the edits of all files. Where an object has a problem nothing of it changes, and its result says why. `unread` are files
/// that nobody can edit: a template that one of them names keeps its name.
pub fn plan(
    objects: &[ManifestObject],
    entries: &[StampEntry],
    chooser: &Chooser<'_>,
    job: &Job,
    unread: &[Arc<Source>],
) -> Plan {
    let Job { options, moves } = job;
    let mut plan = Plan::new(objects);
    let mut requests = requests(objects, entries, &mut plan);
    moved::redirect(objects, moves, &mut requests, &mut plan.results);
    let runners = versions::runners(objects);
    // A version that follows the image says nothing of which image is meant.
    let versions = if options.set_version {
        BTreeMap::new()
    } else {
        versions::common_versions(objects, &runners)
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
    let (files, is_whole) = files::apply(objects, &plan.edits, &mut plan.results);
    // A name that changes in one file and not in another would leave references in the air.
    if is_whole || !options.rotate {
        plan.files = files;
    }
    plan
}

/// What requests an image of any object: markers, entries of the project file and variables.
fn requests(
    objects: &[ManifestObject],
    entries: &[StampEntry],
    plan: &mut Plan,
) -> Vec<request::Requested> {
    let mut found = request::requests(objects, entries, &mut plan.results, &mut plan.findings);
    variables::add(objects, entries, &mut found, &mut plan.findings);
    found
}

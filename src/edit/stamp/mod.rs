//! Stamping in place: the image fields of manifests that people keep, brought to what their images say. Pure: it plans edits
//! of texts and touches no file.
//!
//! Which image an object boots is said by a marker comment in it or above it, else by the first entry of `stamps:` in the
//! project file that fits. Everything that is not an image field, a name that follows the content, or a reference to one
//! keeps its bytes.
//!
//! Never guesses: an object without a request is reported by a rule, and stays as it is.

mod choose;
mod entries;
mod fields;
mod findings;
mod follow;
mod marker;
mod past;
mod plan;
mod request;
mod rotate;
mod since;
mod stamped;
mod subject;
mod variables;
mod versions;

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;

use capi::image::{ImageKey, Images};
use capi::objects::ManifestObject;
use yaml_tree::edit::{Edit, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::{Source, Spot};

use crate::decide::identity::find_image;
use crate::model::stamping::{ImageRequest, RequestedImage, StampEntry};

use super::texts::EditedFile;

use entries::Entries;
use plan::ObjectResult;
use request::Requested;

pub use choose::Chooser;
pub use entries::find_unused_entries;
pub use fields::{FieldEdit, changes, problems};
pub use findings::findings;
pub use follow::{Followed, Rendered, follow};
pub use plan::Plan;
pub use since::{immutable_path, record_changes};

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
    redirect(objects, moves, &mut requests, &mut plan.results);
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
    let (files, is_whole) = apply_edits(objects, &plan.edits, &mut plan.results);
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
    let entries = Entries::new(entries);
    let mut found = request::requests(objects, &entries, &mut plan.results, &mut plan.findings);
    variables::add(objects, &entries, &mut found, &mut plan.findings);
    found.sort_by_key(|requested| requested.object);
    found
}

/// The texts of the files that change, and whether none is left out. A file that cannot be edited as a whole stays; the objects to
/// blame are reported.
fn apply_edits(
    objects: &[ManifestObject],
    edits: &BTreeMap<usize, Vec<Edit>>,
    results: &mut [ObjectResult],
) -> (Vec<EditedFile>, bool) {
    let (mut changed, mut is_whole) = (Vec::new(), true);
    let mut start = 0;
    for file in objects.chunk_by(|a, b| Arc::ptr_eq(a.file(), b.file())) {
        let range = start..start + file.len();
        start = range.end;
        let own = edits.range(range).filter(|(_, edits)| !edits.is_empty());
        let mut outward = BTreeMap::new();
        for (&index, edits) in own {
            match objects[index].text.read_only_reason() {
                Some(why) => {
                    is_whole = false;
                    results[index].problems.push(why.to_owned());
                }
                None => drop(outward.insert(index, objects[index].text.outward(edits.clone()))),
            }
        }
        if outward.is_empty() {
            continue;
        }
        let source = file[0].file();
        let all: Vec<Edit> = outward.values().flatten().cloned().collect();
        match edit(&source.text, Engine::Kubectl, &all) {
            Ok(text) => changed.push(EditedFile {
                source: Arc::clone(source),
                text,
            }),
            Err(error) => {
                is_whole = false;
                blame(source, &outward, &error.to_string(), results);
            }
        }
    }
    (changed, is_whole)
}

/// Reports the objects whose own edits cannot be made; where all can, the first one.
fn blame(
    source: &Source,
    edits: &BTreeMap<usize, Vec<Edit>>,
    error: &str,
    results: &mut [ObjectResult],
) {
    let mut blamed = 0;
    for (index, own) in edits {
        if let Err(error) = edit(&source.text, Engine::Kubectl, own) {
            results[*index].problems.push(error.to_string());
            blamed += 1;
        }
    }
    if let (0, Some(first)) = (blamed, edits.keys().next()) {
        results[*first].problems.push(error.to_owned());
    }
}

// What says which image an object boots is edited first, so that the next run of `stamp` finds nothing to undo: the key in a marker
// or in an entry of the project file. A selector stays: it selects by the version that moves with the image.

/// The images that objects move to, by the object's index and the image that it boots.
pub type Moves = BTreeMap<usize, BTreeMap<ImageKey, ImageKey>>;

/// A key that a marker or an entry of the project file names.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedImage {
    /// The marker, or the entry.
    pub spot: Spot,
    /// The image as it is written there.
    pub name: Arc<str>,
    /// The image that it is to name.
    pub key: ImageKey,
}

/// What names the images that objects move away from.
///
/// # Errors
/// An object is to be left alone, or nothing says which of its fields hold an image; in one clause.
pub fn find_names(
    objects: &[ManifestObject],
    entries: &[StampEntry],
    images: &Images,
    moves: &Moves,
) -> Result<Vec<NamedImage>, String> {
    let requests = requests(objects, entries, &mut Plan::new(objects));
    let mut found: Vec<NamedImage> = Vec::new();
    for (index, keys) in moves {
        let object = &objects[*index];
        let own = &requests[range(&requests, *index)];
        if own.is_empty() && object.machine_kind().is_none() {
            return Err(format!(
                "no marker says which fields of {} hold its image",
                object.title()
            ));
        }
        for requested in own {
            match &requested.request.image {
                RequestedImage::Nothing => {
                    return Err(format!("a marker says to ignore {}", object.title()));
                }
                RequestedImage::Selector(_) => {}
                RequestedImage::Image(name) => {
                    let key = find_image(name, images).and_then(|key| keys.get(key));
                    let Some((key, spot)) = key.zip(requested.request.spot.clone()) else {
                        continue;
                    };
                    let named = NamedImage {
                        spot,
                        name: Arc::clone(name),
                        key: Arc::clone(key),
                    };
                    if !found.contains(&named) {
                        found.push(named);
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Lets the objects that move boot their new image: those that a selector selects for, and those without a request.
fn redirect(
    objects: &[ManifestObject],
    moves: &Moves,
    requests: &mut Vec<Requested>,
    results: &mut [ObjectResult],
) {
    let mut added = Vec::new();
    for (index, keys) in moves {
        let mut distinct: Vec<&ImageKey> = keys.values().collect();
        distinct.dedup();
        let [key] = distinct[..] else { continue };
        let mut is_requested = false;
        let own = range(requests, *index);
        for requested in &mut requests[own] {
            is_requested |= requested.field.is_none();
            if matches!(requested.request.image, RequestedImage::Selector(_)) {
                requested.request.image = RequestedImage::Image(Arc::clone(key));
            }
        }
        if !is_requested && objects[*index].machine_kind().is_some() {
            results[*index].is_made = true;
            added.push(Requested {
                object: *index,
                field: None,
                request: ImageRequest {
                    image: RequestedImage::Image(Arc::clone(key)),
                    field: None,
                    region: None,
                    spot: objects[*index].name_spot(),
                },
            });
        }
    }
    requests.extend(added);
    requests.sort_by_key(|requested| requested.object);
}

/// The requests of an object among all, which are sorted by their objects.
fn range(requests: &[Requested], object: usize) -> std::ops::Range<usize> {
    let start = requests.partition_point(|it| it.object < object);
    let own = requests[start..].partition_point(|it| it.object == object);
    start..start + own
}

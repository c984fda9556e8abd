//! Which request applies to which object: the markers of its file, else the project file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::objects::{Host, ManifestObject, Text};
use capi::providers::image_fields;
use yaml_tree::edit::Step;
use yaml_tree::value::Node;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::stamping::ImageRequest;

use super::entries::Entries;
use super::marker::{self, Marker};
use super::plan::ObjectResult;
use super::subject::{Subject, Subjects, subject};

/// What is requested for an object, or for a field in it.
pub(super) struct Requested {
    /// The object's index.
    pub(super) object: usize,
    /// The field; none where the object's own image fields are meant.
    pub(super) field: Option<(Vec<Step>, Node)>,
    /// The request.
    pub(super) request: ImageRequest,
}

/// The requests, in the order of the objects. Choices record that a request applies to them; faults of markers are reported.
pub(super) fn requests(
    objects: &[ManifestObject],
    entries: &Entries<'_>,
    results: &mut [ObjectResult],
    findings: &mut Vec<Finding>,
) -> Vec<Requested> {
    let mut found: Vec<Requested> = Vec::new();
    let hosts = hosts(objects);
    for (text, indexes) in texts(objects) {
        let hosts = hosts.get(&Arc::as_ptr(text));
        let mut marked = BTreeSet::new();
        let of_text: Vec<&ManifestObject> = indexes.iter().map(|index| &objects[*index]).collect();
        let all = Subjects::new(&of_text);
        for marker in markers(text, hosts.map_or(&[], Vec::as_slice)) {
            let spot = marker.spot.clone();
            match request_of_marker(marker, &all, &indexes, results, &mut marked) {
                Ok(requested) => found.push(requested),
                Err((message, help)) => {
                    let finding = Finding::new(RuleId::ImageUnstamped, message);
                    findings.push(finding.with_label(spot, "this marker").help(help));
                }
            }
        }
    }
    for (index, object) in objects.iter().enumerate() {
        if results[index].is_made || !is_machine(object) || !may_boot(object) {
            continue;
        }
        let mut entries = entries.find(object);
        if let Some((_, entry)) = entries.find(|(_, entry)| entry.variables.is_empty()) {
            results[index].is_made = true;
            found.push(Requested {
                object: index,
                field: None,
                request: entry.request.clone(),
            });
        }
    }
    found
}

/// The texts that hold objects, each with its objects, in their order.
fn texts(objects: &[ManifestObject]) -> Vec<(&Arc<Text>, Vec<usize>)> {
    let mut known: BTreeMap<*const Text, usize> = BTreeMap::new();
    let mut found: Vec<(&Arc<Text>, Vec<usize>)> = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let at = *known.entry(Arc::as_ptr(&object.text)).or_insert_with(|| {
            found.push((&object.text, Vec::new()));
            found.len() - 1
        });
        found[at].1.push(index);
    }
    found
}

/// The strings with texts of their own that each text holds.
fn hosts(objects: &[ManifestObject]) -> BTreeMap<*const Text, Vec<&Host>> {
    let mut found: BTreeMap<_, Vec<&Host>> = BTreeMap::new();
    for host in { objects.iter() }.filter_map(|object| object.text.host.as_ref()) {
        found.entry(Arc::as_ptr(&host.text)).or_default().push(host);
    }
    found
}

/// The markers of a text, without those in strings that are texts of their own.
fn markers(text: &Arc<Text>, hosts: &[&Host]) -> Vec<Marker> {
    let mut markers = marker::markers(text);
    let is_within = |at: u32, host: &Host| host.place.start <= at && at <= host.place.end;
    markers.retain(|marker| !hosts.iter().any(|host| is_within(marker.at, host)));
    markers
}

/// The request of one marker in a text with these objects, of which some have one for all their fields.
fn request_of_marker(
    marker: Marker,
    all: &Subjects<'_>,
    indexes: &[usize],
    results: &mut [ObjectResult],
    marked: &mut BTreeSet<usize>,
) -> Result<Requested, (String, &'static str)> {
    let (at, field) = match subject(&marker, all, is_machine) {
        Subject::Object(at) => (at, None),
        Subject::Field(at, steps, node) => (at, Some((steps, node))),
        Subject::Nothing(why) => {
            return Err((format!("the marker stamps nothing: {why}"), WHERE));
        }
    };
    let index = indexes[at];
    results[index].is_made |= field.is_none();
    let request = marker.request;
    let request = request.map_err(|why| (format!("the marker is not understood: {why}"), HOW))?;
    if field.is_none() && !marked.insert(index) {
        let name = &all.objects[at].name;
        return Err((format!("two markers apply to `{name}`"), "keep one of them"));
    }
    Ok(Requested {
        object: index,
        field,
        request,
    })
}

const WHERE: &str = "write it in the object, above it, or beside the field that it is about";
const HOW: &str =
    "write `# metalmark: image=KEY`, `# metalmark: selector={os: ubuntu}` or `# metalmark: ignore`";

/// Whether an object is of a kind with an image in it, in a version that is known or not.
fn is_machine(object: &ManifestObject) -> bool {
    object.machine_kind().is_some()
}

/// Whether an object has an image, or is to get one: a patch without any leaves that of its template as it is.
pub(super) fn may_boot(object: &ManifestObject) -> bool {
    let names_part = || {
        let fields = image_fields(&object.kind)?;
        Some(fields.has_part(fields.spec(&object.node)?))
    };
    !object.is_patch || names_part() == Some(true)
}

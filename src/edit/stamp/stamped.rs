//! Stamps one request: selects its image, and makes the edits that write it into the object.

use std::sync::Arc;

use capi::image::{ImageKey, fact};
use capi::objects::{ManifestObject, version_node};
use capi::providers::{self, Kind, Provider, Stamp};
use yaml_tree::edit::{Edit, Step, Target};
use yaml_tree::value::{Node, Value};

use crate::model::finding::Finding;
use crate::model::stamping::{ImageRequest, RequestedImage};
use crate::rules;

use super::choose::{self, Chooser};
use super::fields::{self, FieldEdit};
use super::plan::{FieldChange, ObjectResult, Plan};
use super::request::Requested;

/// Plans one request. `runs` is the Kubernetes version of the object's machines, where it is known.
pub(super) fn request(
    objects: &[ManifestObject],
    requested: &Requested,
    runs: Option<&str>,
    chooser: &Chooser<'_>,
    plan: &mut Plan,
) {
    let (index, object) = (requested.object, &objects[requested.object]);
    if matches!(requested.request.image, RequestedImage::Nothing) || object.is_kept() {
        return;
    }
    let result = &mut plan.results[index];
    if requested.field.is_none() || result.spot.is_none() {
        result.spot.clone_from(&requested.request.spot);
    }
    let (key, stamp) = match image(&requested.request, runs, chooser) {
        Some(Ok(found)) => found,
        Some(Err(finding)) => return plan.findings.push(*finding),
        None => return,
    };
    if !result.images.contains(&key) {
        result.images.push(key);
    }
    let known = providers::find_for_object(&object.api_version, &object.kind);
    let refused = known.and_then(|(provider, kind)| {
        let finding = rules::unbootable(provider, stamp.format.as_deref()?, kind.formats)?;
        let formats = format!("one of {}", kind.formats.join(", "));
        let finding = finding
            .with_subject(result.subject(object))
            .with_label(result.spot.clone(), "this image is selected here");
        Some(finding.with_label(object.name_spot(), formats))
    });
    plan.findings.extend(refused);
    let made = match &requested.field {
        Some(field) => field_changes(object, field, &requested.request, &stamp),
        None => object_changes(object, &stamp),
    };
    match made.and_then(refuse_expressions) {
        Ok(changes) => {
            record(object, &changes, result);
            learn_version(index, object, &changes, plan);
            let edits = changes.into_iter().filter_map(|change| change.edit);
            plan.edits.entry(index).or_default().extend(edits);
        }
        Err(problems) => {
            result.spot.clone_from(&requested.request.spot);
            result.problems.extend(problems);
        }
    }
}

/// The image of a request, and its stamp; `None` if the problem is reported elsewhere.
fn image(
    request: &ImageRequest,
    runs: Option<&str>,
    chooser: &Chooser<'_>,
) -> Option<Result<(ImageKey, Stamp), Box<Finding>>> {
    let key = match chooser.image(request, runs) {
        Ok(key) => key,
        Err(finding) => return Some(Err(finding)),
    };
    let image = chooser.images.get(&key)?;
    let stamp = (chooser.stamp)(image)?;
    let region = request.region.clone();
    Some(stamp.map(|stamp| (key, Stamp { region, ..stamp })))
}

/// The image fields of an object that are not as its image says.
fn object_changes(object: &ManifestObject, stamp: &Stamp) -> Result<Vec<FieldEdit>, Vec<String>> {
    let Some((provider, kind)) = providers::find_for_object(&object.api_version, &object.kind)
    else {
        let version = object.version();
        let versions = object
            .machine_kind()
            .map_or(String::new(), |kind| kind.versions.join(", "));
        let message = format!("{} is known in {versions}, not in {version}", object.kind);
        return Err(vec![message]);
    };
    if !fields::is_bootable(stamp, provider, kind) {
        // A rule reports it.
        return Err(Vec::new());
    }
    let mut problems = fields::missing_facts(stamp, provider, kind);
    match changes(object, provider, kind, stamp) {
        Ok(changes) if problems.is_empty() => return Ok(changes),
        Ok(_) => {}
        Err(problem) => problems.push(problem),
    }
    Err(problems)
}

fn changes(
    object: &ManifestObject,
    provider: &dyn Provider,
    kind: &Kind,
    stamp: &Stamp,
) -> Result<Vec<FieldEdit>, String> {
    let version = object.version();
    let wanted = provider.stamp(kind, version, stamp)?;
    fields::changes(&object.node, object.document, &object.steps, &wanted)
}

/// One scalar that a marker or an entry names.
fn field_changes(
    object: &ManifestObject,
    (steps, node): &(Vec<Step>, Node),
    request: &ImageRequest,
    stamp: &Stamp,
) -> Result<Vec<FieldEdit>, Vec<String>> {
    let name = request.field.as_deref().unwrap_or("url");
    let text = match (&request.image, name) {
        // A key with dots has dashes in the catalog; elsewhere the image may have the name that the marker gives.
        (RequestedImage::Image(key), "key") => Some(Arc::from(&**key)),
        _ => choose::word(stamp, name),
    };
    let Some(text) = text else {
        let key = stamp.key.as_deref().unwrap_or_default();
        return Err(vec![format!("nothing says `{name}` of image `{key}`")]);
    };
    let value = match &node.value {
        Value::String(old) if old.starts_with('v') && name == fact::K8S_VERSION => {
            format!("v{}", text.strip_prefix('v').unwrap_or(&text)).into()
        }
        _ => Value::String(text),
    };
    if node.value.same(&value) {
        return Ok(Vec::new());
    }
    let at = Target::Path(object.document, steps.clone());
    Ok(vec![FieldEdit {
        path: path_text(&steps[object.steps.len()..]),
        current: Some(node.clone()),
        proposed: Some(value.clone()),
        edit: Some(Edit::Set { at, value }),
    }])
}

/// Refuses to replace an expression by text that another program evaluates.
fn refuse_expressions(changes: Vec<FieldEdit>) -> Result<Vec<FieldEdit>, Vec<String>> {
    let held = |change: &FieldEdit| {
        let text = expression(&change.current.as_ref()?.value)?;
        let path = &change.path;
        // Tinkerbell and AWS have templates of their own there.
        let is_template = path.ends_with("imageLookupFormat");
        (!is_template).then(|| format!("`{path}` holds the expression `{text}`"))
    };
    let held: Vec<String> = changes.iter().filter_map(held).collect();
    if held.is_empty() {
        Ok(changes)
    } else {
        Err(vec![format!(
            "{}, which is not replaced: delete it first",
            held.join(" and ")
        )])
    }
}

/// The first text at or below a value that contains a Helm or shell expression.
fn expression(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => (text.contains("{{") || text.contains("${")).then_some(&**text),
        Value::Map(map) => map.iter().find_map(|entry| expression(&entry.node.value)),
        Value::List(items) => items.iter().find_map(|item| expression(&item.value)),
        _ => None,
    }
}

/// A version that a field of the object itself gets is the one that its machines will run.
fn learn_version(index: usize, object: &ManifestObject, changes: &[FieldEdit], plan: &mut Plan) {
    let Some((_, node)) = version_node(object) else {
        return;
    };
    let own = changes
        .iter()
        .find(|change| change.place() == Some(node.place));
    if let Some(Value::String(version)) = own.and_then(|change| change.proposed.as_ref()) {
        plan.versions.insert(index, version.clone());
    }
}

/// `spec.variables[0].value`
fn path_text(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.push_str(&format!(".{key}")),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

fn record(object: &ManifestObject, changes: &[FieldEdit], result: &mut ObjectResult) {
    let says = |node: &Node| {
        let is_empty = node.value.as_str().is_some_and(|text| text.is_empty());
        !node.value.is_null() && !is_empty
    };
    result
        .changes
        .extend(changes.iter().map(|change| FieldChange {
            path: change.path.clone(),
            spot: change.place().and_then(|place| object.spot(place)),
            overwrites: change.current.as_ref().is_some_and(says),
        }));
}

//! What stamping makes of manifests, on parsed values: a second description of docs/stamp.md that knows no text, no edit and
//! no tree of ours.

use std::collections::BTreeMap;

use metalmark::edit::stamp::Options;
use serde_json::{Value, json};

pub(super) const KEPT: &str = "metalmark.dev/kept";

/// An object, and the image that a marker names.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) value: Value,
    /// None where nothing is said, or `ignore`.
    pub(super) image: Option<usize>,
    /// The object as it was, of a copy.
    pub(super) copy_of: Option<Value>,
}

/// The files, each with its objects, after stamping. `name_of` is the name that the run gave to a template that it renamed.
pub(super) fn stamped(
    files: &[Vec<Object>],
    options: Options,
    name_of: &dyn Fn(usize, usize) -> String,
) -> Vec<Vec<Object>> {
    let mut after = files.to_vec();
    let mut renamed: BTreeMap<(String, String), String> = BTreeMap::new();
    for (file, objects) in files.iter().enumerate() {
        for (index, object) in objects.iter().enumerate() {
            let Some(image) = object
                .image
                .filter(|_| is_template(&object.value) && !is_kept(&object.value))
            else {
                continue;
            };
            let overwrites = set_image(&mut after[file][index].value, image);
            if options.rotate && overwrites {
                let name = name_of(file, index);
                renamed.insert(identity(&object.value), name);
            }
        }
    }
    for (objects, old) in after.iter_mut().zip(files) {
        for object in objects.iter_mut() {
            if options.set_version {
                set_version(&mut object.value, files);
            }
            follow(&mut object.value, &renamed);
        }
        *objects = kept(objects, old, &renamed, files, options.keep);
    }
    after
}

/// The four fields of an image, with what they are to be.
pub(super) fn fields(image: usize) -> [(&'static str, String); 4] {
    [
        (
            "url",
            format!("https://images.example.org/noble-{image}.raw"),
        ),
        ("checksum", format!("c{image}").repeat(32)),
        ("checksumType", "sha256".to_owned()),
        ("format", "raw".to_owned()),
    ]
}

/// Sets the image of a template. Whether any field said something else before.
fn set_image(template: &mut Value, image: usize) -> bool {
    let at = &mut template["spec"]["template"]["spec"]["image"];
    let mut overwrites = false;
    if !at.is_object() {
        overwrites = at.as_str().is_some_and(|text| !text.is_empty());
        *at = json!({});
    }
    let at = at.as_object_mut().expect("a map");
    for (name, value) in fields(image) {
        let old = at.insert(name.to_owned(), json!(value));
        overwrites |=
            old.is_some_and(|old| old != json!(value) && !old.is_null() && old != json!(""));
    }
    // What the other API version calls `format`.
    let other = at.remove("diskFormat");
    overwrites | other.is_some_and(|other| !other.is_null() && other != json!(""))
}

pub(super) fn is_template(object: &Value) -> bool {
    object["kind"] == "Metal3MachineTemplate"
}

pub(super) fn is_kept(object: &Value) -> bool {
    object["metadata"]["annotations"].get(KEPT).is_some()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Namespace and name.
fn identity(object: &Value) -> (String, String) {
    let metadata = &object["metadata"];
    (text(&metadata["namespace"]), text(&metadata["name"]))
}

/// The reference to a template in an object.
fn reference(object: &mut Value) -> Option<&mut Value> {
    let path = match (object["kind"].as_str()?, object["apiVersion"].as_str()?) {
        ("KubeadmControlPlane", version) if version.ends_with("v1beta2") => {
            "/spec/machineTemplate/spec/infrastructureRef"
        }
        ("KubeadmControlPlane", _) => "/spec/machineTemplate/infrastructureRef",
        ("MachineDeployment" | "MachineSet", _) => "/spec/template/spec/infrastructureRef",
        ("Fleet", _) => "/spec/pool/of",
        _ => return None,
    };
    object.pointer_mut(path)
}

/// The template that an object refers to.
pub(super) fn target(object: &Value) -> Option<(String, String)> {
    let namespace = text(&object["metadata"]["namespace"]);
    let mut object = object.clone();
    let reference = reference(&mut object)?;
    let is_one = reference["kind"] == "Metal3MachineTemplate";
    is_one.then(|| (namespace, text(&reference["name"])))
}

/// Gives a template its new name, and moves a reference to it.
fn follow(object: &mut Value, renamed: &BTreeMap<(String, String), String>) {
    if is_template(object)
        && !is_kept(object)
        && let Some(name) = renamed.get(&identity(object))
    {
        object["metadata"]["name"] = json!(name);
    }
    if let Some(name) = target(object).and_then(|target| renamed.get(&target))
        && let Some(reference) = reference(object)
    {
        reference["name"] = json!(name);
    }
}

/// The version of an object that runs a stamped template is its image's, unless that is older or skips a minor.
fn set_version(object: &mut Value, files: &[Vec<Object>]) {
    let Some(target) = target(object) else { return };
    let templates = files
        .iter()
        .flatten()
        .filter(|other| is_template(&other.value) && !is_kept(&other.value));
    let mut stamped = templates.filter(|other| identity(&other.value) == target);
    let Some(image) = stamped.find_map(|other| other.image) else {
        return;
    };
    let path = match object["kind"].as_str() {
        Some("KubeadmControlPlane") => "/spec/version",
        _ => "/spec/template/spec/version",
    };
    if let Some(version) = object.pointer_mut(path)
        && may_follow(text(version).trim_start_matches('v'), &version_of(image))
    {
        *version = json!(format!("v{}", version_of(image)));
    }
}

/// Whether a version is another one, newer by a minor at most. All of them are `1.MINOR.PATCH`.
fn may_follow(from: &str, to: &str) -> bool {
    let read = |version: &str| -> Vec<u32> {
        let numbers = version.split('.').map(|number| number.parse());
        numbers.map(|number| number.expect("a number")).collect()
    };
    let (from, to) = (read(from), read(to));
    to > from && to[1] - from[1] <= 1
}

pub(super) fn version_of(image: usize) -> String {
    format!("1.3{image}.{image}")
}

/// The name without the hash behind it.
pub(super) fn base(name: &str) -> &str {
    let is_hash = |end: &str| {
        end.len() == 10
            && end
                .chars()
                .all(|digit| digit.is_ascii_hexdigit() && !digit.is_ascii_uppercase())
    };
    match name.rsplit_once('-') {
        Some((base, end)) if is_hash(end) && !base.is_empty() => base,
        _ => name,
    }
}

/// The objects of a file with the copies of the past: a new one behind each renamed template, the oldest gone.
fn kept(
    objects: &[Object],
    old: &[Object],
    renamed: &BTreeMap<(String, String), String>,
    files: &[Vec<Object>],
    keep: usize,
) -> Vec<Object> {
    let used = |object: &Value| {
        files
            .iter()
            .flatten()
            .any(|other| target(&other.value) == Some(identity(object)))
    };
    let is_of = |past: &Value, template: &Value| {
        let (one, other) = (identity(past), identity(template));
        one.0 == other.0 && base(&one.1) == base(&other.1)
    };
    let mut gone = Vec::new();
    for template in old
        .iter()
        .filter(|object| is_template(&object.value) && !is_kept(&object.value))
    {
        if !renamed.contains_key(&identity(&template.value)) {
            continue;
        }
        let past = old
            .iter()
            .enumerate()
            .filter(|(_, past)| is_kept(&past.value) && is_of(&past.value, &template.value));
        let past = past.skip(keep.saturating_sub(1));
        gone.extend(
            past.filter(|(_, past)| !used(&past.value))
                .map(|(index, _)| index),
        );
    }
    let mut after = Vec::new();
    for (index, (object, old)) in objects.iter().zip(old).enumerate() {
        if !gone.contains(&index) {
            after.push(object.clone());
        }
        let successor = renamed.get(&identity(&old.value));
        if let Some(name) =
            successor.filter(|_| keep > 0 && is_template(&old.value) && !is_kept(&old.value))
        {
            let mut copy = Object {
                copy_of: Some(old.value.clone()),
                ..old.clone()
            };
            copy.value["metadata"]["annotations"][KEPT] = json!(name);
            after.push(copy);
        }
    }
    after
}

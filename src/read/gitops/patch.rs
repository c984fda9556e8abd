//! The patches of a kustomization, in all forms: `patches`, and the older `patchesStrategicMerge` and `patchesJson6902`.

use std::path::Path;

use serde::de::IgnoredAny;

use capi::secrets;
use yaml_tree::json::scalar_text;
use yaml_tree::value::{Node, Value};

use super::files::resolve_path;
use super::json_patch::{self, Dialect};
use super::object::Object;
use super::reader::{LayerReader, PlacedError};
use super::selector::Selector;
use super::strategic;
use crate::read::error::ReadError;

/// Merges patches, which are files or texts, each into the object that it names.
pub(super) fn merge(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    patches: &[Node],
    objects: &mut Vec<Object>,
) -> Result<(), ReadError> {
    for item in patches {
        let named = reader.path_text(item)?;
        let documents = match resolve_path(folder, named) {
            Some(path) if reader.is_own_output(&path, item.place)? => continue,
            Some(path) => reader.objects(&path)?,
            None => None,
        };
        let documents = match documents {
            Some(documents) => documents.to_vec(),
            None => reader.inline(named, item.place)?,
        };
        for document in &documents {
            merge_named(reader, document, objects)?;
        }
    }
    seal(reader, objects);
    Ok(())
}

/// Puts labels in place of what patches made of Secrets, before anything reads it.
fn seal(reader: &LayerReader<'_>, objects: &mut [Object]) {
    objects
        .iter_mut()
        .for_each(|object| object.seal(reader.sources));
}

/// Applies one patch to its target.
pub(super) fn apply(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    patch: &Node,
    objects: &mut Vec<Object>,
) -> Result<(), ReadError> {
    let documents = documents(reader, folder, patch)?;
    let target = patch.get_path(&["target"]);
    let selector = target.map(Selector::new).transpose();
    let selector = selector.map_err(|message| reader.refusal(message, patch.place))?;
    for document in &documents {
        match (&document.value, &selector) {
            (Value::List(operations), Some(selector)) => {
                for object in objects.iter_mut().filter(|object| selector.selects(object)) {
                    json_patched(reader, object, operations)
                        .map_err(|error| refusal(reader, error, patch))?;
                }
            }
            (Value::List(_), None) => {
                return Err(reader.refusal("a JSON patch needs a `target`", patch.place));
            }
            (Value::Map(_), Some(_)) if documents.len() > 1 => {
                let message = "a patch with a `target` is a single document";
                return Err(reader.refusal(message, patch.place));
            }
            (Value::Map(_), Some(selector)) => {
                let options = Allowed::from_patch(patch);
                merge_into(
                    reader,
                    document,
                    objects,
                    |object| selector.selects(object),
                    options,
                )?;
            }
            (Value::Map(_), None) => merge_named(reader, document, objects)?,
            (other, _) => {
                let message = format!(
                    "a patch is a map or a list of operations, and this is {}",
                    other.kind()
                );
                return Err(reader.refusal(message, document.place));
            }
        }
    }
    seal(reader, objects);
    Ok(())
}

/// Applies a JSON patch to an object, which has annotations of kustomize's own while it is built. The whole object becomes JSON for
/// it, dates in annotations too.
fn json_patched(
    reader: &LayerReader<'_>,
    object: &mut Object,
    operations: &[Node],
) -> Result<(), PlacedError> {
    let path = ["metadata", "annotations"];
    let annotations = object.tree.get_path(&path);
    let has_none = annotations.is_none();
    let annotations = match annotations {
        Some(written) if object.is_requoted => written.value.clone(),
        Some(written) => reader.spell_dates(written).value,
        None => Value::empty_map(),
    };
    object.tree.set(&path, annotations);
    let sealed = (object.kind() == "Secret").then(|| secrets::seal_operations(operations, "patch"));
    let operations = sealed.as_deref().unwrap_or(operations);
    json_patch::apply(&mut object.tree, operations, Dialect::Kustomize)?;
    let is_empty = |node: &Node| node.value.as_map().is_some_and(|map| map.is_empty());
    if has_none && object.tree.get_path(&path).is_some_and(is_empty) {
        object.tree.remove(&path);
    }
    object.is_requoted = true;
    object.spell_marks(|node| scalar_text(&node.value).unwrap_or_default());
    Ok(())
}

/// The documents of a patch, inline or from a file. One that begins with `[` is JSON for kustomize, and no YAML.
pub(super) fn documents(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    patch: &Node,
) -> Result<Vec<Node>, ReadError> {
    let inline = patch
        .get_path(&["patch"])
        .and_then(|node| Some((node.value.text_with_labels()?, node.place)));
    let is_broken = |text: &str| {
        text.trim_start().starts_with('[') && serde_json::from_str::<IgnoredAny>(text).is_err()
    };
    let message =
        "a patch that begins with `[` is not JSON: write its operations as a list with `- `";
    if let Some((text, place)) = inline.filter(|(text, _)| !text.is_empty()) {
        return if is_broken(text) {
            Err(reader.refusal(message, place))
        } else {
            reader.inline(text, place)
        };
    }
    let Some(path) = patch.get_path(&["path"]) else {
        return Err(reader.refusal("a patch has neither `patch` nor `path`", patch.place));
    };
    let named = patch.text(&["path"]).unwrap_or_default();
    let file = reader.path(folder, named, path.place)?;
    if reader.is_own_output(&file, path.place)? {
        return Ok(Vec::new());
    }
    let read = match reader.objects(&file) {
        Err(ReadError::Finding(_)) if secrets::may_be_patch_of_secret(patch) => {
            let message = format!("`{named}` is not YAML");
            return Err(reader.refusal(message, path.place));
        }
        read => read?,
    };
    match read {
        Some(_) if reader.has_text(&file, is_broken)? => Err(reader.refusal(message, path.place)),
        Some(documents) => Ok(documents.to_vec()),
        None => Err(reader.missing_file(named, &file, path.place)),
    }
}

/// Merges a patch into the one object with its kind and name.
fn merge_named(
    reader: &LayerReader<'_>,
    patch: &Node,
    objects: &mut Vec<Object>,
) -> Result<(), ReadError> {
    let named = Object::new(patch.clone());
    let matching = objects
        .iter()
        .filter(|object| object.is_same_as(&named))
        .count();
    if matching != 1 {
        let what = format!("{} `{}`", named.kind(), named.name());
        let message = match matching {
            0 => format!("there is no {what} to patch"),
            _ => format!("several objects are {what}"),
        };
        return Err(reader.refusal(message, patch.place));
    }
    merge_into(
        reader,
        patch,
        objects,
        |object| object.is_same_as(&named),
        Allowed::default(),
    )
}

/// Which parts of an object's identity a patch may change.
#[derive(Clone, Copy, Default)]
struct Allowed {
    name: bool,
    kind: bool,
}

impl Allowed {
    fn from_patch(patch: &Node) -> Self {
        let option = |name: &str| patch.flag(&["options", name]);
        Self {
            name: option("allowNameChange"),
            kind: option("allowKindChange"),
        }
    }
}

fn merge_into(
    reader: &LayerReader<'_>,
    patch: &Node,
    objects: &mut Vec<Object>,
    selects: impl Fn(&Object) -> bool,
    allowed: Allowed,
) -> Result<(), ReadError> {
    let mut kept = Vec::with_capacity(objects.len());
    for mut object in std::mem::take(objects) {
        if selects(&object) {
            let merged = strategic::apply(&object, patch, reader)
                .map_err(|error| refusal(reader, error, patch))?;
            let Some(merged) = merged else { continue };
            restore(&mut object, merged, allowed);
            object.spell_marks(|node| reader.spelling(node));
        }
        kept.push(object);
    }
    *objects = kept;
    Ok(())
}

/// Replaces the object's tree by the merged one, but keeps its identity.
fn restore(object: &mut Object, mut merged: Node, allowed: Allowed) {
    let mut keep = vec![vec!["apiVersion"], vec!["metadata", "namespace"]];
    if !allowed.kind {
        keep.push(vec!["kind"]);
    }
    let renamed = merged.text(&["metadata", "name"]).map(str::to_owned);
    keep.push(vec!["metadata", "name"]);
    for path in keep {
        match object.tree.get_path(&path) {
            Some(node) => merged.set(&path, node.value.clone()),
            None => merged.remove(&path),
        }
    }
    object.tree = merged;
    if let Some(name) = renamed.filter(|_| allowed.name) {
        object.rename("name", &name);
    }
}

fn refusal(reader: &LayerReader<'_>, error: PlacedError, patch: &Node) -> ReadError {
    let place = Some(error.place).filter(|place| place.is_known());
    let place = place.unwrap_or(patch.place);
    reader.refuse(PlacedError { place, ..error })
}

//! Reports features of a kustomization that are not implemented here, if they may change the values.

use std::path::Path;

use crate::model::finding::Finding;
use yaml_tree::value::Node;

use super::UNSUPPORTED;
use super::files::resolve_path;
use super::object::Object;
use super::reader::Reader;
use crate::read::error::ReadError;

/// Kinds that affect a cluster's values.
const SHAPING: &[&str] = &[
    "HelmRelease",
    "ConfigMap",
    "Secret",
    "Application",
    "ApplicationSet",
];

/// Fields that create objects not known here. They are reported only if an object is missing in the end.
const MAKERS: &[&str] = &["generators", "helmCharts", "helmChartInflationGenerator"];

/// Reports features that change the objects that affect values; those that may create objects go into `unknown`.
pub(super) fn check(
    reader: &mut Reader<'_>,
    folder: &Path,
    kustomization: &Node,
    objects: &[Object],
    unknown: &mut Vec<Finding>,
) -> Result<(), ReadError> {
    let shaping: Vec<&Object> = objects
        .iter()
        .filter(|object| SHAPING.contains(&object.kind()))
        .collect();
    for field in MAKERS {
        for item in kustomization.items(&[field]) {
            let message = format!("`{field}` of a kustomization is not built here");
            unknown.push(reader.finding(UNSUPPORTED, message, item.place));
        }
    }
    if shaping.is_empty() {
        return Ok(());
    }
    for item in kustomization.items(&["transformers"]) {
        transformer(reader, folder, item, &shaping)?;
    }
    Ok(())
}

/// Transformers that do not change values.
const HARMLESS: &[&str] = &[
    "LabelTransformer",
    "AnnotationsTransformer",
    "ImageTagTransformer",
    "ReplicaCountTransformer",
];

fn transformer(
    reader: &mut Reader<'_>,
    folder: &Path,
    item: &Node,
    shaping: &[&Object],
) -> Result<(), ReadError> {
    let named = item
        .value
        .as_str()
        .map(|text| text.to_string())
        .unwrap_or_default();
    let documents = match resolve_path(folder, &named) {
        Some(path) => reader.objects(&path)?,
        None => None,
    };
    let is_harmless = documents.is_some_and(|documents| {
        documents.iter().all(|document| {
            document
                .text(&["kind"])
                .is_some_and(|kind| HARMLESS.contains(&kind))
        })
    });
    if !is_harmless {
        let object = shaping[0];
        let message = format!(
            "a transformer may change {} `{}` and is not built here",
            object.kind(),
            object.name()
        );
        let finding = reader.finding(UNSUPPORTED, message, item.place);
        reader.findings.push(finding);
    }
    Ok(())
}

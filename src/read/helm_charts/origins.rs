//! The values that versions and images of a rendered chart come from.
//!
//! The template engine does not follow a text through its functions. Instead, a value whose text is in the output is changed,
//! and the chart rendered again: where the output changes with it, the text comes from that value.

use std::collections::HashMap;
use std::sync::Arc;

use capi::objects::{ManifestObject, Text, version_nodes};
use yaml_tree::json::scalar_text;
use yaml_tree::place::{FileId, Place, Source};
use yaml_tree::value::{Node, Value};

use super::super::graph::current_image;
use super::kinds::is_of_cluster_api;
use super::output::Output;

/// How many values of a release are tried.
const MOST_TRIED: usize = 32;

/// What is appended to a value to change it: after a version it leaves a version of the same minor.
const CHANGE: &str = "7919";

/// The places of values by the template and the range in its output.
pub(super) type Origins = HashMap<(FileId, u32, u32), Place>;

/// Where the versions and images of these outputs come from.
pub(super) fn origins(
    outputs: &[Output],
    values: &Node,
    outputs_of: impl Fn(&Node) -> Option<Vec<Output>>,
) -> Origins {
    let wanted = versions_and_images(outputs);
    let mut origins = Origins::new();
    let mut candidates = Vec::new();
    add_texts(values, &mut candidates);
    candidates.retain(|(text, _)| wanted.iter().any(|one| one.text.contains(&**text)));
    // An image's name often contains the version: the longer text is the one that somebody wrote for it.
    candidates.sort_by_key(|(text, place)| (usize::MAX - text.len(), *place));
    candidates.dedup();
    for (text, place) in candidates.into_iter().take(MOST_TRIED) {
        let is_open = |one: &Wanted| !origins.contains_key(&one.key) && one.text.contains(&*text);
        if !wanted.iter().any(is_open) {
            continue;
        }
        let changed = format!("{text}{CHANGE}");
        let Some(outputs) = outputs_of(&with_text(values, place, &changed)) else {
            continue;
        };
        let others = versions_and_images(&outputs);
        if others.len() != wanted.len() {
            continue;
        }
        let pairs = wanted.iter().zip(&others);
        let changed = pairs.filter(|(one, other)| is_open(one) && other.text.contains(&changed));
        let changed: Vec<_> = changed.map(|(one, _)| (one.key, place)).collect();
        origins.extend(changed);
    }
    origins
}

/// A text of the output that somebody may have to edit.
struct Wanted {
    key: (FileId, u32, u32),
    text: Arc<str>,
}

/// The versions and images in the objects, in their order.
fn versions_and_images(outputs: &[Output]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    let mut add = |template: FileId, node: &Node| {
        let Place { start, end, .. } = node.place;
        let text = find_text(node);
        wanted.extend(text.map(|text| Wanted {
            key: (template, start, end),
            text,
        }));
    };
    let nowhere = Text::from_file(Arc::new(Source::new("", "")));
    for output in outputs {
        for node in &output.objects {
            let object = ManifestObject::new(&nowhere, 0, &[], node.clone());
            if !is_of_cluster_api(&object.api_version) {
                continue;
            }
            let versions = version_nodes(&object).into_iter().map(|(_, node)| node);
            let image = current_image(&object).map(|image| image.node);
            versions
                .chain(image)
                .for_each(|node| add(output.template, node));
            // The variables of a Cluster and its class, and the patches, hold images too.
            let path: &[&str] = match &*object.kind {
                "Cluster" => &["spec", "topology"],
                "ClusterClass" => &["spec"],
                _ => continue,
            };
            if let Some(below) = object.node.get_path(path) {
                let below = ManifestObject::new(&nowhere, 0, &[], below.clone());
                let scalars = below.scalars().into_iter().map(|(_, node)| node);
                scalars.for_each(|node| add(output.template, node));
            }
        }
    }
    wanted
}

/// The text of a scalar that is written somewhere. A version without quotes may be a number.
fn find_text(node: &Node) -> Option<Arc<str>> {
    match &node.value {
        _ if !node.place.is_known() => None,
        Value::String(text) => Some(Arc::clone(text)),
        Value::Number(_) => scalar_text(&node.value).filter(|text| text.contains('.')),
        _ => None,
    }
}

/// The texts in a file that may be a version or an image, without a leading `v`.
fn add_texts(node: &Node, found: &mut Vec<(Arc<str>, Place)>) {
    if let Some(text) = find_text(node) {
        let text = text.strip_prefix('v').map_or(Arc::clone(&text), Arc::from);
        if text.len() > 2 && text.contains(|letter: char| letter.is_ascii_digit()) {
            found.push((text, node.place));
        }
    }
    node.children().for_each(|child| add_texts(child, found));
}

/// The same values with another text at a place, behind a leading `v` if there is one.
fn with_text(node: &Node, place: Place, text: &str) -> Node {
    match &node.value {
        Value::String(own) if node.place == place => {
            let letter = if own.starts_with('v') { "v" } else { "" };
            Node::new(&*format!("{letter}{text}"), place)
        }
        Value::Number(_) if node.place == place => Node::new(text, place),
        _ => node.map_children(&mut |child| with_text(child, place, text)),
    }
}

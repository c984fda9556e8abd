//! The texts of a machine template, of any kind, that seem to name a Kubernetes version.

use std::sync::Arc;

use yaml_tree::place::Located;
use yaml_tree::value::{Node, Value};

use crate::model::cluster::SeenText;
use crate::model::name::SeenVersion;

/// What the keys of images, and of what they are in, are called.
const IMAGES: [&str; 4] = ["image", "template", "disk", "snapshot"];

/// How many keys above a text say that it is of an image: `image.computeGallery.version`.
const NEAR: usize = 3;

/// The texts below a node that seem to name a version, with their places there. `image` is the node that names the image.
pub(super) fn find_versions(root: &Node, image: Option<&Node>) -> Vec<SeenText> {
    let mut walk = Walk {
        image,
        keys: Vec::new(),
        found: Vec::new(),
    };
    walk.node(root, false);
    walk.found
}

/// Whether a text below a node is at, or below, a key with the word for an image.
pub(super) fn has_image_text(root: &Node) -> bool {
    let mut entries = root.entries(&[]);
    let has_own = entries.any(|entry| {
        let is_image = entry.key.to_ascii_lowercase().contains(IMAGES[0]);
        is_image && has_text(&entry.node) || has_image_text(&entry.node)
    });
    has_own || root.items(&[]).iter().any(has_image_text)
}

fn has_text(node: &Node) -> bool {
    let own = node.value.as_str();
    own.is_some_and(|text| !text.is_empty()) || node.children().any(has_text)
}

/// Whether a text is the reference of an image that is pulled.
fn is_pulled(text: &str) -> bool {
    text.starts_with("docker://") || text.starts_with("oci://")
}

struct Walk<'n> {
    image: Option<&'n Node>,
    keys: Vec<&'n str>,
    found: Vec<SeenText>,
}

impl<'n> Walk<'n> {
    fn node(&mut self, node: &'n Node, is_image: bool) {
        let is_image = is_image || self.image.is_some_and(|image| std::ptr::eq(image, node));
        if let Value::String(text) = &node.value {
            let is_of_image = is_image || self.is_of_image() || is_pulled(text);
            let version = SeenVersion::find(text, is_of_image);
            // `kubernetesVersion: 1.31.2`. A key with a version of its own is a tag.
            let with_key = || {
                let key = self.keys.last()?;
                let is_tag = SeenVersion::find(key, false).is_some();
                SeenVersion::find(&format!("{key} {text}"), false).filter(|_| !is_tag)
            };
            // Networks, keys and profiles are often named after a minor, and stay while machines go on.
            let is_enough = |seen: &SeenVersion| is_of_image || !seen.version.is_partial();
            let version = version.or_else(with_key).filter(is_enough);
            self.found.extend(version.map(|version| SeenText {
                text: Located::new(Arc::clone(text), node.place),
                version,
                is_image,
            }));
        }
        for entry in node.entries(&[]) {
            self.keys.push(&entry.key);
            self.node(&entry.node, is_image);
            self.keys.pop();
        }
        for item in node.items(&[]) {
            self.node(item, is_image);
        }
    }

    /// Whether the keys above a text are those of an image. The template of an object is none.
    fn is_of_image(&self) -> bool {
        let near = self.keys.iter().rev().take(NEAR).enumerate();
        let mut near = near.map(|(index, key)| (index, key.to_ascii_lowercase()));
        near.any(|(index, key)| {
            let is_object = index > 0 && key.ends_with("template");
            !is_object && IMAGES.iter().any(|image| key.contains(image))
        })
    }
}

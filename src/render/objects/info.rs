//! The facts of images in the forms of Sylva's charts: `os_images`, `os_images_info` and the map of served images.

use std::sync::Arc;

use capi::image::{Fact, Image, Origin, fact};
use capi::providers::Stamp;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::{guard, hash};
use crate::model::finding::{Finding, Subject};
use crate::model::lock::is_lockable;
use crate::model::rule::RuleId;

/// The name that Sylva's charts expect (docs/sylva.md#facts).
pub const CONFIG_MAP: &str = "os-images-info";
/// Makes Flux upgrade a HelmRelease as soon as the object changes.
/// (helm-controller docs/spec/v2/helmreleases.md, "Values references".)
const WATCH_LABEL: (&str, &str) = ("reconcile.fluxcd.io/watch", "Enabled");

/// `os_images`: all facts of all images, by key, as strings (docs/sylva.md). A chart looks for an image by what is written here, and
/// what only a name says is not; so an image of a registry of which nothing else is known is a finding.
pub fn os_images<'a>(
    images: impl IntoIterator<Item = &'a Image>,
    findings: &mut Vec<Finding>,
) -> Map {
    let mut entries = Map::default();
    for image in images {
        let is_said = |(name, fact): (&Arc<str>, &Fact)| {
            fact.origin > Origin::Name && ![fact::URI, fact::OCI_REGISTRY].contains(&&**name)
        };
        if is_lockable(image) && !image.facts.iter().any(is_said) {
            findings.push(require_facts(image));
        }
        entries.insert(Entry::from_value(Arc::clone(&image.name), facts(image)));
    }
    entries
}

fn require_facts(image: &Image) -> Finding {
    let message = format!(
        "nothing but its name says what image `{}` is, and a chart reads that from `os_images`",
        image.key
    );
    Finding::new(RuleId::LockMissingImage, message)
        .with_subject(Subject::image(&image.key))
        .help("run `metalmark lock` and commit the lock")
        .help("or give its facts: `images: {facts: [os-images-info.yaml]}` in metalmark.yaml")
}

/// `os_images` with only the IDs in Glance, as sync-openstack-images writes them; images without one are omitted.
pub fn glance_ids<'a>(images: impl IntoIterator<Item = &'a Image>) -> Map {
    let entry = |image: &'a Image| {
        let names = ["locations.glance.id", "openstack_glance_uuid"];
        let id = names.into_iter().find_map(|name| image.facts.get(name))?;
        let id = Entry::from_value(
            "openstack_glance_uuid",
            Value::String(Arc::clone(&id.value)),
        );
        Some(Entry::from_value(
            Arc::clone(&image.name),
            Map::from_iter([id]),
        ))
    };
    images.into_iter().filter_map(entry).collect()
}

/// `os_images_info`: the proposal's root for the facts, with the image fields of a machine template.
pub fn os_images_info<'a>(
    images: impl IntoIterator<Item = &'a Image>,
    stamp: &dyn Fn(&Image) -> Option<Stamp>,
) -> Map {
    images
        .into_iter()
        .map(|image| {
            let mut entry = facts(image);
            for (name, text) in stamp(image).iter().flat_map(stamp_fields) {
                entry.insert(Entry::from_value(name, Value::String(text)));
            }
            Entry::from_value(Arc::clone(&image.name), entry)
        })
        .collect()
}

/// `capm3_os_image_server_images`: the images of the image server, by content (docs/sylva.md#the-image-server). Images without a
/// `sha256` are omitted: they cannot be looked up.
pub fn image_server_images<'a>(images: impl IntoIterator<Item = &'a Image>) -> Map {
    images
        .into_iter()
        .filter_map(|image| {
            let sha256 = image.facts.text(fact::SHA256)?;
            let entry = Map::from_iter([
                Entry::from_value("available", true),
                Entry::from_value("image_key", Value::String(Arc::clone(&image.name))),
            ]);
            Some(Entry::from_value(sha256, entry))
        })
        .collect()
}

/// The `os-images-info` ConfigMap with a values tree (docs/sylva.md#facts), as a context for the templates.
pub struct ConfigMap {
    /// The name, with the hash of the content if requested.
    pub name: String,
    /// The object's fields.
    pub context: Node,
}

/// The kind of ConfigMap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigMapKind {
    /// `os-images-info` with its label (docs/sylva.md#facts).
    Info,
    /// `openstack-images-uuids`, which Sylva's charts read before `os-images-info` (docs/sylva.md#values-and-their-order).
    GlanceIds,
}

/// The name of the ConfigMap with the IDs in Glance.
pub const GLANCE_IDS: &str = "openstack-images-uuids";

/// Builds the ConfigMap with a values tree. `hashed` appends a hash of the content to the name, for consumers that watch names
/// rather than labels. `annotations` are added.
pub fn config_map(
    kind: ConfigMapKind,
    values: Map,
    own: &str,
    namespace: &str,
    hashed: bool,
    mut annotations: Map,
) -> ConfigMap {
    let values = Node::from_value(values);
    let text = yaml_tree::emit(&values.value);
    let name = if hashed {
        format!("{own}-{}", hash::compute(&text))
    } else {
        own.to_owned()
    };
    guard(&mut annotations, &values);
    let label =
        (kind == ConfigMapKind::Info).then(|| Entry::from_value("sylva.os-images-info", ""));
    let watch = Entry::from_value(WATCH_LABEL.0, WATCH_LABEL.1);
    let labels: Map = label.into_iter().chain([watch]).collect();
    let context = Map::from_iter([
        Entry::from_value("name", name.as_str()),
        Entry::from_value("namespace", namespace),
        Entry::from_value("labels", labels),
        Entry::from_value("annotations", annotations),
        Entry::from_value("values", text),
    ]);
    ConfigMap {
        name,
        context: Node::from_value(context),
    }
}

/// What more than a name says: to the chart a fact is what the artifact says.
fn facts(image: &Image) -> Map {
    let uri = image
        .uri
        .as_ref()
        .map(|uri| Entry::from_value(fact::URI, Value::String(Arc::clone(uri.value.text()))));
    let known = { image.facts.iter() }.filter(|(_, fact)| fact.origin > Origin::Name);
    known
        .map(|(name, fact)| {
            Entry::from_value(Arc::clone(name), Value::String(Arc::clone(&fact.value)))
        })
        .chain(uri)
        .collect()
}

fn stamp_fields(stamp: &Stamp) -> impl Iterator<Item = (&'static str, Arc<str>)> {
    [
        ("url", Some(&stamp.url)),
        ("checksum", stamp.checksum.as_ref()),
        ("checksumType", stamp.checksum_type.as_ref()),
        ("format", stamp.format.as_ref()),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name, Arc::clone(text?))))
}

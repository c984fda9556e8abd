//! Writes records of the images that machine templates name, and the `stamps:` entries that assign them.
//!
//! Whether a record says what stamping needs is not decided here: it is tried once. Templates in files that this stamp would
//! change or refuse are left out, and counted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::location::is_compressed;
use capi::objects::ManifestObject;
use capi::providers::{image_fields, node_at};
use yaml_tree::place::Spot;
use yaml_tree::value::{Node, Value};

use crate::commands::stamp::plan_stamp;
use crate::edit::stamp::Job;
use crate::error::Error;
use crate::files::{Files, Overlay};
use crate::model::date::Date;
use crate::model::name::{NameSchemes, SeenVersion};
use crate::model::rule::{Level, RuleId};
use crate::pipeline::fleet::Fleet;
use crate::read::{self, Location, PROJECT_FILE_NAME, Request};

use super::word::word;

/// The fields of machine templates by the beginning of their kind, and where a record says the same (docs/providers.md).
const FIELDS: &[(&str, &[(&str, &str)])] = &[
    (
        "AWS",
        &[
            ("imageLookupFormat", "locations.ami.name"),
            ("imageLookupOrg", "locations.ami.org"),
            ("imageLookupBaseOS", "locations.ami.base-os"),
        ],
    ),
    (
        "Azure",
        &[
            ("image.id", "locations.azure.id"),
            ("image.computeGallery.gallery", "locations.azure.gallery"),
            ("image.computeGallery.name", "locations.azure.definition"),
            ("image.computeGallery.version", "locations.azure.version"),
            (
                "image.computeGallery.subscriptionID",
                "locations.azure.subscription",
            ),
            (
                "image.computeGallery.resourceGroup",
                "locations.azure.resource-group",
            ),
            ("image.marketplace.publisher", "locations.azure.publisher"),
            ("image.marketplace.offer", "locations.azure.offer"),
            ("image.marketplace.sku", "locations.azure.sku"),
            ("image.marketplace.version", "locations.azure.version"),
        ],
    ),
    (
        "Dev",
        &[("backend.docker.customImage", "locations.docker.image")],
    ),
    ("Docker", &[("customImage", "locations.docker.image")]),
    (
        "GCP",
        &[
            ("image", "locations.gce.image"),
            ("imageFamily", "locations.gce.family"),
        ],
    ),
    (
        "HCloud",
        &[
            ("imageName", "locations.hcloud.image"),
            ("imageURL", "locations.hcloud.url"),
            ("imageURLCommand", "locations.hcloud.command"),
        ],
    ),
    (
        "HetznerBareMetal",
        &[
            ("installImage.image.url", "locations.hetzner.url"),
            ("installImage.image.name", "locations.hetzner.name"),
            ("installImage.image.path", "locations.hetzner.path"),
        ],
    ),
    (
        "Kubevirt",
        &[(
            "virtualMachineTemplate.spec.template.spec.volumes[].containerDisk.image",
            "locations.kubevirt.container-disk",
        )],
    ),
    (
        "Metal3",
        &[
            ("image.url", "locations.https"),
            ("image.format", "format"),
            ("image.diskFormat", "format"),
        ],
    ),
    (
        "OpenStack",
        &[
            ("image.filter.name", "locations.glance.name"),
            ("image.imageRef.name", "locations.glance.image-ref"),
            ("image.id", "locations.glance.id"),
        ],
    ),
    (
        "VSphere",
        &[
            ("template", "locations.vsphere.template"),
            ("snapshot", "locations.vsphere.snapshot"),
            ("imageName", "locations.vsphere.image-name"),
        ],
    ),
];

/// The images of a repository, and who boots them.
#[derive(Default)]
pub(super) struct Described {
    /// What is known of each image, by its key: a value by its path.
    pub(super) records: BTreeMap<String, Record>,
    /// The kind and name of each machine template, with the key of its image.
    pub(super) stamps: BTreeMap<(Arc<str>, Arc<str>), String>,
    /// The machine templates that are left out.
    pub(super) left_out: LeftOut,
    /// Whether nothing proves that an image holds the Kubernetes version of its machines.
    pub(super) is_unproven: bool,
}

/// The places of machine templates without a record, by the reason: the end of "a machine template whose …".
pub(super) type LeftOut = BTreeMap<&'static str, Vec<Option<Spot>>>;

/// Why a machine template has no record.
mod reason {
    pub(super) const VARIABLE: &str = "image is a variable";
    pub(super) const PLACEHOLDER: &str = "image is a placeholder";
    pub(super) const CHECKSUM: &str = "checksum is to be filled in";
    pub(super) const FIELDS: &str = "fields name no image that a record can describe";
    pub(super) const STAMP: &str = "file `metalmark stamp` would change or refuse";
    pub(super) const VERSION: &str = "image has another Kubernetes version than its machines";
    pub(super) const NAMES: &str = "name has several images";
}

/// Values by their paths in a record.
pub(super) type Record = BTreeMap<String, String>;

/// What a stamp refuses of that which is described.
#[derive(Default)]
struct Refused {
    /// The files that it would change, or cannot stamp.
    files: BTreeSet<Arc<str>>,
    /// The images of another Kubernetes version than their machines. `check` reports these, with what the patches of classes and
    /// kustomizations make of them.
    images: BTreeSet<String>,
}

/// A machine template with an image that it names.
struct Template {
    file: Arc<str>,
    image: String,
    record: Record,
}

/// Describes the images of the machine templates among the manifests. `text` writes the project file with them.
///
/// # Errors
/// A file cannot be read.
pub(super) fn describe(
    request: &Request,
    root: &Path,
    files: &Arc<dyn Files>,
    today: Date,
    text: &dyn Fn(&Described) -> String,
) -> Result<Described, Error> {
    let overlay = |text: String| -> Arc<dyn Files> {
        let added = [(PathBuf::from(PROJECT_FILE_NAME), text.into_bytes())];
        Arc::new(Overlay::new(Arc::clone(files), added))
    };
    let location = Location {
        root: root.to_owned(),
        file: Some(PathBuf::from(PROJECT_FILE_NAME)),
    };
    let workspace =
        |described: &Described| read::workspace_in(request, &location, overlay(text(described)));
    let manifests = read::manifests(&workspace(&Described::default())?, request, &[])?;
    let described = describe_objects(&manifests.objects, &Refused::default());
    let fleet = Fleet::open(workspace(&described)?, today)?;
    let (plan, checked) = plan_stamp(&fleet, &manifests, &Job::default(), None)?;
    let errors = |rule| {
        let judged = checked.findings.iter();
        let judged = judged.filter(move |judged| judged.level == Level::Error);
        let findings = judged.map(|judged| &judged.finding);
        findings.filter(move |finding| finding.rule == rule)
    };
    let changed = plan.files.iter().map(|file| &file.source.path);
    let unstamped = errors(RuleId::ImageUnstamped).flat_map(|finding| &finding.labels);
    let unstamped = unstamped.map(|label| &label.spot.source.path);
    let images = |rule| errors(rule).filter_map(|finding| finding.subject.image.clone());
    let refused = Refused {
        files: changed.chain(unstamped).cloned().collect(),
        images: images(RuleId::K8sVersionMismatch).collect(),
    };
    let mut described = describe_objects(&manifests.objects, &refused);
    described.is_unproven =
        images(RuleId::K8sVersionUnproven).any(|image| described.records.contains_key(&image));
    Ok(described)
}

/// The images of these objects, without what is refused.
fn describe_objects(objects: &[ManifestObject], refused: &Refused) -> Described {
    let (mut described, mut unclear) = (Described::default(), BTreeMap::new());
    let machines = || {
        objects
            .iter()
            .filter(|object| object.machine_kind().is_some())
    };
    let who = |object: &ManifestObject| (Arc::clone(&object.kind), Arc::clone(&object.name));
    for object in machines() {
        // One name that boots several images, as in overlays, cannot be distinguished by a stamp.
        match described.key_of_object(object, refused) {
            Ok(key)
                if described
                    .stamps
                    .get(&who(object))
                    .is_none_or(|known| *known == key) =>
            {
                described.stamps.insert(who(object), key);
            }
            Ok(_) => drop(unclear.entry(who(object)).or_insert((reason::NAMES, None))),
            Err(why) => drop(unclear.entry(who(object)).or_insert(why)),
        }
    }
    described.stamps.retain(|who, _| !unclear.contains_key(who));
    for object in machines() {
        if let Some((why, spot)) = unclear.get(&who(object)) {
            let spot = spot.clone().or_else(|| object.name_spot());
            described.left_out.entry(*why).or_default().push(spot);
        }
    }
    let used: BTreeSet<&String> = described.stamps.values().collect();
    described.records.retain(|key, _| used.contains(key));
    described
}

impl Described {
    /// The key of the image that an object names; else why it has no record, and where, if not at its name.
    fn key_of_object(
        &mut self,
        object: &ManifestObject,
        refused: &Refused,
    ) -> Result<String, (&'static str, Option<Spot>)> {
        let template = template(object)?;
        if refused.files.contains(&template.file) {
            return Err((reason::STAMP, None));
        }
        let key = self.key(&template);
        if refused.images.contains(&key) {
            return Err((reason::VERSION, None));
        }
        Ok(key)
    }

    /// The key of a template's image, which is added if it is not there.
    fn key(&mut self, template: &Template) -> String {
        let name = template.image.rsplit('/').next().unwrap_or_default();
        let stem = name.split(['?', '#', ':']).next().unwrap_or_default();
        let stem = stem.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        let mut keys = [stem.clone()].into_iter().chain(numbered);
        let is_own = |key: &String| {
            let known = self.records.get(key);
            known.is_none_or(|record| *record == template.record)
        };
        let key = keys.find(is_own).unwrap_or(stem);
        self.records.insert(key.clone(), template.record.clone());
        key
    }
}

/// A machine template that names an image in full; else why it does not, and where.
fn template(object: &ManifestObject) -> Result<Template, (&'static str, Option<Spot>)> {
    let fields = |provider: &str| FIELDS.iter().find(|(known, _)| *known == provider);
    let ends = ["MachineTemplate", "MachinePool", "Machine"];
    let mut provider = ends.iter().filter_map(|end| object.kind.strip_suffix(end));
    let spec = image_fields(&object.kind).and_then(|fields| fields.spec(&object.node));
    let (Some(spec), Some((_, fields))) = (spec, provider.find_map(fields)) else {
        return Err((reason::FIELDS, None));
    };
    let mut record = Record::new();
    let mut image = None;
    for (path, fact) in *fields {
        let Some((node, value)) = node_at(spec, path).and_then(|node| Some((node, scalar(node)?)))
        else {
            continue;
        };
        let spot = || object.spot(node.place);
        if value.contains("${") || value.contains("{{") {
            return Err((reason::VARIABLE, spot()));
        }
        if image.is_none() && read::is_placeholder(&value) {
            return Err((reason::PLACEHOLDER, spot()));
        }
        image.get_or_insert_with(|| value.clone());
        let is_artifact = *fact == "locations.https" && value.starts_with("oci://");
        let fact = if is_artifact { "locations.oci" } else { fact };
        record.insert(fact.to_owned(), value);
    }
    let image = image.ok_or((reason::FIELDS, None))?;
    let digest = checksum(spec, &image);
    let written = node_at(spec, "image.checksum");
    let is_open = |node: &&Node| scalar(node).is_some_and(|text| !text.contains("://"));
    if let (None, Some(node)) = (&digest, written.filter(is_open)) {
        return Err((reason::CHECKSUM, object.spot(node.place)));
    }
    record.extend(digest);
    Ok(Template {
        file: Arc::clone(&object.file().path),
        image,
        record,
    })
}

/// The digest that Metal3's `checksum` spells out, of the image or of the compressed file that is served.
fn checksum(spec: &Node, image: &str) -> Option<(String, String)> {
    let text = scalar(node_at(spec, "image.checksum")?)?;
    let text = text.rsplit_once(':').map_or(&*text, |(_, digest)| digest);
    let algorithm = match text.len() {
        32 => "md5",
        64 => "sha256",
        128 => "sha512",
        _ => return None,
    };
    let of = if is_compressed(image) {
        "as-served"
    } else {
        "uncompressed"
    };
    let is_digest = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| (format!("digests.{of}.{algorithm}"), text.to_owned()))
}

fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) if !text.is_empty() => Some(text.to_string()),
        _ => None,
    }
}

/// The records and stamps as parts of a project file.
pub(super) fn to_yaml(described: &Described) -> (String, String) {
    let mut records = String::new();
    for (key, record) in &described.records {
        records.push_str(&format!("    {}:\n", word(key)));
        let values: Vec<_> = { record.iter() }
            .map(|(path, value)| (&**path, &**value))
            .collect();
        for (key, values) in group_by_key(&values) {
            records.push_str(&format!("      {key}: {}\n", flow(&values)));
        }
        records.extend(version_comment(record));
    }
    let mut images: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
    for ((kind, _), key) in &described.stamps {
        images.entry(kind).or_default().insert(key);
    }
    let mut stamps = BTreeSet::new();
    for ((kind, name), key) in &described.stamps {
        let name = match images[&**kind].len() {
            1 if described.left_out.is_empty() => String::new(),
            _ => format!(", name: {}", word(name)),
        };
        stamps.insert(format!(
            "  - {{kind: {kind}{name}, image: {}}}\n",
            word(key)
        ));
    }
    (records, stamps.into_iter().collect())
}

/// The Kubernetes version in the name of a record's image, as a comment: a name proves nothing, and a person may confirm it.
fn version_comment(record: &Record) -> Option<String> {
    let locations = { record.iter() }.filter(|(path, _)| path.starts_with("locations."));
    let mut versions = locations.filter_map(|(_, name)| {
        let read = NameSchemes::default().read_location(name);
        let version = read.and_then(|name| name.k8s_version);
        version.or_else(|| SeenVersion::find(name, true).map(|seen| seen.version))
    });
    let version = word(&versions.next()?.to_string());
    Some(format!(
        "      # k8s: {{version: {version}}}    # so says the name: remove the first `#` if it is right\n"
    ))
}

/// Values by their paths, as a map in one line; a value without a path is written itself.
fn flow(values: &[(&str, &str)]) -> String {
    if let [("", value)] = values {
        return word(value);
    }
    let entries = group_by_key(values).into_iter();
    let entries = entries.map(|(key, values)| format!("{key}: {}", flow(&values)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// The values below each first key of the paths.
fn group_by_key<'v>(values: &[(&'v str, &'v str)]) -> BTreeMap<&'v str, Vec<(&'v str, &'v str)>> {
    let mut found: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, value) in values {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        found.entry(first).or_default().push((rest, value));
    }
    found
}

//! Neutral image records of the project file, as written: one description of an image for every provider.
//!
//! Each key is a fact or the way to one; `crate::model::written` knows which.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::model::written::WrittenImage;

/// One image: its facts, and where its bytes are.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct ImageRecord {
    /// The operating system.
    pub os: OsRecord,
    /// The Kubernetes that the image holds.
    pub k8s: K8sRecord,
    /// `amd64` or `arm64`.
    pub arch: Option<String>,
    /// The firmware of the machines that boot it.
    pub firmware: Option<Firmware>,
    /// How the image is hardened.
    pub hardening: Option<Hardening>,
    /// `raw`, `qcow2`, `ova`, `vhd`, `tar`, `container` …
    pub format: Option<String>,
    /// `gz`, `zst`, `xz` or `none`.
    pub compression: Option<String>,
    /// The file's name on the image server.
    pub filename: Option<String>,
    /// How large it is.
    pub sizes: SizesRecord,
    /// Hex digests of the image and of the file that is served.
    pub digests: DigestsRecord,
    /// Who built it, from what.
    pub provenance: ProvenanceRecord,
    /// How its signature is checked.
    pub signature: SignatureRecord,
    /// The system extensions that are in it or belong to it.
    pub sysexts: Vec<String>,
    /// Where it lies, by provider.
    pub locations: LocationsRecord,
}

/// An operating system.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct OsRecord {
    /// `ubuntu`, `opensuse`.
    pub name: Option<String>,
    /// `24.04`; quoted.
    pub version: Option<String>,
    /// `noble`.
    pub codename: Option<String>,
    /// `stable`, `lts`, `stream`.
    pub channel: Option<String>,
}

/// A Kubernetes distribution and version.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct K8sRecord {
    /// `kubeadm`, `rke2`, `k3s`, `ck8s`; `none` if the image has no Kubernetes.
    #[schemars(extend("x-older-spelling" = "flavour"))]
    pub flavor: Option<String>,
    /// `1.31.8`, with or without its build.
    pub version: Option<String>,
    /// `rke2r1`, if the version lacks it.
    pub build: Option<String>,
}

/// What machines boot an image with.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Firmware {
    /// BIOS only.
    Bios,
    /// UEFI only.
    Efi,
    /// Either.
    Both,
}

/// How an image is hardened.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Hardening {
    /// Not at all.
    Plain,
    /// By the builder's own rules.
    Hardened,
    /// By the CIS benchmark.
    Cis,
    /// With FIPS cryptography.
    Fips,
}

/// Sizes in bytes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct SizesRecord {
    /// Of the uncompressed image.
    pub disk: Option<u64>,
    /// Of the file that is served.
    pub download: Option<u64>,
}

/// Digests of both forms of an image.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct DigestsRecord {
    /// Of the uncompressed image.
    pub uncompressed: DigestRecord,
    /// Of the file that is served, if it is compressed.
    pub as_served: DigestRecord,
}

/// Hex digests of one file.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct DigestRecord {
    /// 64 hex digits.
    pub sha256: Option<String>,
    /// 128 hex digits.
    pub sha512: Option<String>,
    /// 32 hex digits; OpenStack recognizes images by it.
    pub md5: Option<String>,
}

/// Who built an image, and from which source.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct ProvenanceRecord {
    /// `diskimage-builder`, `image-builder`.
    pub builder: Option<String>,
    /// The builder's release.
    pub builder_version: Option<String>,
    /// The commit of the recipe.
    pub commit: Option<String>,
    /// When it was built.
    pub timestamp: Option<String>,
}

/// How a signature is checked.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct SignatureRecord {
    /// The public key: PEM text, or the path of a file that holds it.
    pub public_key: Option<String>,
}

/// Where an image is, with each provider's own keys. A location may also state facts of its own file.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct LocationsRecord {
    /// The artifact in a registry, `oci://…`.
    pub oci: Option<UrlRecord>,
    /// The URL that machines fetch it from; it counts before `images.url`.
    pub https: Option<UrlRecord>,
    /// Amazon: the AMI by region; or `name`, `org` and `base-os` of a lookup.
    #[schemars(extend("propertyNames" = {"anyOf": [words(&["name", "org", "base-os"]), {}]}))]
    pub ami: LocationRecord,
    /// Azure: `id`; or `gallery`, `definition`, `version`, `subscription`, `resource-group`; or `publisher`, `offer`, `sku`, `version`.
    #[schemars(extend("propertyNames" = words(&["id", "gallery", "definition", "version", "subscription", "resource-group", "publisher", "offer", "sku"])))]
    pub azure: LocationRecord,
    /// Docker: `image`.
    #[schemars(extend("propertyNames" = words(&["image"])))]
    pub docker: LocationRecord,
    /// Google: `image` or `family`, `project`.
    #[schemars(extend("propertyNames" = words(&["image", "family", "project"])))]
    pub gce: LocationRecord,
    /// OpenStack: `id`, or `image-ref`, or `name` and `tags`.
    #[schemars(extend("propertyNames" = words(&["id", "image-ref", "name", "tags"])))]
    pub glance: LocationRecord,
    /// Hetzner's cloud: `image`; or `url` and `command`.
    #[schemars(extend("propertyNames" = words(&["image", "url", "command"])))]
    pub hcloud: LocationRecord,
    /// Hetzner's bare metal: `path`; or `url` and `name`.
    #[schemars(extend("propertyNames" = words(&["path", "url", "name"])))]
    pub hetzner: LocationRecord,
    /// KubeVirt: `container-disk`, `registry` or `http`; `volume` is the name of the data volume.
    #[schemars(extend("propertyNames" = words(&["container-disk", "registry", "http", "volume"])))]
    pub kubevirt: LocationRecord,
    /// Nutanix, with its own keys; metalmark writes no machine template for it.
    pub nutanix: LocationRecord,
    /// IBM Power Virtual Server, with its own keys; metalmark writes no machine template for it.
    pub powervs: LocationRecord,
    /// Proxmox: `template-id` and `node`; or `tags`.
    #[schemars(extend("propertyNames" = words(&["template-id", "node", "tags"])))]
    pub proxmox: LocationRecord,
    /// Talos's image factory: `schematic`, `version`.
    #[schemars(extend("propertyNames" = words(&["schematic", "version"])))]
    pub talos: LocationRecord,
    /// Tinkerbell: `image`; `base-registry`, `os-distro`, `os-version`.
    #[schemars(extend("propertyNames" = words(&["image", "base-registry", "os-distro", "os-version"])))]
    pub tinkerbell: LocationRecord,
    /// vSphere: `template`, `snapshot`; with a supervisor `image-name`.
    #[schemars(extend("propertyNames" = words(&["template", "snapshot", "image-name"])))]
    pub vsphere: LocationRecord,
}

/// The keys of a location: its provider's words, and what a file has. A location without this list, or one that allows others, has
/// any key that is no misspelling of these.
fn words(words: &[&str]) -> Json {
    let file = ["format", "compression", "sizes", "digests"];
    let known = [words, &file].concat();
    serde_json::json!({"enum": known})
}

/// A location with its provider's own keys, and facts of its file.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct LocationRecord {
    /// What is true of the file there alone.
    #[serde(flatten)]
    pub file: FileRecord,
    /// The words.
    #[serde(flatten)]
    pub words: BTreeMap<String, String>,
}

/// A URL, or a map with it and its file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum UrlRecord {
    /// The URL alone.
    Url(String),
    /// The URL and its file.
    File(Box<UrlFile>),
}

/// A URL and its file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct UrlFile {
    /// The URL.
    pub url: String,
    /// What is true of the file there alone.
    #[serde(flatten)]
    pub file: FileRecord,
}

/// What is true of the file at one location alone: the image's own format counts where it says none, the image's compression, sizes
/// and digests only where it says nothing.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct FileRecord {
    /// `raw`, `qcow2`, `ova`, `vhd`, `tar`, `container` …
    pub format: Option<String>,
    /// `gz`, `zst`, `xz` or `none`.
    pub compression: Option<String>,
    /// How large it is.
    pub sizes: SizesRecord,
    /// Hex digests of the image and of the file that is served.
    pub digests: DigestsRecord,
}

/// The records with what each says by its path, and where.
pub(super) fn images(
    records: &BTreeMap<String, ImageRecord>,
    tree: Option<&Node>,
) -> Vec<WrittenImage> {
    let records = records.iter().map(|(name, record)| {
        let node = tree.and_then(|tree| tree.get_path(&["images", "records", name]));
        // A record holds texts, numbers and maps of them: it is always JSON.
        let json = serde_json::to_value(record).unwrap_or_default();
        let place = node.map_or(Place::NONE, |node| node.place);
        let mut image = WrittenImage::new(name.as_str().into(), place);
        for entry in with_places(&json, node).entries(&[]) {
            image.read(&entry.key, &entry.node, None);
        }
        // The schema has checked the types.
        image.mistyped.clear();
        image
    });
    records.collect()
}

/// What the schema took of a record, at the places of its tree.
fn with_places(json: &Json, tree: Option<&Node>) -> Node {
    let value = match json {
        Json::Object(map) => {
            let entries = map.iter().map(|(key, value)| {
                let below = tree.and_then(|tree| tree.get_path(&[key]));
                Entry::holding(key.as_str(), with_places(value, below))
            });
            return Node::from_value(entries.collect::<Map>());
        }
        other => Value::from(other.clone()),
    };
    Node::new(value, tree.map_or(Place::NONE, |node| node.place))
}

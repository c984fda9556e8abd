//! What was read: the workspace that all clusters share, and one cluster's share of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::catalog::Catalog;
use super::cluster::{Cluster, Pool};
use super::component_choice::BundleOutcome;
use super::finding::Finding;
use super::image::{Image, ImageKey, Images};
use super::lock::{Lock, Locking, SignedEntries};
use super::matching::{Matching, Outcome, Selection};
use super::place::{Located, Place, Sources, Spot};
use super::policy::Policy;
use super::registries::RegistrySettings;
use super::signing::SigningKeys;
use super::waves::WaveSettings;

/// One cluster as read: its values evaluated, its catalog not yet expanded.
#[derive(Clone, Debug)]
pub struct ClusterRead {
    /// The cluster.
    pub cluster: Cluster,
    /// The catalog that its values hold.
    pub catalog: Arc<Catalog>,
    /// The keys that its images are signed with, where this run checks signatures.
    pub signing: SigningKeys,
    /// The files that its places point into.
    pub sources: Sources,
    /// What reading and evaluating found.
    pub findings: Vec<Finding>,
}

/// One cluster, read and resolved: what rules check and targets render.
#[derive(Clone, Debug)]
pub struct ClusterView {
    /// The cluster.
    pub cluster: Cluster,
    /// Its catalog with facts, after [`crate::catalog::resolve`].
    pub images: Arc<Images>,
    /// Its component bundles with facts. They have the same properties as images, but are not images.
    pub bundles: Arc<Images>,
    /// The result of each pool's selection, in the order of `cluster.pools`.
    pub selections: Vec<Selection>,
    /// The result of each pool's selection of a component bundle, in the same order.
    pub bundle_outcomes: Vec<BundleOutcome>,
    /// The registries of the catalog, by name.
    pub registries: Arc<BTreeMap<Arc<str>, Registry>>,
    /// The keys of the images that are served for this cluster, sorted.
    pub served: Vec<ImageKey>,
    /// The lock, where there is one.
    pub lock: Option<Arc<Lock>>,
    /// The keys that its images are signed with, where this run checks signatures.
    pub signing: SigningKeys,
    /// The entries of the lock that these keys apply to.
    pub signed: SignedEntries,
    /// The files that its places point into.
    pub sources: Sources,
    /// What reading, evaluating and resolving found.
    pub findings: Vec<Finding>,
}

impl ClusterView {
    /// The pools with a component bundle, and that bundle.
    pub fn chosen_bundles(&self) -> impl Iterator<Item = (&Pool, &Image)> {
        let pools = self.cluster.pools.iter().zip(&self.bundle_outcomes);
        pools.filter_map(|(pool, outcome)| match outcome {
            BundleOutcome::Bundle(key) => Some((pool, self.bundles.get(key)?)),
            _ => None,
        })
    }

    /// Whether a secret, or what an expression made of one, decides which image a pool boots.
    pub fn selects_by_secret(&self, pool: &Pool, selection: &Selection) -> bool {
        let choice = &pool.choice;
        let values = [&choice.key, &choice.other_key, &choice.name, &choice.url];
        let values = values.into_iter().flatten().map(|value| value.place);
        let terms = selection.finalized.terms.iter().map(|term| term.place);
        let mut places = values.chain(terms);
        places.any(|place| self.sources.is_secret(place))
    }

    /// Whether a pool boots an image, or it is served for this cluster.
    pub fn is_used(&self, key: &ImageKey) -> bool {
        let boots = |selection: &Selection| matches!(&selection.outcome, Outcome::Image(chosen) if chosen == key);
        self.served.binary_search(key).is_ok() || self.selections.iter().any(boots)
    }
}

/// An entry of `os_images_oci_registries` (docs/sylva.md#the-catalog).
#[derive(Clone, Debug)]
pub struct Registry {
    /// `oci://…`, without a trailing slash.
    pub url: Option<Located<Arc<str>>>,
    /// The version of every image it offers.
    pub tag: Option<Located<Arc<str>>>,
    /// False skips all its images (docs/sylva.md#the-catalog).
    pub enabled: bool,
    /// The place of its key.
    pub place: Place,
}

/// The settings that every stage behind `read` needs, validated; flags and project file give the same ones.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder that relative paths start from.
    pub root: PathBuf,
    /// How images and URLs are written.
    pub images: ImageSettings,
    /// What is written where.
    pub outputs: Vec<Output>,
    /// Levels and waivers.
    pub policy: Policy,
    /// How selectors compare versions.
    pub matching: Matching,
    /// Whether everything must be locked.
    pub locking: Locking,
    /// How registries are queried.
    pub registries: RegistrySettings,
    /// Where the releases of the image builder are described: an address with [`RELEASE`] in the version's place.
    pub releases: Option<String>,
    /// How an upgrade is spread over waves.
    pub waves: WaveSettings,
}

impl Settings {
    /// Whether an output writes control plane endpoints, so that each cluster needs one.
    pub fn renders_endpoints(&self) -> bool {
        let is_on = |option: &str, output: &Output| {
            matches!(
                output.options.get(option),
                Some(serde_json::Value::Bool(true))
            )
        };
        let mut outputs = self.outputs.iter();
        outputs.any(|output| ENDPOINT_OPTIONS.iter().any(|option| is_on(option, output)))
    }
}

/// The options of targets that write control plane endpoints.
pub const ENDPOINT_OPTIONS: [&str; 3] = ["infra-cluster", "kube-vip", "infra-cluster-template"];

/// The placeholder of the version in the address of a release.
pub const RELEASE: &str = "VERSION";

/// How image fields are written.
#[derive(Clone, Debug)]
pub struct ImageSettings {
    /// minijinja template of the URL that machines fetch the image from; knows `image` and `cluster`.
    pub url: String,
    /// The checksum itself, or the URL of a file that holds it.
    pub checksum: ChecksumStyle,
    /// Serve every image of the catalog, used or not.
    pub serve_all: bool,
}

/// How a checksum is stamped.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ChecksumStyle {
    /// The hex digest: proof against a man in the middle.
    #[default]
    Literal,
    /// `<url>.sha256sum`, for image servers that publish it.
    Url,
}

/// One output of the project.
#[derive(Clone, Debug)]
pub struct Output {
    /// The target's name.
    pub target: String,
    /// minijinja template of the folder, below the root; knows `cluster` where the output is made per cluster.
    pub path: String,
    /// The target's own options, by name.
    pub options: BTreeMap<String, serde_json::Value>,
    /// Where the project file requests it.
    pub spot: Option<Spot>,
}

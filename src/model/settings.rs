//! The settings of a run, which all clusters share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use capi::image::{Image, Origin, fact};
use oci_artifacts::is_oci;
use oci_artifacts::registries::RegistrySettings;
use yaml_tree::place::Spot;

use super::lock::Locking;
use super::name::NameSchemes;
use super::policy::Policy;
use crate::model::selector::Matching;
use crate::model::wave_settings::WaveSettings;

/// The settings that every stage behind `read` needs, validated; flags and project file give the same ones.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder that relative paths start from.
    pub root: PathBuf,
    /// The project file's name, where it is not the usual one; else empty.
    pub project: String,
    /// How images and URLs are written.
    pub images: ImageSettings,
    /// What is written where.
    pub outputs: Vec<Output>,
    /// Levels and waivers.
    pub policy: Policy,
    /// How selectors compare versions.
    pub matching: Matching,
    /// How names of images are read.
    pub schemes: NameSchemes,
    /// Whether everything must be locked.
    pub locking: Locking,
    /// How registries are queried.
    pub registries: RegistrySettings,
    /// Where the releases of the image builders are described: addresses with [`RELEASE`] in the version's place, each with
    /// the name of its builder, which is empty where one counts for all.
    pub releases: BTreeMap<String, String>,
    /// How an upgrade is spread over waves.
    pub waves: WaveSettings,
    /// Whether the CAPM3 whose definitions the project names demands a checksum of every image; none where it names none.
    pub capm3_demands_checksum: Option<bool>,
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

/// The project file's name.
pub const PROJECT_FILE_NAME: &str = "metalmark.yaml";

/// How image fields are written.
#[derive(Clone, Debug)]
pub struct ImageSettings {
    /// minijinja template of the URL that machines fetch the image from; knows `image` and `cluster`.
    pub url: String,
    /// Whether the project file or a flag names it. Else it is that of Sylva's image server.
    pub is_named: bool,
    /// Where the project file has it.
    pub url_spot: Option<Spot>,
    /// The checksum itself, or the URL of a file that holds it.
    pub checksum: ChecksumStyle,
    /// Serve every image of the catalog, used or not.
    pub serve_all: bool,
}

impl ImageSettings {
    /// The address in the image's own facts, which counts before the template. Nobody said that an image server has an image whose
    /// record names an artifact alone: machines pull that.
    pub fn own_url<'a>(&self, image: &'a Image) -> Option<&'a str> {
        let served = image.facts.text("locations.https");
        let artifact = image
            .facts
            .get(fact::URI)
            .filter(|uri| !self.is_named && uri.origin == Origin::Record && is_oci(&uri.value));
        served
            .filter(|url| !url.is_empty())
            .or_else(|| artifact.map(|uri| &*uri.value))
    }
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

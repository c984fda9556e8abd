//! The project file `metalmark.yaml`, as written. [`super::settings`] turns it into what is meant.
//!
//! The JSON Schema that editors use and that the file is checked against is derived from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use yaml_tree::engine::Engine;

use crate::model::selector::Matching;
use crate::model::settings::ChecksumStyle;

use super::provenance_options::ProvenanceOptions;
use super::record::ImageRecord;
use super::rule_options::RuleOptions;
use super::wave_options::WaveOptions;

/// A metalmark project: which values make which clusters, and what is written where.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ProjectFile {
    /// The format of this file; `1` is the only one so far.
    pub version: Option<u32>,
    /// Values layers that every cluster shares, lowest first. The first one is the chart's own `values.yaml`.
    pub values: Vec<String>,
    /// The clusters.
    pub clusters: Vec<ClusterSource>,
    /// Objects that exist only at run time, as files: `ConfigMap/NAME`, `Secret/NAME`, or `HelmChart/NAME` for a chart's folder.
    pub state: BTreeMap<String, String>,
    /// Where image facts come from and how image fields are written.
    pub images: ImageOptions,
    /// Schemes for your image names, tried before the built-in ones: forms (`golden-{os}{release}-{k8s}`), or regular expressions
    /// for whole names, with a named group for each part: `golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)`.
    pub names: Vec<String>,
    /// How selectors compare Kubernetes versions.
    pub matching: Matching,
    /// Whether an expression sees the results of other expressions (`lazy`) or their text (`exact`).
    pub evaluation: EvaluationOption,
    /// The version of Helm that deploys the values: 3, 4, or a minor as text, such as "3.17". It matters only for expressions
    /// that versions of Helm evaluate differently.
    pub helm: HelmVersion,
    /// The version of sylva-library that matches images, such as "0.3.5"; by default that of the chart in the repository, else 0.9.0.
    pub sylva_library: Option<String>,
    /// The files that `render` writes, and where.
    pub outputs: Vec<OutputOptions>,
    /// A folder of templates, `<target>/<file>`. Each replaces the embedded template of that name.
    pub templates: Option<String>,
    /// A folder of CustomResourceDefinitions to validate rendered objects with.
    pub schemas: Option<String>,
    /// How registries are queried: mirrors, certificates, limits.
    pub registries: RegistryOptions,
    /// How `metalmark update` learns what a version of the image builder offers.
    pub update: UpdateOptions,
    /// How `metalmark plan` spreads an upgrade over waves.
    pub plan: WaveOptions,
    /// Files and folders of manifests that `metalmark stamp` brings up to date in place.
    pub manifests: Vec<String>,
    /// Versions and images that belong together although no reference connects them.
    pub pairs: Vec<PairOptions>,
    /// Images for objects in manifests that have no marker. The first matching entry counts.
    pub stamps: Vec<StampOptions>,
    /// Levels of rules, and waivers.
    pub policy: PolicyOptions,
}

impl ProjectFile {
    /// Whether it says where clusters are: one that has only a policy, say, leaves that as it is without a project file.
    pub(super) fn has_clusters(&self) -> bool {
        !(self.clusters.is_empty()
            && self.manifests.is_empty()
            && self.pairs.is_empty()
            && self.stamps.is_empty())
    }
}

/// A Kubernetes version and the images of the machines that run it, each as `FILE#KEY.KEY`. In a file's path, `*` matches a part
/// of a name and `**` any folders; between keys, `*` matches each key or item and `**` any number of them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PairOptions {
    /// The files with the version, below the project's folder, and the keys to it: `*/csctl.yaml#config.kubernetesVersion`. The
    /// file is YAML, a `.env` file, or Markdown with blocks of YAML.
    pub version: String,
    /// The files with the images, below the folder of the file with the version, and the keys to each image:
    /// `cluster-class/values.yaml#images.**.name`. Without a file, it is the document with the version. Wildcards pair up from
    /// left to right: the first `*` matches the same key as the first `*` in `version`.
    pub image: String,
}

/// Which image some objects in manifests boot: the key of the image, or a selector.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct StampOptions {
    /// A pattern of the kind, such as `Metal3MachineTemplate`. Default: any kind.
    pub kind: Option<String>,
    /// A pattern of the name. Default: any name.
    pub name: Option<String>,
    /// A pattern of the namespace. Default: any namespace, or none.
    pub namespace: Option<String>,
    /// Labels that the object has.
    pub labels: BTreeMap<String, String>,
    /// Variables of a Cluster's topology or of a ClusterClass, and the property of the image for each: `url`, `checksum`,
    /// `checksum-type`, `format`, `key`, or a fact. `image.url` is the field `url` of the variable `image`.
    pub variables: BTreeMap<String, String>,
    /// The key of the image.
    pub image: Option<String>,
    /// Facts of the image and the pattern each must match; if it is known, the Kubernetes version of the machines is added.
    pub selector: BTreeMap<String, String>,
    /// The region of the machines, for images that are kept by region.
    pub region: Option<String>,
}

/// One cluster, or one for each file that a pattern matches.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ClusterSource {
    /// The cluster's name. Beside `each`, it is a template for the name of each match, with the variables of Argo CD's Git
    /// generator: `{{ path.segments[1] }}-{{ path.basename }}`. Use it if folders have the same name.
    pub name: Option<String>,
    /// Its own values layers, lowest first, over the shared ones.
    pub values: Vec<String>,
    /// A pattern of values files, or of folders if it ends with `/`. Each match is a cluster, named after its folder.
    pub each: Option<String>,
    /// The namespace of its objects. Default: the cluster's name.
    pub namespace: Option<String>,
    /// The name of its Helm release, `.Release.Name`; that of the HelmRelease or Application, else `sylva-units`.
    pub release: Option<String>,
    /// Its management cluster, which stores its objects and provides its state at run time. A cluster that manages itself has its
    /// own name here. Default: if only one cluster needs no such state, that one.
    pub management: Option<String>,
}

/// Where image facts come from and how image fields are written.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct ImageOptions {
    /// Files with image facts, such as an `os-images-info` ConfigMap, the strongest first; `oci-layout:FOLDER` for the
    /// annotations of the images in an OCI image layout; `https://…/` for the index page of a web server with image files and
    /// their checksum files, which `metalmark lock` queries. A name that ends with `.lock` is the lock; the default is
    /// `metalmark.lock`, if it exists.
    pub facts: Vec<String>,
    /// Images described here, by key: one record for every provider.
    pub records: BTreeMap<String, ImageRecord>,
    /// The URL that machines fetch an image from: a template with the variables `image` and `cluster`.
    pub url: Option<String>,
    /// The checksum itself, or the URL of a file that holds it.
    pub checksum: ChecksumStyle,
    /// Serve every image of the catalog, used or not.
    pub serve_all: bool,
}

/// Whether an expression sees the results of other expressions (`lazy`) or their text (`exact`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum EvaluationOption {
    /// Evaluated: what the author meant.
    #[default]
    Lazy,
    /// As text, evaluated again after printing: what Sylva's charts do.
    Exact,
}

/// A version of Helm: `3` and `4` are the newest of each; a minor is a text, since `3.20` without quotes is the number 3.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "serde_json::Value")]
#[schemars(
    with = "serde_json::Value",
    extend("enum" = [3, 4, "3.17", "3.18", "3.19", "3.20", "4.0", "4.1", "4.2", "4.3"])
)]
pub(super) struct HelmVersion(pub Option<Engine>);

impl From<serde_json::Value> for HelmVersion {
    /// A version of the schema's list.
    fn from(version: serde_json::Value) -> Self {
        Self(Some(match version.as_str() {
            Some("3.17" | "3.18") => Engine::Helm3_18,
            Some(minor) if minor.starts_with('4') => Engine::Helm4,
            None if version == 4 => Engine::Helm4,
            _ => Engine::Helm3,
        }))
    }
}

/// One output.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(super) struct OutputOptions {
    /// The target: `manifests`, `configmap`, `helm-values`, `flux`, `argocd`.
    pub target: String,
    /// The folder, relative to the project's. For files per cluster, it is a template that knows `cluster`.
    pub path: String,
    /// The target's own options.
    #[serde(flatten)]
    pub options: BTreeMap<String, serde_json::Value>,
}

/// How registries are queried. Credentials are never written here: they are those of `docker login` and `podman login`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct RegistryOptions {
    /// Mirrors to fetch artifacts from, for sites that cannot reach their registries: prefix to prefix, such as
    /// `registry.gitlab.com/sylva-projects: mirror.site.example:5000/sylva`, the longest wins; or to `oci-layout:DIR`, a folder
    /// with an OCI image layout. If the mirror lacks an artifact, metalmark does not query the registry instead.
    pub mirrors: BTreeMap<String, String>,
    /// Where copied artifacts were signed: maps their prefix to the prefix at that time, such as `registry.site.example/os:
    /// stage.site.example/os`; the longest match wins. Without it, a signature must name the requested artifact itself.
    pub signed_as: BTreeMap<String, String>,
    /// Settings of registries, by host and port.
    pub hosts: BTreeMap<String, HostOptions>,
    /// If the artifact is an index, the manifest for this architecture is used. Default: `amd64`.
    pub architecture: Option<String>,
    /// If the artifact is an index, the manifest for this operating system is used. Default: `linux`.
    pub os: Option<String>,
    /// If an index has several forms of one image, the manifest with this annotation `disktype` is used: `raw`, `qcow2`.
    pub disktype: Option<String>,
    /// The number of simultaneous requests. Default: 16.
    pub concurrency: Option<u32>,
}

/// Settings of one registry.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct HostOptions {
    /// A PEM file with certificates of authorities to trust for this host, in addition to the system's.
    pub ca: Option<String>,
    /// Access it without TLS.
    pub plain_http: bool,
    /// Accept any certificate. Anyone can then impersonate the registry.
    pub skip_verify: bool,
}

/// How `metalmark update` learns what a version of the image builder offers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UpdateOptions {
    /// The address of a release, or one for each builder by the name of its registry, with `VERSION` in place of its version,
    /// such as `https://gitlab.com/api/v4/projects/ID/releases/VERSION` or
    /// `https://api.github.com/repos/OWNER/NAME/releases/tags/VERSION`. It is queried without credentials. Without it, the
    /// registries are queried for their lists.
    pub releases: ReleaseOptions,
}

/// Levels of rules, and waivers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PolicyOptions {
    /// Levels for the whole project, by rule; `{level: …, OPTION: …}` sets options of the rule too.
    pub rules: RuleOptions,
    /// Levels and options of rules by pattern of `cluster` or `cluster/pool`. If two patterns match, the last in alphabetical
    /// order wins.
    pub clusters: BTreeMap<String, RuleOptions>,
    /// Findings that are accepted.
    pub waivers: Vec<WaiverOptions>,
    /// Public keys by name: each the path of a file, or PEM text.
    pub keys: BTreeMap<String, String>,
    /// Keys whose signatures do not count: names from `keys`, paths, PEM texts, or fingerprints (`sha256:…`) as in the lock.
    #[serde(rename = "denied-keys")]
    pub denied_keys: Vec<String>,
    /// The images that must be signed, whatever values files say: `required` for all of them, by the key that the values name; or a map
    /// from the start of their references, such as `registry.example.org/os`, or `*` for all others, to `required` or
    /// `{keys: […], need: any}`. The longest start counts.
    pub signatures: SignatureOptions,
    /// Which signatures images need, and from whom: of the image itself, of its source, of its contents.
    pub provenance: Vec<ProvenanceOptions>,
    /// The mildest judgment that fails a run: `by-name` accepts only proven node pools, `unproven` also those by name only,
    /// `unknown` all whose image could be compared.
    pub fail_on: Option<FailOn>,
}

/// A judgment that fails a run.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FailOn {
    /// Nothing could be compared.
    Unknown,
    /// Nothing proves that the image fits.
    Unproven,
    /// Only the image's name says that it fits.
    ByName,
}

/// Where releases are described.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ReleaseOptions {
    /// Those of every builder.
    All(String),
    /// Those of the builder of a registry's images.
    ByRegistry(BTreeMap<String, String>),
}

impl Default for ReleaseOptions {
    fn default() -> Self {
        Self::ByRegistry(BTreeMap::new())
    }
}

/// Which images must be signed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum SignatureOptions {
    /// All of them.
    All(Demand),
    /// Those whose reference starts with a prefix.
    Below(BTreeMap<String, SignatureDemandOptions>),
}

impl Default for SignatureOptions {
    fn default() -> Self {
        Self::Below(BTreeMap::new())
    }
}

/// What is demanded of images.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum SignatureDemandOptions {
    /// A signature under the key that the values name.
    Word(Demand),
    /// Signatures under keys of the project file.
    Keys(KeyOptions),
}

/// Keys, and how many of them must have signed an image.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyOptions {
    /// Names from `policy.keys`, paths of files, or PEM texts.
    pub keys: Vec<String>,
    /// How many of them must have signed: `any` (one), `all`, or a number.
    #[serde(default)]
    pub need: Need,
}

/// How many keys must have signed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Need {
    /// In a word.
    Word(NeedWord),
    /// This many.
    Count(u32),
}

impl Default for Need {
    fn default() -> Self {
        Self::Word(NeedWord::Any)
    }
}

/// How many keys must have signed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum NeedWord {
    /// One of them.
    Any,
    /// All of them.
    All,
}

/// What is demanded of images in a word.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Demand {
    /// A signature under the key that the values name.
    Required,
}

/// One accepted finding.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaiverOptions {
    /// The rule.
    pub rule: String,
    /// A pattern of `cluster`, `cluster/pool` or image key.
    #[serde(rename = "where")]
    pub pattern: String,
    /// Why it is accepted.
    pub reason: String,
    /// The last day it holds, `YYYY-MM-DD`.
    #[serde(default)]
    pub until: Option<String>,
}

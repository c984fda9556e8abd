//! A cluster as the rest of the program sees it: its versions, its node pools and the image that each one selects.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use capi::image::ImageKey;
use capi::labels::Labels;
use capi::location::Location;
use capi::objects::ManifestObject;
use capi::providers;
use capi::removals::Removal;
use capi::unknown::Unknown;
use yaml_tree::place::{Located, Place};
use yaml_tree::value::{Node, Value};

use super::endpoint::ControlPlaneEndpoint;
use super::selector::Selector;
use crate::model::name::{Means, SeenVersion};
use crate::model::selector::Library;
use crate::model::version::Version;

/// What a cluster was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterOrigin {
    /// Helm values with Sylva's keys.
    #[default]
    Values,
    /// Cluster API objects.
    Manifests,
}

/// One cluster, whether read from values or from manifests.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// What it was read from.
    pub origin: ClusterOrigin,
    /// The name that findings and output files use: the project file's or the folder's.
    pub name: Arc<str>,
    /// The cluster's own name in its values (`cluster.name`); names of objects start with it.
    pub object_name: Arc<str>,
    /// The namespace of its objects.
    pub namespace: Arc<str>,
    /// The labels of its object, where manifests have one.
    pub labels: Labels,
    /// `cluster.k8s_version`, evaluated.
    pub k8s_version: Option<Located<Arc<str>>>,
    /// `cluster.capi_providers.infra_provider`: `capm3`, `capo` ….
    pub infra_provider: Option<Located<Arc<str>>>,
    /// `cluster.capi_providers.bootstrap_provider`: `cabpk`, `cabpr`, `cabpck`, `cabpoa`.
    pub bootstrap_provider: Option<Located<Arc<str>>>,
    /// The values that decide about images and depend on a secret, in a clause that says on which.
    pub unknown_values: Vec<Located<Arc<str>>>,
    /// What each level wrote itself, before inheritance, in the order of docs/sylva.md#selection-levels.
    pub levels: Vec<ChoiceLevel>,
    /// The node pools that exist: the control plane first, then machine deployments by name.
    pub pools: Vec<Pool>,
    /// `cluster.install_image_key`: the image that the cluster is installed from, which no node pool boots.
    pub install_image: Option<Located<Arc<str>>>,
    /// `os_image_server_additional_selectors`, by name: served beside what pools choose, not finalized
    /// (docs/sylva.md#the-image-server).
    pub additional_selectors: Vec<(Arc<str>, Selector)>,
    /// `os_image_selector_autoselect_registries`, when set.
    pub autoselect_registries: Option<Arc<str>>,
    /// The version of sylva-library that its chart has.
    pub library: Library,
    /// `k8s_version_short`: the minor version by which Sylva's chart looks `k8s_version` up, where no level sets that
    /// (docs/sylva.md#what-is-added-to-a-selector).
    pub k8s_minor: Option<Located<Arc<str>>>,
    /// The chart's map of versions (`k8s_version_map`), as it evaluates for this cluster.
    pub k8s_versions: Vec<MappedVersion>,
    /// `os_images_default_download_storage_space`, such as `30Gi` (docs/sylva.md#the-image-server).
    pub default_storage: Option<Located<Arc<str>>>,
    /// How its API server is reached. None where neither the values nor the project request an endpoint: nothing was read then.
    pub endpoint: Option<Box<ControlPlaneEndpoint>>,
    /// The version of CAPM3 that Cluster API's operator installs, where the manifests name one.
    pub capm3: Option<Located<Arc<str>>>,
    /// The names that the Flux HelmRelease has had which composes its values, its own last; none where none does.
    pub helm_release: Vec<Arc<str>>,
    /// The name of the chart that its values are for, by its Chart.yaml; none where the repository does not have it.
    pub chart: Option<Arc<str>>,
    /// What its ClusterClass says of upgrades.
    pub upgrades: Upgrades,
    /// The objects that make it, where manifests do.
    pub objects: Vec<ClusterObject>,
}

/// Where values keep the Kubernetes version of each minor version.
pub const VERSION_MAPS: [&[&str]; 2] = [&["k8s_version_map"], &["_internal", "k8s_version_map"]];

/// An entry of the chart's map of Kubernetes versions.
#[derive(Clone, Debug)]
pub struct MappedVersion {
    /// Its path in the values: `_internal.k8s_version_map.1.31`.
    pub path: String,
    /// Its key: `1.31`.
    pub minor: Arc<str>,
    /// Its version, at the place of what is written, which may be an expression.
    pub version: Located<Arc<str>>,
    /// Which one of equal texts in the expression gives the version, where there are several and it is known.
    pub occurrence: Option<usize>,
}

/// An object that a cluster or one of its node pools is made from.
#[derive(Clone, Debug)]
pub struct ClusterObject {
    /// The node pool; none where it is the whole cluster.
    pub pool: Option<PoolName>,
    /// Whether Cluster API makes a copy of it for the cluster, as of what a ClusterClass names.
    pub is_copied: bool,
    /// Where a template that is not copied has its name.
    pub place: Place,
    /// The object as it is deployed. Its places are those of its own text.
    pub object: ManifestObject,
}

impl ClusterObject {
    /// Whether the machines of a pool are this object's, so that they go with it.
    pub fn owns_machines(&self) -> bool {
        let workers = ["MachineDeployment", "MachineSet", "MachinePool", "Machine"];
        let kind = &*self.object.kind;
        kind.ends_with("ControlPlane") || workers.contains(&kind)
    }
}

/// What a ClusterClass says of the versions of its clusters.
#[derive(Clone, Debug, Default)]
pub struct Upgrades {
    /// The versions that its clusters may run, from the oldest one; where there are none, any.
    pub versions: Vec<Located<Arc<str>>>,
    /// Whether a runtime extension plans the way from one version to another.
    pub is_planned: bool,
    /// What the control plane boots on its way: for each minor before the cluster's, the last version that is listed, where the image
    /// is known.
    pub steps: Vec<UpgradeStep>,
}

/// A version that Cluster API takes a cluster through.
#[derive(Clone, Debug)]
pub struct UpgradeStep {
    /// The version, where it is listed.
    pub version: Located<Arc<str>>,
    /// What names the image that the control plane boots then.
    pub image: Located<Arc<str>>,
}

impl Upgrades {
    /// Whether Cluster API takes a cluster through all of these minors by itself.
    pub fn pass(&self, minors: &[String]) -> bool {
        let versions = self.versions.iter();
        let known = versions.filter_map(|version| Version::parse(&version.value));
        let known: Vec<String> = known
            .map(|version| format!("{}.{}", version.major, version.minor))
            .collect();
        self.is_planned || minors.iter().all(|minor| known.contains(minor))
    }
}

impl Cluster {
    /// A cluster of which the values say nothing yet, or nothing that is known.
    pub fn empty(name: &Arc<str>, namespace: Arc<str>) -> Self {
        Self {
            origin: ClusterOrigin::Values,
            name: Arc::clone(name),
            object_name: Arc::clone(name),
            namespace,
            ..Self::default()
        }
    }

    /// The Kubernetes version that a pool's nodes are to run: its own, else the cluster's.
    pub fn k8s_version_of<'a>(&'a self, pool: &'a Pool) -> Option<&'a Located<Arc<str>>> {
        pool.k8s_version.as_ref().or(self.k8s_version.as_ref())
    }

    /// Its infrastructure provider, where nothing is known of one of that name.
    pub fn find_unknown_provider(&self) -> Option<&Located<Arc<str>>> {
        let named = self.infra_provider.as_ref();
        named.filter(|name| providers::find(&name.value).is_none())
    }

    /// Why an object of it is not the one that is deployed: of a node pool, or what no pool has, or of any.
    pub fn unbuilt(&self, pool: Option<&PoolName>) -> Option<Unknown> {
        let is_its = |one: &&ClusterObject| match (pool, &one.pool) {
            (Some(pool), Some(own)) => own == pool,
            _ => true,
        };
        let mut objects = self.objects.iter().filter(is_its);
        objects.find_map(|one| one.object.unknown)
    }

    /// The Kubernetes version of its control plane; of a hosted one, which is no pool, the cluster's.
    pub fn control_plane_version(&self) -> Option<&Located<Arc<str>>> {
        let mut pools = self.pools.iter();
        let own = pools.find(|pool| pool.name == PoolName::ControlPlane);
        own.map_or(self.k8s_version.as_ref(), |pool| self.k8s_version_of(pool))
    }

    /// The bootstrap provider of a pool's nodes: its own, else the cluster's.
    pub fn bootstrap_provider_of<'a>(&'a self, pool: &'a Pool) -> Option<&'a Located<Arc<str>>> {
        let own = pool.bootstrap_provider.as_ref();
        own.or(self.bootstrap_provider.as_ref())
    }

    /// The levels that a pool's choice is inherited from, the strongest first.
    pub fn levels_of<'a>(&'a self, pool: &'a Pool) -> impl Iterator<Item = &'a ChoiceLevel> {
        let names = pool.name.levels();
        let levels = self.levels.iter().rev();
        levels.filter(move |level| names.contains(&level.name))
    }

    /// The level where a pool's setting is written: the strongest one that wrote it, else the pool's own.
    pub fn writer(&self, pool: &Pool, wrote: impl Fn(&Choice) -> bool) -> LevelName {
        let mut levels = self.levels_of(pool);
        let writer = levels.find(|level| wrote(&level.choice));
        writer.map_or_else(|| pool.name.level(), |level| level.name.clone())
    }

    /// The pools that inherit a setting from a level, by their index: no stronger level writes it.
    pub fn inheriting(&self, level: &LevelName, wrote: impl Fn(&Choice) -> bool) -> Vec<usize> {
        if !self.levels.iter().any(|known| known.name == *level) {
            return Vec::new();
        }
        let is_shared = matches!(
            level,
            LevelName::Cluster | LevelName::MachineDeploymentDefault
        );
        let wrote = |known: &&ChoiceLevel| is_shared && wrote(&known.choice);
        let wrote = self.levels.iter().filter(wrote);
        let writers: BTreeSet<&LevelName> = wrote.map(|known| &known.name).collect();
        let inherits = |pool: &Pool| {
            let names = pool.name.levels();
            let mut stronger = names.iter().take_while(|name| *name != level);
            names.contains(level) && !stronger.any(|name| writers.contains(name))
        };
        let pools = self.pools.iter().enumerate();
        pools
            .filter(|(_, pool)| inherits(pool))
            .map(|(index, _)| index)
            .collect()
    }
}

/// A level of the values at which an image may be selected (docs/sylva.md#selection-levels).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LevelName {
    /// `cluster.<infra>`
    Cluster,
    /// `cluster.control_plane.<infra>`
    ControlPlane,
    /// `cluster.machine_deployment_default.<infra>`
    MachineDeploymentDefault,
    /// `cluster.machine_deployments.<name>.<infra>`
    MachineDeployment(Arc<str>),
}

impl LevelName {
    /// The keys from the root of the values to the level's provider settings.
    pub fn path<'a>(&'a self, infra: &'a str) -> Vec<&'a str> {
        match self {
            Self::Cluster => vec!["cluster", infra],
            Self::ControlPlane => vec!["cluster", "control_plane", infra],
            Self::MachineDeploymentDefault => vec!["cluster", "machine_deployment_default", infra],
            Self::MachineDeployment(name) => vec!["cluster", "machine_deployments", name, infra],
        }
    }
}

/// The settings of one level.
#[derive(Clone, Debug)]
pub struct ChoiceLevel {
    /// Which level.
    pub name: LevelName,
    /// Its own settings, before inheritance.
    pub choice: Choice,
}

/// How a level or a pool selects its image. Several ways at once are a finding (`choice-conflict`).
#[derive(Clone, Debug)]
pub struct Choice {
    /// `image_key`, or the proposal's `os_image_key`. An empty string selects no image (docs/sylva.md#selection-levels).
    pub key: Option<Located<Arc<str>>>,
    /// The name that the key is written under.
    pub key_name: &'static str,
    /// The key under its other name, where one level writes both and they differ.
    pub other_key: Option<Located<Arc<str>>>,
    /// `os_image_selector`, before finalizing.
    pub selector: Option<Located<Selector>>,
    /// `image_name`: the name that the provider's own store has for an image.
    pub name: Option<Located<Arc<str>>>,
    /// `machine_image_url`
    pub url: Option<Located<Arc<str>>>,
    /// The image that the project serves at that URL, by `images.url`.
    pub served: Option<ImageKey>,
    /// What the name or the URL is a part of, where the provider is known.
    pub location: Option<Location>,
    /// `machine_image_format`
    pub format: Option<Located<Arc<str>>>,
    /// `machine_image_checksum`: a literal or a URL.
    pub checksum: Option<Located<Arc<str>>>,
    /// `machine_image_checksum_type`. The chart's default alone selects nothing.
    pub checksum_type: Option<Located<Arc<str>>>,
    /// Whether another program fills in what describes the image beside its name, so that what is missing here may be there.
    pub is_open: bool,
}

/// The names of an image's key: Sylva's, and the proposal's.
pub const KEY_NAMES: [&str; 2] = ["image_key", "os_image_key"];

/// No selection.
impl Default for Choice {
    fn default() -> Self {
        Self {
            key: None,
            key_name: KEY_NAMES[0],
            other_key: None,
            selector: None,
            name: None,
            url: None,
            served: None,
            location: None,
            format: None,
            checksum: None,
            checksum_type: None,
            is_open: false,
        }
    }
}

impl Choice {
    /// Whether it selects an image at all.
    pub fn is_made(&self) -> bool {
        self.key.as_ref().is_some_and(|key| !key.value.is_empty())
            || self.selector.is_some()
            || self.url.is_some()
            || self.name.is_some()
    }

    /// Where the image is selected: the place of the key, the selector, the URL or the name.
    pub fn place(&self) -> Place {
        let key = self.key.as_ref().filter(|key| !key.value.is_empty());
        let key = key.map(|key| key.place);
        let selector = self.selector.as_ref().map(|selector| selector.place);
        let url = self.url.as_ref().map(|url| url.place);
        let name = self.name.as_ref().map(|name| name.place);
        key.or(selector).or(url).or(name).unwrap_or(Place::NONE)
    }
}

/// A set of nodes that boot one image.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Which pool.
    pub name: PoolName,
    /// Its choice after inheritance (docs/sylva.md#selection-levels).
    pub choice: Choice,
    /// Its component bundle, after the same inheritance.
    pub bundle: BundleChoice,
    /// Where the pool is named in the values.
    pub place: Place,
    /// `control_plane_replicas` or the machine deployment's `replicas`.
    pub replicas: Option<Located<u32>>,
    /// Its own Kubernetes version, where the pool sets one; else the cluster's counts.
    pub k8s_version: Option<Located<Arc<str>>>,
    /// Its own bootstrap provider, where manifests name one; else the cluster's counts.
    pub bootstrap_provider: Option<Located<Arc<str>>>,
    /// The provider's settings of the pool, merged and evaluated (`hostSelector`, `nodeReuse` …).
    pub settings: Node,
    /// The machine template that manifests name for it; none of values, whose templates get a new name with each change, and
    /// none of a ClusterClass, whose templates are copied.
    pub template: Option<NamedTemplate>,
    /// The texts of its machine template that seem to name a Kubernetes version.
    pub seen: Vec<SeenText>,
    /// The texts of its bootstrap configuration that install Kubernetes when a machine boots.
    pub installed: Vec<Installed>,
    /// What its machines do when they boot that is not read, so that it may install anything.
    pub unread_boot: Vec<Located<UnreadBoot>>,
    /// What its configuration names that some minor of Kubernetes has no more.
    pub removable: Vec<Located<&'static Removal>>,
    /// The releases of Talos that it installs: `1.12.4`.
    pub talos: Vec<Located<Arc<str>>>,
    /// Why it is not known which image the pool boots, where that cannot be known.
    pub unknown: Option<Unknown>,
}

impl Pool {
    /// A pool that chooses nothing yet.
    pub fn new(name: PoolName, place: Place) -> Self {
        Self {
            name,
            choice: Choice::default(),
            bundle: BundleChoice::default(),
            place,
            replicas: None,
            k8s_version: None,
            bootstrap_provider: None,
            settings: Node::from_value(Value::empty_map()),
            template: None,
            seen: Vec::new(),
            installed: Vec::new(),
            unread_boot: Vec::new(),
            removable: Vec::new(),
            talos: Vec::new(),
            unknown: None,
        }
    }

    /// A pool of which a secret decides what it boots.
    pub fn forget_image(&mut self) {
        self.choice = Choice::default();
        self.k8s_version = None;
        self.installed.clear();
        self.removable.clear();
        self.unknown = Some(Unknown::Secret);
    }
}

/// A text of a machine template that seems to name a Kubernetes version.
#[derive(Clone, Debug)]
pub struct SeenText {
    /// The text.
    pub text: Located<Arc<str>>,
    /// The version in it.
    pub version: SeenVersion,
    /// Whether it is what names the image.
    pub is_image: bool,
}

/// A text of a bootstrap configuration that installs Kubernetes when a machine boots.
#[derive(Clone, Debug)]
pub struct Installed {
    /// What it says: `kubelet=1.31.6-1.1`.
    pub text: Located<Arc<str>>,
    /// The version in it.
    pub version: SeenVersion,
    /// How it comes onto the machine.
    pub means: Means,
}

/// Why a part of what a machine does when it boots is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadBoot {
    /// Secrets are never read.
    Secret,
    /// Another object has it.
    Object,
    /// It cannot be decoded.
    Encoded,
}

impl fmt::Display for UnreadBoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Secret => "it depends on a secret",
            Self::Object => "another object has it",
            Self::Encoded => "its encoding cannot be decoded",
        })
    }
}

/// A machine template that is referred to by its name.
#[derive(Clone, Debug)]
pub struct NamedTemplate {
    /// Its `apiVersion`.
    pub api_version: Arc<str>,
    /// Its `kind`.
    pub kind: Arc<str>,
    /// Its name.
    pub name: Located<Arc<str>>,
    /// Where the pool refers to it.
    pub reference: Place,
    /// The spec of its machines.
    pub spec: Node,
}

/// The name of a node pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PoolName {
    /// The control plane.
    ControlPlane,
    /// A machine deployment, by its key.
    MachineDeployment(Arc<str>),
}

impl PoolName {
    /// The levels that its choice is inherited from, the strongest first.
    fn levels(&self) -> Vec<LevelName> {
        match self {
            Self::ControlPlane => vec![LevelName::ControlPlane, LevelName::Cluster],
            Self::MachineDeployment(_) => vec![
                self.level(),
                LevelName::MachineDeploymentDefault,
                LevelName::Cluster,
            ],
        }
    }

    /// The pool's own level of the values.
    pub fn level(&self) -> LevelName {
        match self {
            Self::ControlPlane => LevelName::ControlPlane,
            Self::MachineDeployment(name) => LevelName::MachineDeployment(Arc::clone(name)),
        }
    }
}

/// `control-plane`, or the machine deployment's name.
impl fmt::Display for PoolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ControlPlane => f.write_str("control-plane"),
            Self::MachineDeployment(name) => f.write_str(name),
        }
    }
}

/// How a pool says which component bundle it gets.
#[derive(Clone, Debug, Default)]
pub struct BundleChoice {
    /// `component_bundle_key`, or the proposal's `componentsBundle`. An empty string selects none.
    pub key: Option<Located<Arc<str>>>,
    /// `component_bundle_selector`; one without terms takes whatever fits.
    pub selector: Option<Located<Selector>>,
    /// `component_bundle_env`: variables of the installer, beside those of the catalog and before them.
    pub env: Vec<(Arc<str>, Located<Arc<str>>)>,
}

impl BundleChoice {
    /// The place of the selection.
    pub fn place(&self) -> Place {
        let key = self.explicit_key().map(|key| key.place);
        let selector = self.selector.as_ref().map(|selector| selector.place);
        key.or(selector).unwrap_or(Place::NONE)
    }

    /// The key, where one is named.
    pub fn explicit_key(&self) -> Option<&Located<Arc<str>>> {
        self.key.as_ref().filter(|key| !key.value.is_empty())
    }
}

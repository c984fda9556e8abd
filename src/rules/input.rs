//! What rules see of one cluster, and of all of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Image, ImageKey, Images};
use capi::labels::LabelSelector;
use capi::providers::{self, Provider};
use oci_artifacts::{Address, is_oci};
use yaml_tree::place::{Located, Place, Sources, Spot};

use crate::decide::image_server::Artifact;
use crate::decide::proof;
use crate::model::cluster::{Choice, ClusterOrigin, Pool};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::endpoint::{ControlPlaneEndpoint, Endpoint};
use crate::model::finding::Subject;
use crate::model::lock::{Lock, SignedEntries, is_lockable};
use crate::model::rule::{RuleId, RuleOption};
use crate::model::selection::Outcome;
use crate::model::settings::Settings;

/// What a rule sees of one cluster.
pub struct ClusterInput<'a> {
    /// The cluster, read and resolved.
    pub view: &'a ClusterView,
    /// The project's settings.
    pub settings: &'a Settings,
    /// The pools that resolve to an image of the catalog, with that image: looked up once for all rules.
    chosen: Vec<ChosenImage<'a>>,
}

/// A pool, its image and the version that it is to run.
pub struct Comparison<'a> {
    /// The pool.
    pub pool: &'a Pool,
    /// The image's key or name.
    pub image: &'a str,
    /// The version.
    pub wanted: &'a Located<Arc<str>>,
}

/// A pool that resolves to an image of the catalog.
#[derive(Clone, Copy)]
pub struct ChosenImage<'a> {
    /// The pool.
    pub pool: &'a Pool,
    /// The image.
    pub image: &'a Image,
}

/// Which clusters a run reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunScope {
    /// All of them, and there are some.
    Fleet,
    /// There is none.
    NoCluster,
    /// A part: what none of them does, others may do.
    Part,
}

/// What a rule sees of the whole.
pub struct WorkspaceInput<'a> {
    /// Whether the uses are those of all clusters.
    pub run_scope: RunScope,
    /// What these clusters use.
    pub uses: &'a ImageUse,
    /// The catalog that all clusters share, resolved once with the shared layers alone.
    pub images: &'a Images,
    /// The files that the shared catalog's places point into.
    pub sources: &'a Sources,
    /// The project's settings.
    pub settings: &'a Settings,
    /// Whether any source of image facts is named.
    pub facts_given: bool,
    /// The lock and the files that its places point into, where the project has one.
    pub lock: Option<(&'a Lock, &'a Sources)>,
}

/// What clusters use: sets, so that memory does not grow with the number of clusters.
#[derive(Clone, Debug, Default)]
pub struct ImageUse {
    /// The images of their pools.
    pub booted: BTreeSet<ImageKey>,
    /// The images served for them.
    pub served: BTreeSet<ImageKey>,
    /// Whether one of their pools selects an image of the catalog, and it is not known which.
    pub is_partial: bool,
    /// Where the digests of their catalogs' images start in the lock.
    pub locked: BTreeSet<u32>,
    /// The images of their catalogs that the lock does not hold, where there is one.
    pub unlocked: BTreeSet<ImageKey>,
    /// The entries of the lock that their keys apply to.
    pub signed: SignedEntries,
    /// The entries of `policy.clusters` that match one of them, or one of their pools, by their numbers.
    pub scopes: BTreeSet<usize>,
    /// Who has each control plane endpoint: `192.0.2.10:6443`.
    pub endpoints: BTreeMap<String, BTreeSet<EndpointUser>>,
    /// The flavors of Kubernetes that they run.
    pub flavors: BTreeSet<&'static str>,
    /// The maps of Kubernetes versions, by where their entries are, each with the first cluster that has it.
    pub maps: BTreeMap<String, Arc<str>>,
    /// The images that management clusters have to serve, each with the first cluster that boots it.
    pub fetched: BTreeMap<Arc<str>, BTreeMap<Artifact, Arc<str>>>,
}

/// A cluster that has an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndpointUser {
    /// The name of its object; that of the cluster where values describe it. Of manifests one name in two folders may be one cluster.
    pub object: Arc<str>,
    /// The cluster.
    pub cluster: Arc<str>,
}

impl ImageUse {
    /// Adds what others use.
    pub fn add(&mut self, other: Self) {
        self.booted.extend(other.booted);
        self.served.extend(other.served);
        self.is_partial |= other.is_partial;
        self.locked.extend(other.locked);
        self.unlocked.extend(other.unlocked);
        self.flavors.extend(other.flavors);
        self.scopes.extend(other.scopes);
        for (map, cluster) in other.maps {
            let first = self.maps.entry(map).or_insert_with(|| Arc::clone(&cluster));
            *first = Arc::clone(first).min(cluster);
        }
        self.signed.keyed.extend(other.signed.keyed);
        self.signed.unproven.extend(other.signed.unproven);
        for (endpoint, users) in other.endpoints {
            self.endpoints.entry(endpoint).or_default().extend(users);
        }
        for (management, artifacts) in other.fetched {
            let known = self.fetched.entry(management).or_default();
            for (artifact, cluster) in artifacts {
                let first = known
                    .entry(artifact)
                    .or_insert_with(|| Arc::clone(&cluster));
                *first = Arc::clone(first).min(cluster);
            }
        }
    }
}

impl<'a> ClusterInput<'a> {
    /// A cluster, as it was read and resolved.
    pub fn new(view: &'a ClusterView, settings: &'a Settings) -> Self {
        let chosen = view.pools().filter_map(
            |SelectedPool {
                 pool, selection, ..
             }| {
                let image = view.selected_image(selection)?;
                Some(ChosenImage { pool, image })
            },
        );
        Self {
            view,
            settings,
            chosen: chosen.collect(),
        }
    }

    /// The pools with the results of their selections.
    pub fn pools(&self) -> impl Iterator<Item = SelectedPool<'a>> + use<'a> {
        self.view.pools()
    }

    /// A pool with the two sides that its judgment is about; none of one that lacks either.
    pub fn comparison(&self, it: SelectedPool<'a>) -> Option<Comparison<'a>> {
        Some(Comparison {
            pool: it.pool,
            image: proof::image_name(it.pool, it.selection)?,
            wanted: self.view.cluster.k8s_version_of(it.pool)?,
        })
    }

    /// The pools that resolve to an image of the catalog, with that image.
    pub fn pool_images(&self) -> impl Iterator<Item = ChosenImage<'a>> + use<'a, '_> {
        self.chosen.iter().copied()
    }

    /// The pools that give `machine_image_url` and the rest themselves, with that URL.
    pub fn explicit(&self) -> impl Iterator<Item = (&'a Pool, &'a Located<Arc<str>>)> + use<'a> {
        self.pools()
            .filter(|it| matches!(it.selection.outcome, Outcome::Explicit(_)))
            .filter_map(|it| it.pool.choice.url.as_ref().map(|url| (it.pool, url)))
    }

    /// The infrastructure provider's key in the values; Metal3's where none is set.
    pub fn infra(&self) -> &'a str {
        self.view
            .cluster
            .infra_provider
            .as_ref()
            .map_or("capm3", |provider| &provider.value)
    }

    /// The infrastructure provider of a pool's machines; none of a template that metalmark does not know.
    pub fn provider(&self, pool: &Pool) -> Option<&'static dyn Provider> {
        if let Some(template) = &pool.template {
            return providers::find_by_kind(&template.kind);
        }
        if self.is_of_values() {
            providers::find(self.infra())
        } else {
            providers::find(&self.view.cluster.infra_provider.as_ref()?.value)
        }
    }

    /// Whether a pool's machines are Metal3's.
    pub fn is_metal3(&self, pool: &Pool) -> bool {
        let provider = self.provider(pool);
        provider.is_some_and(|provider| provider.data().name == "capm3")
    }

    /// A field of a pool's image as the cluster's files spell it: in values, or in a machine template.
    pub fn field_name(&self, in_values: &'static str, in_template: &'static str) -> &'static str {
        if self.is_of_values() {
            in_values
        } else {
            in_template
        }
    }

    /// Whether values describe the cluster, and not manifests.
    pub fn is_of_values(&self) -> bool {
        self.view.cluster.origin == ClusterOrigin::Values
    }

    /// Where the checksum of a pool's image is written, or would be.
    pub fn checksum_path(&self, pool: &Pool, wrote: impl Fn(&Choice) -> bool) -> String {
        if self.is_of_values() {
            self.path(pool, "machine_image_checksum", wrote)
        } else {
            "image.checksum".to_owned()
        }
    }

    /// The values' path of a setting: at the strongest level of the pool that wrote it, else where the pool would write it.
    pub fn path(&self, pool: &Pool, setting: &str, wrote: impl Fn(&Choice) -> bool) -> String {
        let level = self.view.cluster.writer(pool, wrote);
        format!("{}.{setting}", level.path(self.infra()).join("."))
    }

    /// Whether nodes pull an image from its registry themselves, so that no checksum is stamped
    /// (docs/sylva.md#machine-templates).
    pub fn is_pulled(&self, image: &Image) -> bool {
        if let Some(own) = self.settings.images.own_url(image) {
            return is_oci(own);
        }
        let template = self.settings.images.url.trim_start();
        let uri = image.uri.as_ref().map_or("", |uri| &uri.value);
        let is_own = ["{{ image.uri", "{{ image.pinned"]
            .iter()
            .any(|it| template.starts_with(it));
        is_oci(template) || is_own && is_oci(uri)
    }

    /// Whether a component bundle brings Kubernetes onto a pool's image: `component-mismatch` says what does not fit.
    pub fn is_brought(&self, it: SelectedPool<'a>) -> bool {
        let booted = proof::booted_image(self.view, it.pool, it.selection);
        let facts = booted.map_or_else(Cow::default, |booted| booted.facts);
        self.view.bringing_bundle(it.pool, &facts).is_some()
    }

    /// The control plane endpoint, where there is one.
    pub fn endpoint(&self) -> Option<(&'a ControlPlaneEndpoint, &'a Endpoint)> {
        let found = self.view.cluster.endpoint.as_deref()?;
        Some((found, found.endpoint.as_ref()?))
    }

    /// The labels by which a pool's machines claim hosts; none where the provider makes its machines.
    pub fn host_selector(&self, pool: &Pool) -> Option<LabelSelector> {
        providers::find(self.infra())?.hosts_of(&pool.settings)
    }

    /// Whether `metalmark lock` would learn an image's facts: it has a reference into a registry, and is not locked for it.
    pub fn could_lock(&self, image: &Image) -> bool {
        let holds = |lock: &Lock, uri: &Address| lock.get(&image.key, uri).is_some();
        let locked = self.view.lock.as_ref().zip(image.uri.as_ref());
        is_lockable(image) && !locked.is_some_and(|(lock, uri)| holds(lock, &uri.value))
    }

    /// A place with its file.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        self.view.sources.resolve(place)
    }

    /// The value of a rule's option for a pool.
    pub fn option(&self, rule: RuleId, option: &RuleOption, pool: &Pool) -> u32 {
        let policy = &self.settings.policy;
        policy.option(rule, option, &self.subject(Some(pool)))
    }

    /// The subject of a finding about the cluster, or one of its pools.
    pub fn subject(&self, pool: Option<&Pool>) -> Subject {
        Subject {
            pool: pool.map(|pool| pool.name.to_string()),
            ..Subject::cluster(&self.view.cluster.name)
        }
    }

    /// The subject of a finding about a pool and the image it boots.
    pub fn subject_with(&self, pool: &Pool, image: &str) -> Subject {
        Subject {
            image: Some(image.to_string()),
            ..self.subject(Some(pool))
        }
    }
}

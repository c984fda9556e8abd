//! The steps by which a cluster reaches another Kubernetes version: one minor at a time, each with the image of every pool.
//!
//! A control plane goes up by one minor at a time, and a node is never newer than its control plane
//! (<https://kubernetes.io/releases/version-skew-policy/>): in each step all pools of a cluster go to one version. Which image may
//! follow which is the law of [`super::replacement`], as everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use capi::image::{Image, ImageKey, Images, fact};
use capi::labels::Labels;
use capi::providers;
use serde::Serialize;

use super::followers::{
    Followers, LackingImage, LetIn, PoolImages, Versioned, images_to_build, is_let_in,
};
use super::image_server::{Artifact, Boots, BootsAfter};
use super::matching::{self, PatternCache, REGISTRY_KEY};
use super::proof;
use super::removals::find_removed;
use crate::model::cluster::{Pool, PoolName};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::date::{Date, build_day};
use crate::model::judgment::Grade;
use crate::model::selection::Outcome;
use crate::model::selector::{Matching, Selector, Wanted};
use crate::model::version::Version;

/// What clusters are to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A minor version: its major and its minor.
    Minor(u32, u32),
    /// The newest patch of the minor that each runs.
    Patches,
    /// The same, where an image was built before this day; only of images that were not.
    BuiltSince(Date),
}

impl Goal {
    /// The day on which images are to be built, or later.
    pub fn earliest_day(self) -> Option<Date> {
        match self {
            Self::BuiltSince(day) => Some(day),
            Self::Minor(..) | Self::Patches => None,
        }
    }
}

impl FromStr for Goal {
    type Err = String;

    /// A minor: `1.33`, with or without `v`. There is no major version of Kubernetes but the first, and no way to another. Cluster API
    /// runs none of the first minors: `1.3` is a number that lost its last digit.
    fn from_str(text: &str) -> Result<Self, String> {
        match Version::parse(text) {
            Some(Version {
                major: major @ 1,
                minor: minor @ 10..,
                patch: None,
                prerelease: None,
                build: None,
            }) => Ok(Self::Minor(major, minor)),
            _ => Err("a goal is a minor version of Kubernetes, such as 1.33".to_owned()),
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minor(major, minor) => write!(f, "{major}.{minor}"),
            Self::Patches => f.write_str("the newest patch"),
            Self::BuiltSince(day) => write!(f, "images built since {day}"),
        }
    }
}

/// The way of one cluster.
#[derive(Debug, Default, Serialize)]
pub struct ClusterPlan {
    /// The cluster.
    pub cluster: Arc<str>,
    /// The version that its pools run; none where it cannot be planned.
    pub from: Option<String>,
    /// Its machines; none where a pool does not say how many it has.
    pub machines: Option<usize>,
    /// The labels of its object.
    #[serde(skip)]
    pub labels: Labels,
    /// What its machines boot from an image server, now and after each step.
    #[serde(skip)]
    pub boots: Boots,
    /// What it does, in order.
    pub steps: Vec<PlanStep>,
    /// What stops it before the goal.
    pub blocked: Option<Blocked>,
    /// What is to be built for the minor that it stops before, and for those behind it.
    #[serde(skip)]
    pub to_build: Vec<LackingImage>,
}

/// All pools of a cluster go to one version.
#[derive(Debug, Serialize)]
pub struct PlanStep {
    /// The version, as its images declare it.
    pub version: String,
    /// Its major and minor.
    #[serde(skip)]
    pub minor: (u32, u32),
    /// The image of each pool.
    pub images: BTreeMap<String, ImageKey>,
    /// The registries of images that selectors do not let in, where no image of the minor is of one that they do, with the pools.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub let_in: BTreeMap<Arc<str>, Vec<String>>,
    /// What the configurations of its machines name that this version has no more, and the one before had.
    pub removed: Vec<RemovedName>,
}

/// What a step removes from under a node pool.
#[derive(Debug, Serialize)]
pub struct RemovedName {
    /// The pool.
    pub pool: String,
    /// What is named, in words.
    pub name: String,
    /// Where: `edge.yaml:12:9`.
    pub at: Option<String>,
}

/// What a step from one version to the next removes.
fn find_removals(view: &ClusterView, from: &Version, to: &Version) -> Vec<RemovedName> {
    let pools = view.cluster.pools.iter();
    let names = pools.flat_map(|pool| {
        let gone = find_removed(pool, to).filter(|used| used.value.minor > from.minor);
        gone.map(|used| RemovedName {
            pool: pool.name.to_string(),
            name: used.value.to_string(),
            at: view
                .sources
                .resolve(used.place)
                .map(|spot| spot.to_string()),
        })
    });
    names.collect()
}

/// Why a step is not possible.
#[derive(Debug, Serialize)]
pub struct Blocked {
    /// The minor version that it would go to; none where the cluster cannot be planned at all.
    pub before: Option<String>,
    /// In words.
    pub reason: String,
    /// The images that no image of that minor follows in their line, by pool.
    pub lacking: BTreeMap<String, ImageKey>,
}

/// Plans one cluster, with the images that it may move to, or why it may move to none.
pub fn for_cluster(view: &ClusterView, images: Result<&Images, String>, goal: Goal) -> ClusterPlan {
    let pools = view.cluster.pools.iter();
    let machines = pools.map(|pool| Some(pool.replicas.as_ref()?.value as usize));
    let mut plan = ClusterPlan {
        cluster: Arc::clone(&view.cluster.name),
        machines: machines.sum(),
        labels: view.cluster.labels.clone(),
        boots: Boots::from_view(view),
        ..ClusterPlan::default()
    };
    let current = current(view).and_then(|current| match goal.earliest_day() {
        Some(day) => is_built_since(day, &current.1).map(|is| (current, is)),
        None => Ok((current, false)),
    });
    let ((mut version, mut booted), is_there, images) =
        match current.and_then(|(current, is_there)| Ok((current, is_there, images?))) {
            Ok(current) => current,
            Err(reason) => {
                plan.blocked = Some(Blocked {
                    before: None,
                    reason,
                    lacking: BTreeMap::new(),
                });
                return plan;
            }
        };
    plan.from = Some(version.to_string());
    let last = match goal {
        _ if is_there => return plan,
        Goal::Patches | Goal::BuiltSince(_) => version.minor,
        Goal::Minor(major, minor) if major == version.major => minor,
        Goal::Minor(..) => return plan,
    };
    // Within its own minor there may be a newer patch; any later step goes up one minor.
    let first = if version.minor == last {
        version.minor
    } else {
        version.minor + 1
    };
    let known = images;
    let provider = view.cluster.infra_provider.as_ref();
    let provider = provider.and_then(|provider| providers::find(&provider.value));
    let locations = provider.map(|provider| providers::locations_of(provider.data()));
    let lies_there = |image: &&Image| {
        let locations = locations.as_ref();
        locations.is_none_or(|locations| image.facts.may_lie_at(locations))
    };
    // What the cluster's provider has no way to fetch follows nothing.
    let images = known.values().filter(lies_there);
    let images = images.filter_map(|it| Some((any_version(it)?, it)));
    let images: Vec<Versioned<'_>> = images.collect();
    let (let_in, all) = (let_in(view, known), LetIn::new());
    for minor in first..=last {
        let goal_minor = (version.major, minor);
        let step = |let_in| step(&images, &booted, let_in, goal_minor, goal.earliest_day());
        match step(&let_in).or_else(|_| step(&all)) {
            Ok((next, chosen)) if next != version || differ(&booted, &chosen) => {
                let named = chosen
                    .iter()
                    .map(|(pool, image)| (pool.to_string(), Arc::clone(&image.key)));
                plan.steps.push(PlanStep {
                    version: next.to_string(),
                    minor: (next.major, next.minor),
                    images: named.collect(),
                    let_in: registries_to_let_in(&let_in, &chosen),
                    removed: find_removals(view, &version, &next),
                });
                if !plan.boots.now.is_empty() {
                    plan.boots.steps.push(BootsAfter {
                        minor: (next.major, next.minor),
                        artifacts: chosen.values().copied().map(Artifact::from_image).collect(),
                    });
                }
                (version, booted) = (next, chosen);
            }
            Ok(_) => {}
            Err(blocked) => {
                plan.blocked = Some(blocked);
                let since = goal.earliest_day();
                plan.to_build =
                    images_to_build(&images, &booted, version.major, minor..=last, since);
                break;
            }
        }
    }
    plan
}

/// A node pool, and what decides which version it runs.
#[derive(Debug, PartialEq)]
pub struct PoolState {
    /// The pool.
    pub name: PoolName,
    /// The Kubernetes version that it is to run.
    pub version: Option<Arc<str>>,
    /// What it selects.
    pub outcome: Outcome,
    /// The image of the catalog that it boots.
    pub image: Option<ImageKey>,
}

/// The pools of a cluster.
pub fn states(view: &ClusterView) -> Vec<PoolState> {
    let pools = view.pools();
    let states = pools.map(
        |SelectedPool {
             pool, selection, ..
         }| PoolState {
            name: pool.name.clone(),
            version: view
                .cluster
                .k8s_version_of(pool)
                .map(|version| Arc::clone(&version.value)),
            outcome: selection.outcome.clone(),
            image: view
                .described_image(selection)
                .map(|image| Arc::clone(&image.key)),
        },
    );
    states.collect()
}

/// The version that all pools of a cluster run; none where it is not known.
pub fn running_version(view: &ClusterView) -> Option<Version> {
    current(view).ok().map(|(version, _)| version)
}

/// The version that all pools run, proven by their images.
fn current(view: &ClusterView) -> Result<(Version, PoolImages<'_>), String> {
    let mut booted = BTreeMap::new();
    let mut common: Option<Version> = None;
    let named = |it: &SelectedPool<'_>| match proof::image_name(it.pool, it.selection) {
        Some(image) => format!("image `{image}` of node pool `{}`", it.pool.name),
        None => format!("the image of node pool `{}`", it.pool.name),
    };
    if let Some(open) = view.pools().find(|it| it.judgment.grade() > Grade::ByName) {
        return Err(format!("{} is {}", named(&open), open.judgment));
    }
    for it in view.pools() {
        let named = named(&it);
        let SelectedPool {
            pool,
            selection,
            judgment,
            ..
        } = it;
        let image = view.described_image(selection);
        let Some((image, version)) = image.and_then(|image| Some((image, version_of(image)?)))
        else {
            return Err(format!(
                "{named} is {judgment}, and no record describes it: what may follow it is not known"
            ));
        };
        if !is_required(view, pool, &version) {
            return Err(format!(
                "{named} is {judgment}: run `metalmark lock`, so that its build is known"
            ));
        }
        match &common {
            Some(known) if *known != version => {
                return Err(format!(
                    "its node pools run `{known}` and `{version}`: bring them to one version first"
                ));
            }
            _ => common = Some(version),
        }
        booted.insert(&pool.name, image);
    }
    common
        .map(|version| (version, booted))
        .ok_or_else(|| "it has no node pool".to_owned())
}

/// The images that a cluster lets in by their registry: those of the registries of the images that its keys name, and those that its
/// selectors let in. None where a pool lets in all.
pub fn cluster_let_in(view: &ClusterView) -> Option<BTreeSet<ImageKey>> {
    let images = &view.images;
    let of_selectors = let_in(view, images);
    let of_key = |it: &SelectedPool<'_>| {
        let is_key = it.pool.choice.selector.is_none();
        let named = view.selected_image(it.selection).filter(|_| is_key)?;
        let registry = named.facts.text(REGISTRY_KEY)?;
        let alike = images.values();
        let alike = alike.filter(|image| image.facts.text(REGISTRY_KEY) == Some(registry));
        Some(alike.map(|image| Arc::clone(&image.key)).collect())
    };
    let of_pool = |it: SelectedPool<'_>| {
        let of_selector = of_selectors.get(&it.pool.name).cloned();
        of_selector.or_else(|| of_key(&it))
    };
    let all: Vec<BTreeSet<ImageKey>> = view.pools().map(of_pool).collect::<Option<_>>()?;
    (!all.is_empty()).then(|| all.into_iter().flatten().collect())
}

/// The images that the selectors of pools let in by their registry. Which one that is, is Sylva's or a user's choice of a release; all
/// other terms are what a step may not change anyway, or moves.
fn let_in<'v>(view: &'v ClusterView, images: &Images) -> LetIn<'v> {
    let patterns = PatternCache::default();
    let of_pool = |it: SelectedPool<'v>| {
        let term = it.selection.finalized.term(REGISTRY_KEY);
        // What is added where nothing else is said.
        let term = term.filter(|term| term.wanted != Wanted::Pattern(".*".into()))?;
        let registry = Selector {
            terms: vec![term.clone()],
        };
        let library = view.cluster.library;
        let keys = matching::matching(&registry, library, images, Matching::Exact, &patterns);
        Some((&it.pool.name, keys.ok()?.into_iter().collect()))
    };
    view.pools().filter_map(of_pool).collect()
}

/// The registries of images that are not let in, with the pools.
fn registries_to_let_in(
    let_in: &LetIn<'_>,
    chosen: &PoolImages<'_>,
) -> BTreeMap<Arc<str>, Vec<String>> {
    let mut registries: BTreeMap<Arc<str>, Vec<String>> = BTreeMap::new();
    for (pool, image) in chosen {
        if !is_let_in(let_in, pool, image) {
            let registry = image.facts.text(REGISTRY_KEY).unwrap_or_default();
            let pools = registries.entry(registry.into()).or_default();
            pools.push(pool.to_string());
        }
    }
    registries
}

/// Whether the values require what an image holds.
fn is_required(view: &ClusterView, pool: &Pool, version: &Version) -> bool {
    let required = view.cluster.k8s_version_of(pool);
    let required = required.and_then(|required| Version::parse(&required.value));
    required.is_some_and(|required| required.admits(version))
}

/// The newest version of a minor that every pool has an image for, and these images.
fn step<'v>(
    images: &'v [Versioned<'v>],
    booted: &PoolImages<'v>,
    let_in: &'v LetIn<'_>,
    minor: (u32, u32),
    since: Option<Date>,
) -> Result<(Version, PoolImages<'v>), Blocked> {
    let followers = Followers::find(images, booted, let_in, minor, since);
    if let Some((version, chosen)) = followers.newest() {
        return Ok((version.clone(), chosen));
    }
    let lacking = followers.ends();
    Err(Blocked {
        before: Some(format!("{}.{}", minor.0, minor.1)),
        reason: if lacking.is_empty() {
            "no version has an image for every node pool".to_owned()
        } else {
            "an image is missing".to_owned()
        },
        lacking,
    })
}

/// Whether all images were built on a day or later.
fn is_built_since(day: Date, booted: &PoolImages<'_>) -> Result<bool, String> {
    let mut is_new = true;
    for (pool, image) in booted {
        let built = build_day(image).ok_or_else(|| {
            format!(
                "it is not known when image `{}` of node pool `{pool}` was built",
                image.key
            )
        })?;
        is_new &= built >= day;
    }
    Ok(is_new)
}

/// Whether any pool gets another artifact: of one key and version too, where another release of the builder has it.
fn differ(booted: &PoolImages<'_>, chosen: &PoolImages<'_>) -> bool {
    let uri = |image: &Image| image.uri.as_ref().map(|uri| uri.value.clone());
    let is_other = |(was, is): (&&Image, &&Image)| was.key != is.key || uri(was) != uri(is);
    booted.values().zip(chosen.values()).any(is_other)
}

/// The version that an image holds.
fn any_version(image: &Image) -> Option<Version> {
    Version::parse(image.facts.text(fact::K8S_VERSION)?)
}

/// The same where it is whole.
fn version_of(image: &Image) -> Option<Version> {
    any_version(image).filter(|version| !version.is_partial())
}

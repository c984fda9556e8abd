//! Explains the image of a pool, as data.

use std::collections::BTreeMap;

use capi::image::Facts;
use capi::unknown::Unknown;
use serde::Serialize;
use yaml_tree::place::{Located, Place, Sources, Spot};

use crate::decide::matching::{PatternCache, candidates};
use crate::decide::proof;
use crate::model::cluster::{
    Choice, ChoiceLevel, ClusterOrigin, LevelName, Pool, PoolName, UnreadBoot,
};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::judgment::Grade;
use crate::model::selection::{Outcome, Selection};
use crate::model::selector::Matching;
use crate::model::selector::{Selector, Wanted};

/// A value and its place (`path:line:column`); no place for what was added or computed.
#[derive(Debug, Serialize)]
pub(in crate::report) struct PlacedValue {
    /// The value as text.
    pub value: String,
    /// Where.
    #[serde(serialize_with = "serialize_spot")]
    pub at: Option<Spot>,
}

impl PlacedValue {
    /// A value and its place.
    pub(in crate::report) fn display(value: &str, place: Place, sources: &Sources) -> Self {
        Self {
            value: value.to_owned(),
            at: sources.resolve(place),
        }
    }
}

/// A place as `path:line:column`.
pub(in crate::report) fn serialize_spot<S: serde::Serializer>(
    at: &Option<Spot>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match at {
        Some(spot) => to.collect_str(spot),
        None => to.serialize_none(),
    }
}

/// Everything about one pool's image.
#[derive(Debug, Serialize)]
pub struct PoolAccount {
    /// The cluster.
    pub(super) cluster: String,
    /// The pool.
    pub(super) pool: String,
    /// The Kubernetes version that its nodes are to run.
    pub(super) k8s_version: Option<PlacedValue>,
    /// What each level of the values says, in the order of inheritance; the pool's selection is their sum.
    pub(super) levels: Vec<LevelAccount>,
    /// The selector as it was matched, by fact: with the terms that the cluster adds.
    pub(super) selector: BTreeMap<String, PlacedValue>,
    /// Every image with the facts that keep it from matching.
    pub(super) candidates: Vec<CandidateAccount>,
    /// The outcome, in words.
    pub(super) outcome: String,
    /// Whether that image fits.
    pub(super) judgment: Grade,
    /// The same in words, with who says so.
    pub(super) why: String,
    /// What its machines do when they boot that is not read, and why.
    pub(super) unread: Vec<PlacedValue>,
    /// The selected image's key.
    pub(super) image: Option<String>,
    /// What the other matching mode would select, where it differs.
    pub(super) other_mode: Option<String>,
    /// The selected image's facts, by name, each with its origin.
    pub(super) facts: BTreeMap<String, FactAccount>,
}

/// One level of the values.
#[derive(Debug, Serialize)]
pub(in crate::report) struct LevelAccount {
    /// Its path, such as `cluster.control_plane.capm3`.
    pub path: String,
    /// What it sets, by name.
    pub sets: BTreeMap<String, PlacedValue>,
}

/// One image of the catalog against the selector.
#[derive(Debug, Serialize)]
pub(in crate::report) struct CandidateAccount {
    /// The image.
    pub key: String,
    /// Whether it matches.
    pub matches: bool,
    /// The facts that differ.
    pub differs: Vec<DifferenceAccount>,
}

/// One fact that differs.
#[derive(Debug, Serialize)]
pub(in crate::report) struct DifferenceAccount {
    /// The fact.
    pub fact: String,
    /// What the selector requires.
    pub wanted: String,
    /// What the image has.
    pub has: Option<String>,
}

/// One fact of an image.
#[derive(Debug, Serialize)]
pub(in crate::report) struct FactAccount {
    /// Its value.
    pub value: String,
    /// Where it was learned, in words.
    pub origin: String,
    /// Where it is, if in a file of the project.
    #[serde(serialize_with = "serialize_spot")]
    pub at: Option<Spot>,
}

impl PoolAccount {
    /// The account of one pool.
    pub fn new(
        view: &ClusterView,
        of: SelectedPool<'_>,
        matching: Matching,
        cache: &PatternCache,
    ) -> Self {
        let SelectedPool {
            pool,
            selection,
            judgment,
            ..
        } = of;
        let placed = |value: &str, place: Place| PlacedValue::display(value, place, &view.sources);
        let image = view.selected_image(selection);
        let version = pool
            .k8s_version
            .as_ref()
            .or(view.cluster.k8s_version.as_ref());
        Self {
            cluster: view.cluster.name.to_string(),
            pool: pool.name.to_string(),
            k8s_version: version.map(|version| placed(&version.value, version.place)),
            levels: levels(view, pool),
            selector: terms(&selection.finalized, &view.sources),
            candidates: candidate_accounts(view, selection, matching, cache),
            outcome: match describe_outcome(view, pool, selection) {
                (outcome, Some(spot)) => format!("{outcome}  ({spot})"),
                (outcome, None) => outcome,
            },
            image: image.map(|image| image.key.to_string()),
            judgment: judgment.grade(),
            why: judgment.to_string(),
            unread: describe_unread_boot(view, pool),
            other_mode: selection.other_mode.as_ref().map(outcome),
            facts: image
                .map(|image| facts(&image.facts, &view.sources))
                .unwrap_or_default(),
        }
    }
}

/// The outcome of a pool's selection in words; of manifests, also where the image is named.
pub(in crate::report) fn describe_outcome(
    view: &ClusterView,
    pool: &Pool,
    selection: &Selection,
) -> (String, Option<Spot>) {
    match view.cluster.origin {
        ClusterOrigin::Values => match pool.unknown {
            Some(why) => (format!("no image that is known: {why}"), None),
            None => (outcome(&selection.outcome), None),
        },
        ClusterOrigin::Manifests => match proof::booted_image(view, pool, selection) {
            Some(booted) => {
                let spot = view.sources.resolve(pool.choice.place());
                (format!("image `{}`", booted.name), spot)
            }
            None => {
                let why = pool.unknown.unwrap_or(Unknown::NotSelected);
                (format!("no image that is known: {why}"), None)
            }
        },
    }
}

/// What the machines of a pool do when they boot that is not read, and why.
pub(in crate::report) fn describe_unread_boot(view: &ClusterView, pool: &Pool) -> Vec<PlacedValue> {
    let unread = pool.unread_boot.iter();
    let account = |it: &Located<UnreadBoot>| {
        PlacedValue::display(&it.value.to_string(), it.place, &view.sources)
    };
    unread.map(account).collect()
}

/// The facts of an image with their origins.
pub(in crate::report) fn facts(facts: &Facts, sources: &Sources) -> BTreeMap<String, FactAccount> {
    let account = |(name, fact): (&std::sync::Arc<str>, &capi::image::Fact)| {
        let at = sources.resolve(fact.place);
        (
            name.to_string(),
            FactAccount {
                value: fact.value.to_string(),
                origin: fact.origin.to_string(),
                at,
            },
        )
    };
    facts.iter().map(account).collect()
}

/// What each level of the values sets for a pool, in the order of inheritance.
pub(in crate::report) fn levels(view: &ClusterView, pool: &Pool) -> Vec<LevelAccount> {
    let infra = view
        .cluster
        .infra_provider
        .as_ref()
        .map_or("capm3", |infra| &infra.value);
    let of_pool = |level: &&ChoiceLevel| match &level.name {
        LevelName::Cluster => true,
        LevelName::ControlPlane => pool.name == PoolName::ControlPlane,
        LevelName::MachineDeploymentDefault => pool.name != PoolName::ControlPlane,
        LevelName::MachineDeployment(name) => {
            matches!(&pool.name, PoolName::MachineDeployment(own) if own == name)
        }
    };
    let account = |level: &ChoiceLevel| LevelAccount {
        path: level.name.path(infra).join("."),
        sets: settings(&level.choice, &view.sources),
    };
    view.cluster
        .levels
        .iter()
        .filter(of_pool)
        .map(account)
        .filter(|level| !level.sets.is_empty())
        .collect()
}

fn settings(choice: &Choice, sources: &Sources) -> BTreeMap<String, PlacedValue> {
    let plain = [
        ("image_key", &choice.key),
        ("machine_image_url", &choice.url),
        ("machine_image_format", &choice.format),
        ("machine_image_checksum", &choice.checksum),
        ("machine_image_checksum_type", &choice.checksum_type),
    ];
    let mut sets: BTreeMap<String, PlacedValue> = plain
        .into_iter()
        .filter_map(|(name, value)| {
            value.as_ref().map(|value| {
                (
                    name.to_owned(),
                    PlacedValue::display(&value.value, value.place, sources),
                )
            })
        })
        .collect();
    for term in choice
        .selector
        .iter()
        .flat_map(|selector| &selector.value.terms)
    {
        sets.insert(
            format!("os_image_selector.{}", term.fact),
            PlacedValue::display(&display_wanted(&term.wanted), term.place, sources),
        );
    }
    sets
}

/// The terms of a selector as they were matched, by fact.
pub(in crate::report) fn terms(
    selector: &Selector,
    sources: &Sources,
) -> BTreeMap<String, PlacedValue> {
    selector
        .terms
        .iter()
        .map(|term| {
            (
                term.fact.to_string(),
                PlacedValue::display(&display_wanted(&term.wanted), term.place, sources),
            )
        })
        .collect()
}

fn display_wanted(wanted: &Wanted) -> String {
    match wanted {
        Wanted::Pattern(pattern) => pattern.to_string(),
        Wanted::Bool(flag) => flag.to_string(),
        Wanted::Invalid(kind) => format!("({kind})"),
    }
}

/// Every image of the catalog with what keeps it from matching; none where nothing was to match.
pub(in crate::report) fn candidate_accounts(
    view: &ClusterView,
    selection: &Selection,
    matching: Matching,
    cache: &PatternCache,
) -> Vec<CandidateAccount> {
    if selection.finalized.terms.is_empty() {
        return Vec::new();
    }
    let account = |candidate: crate::model::selection::Candidate| CandidateAccount {
        key: candidate.key.to_string(),
        matches: candidate.differs.is_empty(),
        differs: candidate
            .differs
            .into_iter()
            .map(|differs| DifferenceAccount {
                fact: differs.fact,
                wanted: differs.wanted,
                has: differs.has,
            })
            .collect(),
    };
    candidates(&selection.finalized, &view.images, matching, cache)
        .into_iter()
        .map(account)
        .collect()
}

/// The outcome of a selection in words.
pub(in crate::report) fn outcome(outcome: &Outcome) -> String {
    let list = |keys: &[capi::image::ImageKey]| {
        keys.iter()
            .map(|key| format!("`{key}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match outcome {
        Outcome::Image(key) => format!("image `{key}`"),
        Outcome::Explicit(_) => "the image that `machine_image_url` gives".to_owned(),
        Outcome::Named(Some(key)) => {
            format!("the image that `image_name` gives, `{key}` of the catalog")
        }
        Outcome::Named(None) => "the image that `image_name` gives".to_owned(),
        Outcome::Nothing => "no image: nothing selects one".to_owned(),
        Outcome::Unknown(key) => format!("no image: `{key}` is not in the catalog"),
        Outcome::NoMatch => "no image: none matches".to_owned(),
        Outcome::Several(keys) => format!("no image: {} match: {}", keys.len(), list(keys)),
        Outcome::Disagree { key, selected } => format!(
            "no image: `image_key` names `{key}`, the selector matches {}",
            list(selected)
        ),
        Outcome::Invalid(reason) => format!("no image: {reason}"),
    }
}

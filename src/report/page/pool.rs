//! A node pool of the page: what it boots, whether that fits, and the chain of steps that says why.

use std::sync::Arc;

use capi::unknown::Unknown;
use serde::{Serialize, Serializer};

use super::image::{Catalog, Identity};
use super::site::Sites;
use super::tables::{Ids, Site, Tables};
use crate::model::cluster::Pool;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::judgment::Grade;
use crate::model::selection::Selection;
use crate::report::explain::{self, CandidateAccount, PlacedValue};

/// How many of the images that were compared are shown: those that match, then those that differ least.
const NEAREST: usize = 8;

/// A judgment as its number in the page's script.
pub(super) fn number<S: Serializer>(grade: &Grade, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(match grade {
        Grade::Proven => 0,
        Grade::ByName => 1,
        Grade::Unproven => 2,
        Grade::Mismatched => 3,
        Grade::Unknown => 4,
    })
}

/// A pool as it was gathered.
pub(super) struct PoolPart {
    name: String,
    place: Site,
    replicas: Option<u32>,
    replicas_at: Site,
    version: String,
    version_at: Site,
    template: Option<(String, Site)>,
    grade: Grade,
    skipped: &'static str,
    held: Option<Held>,
    image: Option<Identity>,
    reason: Arc<Reason>,
}

/// The version that an image holds, and where that was learned.
struct Held {
    value: String,
    origin: String,
    at: Site,
}

/// Why a pool boots its image, step by step. Pools of clusters that are alike share it.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Reason {
    levels: Vec<(String, Vec<NamedValue>)>,
    selector: Vec<NamedValue>,
    nearest: Option<Arc<Nearest>>,
    outcome: String,
    at: Site,
    other_mode: Option<String>,
    /// Why parts of what machines do at boot are not read.
    unread: Vec<NamedValue>,
}

/// A name, its value and its place.
type NamedValue = (String, String, Site);

/// What the catalog has for a selector.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Nearest {
    compared: usize,
    matching: usize,
    shown: Vec<(String, Vec<Difference>)>,
}

/// A fact, what the selector requires, and what the image has.
type Difference = (String, String, Option<String>);

impl Nearest {
    pub(super) fn from_candidates(mut all: Vec<CandidateAccount>) -> Self {
        all.sort_by_key(|candidate| candidate.differs.len());
        let (compared, is_match) = (all.len(), |one: &&CandidateAccount| one.matches);
        let matching = all.iter().filter(is_match).count();
        all.truncate(NEAREST);
        let shown = all.into_iter().map(|candidate| {
            let differs = candidate.differs.into_iter();
            let differs = differs.map(|differs| (differs.fact, differs.wanted, differs.has));
            (candidate.key, differs.collect())
        });
        Self {
            compared,
            matching,
            shown: shown.collect(),
        }
    }
}

/// A pool, and what was found out about it.
pub(super) struct PoolInput<'a> {
    pub(super) of: SelectedPool<'a>,
    pub(super) image: Option<Identity>,
    pub(super) nearest: Option<Arc<Nearest>>,
}

/// What the page shows of a pool.
pub(super) fn part(view: &ClusterView, input: PoolInput<'_>, sites: &mut Sites<'_>) -> PoolPart {
    let PoolInput { of, image, nearest } = input;
    let SelectedPool {
        pool,
        selection,
        judgment,
        ..
    } = of;
    let held = judgment.fact().map(|held| Held {
        value: held.value.to_string(),
        origin: held.origin.to_string(),
        at: sites.place(held.place),
    });
    let version = view.cluster.k8s_version_of(pool);
    let reason = reason(view, pool, selection, nearest, sites);
    PoolPart {
        name: pool.name.to_string(),
        place: sites.place(pool.place),
        replicas: pool.replicas.as_ref().map(|replicas| replicas.value),
        replicas_at: pool
            .replicas
            .as_ref()
            .map_or(Site::default(), |replicas| sites.place(replicas.place)),
        version: version.map_or(String::new(), |version| version.value.to_string()),
        version_at: version.map_or(Site::default(), |version| sites.place(version.place)),
        template: pool.template.as_ref().map(|template| {
            let name = format!("{} {}", template.kind, template.name.value);
            (name, sites.place(template.name.place))
        }),
        grade: judgment.grade(),
        skipped: judgment.reason().map_or("", Unknown::text),
        held,
        image,
        reason: Arc::new(reason),
    }
}

fn reason(
    view: &ClusterView,
    pool: &Pool,
    selection: &Selection,
    nearest: Option<Arc<Nearest>>,
    sites: &mut Sites<'_>,
) -> Reason {
    let (outcome, at) = explain::describe_outcome(view, pool, selection);
    let mut steps = |values: std::collections::BTreeMap<String, PlacedValue>| -> Vec<NamedValue> {
        let values = values.into_iter();
        values
            .map(|(name, value)| (name, value.value, sites.optional(value.at.as_ref())))
            .collect()
    };
    let levels = explain::levels(view, pool).into_iter();
    let levels = levels
        .map(|level| (level.path, steps(level.sets)))
        .collect();
    let selector = steps(explain::terms(&selection.finalized, &view.sources));
    let unread = explain::describe_unread_boot(view, pool).into_iter();
    let unread = unread.map(|why| (String::new(), why.value, sites.optional(why.at.as_ref())));
    let other_mode = selection.other_mode.as_ref();
    Reason {
        unread: unread.collect(),
        levels,
        selector,
        nearest,
        outcome,
        at: sites.optional(at.as_ref()),
        other_mode: other_mode.map(explain::outcome),
    }
}

/// A pool as a row of numbers.
#[derive(Serialize)]
pub(super) struct PoolRow {
    #[serde(rename = "n")]
    name: u32,
    #[serde(rename = "p")]
    place: u32,
    /// Machines; none where the files do not say it.
    #[serde(rename = "m")]
    pub(super) machines: Option<u32>,
    #[serde(rename = "mp")]
    machines_at: u32,
    #[serde(rename = "v")]
    pub(super) version: u32,
    #[serde(rename = "vp")]
    version_at: u32,
    #[serde(rename = "s", serialize_with = "number")]
    pub(super) grade: Grade,
    /// Why it was not checked.
    #[serde(rename = "k", skip_serializing_if = "super::tables::is_zero")]
    skipped: u32,
    /// The image's number, from 1.
    #[serde(rename = "i")]
    image: u32,
    /// The version that the image holds, where that was learned, and its place.
    #[serde(rename = "h", skip_serializing_if = "Option::is_none")]
    held: Option<(u32, u32, u32)>,
    /// The machine template and its place.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    template: Option<(u32, u32)>,
    #[serde(rename = "y")]
    reason: u32,
}

impl PoolPart {
    pub(super) fn row(
        &self,
        tables: &mut Tables,
        reasons: &mut Ids<Arc<Reason>>,
        images: &Catalog,
    ) -> PoolRow {
        PoolRow {
            name: tables.text(&self.name),
            place: tables.site(self.place),
            machines: self.replicas,
            machines_at: tables.site(self.replicas_at),
            version: tables.text(&self.version),
            version_at: tables.site(self.version_at),
            grade: self.grade,
            skipped: tables.text(self.skipped),
            image: self.image.as_ref().map_or(0, |image| images.number(image)),
            held: self.held.as_ref().map(|held| {
                let (value, origin) = (tables.text(&held.value), tables.text(&held.origin));
                (value, origin, tables.site(held.at))
            }),
            template: self
                .template
                .as_ref()
                .map(|(name, at)| (tables.text(name), tables.site(*at))),
            reason: reasons.id(Arc::clone(&self.reason)),
        }
    }
}

/// A chain as rows of numbers.
#[derive(Serialize)]
pub(super) struct ReasonRow {
    #[serde(rename = "l")]
    levels: Vec<(u32, Vec<StepRow>)>,
    #[serde(rename = "s")]
    selector: Vec<StepRow>,
    /// The number of the images that were compared, from 1.
    #[serde(rename = "n")]
    nearest: u32,
    #[serde(rename = "o")]
    outcome: u32,
    #[serde(rename = "p")]
    at: u32,
    #[serde(rename = "m")]
    other_mode: u32,
    /// Why parts of what machines do at boot are not read, without names.
    #[serde(rename = "u", skip_serializing_if = "Vec::is_empty")]
    unread: Vec<StepRow>,
}

/// Name, value and place.
type StepRow = (u32, u32, u32);

/// How many images were compared, how many match, and the nearest, each with what differs.
#[derive(Serialize)]
pub(super) struct NearestRow(usize, usize, Vec<CandidateRow>);

/// An image, and each fact that differs with what is required and what it has.
type CandidateRow = (u32, Vec<(u32, u32, u32)>);

/// The chains of all pools, and the images that were compared, as rows.
pub(super) fn reasons(
    reasons: &Ids<Arc<Reason>>,
    tables: &mut Tables,
) -> (Vec<ReasonRow>, Vec<NearestRow>) {
    let mut nearest = Ids::default();
    let rows = reasons.values().into_iter().map(|reason| {
        let mut steps = |all: &[NamedValue]| -> Vec<StepRow> {
            let rows = all
                .iter()
                .map(|(name, value, at)| (tables.text(name), tables.text(value), tables.site(*at)));
            rows.collect()
        };
        let levels: Vec<(&str, Vec<StepRow>)> = reason
            .levels
            .iter()
            .map(|(path, sets)| (path.as_str(), steps(sets)))
            .collect();
        let selector = steps(&reason.selector);
        let unread = steps(&reason.unread);
        let levels = levels.into_iter();
        ReasonRow {
            levels: levels
                .map(|(path, sets)| (tables.text(path), sets))
                .collect(),
            selector,
            nearest: reason
                .nearest
                .as_ref()
                .map_or(0, |of| nearest.id(Arc::clone(of)) + 1),
            outcome: tables.text(&reason.outcome),
            at: tables.site(reason.at),
            other_mode: tables.optional(reason.other_mode.as_deref()),
            unread,
        }
    });
    let rows = rows.collect();
    let nearest = nearest.values().into_iter().map(|nearest: &Arc<Nearest>| {
        let shown = nearest.shown.iter().map(|(key, differs)| {
            let differs = differs.iter().map(|(fact, wanted, has)| {
                let has = tables.optional(has.as_deref());
                (tables.text(fact), tables.text(wanted), has)
            });
            let differs = differs.collect();
            (tables.text(key), differs)
        });
        NearestRow(nearest.compared, nearest.matching, shown.collect())
    });
    (rows, nearest.collect())
}

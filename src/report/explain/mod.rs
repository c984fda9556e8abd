//! Explains the image of a pool, an image and a rule: as data, and as text made from the data.

mod pool;
mod text;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::decide::identity::find_image;
use crate::decide::plan::{ClusterPlan, Goal, for_cluster};
use crate::decide::proof;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::rule::{Level, RuleId};
use crate::model::selection::PoolImage;
use crate::model::version::Version;
use crate::printer::Printer;
use crate::rules::Rule;

use super::format::Format;

use pool::FactAccount;

pub use pool::PoolAccount;
pub(super) use pool::{
    CandidateAccount, PlacedValue, candidate_accounts, describe_outcome, describe_unread_boot,
    facts, levels, outcome, serialize_spot, terms,
};

/// A rule's page.
#[derive(Debug, Serialize)]
pub struct RuleAccount {
    pub(super) rule: RuleId,
    pub(super) level: Level,
    pub(super) summary: &'static str,
    pub(super) explanation: Cow<'static, str>,
}

impl RuleAccount {
    /// The account of a rule.
    pub fn new(rule: &'static Rule) -> Self {
        Self {
            rule: rule.id,
            level: rule.id.level(),
            summary: rule.summary(),
            explanation: rule.explanation(),
        }
    }
}

/// Prints a rule's page.
pub fn rule(rule: &RuleAccount, format: Format, out: &mut Printer) -> io::Result<()> {
    print(rule, format, out, |rule, out| text::rule(rule, out))
}

/// Prints the pools of a cluster.
pub fn pools(pools: &[PoolAccount], format: Format, out: &mut Printer) -> io::Result<()> {
    print(&pools, format, out, |pools, out| text::pools(pools, out))
}

/// Prints the images of a key.
pub fn images(images: &[ImageAccount], format: Format, out: &mut Printer) -> io::Result<()> {
    print(&images, format, out, |images, out| {
        text::images(images, out)
    })
}

fn print<T: Serialize>(
    data: &T,
    format: Format,
    out: &mut Printer,
    human: impl Fn(&T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match format {
        Format::Human => human(data, out),
        format => format.data(data, out),
    }
}

/// Prints the newest patch and the next minor version that every node pool of a cluster has an image for, or why there is none.
///
/// # Errors
/// The output is gone.
pub fn next_versions(view: &ClusterView, out: &mut dyn Write) -> io::Result<()> {
    let patches = for_cluster(view, Ok(&view.images), Goal::Patches);
    let Some(from) = patches.from.as_deref().and_then(Version::parse) else {
        return write_block_reason(&patches, out);
    };
    match patches.steps.last() {
        Some(step) => writeln!(out, "newest patch: {}", step.version)?,
        None => writeln!(out, "newest patch: {from}, which it runs")?,
    }
    let minor = from.minor + 1;
    let plan = for_cluster(view, Ok(&view.images), Goal::Minor(from.major, minor));
    match plan.steps.last() {
        Some(step) => writeln!(out, "next minor: {}", step.version),
        None => {
            write!(out, "next minor: {}.{minor}, ", from.major)?;
            write_block_reason(&plan, out)
        }
    }
}

/// Why a cluster cannot be planned, or which pools have no image.
fn write_block_reason(plan: &ClusterPlan, out: &mut dyn Write) -> io::Result<()> {
    let Some(blocked) = &plan.blocked else {
        return Ok(());
    };
    let pools: Vec<&str> = blocked.lacking.keys().map(String::as_str).collect();
    if pools.is_empty() {
        writeln!(out, "{}", blocked.reason)
    } else {
        writeln!(out, "{} for {}", blocked.reason, pools.join(", "))
    }
}

/// One image, as one or more clusters have it.
#[derive(Debug, Serialize)]
pub struct ImageAccount {
    image: String,
    uri: Option<String>,
    facts: BTreeMap<String, FactAccount>,
    /// The pools that boot it, as `cluster/pool`, and the clusters that are installed from it.
    used_by: Vec<String>,
    /// The clusters that are served it.
    served_for: Vec<String>,
}

impl ImageAccount {
    /// The account of the image with a key, or with a key of its artifact, in a cluster's catalog.
    pub fn new(key: &str, view: &ClusterView) -> Option<Self> {
        let by_artifact = || view.images.values().find(|image| &*image.artifact == key);
        let Some(image) = view.images.get(key).or_else(by_artifact) else {
            return Self::from_name(key, view);
        };
        let used_by = view
            .pools()
            .filter(|it| {
                let known = view.described_image(it.selection);
                known.is_some_and(|known| known.key == image.key)
            })
            .map(|it| format!("{}/{}", view.cluster.name, it.pool.name));
        let installs = view.cluster.install_image.as_ref();
        let installs = installs.and_then(|named| find_image(&named.value, &view.images));
        let installs = installs.filter(|key| **key == image.key);
        let used_by = used_by.chain(installs.map(|_| view.cluster.name.to_string()));
        let served = view.served.binary_search(&image.key).is_ok();
        Some(Self {
            image: image.key.to_string(),
            uri: image.uri.as_ref().map(|uri| uri.value.to_string()),
            facts: pool::facts(&image.facts, &view.sources),
            used_by: used_by.collect(),
            served_for: served
                .then(|| view.cluster.name.to_string())
                .into_iter()
                .collect(),
        })
    }

    /// The account of an image that manifests name and no record describes: what its name says.
    fn from_name(name: &str, view: &ClusterView) -> Option<Self> {
        let is_foreign = |it: &SelectedPool<'_>| it.selection.image() == PoolImage::Foreign;
        let pools = view.pools().filter(is_foreign).filter_map(|it| {
            let booted = proof::booted_image(view, it.pool, it.selection)?;
            (booted.name == name).then(|| (it, pool::facts(&booted.facts, &view.sources)))
        });
        let cluster = &view.cluster.name;
        let users = pools.map(|(it, facts)| (format!("{cluster}/{}", it.pool.name), facts));
        let (used_by, facts): (Vec<String>, Vec<_>) = users.unzip();
        Some(Self {
            image: name.to_owned(),
            uri: None,
            facts: facts.into_iter().next()?,
            used_by,
            served_for: Vec::new(),
        })
    }

    /// The account with these pools and clusters, where they are known for the whole fleet.
    pub fn with_users(self, used_by: Vec<String>, served_for: Vec<String>) -> Self {
        Self {
            used_by,
            served_for,
            ..self
        }
    }

    /// Whether both have the same reference and facts.
    pub fn is_same(&self, other: &Self) -> bool {
        self.uri == other.uri && same_facts(&self.facts, &other.facts)
    }

    /// Adds the pools and clusters of another account of the same image.
    pub fn merge(&mut self, other: Self) {
        self.used_by.extend(other.used_by);
        self.served_for.extend(other.served_for);
    }
}

fn same_facts(
    known: &BTreeMap<String, FactAccount>,
    other: &BTreeMap<String, FactAccount>,
) -> bool {
    let values = |facts: &BTreeMap<String, FactAccount>| -> Vec<(String, String)> {
        facts
            .iter()
            .map(|(name, fact)| (name.clone(), fact.value.clone()))
            .collect()
    };
    values(known) == values(other)
}

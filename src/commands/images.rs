//! `metalmark images`: the catalog as a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::{Fact, Image, ImageKey};
use clap::Args;

use crate::decide::proof;
use crate::error::Error;
use crate::model::cluster::ClusterOrigin;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::date::Date;
use crate::model::finding::Judged;
use crate::model::rule::RuleId;
use crate::model::selection::PoolImage;
use crate::read::{self, Request};
use crate::report::{self, Format, ImageRow};

use crate::pipeline::fleet::{Fleet, FleetCheck};
use crate::pipeline::{Terminal, Verdict};

/// How images are listed.
#[derive(Clone, Debug, Args)]
pub struct ImagesOptions {
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
}

/// Rows by key and reference: two clusters may mean two images by one key.
type Rows = BTreeMap<(ImageKey, Option<Arc<str>>), ImageRow>;

/// Lists the images of all clusters' catalogs: on stdout, whatever the rules say; findings go to stderr.
///
/// # Errors
/// I/O failed, or there is no project.
pub fn images(
    request: &Request,
    options: &ImagesOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let fleet = Fleet::open(read::workspace(request)?, today)?;
    let mut fleet_check = fleet.check(|view, _, _| Ok(rows(view)))?;
    let mut all = Rows::new();
    for (identity, row) in fleet_check.results.iter().flatten() {
        let known = all.entry(identity.clone()).or_insert_with(|| ImageRow {
            used_by: Vec::new(),
            ..row.clone()
        });
        known.served |= row.served;
        known.used_by.extend(row.used_by.iter().cloned());
        known.judgments.extend(row.judgments.clone());
    }
    let rows: Vec<ImageRow> = all.into_values().collect();
    report::images(&rows, options.format, &mut terminal.out)?;
    print_gaps(&fleet, &mut fleet_check, terminal)?;
    Ok(Verdict::Clean)
}

/// Says on stderr what is wrong in the project file, so that a list may not be whole, and why there is no node pool.
///
/// # Errors
/// Nothing can be printed.
pub(super) fn print_gaps<T>(
    fleet: &Fleet,
    fleet_check: &mut FleetCheck<T>,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    if fleet_check.counts.skipped.is_empty()
        && let Some(absence) = fleet_check.absence_of_pools(fleet)
    {
        fleet_check.add(vec![absence], fleet);
    }
    let is_gap = |judged: &&Judged| {
        let rule = judged.finding.rule;
        rule == RuleId::ProjectFile || rule == RuleId::NothingChecked
    };
    let found = fleet_check.judged.iter().filter(is_gap);
    let found: Vec<Judged> = found.cloned().collect();
    if !found.is_empty() {
        let clusters = fleet.workspace.clusters.len();
        report::print_findings(&mut terminal.err, &found, clusters, Format::Human)?;
    }
    Ok(())
}

/// One cluster's catalog, with images that no pool selects; and the images outside of it that its manifests name.
fn rows(view: &ClusterView) -> Rows {
    let mut rows = rows_from_names(view);
    for image in view.images.values() {
        let uri = image.uri.as_ref();
        let uri = uri.map(|uri| Arc::clone(uri.value.text()));
        rows.insert((Arc::clone(&image.key), uri.clone()), row(view, image, uri));
    }
    rows
}

/// The images that pools of manifests name, and no record describes: of them their names say what is known.
fn rows_from_names(view: &ClusterView) -> Rows {
    let mut rows = Rows::new();
    if view.cluster.origin == ClusterOrigin::Values {
        return rows;
    }
    for it in view.pools() {
        let SelectedPool {
            pool, selection, ..
        } = it;
        if selection.image() != PoolImage::Foreign {
            continue;
        }
        let Some(booted) = proof::booted_image(view, pool, selection) else {
            continue;
        };
        let text = |(name, fact): (&Arc<str>, &Fact)| (Arc::clone(name), Arc::clone(&fact.value));
        let key: ImageKey = booted.name.into();
        let row = rows
            .entry((Arc::clone(&key), None))
            .or_insert_with(|| ImageRow {
                key,
                uri: None,
                digest: None,
                served: false,
                used_by: Vec::new(),
                judgments: BTreeMap::new(),
                facts: booted.facts.iter().map(text).collect(),
            });
        row.add_user(view, it);
    }
    rows
}

fn row(view: &ClusterView, image: &Image, uri: Option<Arc<str>>) -> ImageRow {
    let users = view.pools().filter(|it| {
        let known = view.described_image(it.selection);
        known.is_some_and(|known| known.key == image.key)
    });
    let mut row = ImageRow {
        key: Arc::clone(&image.key),
        uri,
        digest: image
            .digest
            .as_ref()
            .map(|digest| digest.value.as_str().into()),
        served: view.served.binary_search(&image.key).is_ok(),
        used_by: Vec::new(),
        judgments: BTreeMap::new(),
        facts: image
            .facts
            .iter()
            .map(|(name, fact)| (Arc::clone(name), Arc::clone(&fact.value)))
            .collect(),
    };
    users.for_each(|it| row.add_user(view, it));
    row
}

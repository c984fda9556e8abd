//! What a change does, as `impact` knows it, and which findings it brings and takes away.

use std::collections::BTreeSet;

use serde::Serialize;

use super::findings::FindingRow;
use crate::report::impact::{self, Impact, ImpactKind, Rollout};

/// The change of a page.
#[derive(Serialize)]
pub(super) struct ChangeTable {
    against: String,
    base: String,
    /// What happens, in one line.
    sum: String,
    notes: Vec<String>,
    groups: Vec<GroupRow>,
    served: ServedRows,
    /// The findings that were not there before, by their numbers in the page's list.
    new: Vec<usize>,
    /// The findings that are no longer there.
    gone: Vec<FindingRow>,
}

/// Clusters that change alike.
#[derive(Serialize)]
struct GroupRow {
    head: String,
    change: ImpactKind,
    clusters: Vec<String>,
    pools: Vec<PoolRow>,
}

/// What happens to one pool of them.
#[derive(Serialize)]
struct PoolRow {
    pool: String,
    change: ImpactKind,
    rollout: Option<Rollout>,
    /// What happens to its machines, in words.
    machines: String,
    /// What changes, from and to.
    edits: Vec<(String, String, String)>,
    skipped: Vec<String>,
}

/// The images that are served, or no longer.
#[derive(Serialize)]
struct ServedRows {
    added: Vec<(String, String)>,
    removed: Vec<(String, String)>,
}

impl ChangeTable {
    /// The change, with the findings of both sides.
    pub(super) fn new(impact: &Impact, before: Vec<FindingRow>, after: &[FindingRow]) -> Self {
        fn fingerprints(rows: &[FindingRow]) -> BTreeSet<&str> {
            rows.iter().map(|row| row.fingerprint.as_str()).collect()
        }
        let was = fingerprints(&before);
        let new = after.iter().enumerate();
        let new = new.filter(|(_, row)| !was.contains(row.fingerprint.as_str()));
        let new = new.map(|(index, _)| index).collect();
        let is = fingerprints(after);
        let is_gone: Vec<bool> = before
            .iter()
            .map(|row| !is.contains(row.fingerprint.as_str()))
            .collect();
        let gone = before.into_iter().zip(is_gone);
        let served = |images: &[impact::ServedImage]| {
            let images = images.iter().map(|image| {
                let size = image.download;
                let size = size.map_or("size unknown".to_owned(), impact::words::bytes);
                (image.key.to_string(), size)
            });
            images.collect()
        };
        Self {
            against: impact.against.clone(),
            base: impact.base.clone(),
            sum: impact::words::sum(impact),
            notes: impact.notes.clone(),
            groups: impact::words::groups(impact)
                .iter()
                .map(|group| self::group(group))
                .collect(),
            served: ServedRows {
                added: served(&impact.served.added),
                removed: served(&impact.served.removed),
            },
            new,
            gone: gone.filter_map(|(row, is)| is.then_some(row)).collect(),
        }
    }
}

fn group(group: &[&impact::ClusterChange]) -> GroupRow {
    let first = group.first();
    let pools = first.map_or(&[][..], |change| &change.pools);
    GroupRow {
        head: impact::words::head(group),
        change: first.map_or(ImpactKind::Changed, |change| change.change),
        clusters: group
            .iter()
            .map(|change| change.cluster.to_string())
            .collect(),
        pools: pools.iter().map(pool).collect(),
    }
}

fn pool(pool: &impact::PoolChange) -> PoolRow {
    let edits = impact::words::edits(pool).into_iter();
    PoolRow {
        pool: pool.pool.clone(),
        change: pool.change,
        rollout: pool.rollout,
        machines: impact::words::machines(pool),
        edits: edits.map(|line| (line.what, line.from, line.to)).collect(),
        skipped: pool.skipped.clone(),
    }
}

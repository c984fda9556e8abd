//! The stages over both sides of a change, compared cluster by cluster: for `impact`, and for the page of a change.

mod comparison;
mod pairs;
mod sides;

use crate::error::Error;
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::pipeline::check::Checked;
use crate::pipeline::fleet::FleetCheck;
use crate::report::impact::{Impact, Kind, ServedChange};
use parking_lot::Mutex;

use comparison::{Compared, Comparison};
use pairs::Pairs;

pub(crate) use comparison::End;
pub(crate) use sides::{Base, Sides};

/// What a change does, and the check of its later side.
pub(crate) struct Change<T> {
    /// What it does to clusters and machines.
    pub(crate) impact: Impact,
    /// The later side, with what the change breaks.
    pub(crate) fleet_check: FleetCheck<T>,
    /// The earlier side.
    pub(crate) before: End,
    /// The later side.
    pub(crate) after: End,
}

/// Compares every cluster of both sides, and runs the rules over the later one and over what changes. `keep` says what stays
/// of each cluster of the later side.
///
/// # Errors
/// I/O failed.
pub(crate) fn sides<T: Send>(
    sides: Sides,
    today: Date,
    keep: impl Fn(&ClusterView, &Checked) -> T + Sync,
) -> Result<Change<T>, Error> {
    let Sides {
        before,
        after,
        commit,
        base,
        mut notes,
    } = sides;
    let (before, after) = (End::new(before, today)?, End::new(after, today)?);
    let pairs = Pairs::new(&before.fleet, &after.fleet.workspace);
    let comparison = Comparison {
        renderers: (before.renderer(), after.renderer()),
        before: &before,
        after: &after,
        commit: &commit,
        served: Mutex::default(),
    };
    let fleet_check = after.fleet.check(|view, checked, findings| {
        let old = pairs.find_before(&view.cluster);
        let compared = comparison.cluster(old, view, findings);
        Ok((compared, keep(view, checked)))
    })?;
    let (compared, fleet_check) = fleet_check.split();
    let count = compared.len();
    let mut clusters = Vec::new();
    for compared in compared {
        clusters.extend(compared.change);
        notes.extend(compared.note);
    }
    let unchanged = count - clusters.len();
    let renamed = clusters
        .iter()
        .filter(|change| change.change == Kind::Renamed);
    let renamed: Vec<&str> = renamed
        .filter_map(|change| change.from.as_deref())
        .collect();
    let gone: Vec<Compared> = pairs
        .removals(&renamed)
        .map(|entry| comparison.removal(entry))
        .collect();
    for compared in gone {
        clusters.extend(compared.change);
        notes.extend(compared.note);
    }
    let served = comparison.served.into_inner();
    let impact = Impact {
        against: commit,
        base,
        clusters,
        unchanged,
        served: ServedChange::compare(&served.0, &served.1),
        notes,
    };
    Ok(Change {
        impact,
        fleet_check,
        before,
        after,
    })
}

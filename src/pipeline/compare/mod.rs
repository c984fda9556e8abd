//! The stages over both sides of a change, compared cluster by cluster: for `impact`, and for the page of a change.

mod comparison;
mod delivery;
mod sides;
mod unread;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::Error;
use crate::model::cluster::Cluster;
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::pipeline::check::Checked;
use crate::pipeline::fleet::FleetCheck;
use crate::read::{ClusterEntry, Workspace};
use crate::report::impact::{self, Impact, ImpactKind, ServedChange, UnreadChange};

use super::fleet::Fleet;

use comparison::{Compared, Comparison};
use delivery::Deliveries;
use unread::Unread;

pub(crate) use comparison::End;
pub(crate) use sides::{Base, Sides};

/// What a change does, and the check of its later side.
pub(crate) struct CheckedChange<T> {
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
) -> Result<CheckedChange<T>, Error> {
    let Sides {
        before,
        mut after,
        commit,
        base,
        mut notes,
    } = sides;
    notes.extend(remove_bases(&before, &mut after));
    let (before, after) = (End::new(before, today)?, End::new(after, today)?);
    let pairs = Pairs::new(&before.fleet, &after.fleet.workspace);
    let workspaces = [&before.fleet.workspace, &after.fleet.workspace];
    let [was, is] = workspaces.map(|workspace| workspace.delivery());
    let deliveries = Deliveries::new(was, is);
    let unread = (
        Unread::new(workspaces[0], &deliveries.before),
        Unread::new(workspaces[1], &deliveries.after),
    );
    let comparison = Comparison {
        deliveries,
        unread: &unread,
        renderers: (before.renderer(), after.renderer()),
        before: &before,
        after: &after,
        commit: &commit,
        served: Mutex::default(),
        owners: Mutex::default(),
        entries: { after.fleet.workspace.clusters.iter() }
            .map(|entry| (&*entry.name, entry))
            .collect(),
    };
    let fleet_check = after.fleet.check(|view, checked, findings| {
        let old = pairs.find_before(&view.cluster);
        let compared = comparison.cluster(old, view, findings)?;
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
        .filter(|change| change.change == ImpactKind::Renamed);
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
    let (owners_before, owners_after) = comparison.owners.into_inner();
    impact::keep_moved(&mut clusters, &owners_before, &owners_after);
    let served = comparison.served.into_inner();
    let differences = unread.0.compare(&unread.1);
    let unread = UnreadChange {
        changed: differences.len(),
        unchanged: unread.1.count() - { differences.iter() }.filter(|one| one.is_there).count(),
    };
    notes.extend(differences.into_iter().map(|one| one.note));
    let impact = Impact {
        unread,
        against: commit,
        base,
        clusters,
        unchanged,
        served: ServedChange::compare(&served.0, &served.1),
        notes,
    };
    Ok(CheckedChange {
        impact,
        fleet_check,
        before,
        after,
    })
}

/// Leaves out the clusters of folders that others were built on and that nothing deploys: once the last overlay of a base goes, the
/// base alone is no cluster. What is left out is said.
fn remove_bases(before: &Workspace, after: &mut Workspace) -> Vec<String> {
    let bases = after.clusters_of_bases(before);
    if bases.is_empty() {
        return Vec::new();
    }
    let delivery = after.delivery();
    let is_deployed = |folder: &Path| {
        let deployers = delivery.find_for_path(&delivery.path(folder));
        !deployers.is_empty() || !delivery.unseen().is_empty()
    };
    let left = bases.into_iter().filter(|(_, folder)| !is_deployed(folder));
    let note = |(name, folder): (Arc<str>, PathBuf)| {
        after.remove_cluster(&name);
        format!(
            "`{}` is taken for no cluster: it was a base of others, and nothing in the repository deploys it",
            folder.display()
        )
    };
    left.map(note).collect()
}

/// The clusters of the earlier side, to be found by those of the later one.
struct Pairs<'a> {
    by_name: BTreeMap<&'a str, &'a ClusterEntry>,
    /// Those whose names are not in the later side, by namespace and name of their objects.
    left: BTreeMap<(Arc<str>, Arc<str>), &'a ClusterEntry>,
    /// The names of the later side.
    after: BTreeSet<Arc<str>>,
    entries: &'a [ClusterEntry],
}

impl<'a> Pairs<'a> {
    fn new(before: &'a Fleet, after: &Workspace) -> Self {
        let entries = &before.workspace.clusters;
        let names = after.clusters.iter().map(|entry| Arc::clone(&entry.name));
        let after: BTreeSet<Arc<str>> = names.collect();
        let by_name: BTreeMap<&str, &ClusterEntry> =
            entries.iter().map(|entry| (&*entry.name, entry)).collect();
        let is_new = |name: &Arc<str>| !by_name.contains_key(&**name);
        let mut left = BTreeMap::new();
        // Only where there is somebody to find them.
        if after.iter().any(is_new) {
            for entry in entries.iter().filter(|entry| !after.contains(&entry.name)) {
                if let Ok(view) = before.view(entry) {
                    left.insert(identity(&view.cluster), entry);
                }
            }
        }
        Self {
            by_name,
            left,
            after,
            entries,
        }
    }

    /// What a cluster was; none if it is new.
    fn find_before(&self, cluster: &Cluster) -> Option<&'a ClusterEntry> {
        let named = self.by_name.get(&*cluster.name);
        named.or_else(|| self.left.get(&identity(cluster))).copied()
    }

    /// The clusters that are not there any more, those apart that have another name now.
    fn removals<'p>(
        &'p self,
        renamed: &'p [&str],
    ) -> impl Iterator<Item = &'a ClusterEntry> + use<'a, 'p> {
        self.entries.iter().filter(move |entry| {
            !self.after.contains(&entry.name) && !renamed.contains(&&*entry.name)
        })
    }
}

fn identity(cluster: &Cluster) -> (Arc<str>, Arc<str>) {
    (
        Arc::clone(&cluster.namespace),
        Arc::clone(&cluster.object_name),
    )
}

//! Which cluster of the earlier side a cluster is: that of its name, else that of its object, whose entry was renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::cluster::Cluster;
use crate::pipeline::fleet::Fleet;
use crate::read::{ClusterEntry, Workspace};

/// The clusters of the earlier side, to be found by those of the later one.
pub(super) struct Pairs<'a> {
    by_name: BTreeMap<&'a str, &'a ClusterEntry>,
    /// Those whose names are not in the later side, by namespace and name of their objects.
    left: BTreeMap<(Arc<str>, Arc<str>), &'a ClusterEntry>,
    /// The names of the later side.
    after: BTreeSet<Arc<str>>,
    entries: &'a [ClusterEntry],
}

impl<'a> Pairs<'a> {
    pub(super) fn new(before: &'a Fleet, after: &Workspace) -> Self {
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
    pub(super) fn find_before(&self, cluster: &Cluster) -> Option<&'a ClusterEntry> {
        let named = self.by_name.get(&*cluster.name);
        named.or_else(|| self.left.get(&identity(cluster))).copied()
    }

    /// The clusters that are not there any more, those apart that have another name now.
    pub(super) fn removals<'p>(
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

//! Computes the impact of a change on a cluster's machines from both sides, compared by meaning.
//!
//! Cluster API replaces a machine when its control plane or machine deployment refers to another machine template, or requires
//! another Kubernetes version (<https://cluster-api.sigs.k8s.io/tasks/updating-machine-templates>). A template that is changed
//! under its name replaces none: what exists stays, and only machines that are made later have the change.

mod in_place;
mod markdown;
mod pool;
pub mod served;
mod text;
pub(in crate::report) mod words;

use std::io;
use std::sync::Arc;

use serde::Serialize;

use crate::model::finding::Judged;
use crate::printer::Printer;
use crate::rules::ChangeInput;

pub use in_place::keeps_names;
pub use pool::{Booted, Cause, Edit, Machines, PoolChange, Rollout};
pub use served::{Served, ServedChange, ServedImage};

/// What a change does to all clusters.
#[derive(Debug, Serialize)]
pub struct Impact {
    /// The commit that it starts from, in full.
    pub against: String,
    /// How that was found.
    pub base: String,
    /// The clusters that it touches: existing ones in the project's order, then those that are gone.
    pub clusters: Vec<ClusterChange>,
    /// The number of clusters without changes.
    pub unchanged: usize,
    /// The images that are served.
    pub served: ServedChange,
    /// What could not be compared.
    pub notes: Vec<String>,
}

impl Impact {
    /// Prints it for people.
    pub fn text(&self, out: &mut Printer) -> io::Result<()> {
        text::write(self, out)
    }

    /// Prints it as a comment on a merge request, with the errors of the later side.
    pub fn markdown(&self, judged: &[Judged], out: &mut Printer) -> io::Result<()> {
        markdown::write(self, judged, out)
    }
}

/// What happens to one cluster.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterChange {
    /// Its name in the project, or the one that it had.
    pub cluster: Arc<str>,
    /// What happens.
    pub change: Kind,
    /// The name that it had in the project, or, of another object, that one as `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its node pools that change; of a cluster that comes or goes, all of them.
    pub pools: Vec<PoolChange>,
}

/// What happens to a cluster or a node pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is the same and has changed.
    Changed,
    /// It is the same object under another name in the project.
    Renamed,
    /// It keeps its name in the project and is another object: one cluster goes, another one comes.
    Replaced,
}

/// What a change does to a cluster that is on both sides; none where it does nothing. `in_place` says that the machine
/// templates keep their names.
pub fn cluster(input: &ChangeInput<'_>, in_place: bool) -> Option<ClusterChange> {
    let (before, after) = (&input.before.view.cluster, &input.after.view.cluster);
    let cluster = Arc::clone(&after.name);
    let object = |cluster: &crate::model::cluster::Cluster| {
        (
            Arc::clone(&cluster.namespace),
            Arc::clone(&cluster.object_name),
        )
    };
    let (was, is) = (object(before), object(after));
    if was != is {
        let gone = pool::all(&input.before, Kind::Removed);
        let come = pool::all(&input.after, Kind::Added);
        return Some(ClusterChange {
            cluster,
            change: Kind::Replaced,
            from: Some(format!("{}/{}", was.0, was.1)),
            pools: gone.into_iter().chain(come).collect(),
        });
    }
    let pools = pool::changes(input, in_place);
    let is_renamed = before.name != after.name;
    if pools.is_empty() && !is_renamed {
        return None;
    }
    Some(ClusterChange {
        cluster,
        change: if is_renamed {
            Kind::Renamed
        } else {
            Kind::Changed
        },
        from: is_renamed.then(|| before.name.to_string()),
        pools,
    })
}

/// A cluster that comes or goes, with all of its pools.
pub fn whole(side: &crate::rules::Side<'_>, change: Kind) -> ClusterChange {
    ClusterChange {
        cluster: Arc::clone(&side.view.cluster.name),
        change,
        from: None,
        pools: pool::all(side, change),
    }
}

//! Which clusters of a fleet a run answers for.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ownership::Owner;

/// Which clusters a run answers for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    #[default]
    Whole,
    /// Those that the command line names.
    Named(BTreeSet<Arc<str>>),
}

impl Part {
    /// Whether the part holds a cluster.
    pub fn holds(&self, cluster: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Named(names) => names.contains(cluster),
        }
    }

    /// Whether the run answers for what all clusters share. One of named clusters does not know the others' part of it.
    pub fn has_shared(&self) -> bool {
        *self == Self::Whole
    }

    /// Whether files of that owner are this part's.
    pub fn owns(&self, owner: &Owner) -> bool {
        match owner {
            Owner::Cluster(name) => self.holds(name),
            Owner::All => self.has_shared(),
        }
    }
}

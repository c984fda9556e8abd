//! Options that several commands have.

use clap::Args;

use crate::model::lock::Locking;
use crate::model::shard::Shard;

/// Whether the lock must be complete.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct FrozenOption {
    /// Every image must be in the lock: what is missing there is an error, whatever other files say of it.
    #[arg(long)]
    pub frozen: bool,
}

impl FrozenOption {
    pub(super) fn locking(self) -> Locking {
        if self.frozen {
            Locking::Frozen
        } else {
            Locking::Loose
        }
    }
}

/// Which part of the clusters is processed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ShardOption {
    /// Process only the I-th of N parts of the clusters, selected by their names: the same on each machine.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
}

//! Options that several commands have.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::model::judgment::Grade;
use crate::model::lock::Locking;
use crate::model::policy::Policy;
use crate::read::Flags;

/// Whether the lock must be complete.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct FrozenOption {
    /// Require every image to be in the lock, even if other files have its facts.
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

/// Which judgments of node pools fail a run.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct GateOption {
    /// Exit 1 if a node pool has this judgment or a worse one: `by-name` accepts only proven pools. Overrides `policy.fail_on`.
    #[arg(long, value_name = "JUDGMENT", value_parser = grades(&Grade::GATES))]
    pub fail_on: Option<Grade>,
}

impl GateOption {
    pub(super) fn apply(self, policy: &mut Policy) {
        policy.fail_on = self.fail_on.or(policy.fail_on);
    }
}

/// One of these judgments, by its name.
pub(super) fn grades(known: &'static [Grade]) -> impl TypedValueParser<Value = Grade> {
    PossibleValuesParser::new(known.iter().map(|grade| grade.name()))
        .try_map(|name| Grade::parse(&name).ok_or("no judgment"))
}

/// Which part of the clusters is processed.
#[derive(Clone, Debug, Default, Args)]
pub struct PartOptions {
    /// Look only at these clusters, by name, or by a file or folder of theirs: the others are not read, and their files stay.
    #[arg(value_name = "CLUSTER|PATH")]
    pub selected: Vec<String>,
}

impl PartOptions {
    pub(super) fn apply(&self, flags: &mut Flags) {
        flags.selected.clone_from(&self.selected);
    }
}

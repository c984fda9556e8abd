//! `metalmark check` on the command line.

use clap::Args;

use super::workspace::{FrozenArgument, ProjectArguments, ShardArgument, WorkspaceArguments};
use crate::commands::{self, CheckOptions};
use crate::error::Error;
use crate::model::date::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    options: CheckOptions,
    #[command(flatten)]
    frozen: FrozenArgument,
    #[command(flatten)]
    part: ShardArgument,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl CheckArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let mut request = self.workspace.read_request(place);
        request.flags.locking = self.frozen.locking();
        request.flags.shard = self.part.shard;
        commands::check(&request, &self.options, today, terminal)
    }
}

//! `metalmark lock` on the command line.

use clap::Args;

use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, LockOptions};
use crate::error::Error;
use crate::model::date::Date;
use crate::model::shard::Shard;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct LockArguments {
    #[command(flatten)]
    options: LockOptions,
    /// With --check: process only the I-th of N parts of the clusters, selected by their names.
    #[arg(long, value_name = "I/N", requires = "check")]
    shard: Option<Shard>,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl LockArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let mut request = self.workspace.request(place);
        request.flags.shard = self.shard;
        commands::lock(&request, &self.options, today, terminal)
    }
}

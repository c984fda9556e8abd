//! `metalmark check` on the command line.

use clap::Args;

use super::report::FindingsArguments;
use super::workspace::{FrozenArgument, ProjectArguments, ShardArgument, WorkspaceArguments};
use crate::commands::{self, CheckOptions};
use crate::error::Error;
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    /// Make the edits that findings are sure of in the values files, then check again.
    #[arg(long)]
    fix: bool,
    /// Accept a run that checks no node pool.
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    frozen: FrozenArgument,
    #[command(flatten)]
    part: ShardArgument,
    #[command(flatten)]
    findings: FindingsArguments,
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
        commands::check(&request, &self.options(today), terminal)
    }

    fn options(&self, today: Date) -> CheckOptions {
        CheckOptions {
            fix: self.fix,
            allow_empty: self.allow_empty,
            reporting: self.findings.reporting(),
            today,
        }
    }
}

//! `metalmark lock` on the command line.

use clap::Args;

use super::report::ReportArguments;
use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, LockMode, LockOptions};
use crate::error::Error;
use crate::model::policy::Date;
use crate::model::shard::Shard;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct LockArguments {
    /// Ask again for these image keys; without any, for all.
    #[arg(long, value_name = "KEY", num_args = 0.., conflicts_with = "check")]
    upgrade: Option<Vec<String>>,
    /// Take the new digest of an image although its tag has moved.
    #[arg(long, value_name = "KEY", conflicts_with = "check")]
    accept_moved: Vec<String>,
    /// Ask for nothing and write nothing; exit 1 when the lock does not cover the workspace.
    #[arg(long)]
    check: bool,
    /// With --check: look only at the I-th of N parts of the clusters, chosen by their names.
    #[arg(long, value_name = "I/N", requires = "check")]
    shard: Option<Shard>,
    #[command(flatten)]
    report: ReportArguments,
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
        commands::lock(&request, &self.options(today), terminal)
    }

    fn options(&self, today: Date) -> LockOptions {
        let mode = match (&self.upgrade, self.check) {
            (_, true) => LockMode::Check,
            (Some(keys), _) => LockMode::Upgrade(keys.clone()),
            (None, _) => LockMode::Complete,
        };
        LockOptions {
            mode,
            accept_moved: self.accept_moved.clone(),
            format: self.report.format(),
            today,
        }
    }
}

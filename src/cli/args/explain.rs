//! `metalmark explain` on the command line.

use clap::Args;

use super::report::ReportArguments;
use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, ExplainOptions};
use crate::error::Error;
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct ExplainArguments {
    /// A rule's id, an image key, a cluster, or CLUSTER/POOL.
    #[arg(value_name = "ID")]
    subject: String,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl ExplainArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        commands::explain(
            &self.workspace.read_request(place),
            &self.options(today),
            terminal,
        )
    }

    fn options(&self, today: Date) -> ExplainOptions {
        ExplainOptions {
            subject: self.subject.clone(),
            format: self.report.format(),
            today,
        }
    }
}

//! `metalmark verify` on the command line.

use clap::Args;

use super::report::ReportArguments;
use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, VerifyOptions};
use crate::error::Error;
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct VerifyArguments {
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl VerifyArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let options = VerifyOptions {
            format: self.report.format(),
            today,
        };
        commands::verify(&self.workspace.request(place), &options, terminal)
    }
}

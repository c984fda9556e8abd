//! `metalmark images` on the command line.

use clap::Args;

use super::report::ListOutput;
use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, ImagesOptions};
use crate::error::Error;
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct ImagesArguments {
    /// The format of what is printed.
    #[arg(long, value_enum, default_value_t = ListOutput::Human, value_name = "FORMAT")]
    output: ListOutput,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl ImagesArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        commands::images(
            &self.workspace.read_request(place),
            &self.options(today),
            terminal,
        )
    }

    fn options(&self, today: Date) -> ImagesOptions {
        ImagesOptions {
            format: self.output.format(),
            today,
        }
    }
}

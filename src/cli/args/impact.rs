//! `metalmark impact` on the command line.

use clap::{Args, ValueEnum};

use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, ImpactFormat, ImpactOptions};
use crate::error::Error;
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct ImpactArguments {
    /// The commit that the change leads to; without it, the files as they stand.
    #[arg(value_name = "GIT-REV")]
    to: Option<String>,
    /// The commit that the change starts from; without it, the merge base with the default branch.
    #[arg(long, value_name = "GIT-REV")]
    against: Option<String>,
    /// The format of what is printed.
    #[arg(long, value_enum, default_value_t = ImpactOutput::Human, value_name = "FORMAT")]
    output: ImpactOutput,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ImpactOutput {
    /// For people.
    Human,
    /// For machines; docs/impact.md gives the shape.
    Json,
    /// For a comment on a merge request.
    Markdown,
}

impl ImpactArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        commands::impact(
            &self.workspace.read_request(place),
            &self.options(today),
            terminal,
        )
    }

    fn options(&self, today: Date) -> ImpactOptions {
        ImpactOptions {
            to: self.to.clone(),
            against: self.against.clone(),
            format: match self.output {
                ImpactOutput::Human => ImpactFormat::Human,
                ImpactOutput::Json => ImpactFormat::Json,
                ImpactOutput::Markdown => ImpactFormat::Markdown,
            },
            today,
        }
    }
}

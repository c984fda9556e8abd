//! `metalmark init` on the command line.

use clap::Args;

use super::workspace::ProjectArguments;
use crate::commands::{self, CodeHost, InitOptions};
use crate::error::Error;
use crate::model::date::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct InitArguments {
    /// Print the project file, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Write `.pre-commit-config.yaml`, or say what to add to the one that is there.
    #[arg(long)]
    pre_commit: bool,
    /// Write `renovate.json`, or say what to add to the one that is there.
    #[arg(long)]
    renovate: bool,
    /// Write the job of the code host that the repository is on, or say what to add: `.gitlab-ci.yml`, or a workflow of GitHub.
    #[arg(long, value_name = "HOST", num_args = 0..=1, require_equals = true)]
    ci: Option<Option<CodeHost>>,
}

impl InitArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        commands::init(&place.request(), &self.options(today), terminal)
    }

    fn options(&self, today: Date) -> InitOptions {
        InitOptions {
            dry_run: self.dry_run,
            pre_commit: self.pre_commit,
            renovate: self.renovate,
            ci: self.ci,
            today,
        }
    }
}

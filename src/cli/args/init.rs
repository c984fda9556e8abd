//! `metalmark init` on the command line.

use clap::Args;

use super::workspace::ProjectArguments;
use crate::commands::{self, InitOptions};
use crate::error::Error;
use crate::model::policy::Date;
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
            today,
        }
    }
}

//! `metalmark update` on the command line.

use std::path::PathBuf;

use clap::Args;

use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, UpdateOptions};
use crate::error::Error;
use crate::model::date::Date;
use crate::model::renovate::DATA_FILE;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct UpdateArguments {
    #[command(flatten)]
    options: UpdateOptions,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl UpdateArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let request = self.workspace.request(place);
        let renovate = std::env::var_os(DATA_FILE).filter(|name| !name.is_empty());
        let renovate = renovate.map(PathBuf::from);
        commands::update(
            &request,
            &self.options,
            renovate.as_deref(),
            today,
            terminal,
        )
    }
}

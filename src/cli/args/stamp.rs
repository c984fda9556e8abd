//! `metalmark stamp` on the command line.

use clap::Args;

use super::workspace::{FrozenArgument, ProjectArguments, WorkspaceArguments};
use crate::commands::{self, StampOptions};
use crate::error::Error;
use crate::model::date::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct StampArguments {
    #[command(flatten)]
    options: StampOptions,
    #[command(flatten)]
    frozen: FrozenArgument,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl StampArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let mut request = self.workspace.request(place);
        request.flags.locking = self.frozen.locking();
        request.flags.manifests = true;
        commands::stamp(&request, &self.options, today, terminal)
    }
}

//! `metalmark render` on the command line.

use clap::Args;

use super::workspace::{FrozenArgument, ProjectArguments, ShardArgument, WorkspaceArguments};
use crate::commands::{self, RenderOptions};
use crate::error::Error;
use crate::model::date::Date;
use crate::pipeline::{Terminal, Verdict};
use crate::read::Request;

#[derive(Debug, Args)]
pub(super) struct RenderArguments {
    /// What to render; with --out, instead of the project file's outputs.
    #[arg(long, value_name = "TARGET", requires = "out")]
    target: Vec<String>,
    /// The folder to render into.
    #[arg(long, value_name = "DIR", requires = "target")]
    out: Option<String>,
    #[command(flatten)]
    options: RenderOptions,
    /// A folder of CustomResourceDefinitions that rendered objects are validated against.
    #[arg(long, value_name = "DIR")]
    schemas: Option<String>,
    /// A folder of templates, TARGET/FILE, that replace the embedded ones one by one.
    #[arg(long, value_name = "DIR")]
    templates: Option<String>,
    /// Leave out files that are new to git, and fail while rendered files are: for hooks, since both are in no commit yet.
    #[arg(long, conflicts_with = "stdout")]
    tracked: bool,
    #[command(flatten)]
    frozen: FrozenArgument,
    #[command(flatten)]
    part: ShardArgument,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl RenderArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        commands::render(&self.request(place), &self.options, today, terminal)
    }

    pub(super) fn request(&self, place: &ProjectArguments) -> Request {
        let mut request = self.workspace.request(place);
        request.flags.tracked = self.tracked;
        request.flags.locking = self.frozen.locking();
        request.flags.shard = self.part.shard;
        request.flags.targets.clone_from(&self.target);
        request.flags.out.clone_from(&self.out);
        request.flags.schemas.clone_from(&self.schemas);
        request.flags.templates.clone_from(&self.templates);
        request
    }
}

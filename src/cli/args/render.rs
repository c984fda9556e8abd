//! `metalmark render` on the command line.

use clap::Args;

use super::report::FindingsArguments;
use super::workspace::{FrozenArgument, ProjectArguments, ShardArgument, WorkspaceArguments};
use crate::commands::{self, RenderMode, RenderOptions};
use crate::error::Error;
use crate::model::policy::Date;
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
    /// Write nothing; exit 1 and show the difference when the tree is not what would be rendered.
    #[arg(long, conflicts_with = "stdout")]
    check: bool,
    /// Write nothing; print everything as one YAML stream.
    #[arg(long)]
    stdout: bool,
    /// Take over files that stand in the way and were not written by metalmark.
    #[arg(long)]
    adopt: bool,
    /// Write the clusters that are clean, even where others have errors.
    #[arg(long)]
    keep_going: bool,
    /// Exit 1 where the tree was not what is rendered, although it is now: for hooks, which let a new file pass otherwise.
    #[arg(long, conflicts_with = "stdout")]
    fail_on_change: bool,
    /// Accept a run that checks no node pool, or yields nothing, which lets a GitOps engine delete everything.
    #[arg(long)]
    allow_empty: bool,
    /// A folder of CustomResourceDefinitions that rendered objects are validated against.
    #[arg(long, value_name = "DIR")]
    schemas: Option<String>,
    /// A folder of templates, TARGET/FILE, that replace the embedded ones one by one.
    #[arg(long, value_name = "DIR")]
    templates: Option<String>,
    #[command(flatten)]
    frozen: FrozenArgument,
    #[command(flatten)]
    part: ShardArgument,
    #[command(flatten)]
    findings: FindingsArguments,
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
        commands::render(&self.request(place), &self.options(today), terminal)
    }

    pub(super) fn request(&self, place: &ProjectArguments) -> Request {
        let mut request = self.workspace.request(place);
        request.flags.locking = self.frozen.locking();
        request.flags.shard = self.part.shard;
        request.flags.targets.clone_from(&self.target);
        request.flags.out.clone_from(&self.out);
        request.flags.schemas.clone_from(&self.schemas);
        request.flags.templates.clone_from(&self.templates);
        request
    }

    fn options(&self, today: Date) -> RenderOptions {
        let mode = match (self.check, self.stdout) {
            (true, _) => RenderMode::Check,
            (_, true) => RenderMode::Stdout,
            _ => RenderMode::Write,
        };
        RenderOptions {
            mode,
            adopt: self.adopt,
            keep_going: self.keep_going,
            fail_on_change: self.fail_on_change,
            allow_empty: self.allow_empty,
            reporting: self.findings.reporting(),
            today,
        }
    }
}

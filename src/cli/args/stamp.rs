//! `metalmark stamp` on the command line.

use std::path::PathBuf;

use clap::Args;

use super::report::FindingsArguments;
use super::workspace::{FrozenArgument, ProjectArguments, WorkspaceArguments};
use crate::commands::{self, StampOptions};
use crate::edit::stamp::Options;
use crate::error::Error;
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct StampArguments {
    /// Files and folders of manifests; without them those that the project file names, else all below its folder.
    #[arg(value_name = "PATHS")]
    paths: Vec<PathBuf>,
    /// Write nothing, show the difference and exit 1 if there is any.
    #[arg(long)]
    check: bool,
    /// Give a template whose image changes a name of its own, and move every reference to it.
    #[arg(long)]
    rotate: bool,
    /// With --rotate: how many templates of the past stay for machines that still refer to them.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "rotate")]
    keep: usize,
    /// Bring the Kubernetes version of control planes, machine deployments and clusters to their template's image's.
    #[arg(long)]
    set_version: bool,
    /// The commit that templates are held against, to find those that changed under the same name; the last one unless given.
    #[arg(long, value_name = "REV")]
    against: Option<String>,
    #[command(flatten)]
    frozen: FrozenArgument,
    #[command(flatten)]
    findings: FindingsArguments,
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
        let options = StampOptions {
            paths: self.paths.clone(),
            check: self.check,
            templates: Options {
                rotate: self.rotate,
                keep: self.keep,
                set_version: self.set_version,
            },
            against: self.against.clone(),
            reporting: self.findings.reporting(),
            today,
        };
        commands::stamp(&request, &options, terminal)
    }
}

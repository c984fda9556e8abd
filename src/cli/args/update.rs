//! `metalmark update` on the command line.

use std::path::PathBuf;

use clap::Args;

use super::report::FindingsArguments;
use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, OfferSource, Terminal, UpdateOptions, Verdict};
use crate::error::Error;
use crate::model::policy::Date;

#[derive(Debug, Args)]
pub(super) struct UpdateArguments {
    /// The builder's version to move to. Left out, it is the one that the values name: a bot has raised it already.
    #[arg(value_name = "VERSION")]
    to: Option<String>,
    #[command(flatten)]
    offer: OfferArguments,
    /// Move the values' map of Kubernetes versions (`k8s_version_map`) with the images.
    #[arg(long)]
    k8s_versions: bool,
    /// Move choices of images that are gone to their successors.
    #[arg(long)]
    fix: bool,
    /// Say what would be done, do nothing, and exit 1 if there is anything to do.
    #[arg(long)]
    check: bool,
    /// Write the summary to FILE as Markdown.
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    #[command(flatten)]
    findings: FindingsArguments,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

/// Where the version's images are listed.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct OfferArguments {
    /// A list of image references or names; `-` reads the standard input.
    #[arg(long, value_name = "FILE")]
    images: Option<PathBuf>,
    /// Release notes that hold `oci://…:TAG` lines; `-` reads the standard input.
    #[arg(long, value_name = "FILE")]
    release_notes: Option<PathBuf>,
}

impl UpdateArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let text = self
            .offer
            .images
            .as_ref()
            .or(self.offer.release_notes.as_ref());
        let options = UpdateOptions {
            version: self.to.clone(),
            offer: OfferSource::Text(text.cloned().unwrap_or_default()),
            k8s_versions: self.k8s_versions,
            fix: self.fix,
            check: self.check,
            summary: self.summary.clone(),
            reporting: self.findings.reporting(),
            today,
        };
        commands::update(&self.workspace.request(place), &options, terminal)
    }
}

//! `metalmark update` on the command line.

use std::path::PathBuf;

use clap::Args;

use super::report::FindingsArguments;
use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, OfferSource, UpdateOptions, VersionSource};
use crate::error::Error;
use crate::model::policy::Date;
use crate::model::renovate::DATA_FILE;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct UpdateArguments {
    /// The builder's version to move to. Left out, it is the one that the values name: a bot has raised it already.
    #[arg(value_name = "VERSION")]
    to: Option<String>,
    /// Run as Renovate's command after an upgrade: the version is the one that it raised, and stderr holds all that its merge
    /// request is to show.
    #[arg(long, conflicts_with = "to")]
    from_renovate: bool,
    #[command(flatten)]
    offer: OfferArguments,
    /// Move Kubernetes versions with the images: the values' map of them (`k8s_version_map`), and those that clusters and
    /// pools write themselves.
    #[arg(long)]
    k8s_versions: bool,
    /// Move choices of images that are gone to their successors.
    #[arg(long)]
    fix: bool,
    /// Say what would be done, do nothing, and exit 1 if there is anything to do.
    #[arg(long)]
    check: bool,
    /// Write what the update changes although there are errors, and render the clusters that have none. Without it, nothing is
    /// written while there are errors.
    #[arg(long, conflicts_with = "check")]
    keep_going: bool,
    /// Write the summary to FILE as Markdown.
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    #[command(flatten)]
    findings: FindingsArguments,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

/// Where the version's images are listed. Without any, the release that the project file names is read, else the registries
/// of the catalog are asked for what they have.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct OfferArguments {
    /// A list of image references or names; `-` reads the standard input.
    #[arg(long, value_name = "FILE")]
    images: Option<PathBuf>,
    /// Release notes that hold `oci://…:TAG` lines; `-` reads the standard input.
    #[arg(long, value_name = "FILE")]
    release_notes: Option<PathBuf>,
    /// The address of a release at GitLab or GitHub, with the word VERSION in its place; asked without credentials.
    #[arg(long, value_name = "URL")]
    releases: Option<String>,
}

impl UpdateArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let options = UpdateOptions {
            version: self.version(),
            offer: self.offer.source(),
            k8s_versions: self.k8s_versions,
            fix: self.fix,
            check: self.check,
            keep_going: self.keep_going,
            summary: self.summary.clone(),
            reporting: self.findings.reporting(),
            today,
        };
        commands::update(&self.workspace.request(place), &options, terminal)
    }

    fn version(&self) -> VersionSource {
        match (&self.to, self.from_renovate) {
            (Some(version), _) => VersionSource::Typed(version.clone()),
            (None, false) => VersionSource::Values,
            (None, true) => {
                let file = std::env::var_os(DATA_FILE).filter(|name| !name.is_empty());
                VersionSource::Renovate(file.map(PathBuf::from))
            }
        }
    }
}

impl OfferArguments {
    fn source(&self) -> OfferSource {
        let text = self.images.as_ref().or(self.release_notes.as_ref());
        match (text, &self.releases) {
            (Some(path), _) => OfferSource::Text(path.clone()),
            (None, Some(address)) => OfferSource::Release(address.clone()),
            (None, None) => OfferSource::World,
        }
    }
}

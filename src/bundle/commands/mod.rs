//! `metalmark bundle`: files that are distributed together under one digest, made, unpacked and inspected.

mod destination;
mod gather;
mod index;
mod input;
mod inspect;
mod keys;
mod manifests;
mod pack;
mod packing;
mod pinned;
mod pull;
mod push;
mod unpack;
mod verify;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use oci_artifacts::Reference;
use oci_artifacts::registry::Progress;

use crate::catalog::sources::{self, Stores};
use crate::decide::pool_counts::PoolCounts;
use crate::error::Error;
use crate::model::date::Date;
use crate::model::finding::Finding;
use crate::pipeline::check::{self, Checked};
use crate::pipeline::reporting::CheckReport;
use crate::pipeline::{Reporting, Terminal, Verdict};
use crate::read::{self, Request, Workspace};
use crate::report::Changes;

use inspect::InspectOptions;
use pack::PackOptions;
use pull::PullOptions;
use push::PushOptions;
use unpack::UnpackOptions;
use verify::VerifyOptions;

/// What is done with bundles.
#[derive(Debug, Subcommand)]
pub enum BundleCommand {
    /// Packs files into a bundle: manifests, a rendered tree, or what is installed on hosts.
    ///
    /// The same files are the same digest, wherever and whenever they are packed; `SOURCE_DATE_EPOCH` says when an artifact was
    /// made, else it says 1970.
    Pack(Box<PackOptions>),
    /// Writes the files of a bundle into a folder, and refuses what a hostile one would do.
    Unpack(UnpackOptions),
    /// Shows what a bundle is and holds.
    Inspect(InspectOptions),
    /// Pushes a bundle to a registry, and prints its digest.
    ///
    /// A folder is packed; the files of an archive are packed again; what an image layout holds is sent to the byte. Credentials are those of
    /// `docker login` and `podman login`. A registry that the project file names a mirror for is not pushed to.
    Push(Box<PushOptions>),
    /// Pulls a bundle out of a registry into a folder, by its digest.
    ///
    /// A tag may move: it is refused unless the lock has its digest.
    Pull(PullOptions),
    /// Compares a bundle in a registry with a public key and the contract of its kind. Nothing of it is kept or run.
    Verify(VerifyOptions),
}

/// What every command needs of a run.
pub(super) struct Run<'a> {
    request: &'a Request,
    /// The day that waivers are compared with.
    today: Date,
    /// Seconds since 1970 that artifacts say they were made at, where the user set them.
    epoch: Option<u64>,
    progress: Option<Progress>,
}

impl BundleCommand {
    /// Runs the command. `epoch` is the time that artifacts say they were made at, in seconds since 1970.
    ///
    /// # Errors
    /// Something cannot be read, written, fetched or pushed.
    pub fn run(
        &self,
        request: &Request,
        today: Date,
        epoch: Option<u64>,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let run = Run {
            request,
            today,
            epoch,
            progress: terminal.progress.clone(),
        };
        match self {
            Self::Pack(options) => pack::pack(&run, options, terminal),
            Self::Unpack(UnpackOptions {
                from,
                to,
                unpacking,
            }) => unpack::unpack(&run, from, to, unpacking, terminal),
            Self::Inspect(options) => inspect::inspect(&run, options, terminal),
            Self::Push(options) => push::push(&run, options, terminal),
            Self::Pull(options) => pull::pull(&run, options, terminal),
            Self::Verify(options) => verify::verify(&run, options, terminal),
        }
    }
}

impl Run<'_> {
    /// The workspace, whose policy counts. No project is needed unless it is rendered.
    fn workspace(&self, renders: bool) -> Result<Workspace, Error> {
        let mut request = self.request.clone();
        request.flags.manifests = !renders;
        request.flags.without_project = !renders;
        read::workspace(&request)
    }

    /// The stores that the project names, if there is a project.
    fn stores(&self) -> Result<Stores, Error> {
        let (root, settings) = read::registries(self.request)?;
        Ok(sources::stores(&root, &settings, self.progress.clone()))
    }

    /// Judges findings and prints them to stderr. [`Verdict::Findings`] if there is an error among them.
    fn report(
        &self,
        workspace: &Workspace,
        found: Vec<Finding>,
        reporting: &Reporting,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let all = workspace.findings.iter().cloned().chain(found).collect();
        let checked: Checked = check::findings(all, &workspace.settings, self.today);
        let found = CheckReport {
            judged: &checked.findings,
            pools: &PoolCounts::default(),
            pool_list: None,
        };
        let reporting = reporting.resolve_in(self.request.directory.as_ref());
        reporting.print_beside(found, workspace, Changes::None, terminal)?;
        Ok(checked.verdict())
    }

    /// Shows a terminal how many of a total are done.
    fn counting(&self, total: usize) -> impl Fn(usize) {
        let progress = self.progress.clone();
        move |done| {
            if let Some(progress) = &progress {
                progress(done, total);
            }
        }
    }

    /// A path below the folder that `-C` names.
    fn resolve(&self, path: &Path) -> PathBuf {
        self.request.locate(path)
    }

    /// The folder that `-C` names.
    fn folder(&self) -> &Path {
        self.request.directory.as_deref().unwrap_or(Path::new("."))
    }
}

/// Two files of a bundle have one path.
fn collision(path: std::sync::Arc<str>) -> Error {
    Error::usage(format!("two files have the path `{path}`"))
}

/// A reference on the command line.
fn reference(text: &str) -> Result<Reference, String> {
    Reference::parse(text).map_err(|error| error.to_string())
}

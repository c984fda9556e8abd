//! The command line as clap reads it: the options of each command, and how flags become the request.

mod check;
mod cmp;
mod completions;
mod examples;
mod function;
mod init;
mod lock;
mod lsp;
mod man;
mod render;
mod stamp;
mod update;
mod workspace;

use std::ffi::OsString;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use super::terminal::ColorMode;
use crate::bundle::commands::BundleCommand;
use crate::cli::today;
use crate::commands::{
    self, ExplainOptions, ImagesOptions, ImpactOptions, PageOptions, PlanOptions, RegistryCommand,
    ValuesOptions, VerifyOptions,
};
use crate::error::Error;
use crate::model::date::Date;
use crate::pipeline::{Terminal, Verdict};
use crate::read::Request;

use workspace::WorkspaceArguments;

/// Stamps machine images into Cluster API GitOps repositories, and refuses the stamp that does not fit.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_long_help = examples::ALONE)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: workspace::ProjectArguments,
    /// When to use colors; `auto` means on a terminal where NO_COLOR is not set.
    #[arg(long, value_enum, default_value_t = ColorMode::Auto, global = true, help_heading = "Everywhere")]
    pub(super) color: ColorMode,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks everything and writes the manifests.
    #[command(after_long_help = examples::RENDER)]
    Render(render::RenderArguments),
    /// Checks everything and writes nothing.
    #[command(after_long_help = examples::CHECK)]
    Check(check::CheckArguments),
    /// Resolves each image to a digest, and writes the lock.
    #[command(after_long_help = examples::LOCK)]
    Lock(lock::LockArguments),
    /// Compares the lock with the registries: tags, signatures, facts.
    #[command(after_long_help = examples::VERIFY)]
    Verify(WithWorkspace<VerifyOptions>),
    /// After a release of the image builder: edits version and catalog in the values, then renders.
    #[command(after_long_help = examples::UPDATE)]
    Update(update::UpdateArguments),
    /// Lists the image catalog: facts, references, and who uses what.
    #[command(after_long_help = examples::IMAGES)]
    Images(WithWorkspace<ImagesOptions>),
    /// Shows what a change does: images, versions, and the machines that are replaced, by cluster and pool.
    #[command(after_long_help = examples::IMPACT)]
    Impact(WithWorkspace<ImpactOptions>),
    /// Writes the fleet as one HTML page: clusters, images, findings, and why each pool boots what it boots.
    #[command(after_long_help = examples::PAGE)]
    Page(WithWorkspace<PageOptions>),
    /// Shows the steps by which clusters reach another Kubernetes version, and which images are missing for them.
    #[command(after_long_help = examples::PLAN)]
    Plan(WithWorkspace<PlanOptions>),
    /// Explains a rule, an image key, a cluster or a pool (CLUSTER/POOL): why this image, selector by selector.
    #[command(after_long_help = examples::EXPLAIN)]
    Explain(WithWorkspace<ExplainOptions>),
    /// Prints the values of a cluster, merged and evaluated; where each comes from; why one is what it is.
    #[command(after_long_help = examples::VALUES)]
    Values(WithWorkspace<ValuesOptions>),
    /// Updates the images of manifests in place: markers or the project file say which.
    #[command(after_long_help = examples::STAMP)]
    Stamp(stamp::StampArguments),
    /// A KRM function, as kustomize and kpt run it: a ResourceList on stdin, a ResourceList on stdout.
    #[command(after_long_help = examples::FUNCTION)]
    Fn(function::FunctionArguments),
    /// What Argo CD's sidecar runs as a config management plugin.
    #[command(after_long_help = examples::CMP)]
    Cmp(cmp::CmpArguments),
    /// Shows what registries and image layouts have, and the facts of one image.
    #[command(after_long_help = examples::REGISTRY)]
    Registry {
        #[command(subcommand)]
        command: RegistryCommand,
    },
    /// Packs, unpacks and inspects bundles: manifests, rendered trees, components for hosts.
    #[command(after_long_help = examples::BUNDLE)]
    Bundle {
        #[command(subcommand)]
        command: BundleCommand,
    },
    /// Writes a first project file from what the repository holds, and says what comes next.
    #[command(after_long_help = examples::INIT)]
    Init(init::InitArguments),
    /// A language server, as editors run it: findings, hovers and completion while one types.
    #[command(after_long_help = examples::LSP)]
    Lsp(lsp::LspArguments),
    /// Prints the JSON Schema of the project file, for editors.
    #[command(after_long_help = examples::SCHEMA)]
    Schema,
    /// Prints the manual page, or writes those of all commands.
    #[command(after_long_help = examples::MAN)]
    Man(man::ManArguments),
    /// Prints a completion script for a shell.
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions(completions::CompletionArguments),
}

/// The options of a command that adds nothing to the request, and the flags of the workspace.
#[derive(Debug, Args)]
struct WithWorkspace<T: Args> {
    #[command(flatten)]
    options: T,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl Arguments {
    /// Where the project is for a command line that is not typed to its end yet; none if it has no such place.
    pub(super) fn place(words: Vec<OsString>) -> Option<Request> {
        let typed = Self::command().ignore_errors(true);
        let matches = typed.try_get_matches_from(words).ok()?;
        let place = workspace::ProjectArguments::from_arg_matches(&matches).ok()?;
        Some(place.request())
    }

    /// Runs the command that was typed.
    pub(super) fn run(&self, today: Date, terminal: &mut Terminal) -> Result<Verdict, Error> {
        let place = &self.place;
        let Some(command) = &self.command else {
            return self.overview(today, terminal);
        };
        match command {
            Command::Render(render) => render.run(place, today, terminal),
            Command::Check(check) => check.run(place, today, terminal),
            Command::Lock(lock) => lock.run(place, today, terminal),
            Command::Verify(it) => {
                commands::verify(&it.workspace.request(place), &it.options, today, terminal)
            }
            Command::Update(update) => update.run(place, today, terminal),
            Command::Images(it) => commands::images(
                &it.workspace.read_request(place),
                &it.options,
                today,
                terminal,
            ),
            Command::Impact(it) => commands::impact(
                &it.workspace.read_request(place),
                &it.options,
                today,
                terminal,
            ),
            Command::Page(it) => commands::page(
                &it.workspace.read_request(place),
                &it.options,
                today,
                terminal,
            ),
            Command::Plan(it) => commands::plan(
                &it.workspace.read_request(place),
                &it.options,
                today,
                terminal,
            ),
            Command::Explain(it) => commands::explain(
                &it.workspace.read_request(place),
                &it.options,
                today,
                terminal,
            ),
            Command::Values(it) => {
                commands::values(&it.workspace.request(place), &it.options, today, terminal)
            }
            Command::Stamp(stamp) => stamp.run(place, today, terminal),
            Command::Fn(function) => function.run(place, today, terminal),
            Command::Cmp(cmp) => cmp.run(place, today, terminal),
            Command::Registry { command } => command.run(&place.request(), terminal),
            Command::Bundle { command } => {
                command.run(&place.request(), today, today::epoch()?, terminal)
            }
            Command::Lsp(lsp) => lsp.run(place, today),
            Command::Init(init) => init.run(place, today, terminal),
            Command::Schema => commands::schema(terminal),
            Command::Man(man) => man.run(terminal),
            Command::Completions(completions) => completions.run(terminal),
        }
    }

    /// What is here; outside of every project and repository, how metalmark is used.
    fn overview(&self, today: Date, terminal: &mut Terminal) -> Result<Verdict, Error> {
        let request = self.place.discovering();
        if commands::has_place(&request) {
            return commands::overview(&request, today, terminal);
        }
        let usage = Self::command().render_help().to_string();
        Err(Error::usage(format!("no command is given\n{usage}")))
    }
}

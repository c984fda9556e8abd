//! The command line as clap reads it, and what it means to the stages: one file a command.

mod bundle;
mod bundle_packing;
mod bundle_remote;
mod check;
mod cmp;
mod completions;
mod explain;
mod function;
mod images;
mod impact;
mod init;
mod lock;
mod man;
mod registry;
mod render;
mod report;
mod stamp;
mod update;
mod values;
mod verify;
mod workspace;

use clap::{Parser, Subcommand};

use super::terminal::ColorMode;
use crate::commands;
use crate::error::Error;
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict};

/// Stamps machine images into Cluster API GitOps repositories, and refuses the stamp that does not fit.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: workspace::ProjectArguments,
    /// When to use colors; `auto` means on a terminal where NO_COLOR is not set.
    #[arg(long, value_enum, default_value_t = ColorMode::Auto, global = true, help_heading = "Everywhere")]
    pub(super) color: ColorMode,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks everything and writes the manifests.
    Render(render::RenderArguments),
    /// Checks everything and writes nothing.
    Check(check::CheckArguments),
    /// Asks the registries which bytes each image is, and keeps the answers in the lock.
    Lock(lock::LockArguments),
    /// Holds the lock against the registries: tags, signatures, facts.
    Verify(verify::VerifyArguments),
    /// After a release of the image builder: edits version and catalog in the values, then renders.
    Update(update::UpdateArguments),
    /// Lists the image catalog: facts, references, and who uses what.
    Images(images::ImagesArguments),
    /// Tells what a change does: images, versions, and the machines that are made anew, by cluster and pool.
    Impact(impact::ImpactArguments),
    /// Explains a rule, an image key, a cluster or a pool (CLUSTER/POOL): why this image, selector by selector.
    Explain(explain::ExplainArguments),
    /// Prints the values of a cluster, merged and evaluated; where each comes from; why one is what it is.
    Values(values::ValuesArguments),
    /// Brings the images of manifests up to date where they stand: markers or the project file say which.
    Stamp(stamp::StampArguments),
    /// A KRM function, as kustomize and kpt run it: a ResourceList on stdin, a ResourceList on stdout.
    Fn(function::FunctionArguments),
    /// What Argo CD's sidecar runs as a config management plugin.
    Cmp(cmp::CmpArguments),
    /// Tells what registries and image layouts offer, and what one image says of itself.
    Registry(registry::RegistryArguments),
    /// Packs, unpacks and looks at bundles: manifests, rendered trees, components for hosts.
    Bundle(bundle::BundleArguments),
    /// Writes a first project file from what the repository holds, and says what comes next.
    Init(init::InitArguments),
    /// Prints the JSON Schema of the project file, for editors.
    Schema,
    /// Prints the manual page, or writes those of all commands.
    Man(man::ManArguments),
    /// Prints a completion script for a shell.
    Completions(completions::CompletionArguments),
}

impl Arguments {
    /// Runs the command that was typed.
    pub(super) fn run(&self, today: Date, terminal: &mut Terminal) -> Result<Verdict, Error> {
        let place = &self.place;
        match &self.command {
            Command::Render(render) => render.run(place, today, terminal),
            Command::Check(check) => check.run(place, today, terminal),
            Command::Lock(lock) => lock.run(place, today, terminal),
            Command::Verify(verify) => verify.run(place, today, terminal),
            Command::Update(update) => update.run(place, today, terminal),
            Command::Images(images) => images.run(place, today, terminal),
            Command::Impact(impact) => impact.run(place, today, terminal),
            Command::Explain(explain) => explain.run(place, today, terminal),
            Command::Values(values) => values.run(place, today, terminal),
            Command::Stamp(stamp) => stamp.run(place, today, terminal),
            Command::Fn(function) => function.run(place, today, terminal),
            Command::Cmp(cmp) => cmp.run(place, today, terminal),
            Command::Registry(registry) => registry.run(place, terminal),
            Command::Bundle(bundle) => bundle.run(place, today, terminal),
            Command::Init(init) => init.run(place, today, terminal),
            Command::Schema => commands::schema(terminal),
            Command::Man(man) => man.run(terminal),
            Command::Completions(completions) => completions.run(terminal),
        }
    }
}

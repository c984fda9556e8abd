//! `metalmark registry` on the command line.

use clap::{Args, Subcommand};

use super::report::ListOutput;
use super::workspace::ProjectArguments;
use crate::commands::{self, RegistryOptions};
use crate::error::Error;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct RegistryArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists the tags of a repository, the repositories of a registry, or the names in an image layout.
    ///
    /// The tags of signatures, `sha256-…`, are left out. Credentials are those of `docker login` and `podman login`. Where the
    /// project file names a mirror for it, the mirror is asked, and never the registry itself.
    Ls(ListArguments),
    /// Prints the facts of one image, from its manifest's annotations.
    ///
    /// Of an index, the manifest for the project file's architecture counts, else for amd64. Where the project file names a
    /// mirror for the image, the mirror is asked, and never the registry itself.
    Facts(FactsArguments),
}

#[derive(Debug, Args)]
struct ListArguments {
    /// `oci://registry/repository`, a registry's host, or `oci-layout:DIR`.
    #[arg(value_name = "REF")]
    of: String,
    /// The format of what is printed.
    #[arg(long, value_enum, default_value_t = ListOutput::Human, value_name = "FORMAT")]
    output: ListOutput,
}

#[derive(Debug, Args)]
struct FactsArguments {
    /// `oci://registry/repository:tag`, or with `@sha256:…`.
    #[arg(value_name = "REF")]
    of: String,
    /// Look into this image layout instead of the registry.
    #[arg(long, value_name = "oci-layout:DIR")]
    from: Option<String>,
    /// The format of what is printed.
    #[arg(long, value_enum, default_value_t = ListOutput::Human, value_name = "FORMAT")]
    output: ListOutput,
}

impl RegistryArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let request = place.request();
        match &self.command {
            Command::Ls(list) => {
                let (from, format) = (None, list.output.format());
                let of = list.of.clone();
                commands::registry_list(&request, &RegistryOptions { of, from, format }, terminal)
            }
            Command::Facts(facts) => {
                let (from, format) = (facts.from.clone(), facts.output.format());
                let of = facts.of.clone();
                commands::registry_facts(&request, &RegistryOptions { of, from, format }, terminal)
            }
        }
    }
}

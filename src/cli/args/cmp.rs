//! `metalmark cmp` on the command line.

use clap::{Args, Subcommand};

use super::workspace::ProjectArguments;
use crate::error::Error;
use crate::files::sandbox;
use crate::hosts::cmp::{self, Environment, PluginOptions, SimulateOptions};
use crate::model::date::Date;
use crate::pipeline::{Terminal, Verdict};

#[derive(Debug, Args)]
pub(super) struct CmpArguments {
    #[command(subcommand)]
    command: CmpCommand,
}

#[derive(Debug, Subcommand)]
enum CmpCommand {
    /// Prints the objects of the application's cluster; reads Argo CD's variables.
    Generate,
    /// Prints the project file's path where the application is one of this plugin's.
    Discover,
    /// Prints what an application can set, as JSON for Argo CD's form.
    Parameters,
    /// Prints the sidecar's plugin.yaml.
    PluginConfig(PluginOptions),
    /// Runs `generate` as Argo CD would for an Application.
    Simulate(SimulateOptions),
}

impl CmpArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let request = place.request();
        let is_hosts = matches!(
            self.command,
            CmpCommand::Generate | CmpCommand::Discover | CmpCommand::Parameters
        );
        if let Some(folder) = cmp::repository(&request, &environment()).filter(|_| is_hosts) {
            sandbox(&folder);
        }
        match &self.command {
            CmpCommand::Generate => cmp::generate(&request, &environment(), today, terminal),
            CmpCommand::Discover => cmp::discover(&request, &environment(), terminal),
            CmpCommand::Parameters => cmp::parameters(&request, &environment(), terminal),
            CmpCommand::PluginConfig(plugin) => cmp::plugin_config(plugin, terminal),
            CmpCommand::Simulate(simulate) => {
                cmp::simulate(&request, &environment(), simulate, today, terminal)
            }
        }
    }
}

/// The process's variables.
fn environment() -> Environment {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    std::env::vars_os()
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}

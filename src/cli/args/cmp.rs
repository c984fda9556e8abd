//! `metalmark cmp` on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::workspace::ProjectArguments;
use crate::error::Error;
use crate::files::sandbox;
use crate::hosts::cmp::{self, Environment, PluginOptions, SimulateOptions, Simulated, Simulation};
use crate::model::policy::Date;
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
    PluginConfig(PluginConfigArguments),
    /// Runs `generate` as Argo CD would for an Application.
    Simulate(SimulateArguments),
}

#[derive(Debug, Args)]
struct PluginConfigArguments {
    /// The name that Applications say in `spec.source.plugin.name`.
    #[arg(long, default_value = "metalmark", value_name = "NAME")]
    name: String,
    /// Serve Applications that name no plugin too; costs sending the repository twice.
    #[arg(long)]
    discover: bool,
}

#[derive(Debug, Args)]
struct SimulateArguments {
    /// The Application's manifest.
    #[arg(long, value_name = "FILE")]
    app: PathBuf,
    /// The commit that Argo CD would have checked out.
    #[arg(long, value_name = "COMMIT")]
    revision: Option<String>,
    /// The destination cluster's Kubernetes version.
    #[arg(long, default_value = "", value_name = "VERSION")]
    kube_version: String,
    /// The destination cluster's API versions.
    #[arg(long, value_delimiter = ',', value_name = "VERSIONS")]
    api_versions: Vec<String>,
    /// Which of the Application's sources, from 1.
    #[arg(long, value_name = "NUMBER")]
    source: Option<usize>,
    /// Print the variables and stop.
    #[arg(long)]
    environment: bool,
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
            CmpCommand::PluginConfig(plugin) => cmp::plugin_config(&plugin.options(), terminal),
            CmpCommand::Simulate(simulate) => {
                cmp::simulate(&request, &environment(), &simulate.options(today), terminal)
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

impl PluginConfigArguments {
    fn options(&self) -> PluginOptions {
        PluginOptions {
            name: self.name.clone(),
            discover: self.discover,
        }
    }
}

impl SimulateArguments {
    fn options(&self, today: Date) -> SimulateOptions {
        SimulateOptions {
            app: self.app.clone(),
            simulated: Simulated {
                revision: self.revision.clone(),
                kube_version: self.kube_version.clone(),
                api_versions: self.api_versions.clone(),
                source: self.source,
            },
            show: match self.environment {
                true => Simulation::Environment,
                false => Simulation::Objects,
            },
            today,
        }
    }
}

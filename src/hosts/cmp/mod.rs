//! `metalmark cmp`: what Argo CD's sidecar runs as a config management plugin, and how to try it without a cluster.
//!
//! The contract is `cmpserver/plugin/plugin.go` of argoproj/argo-cd: the command runs in the application's folder of a copy of
//! the repository, stdout holds nothing but Kubernetes objects, and stderr is shown to people only when the exit status is
//! not 0. Nothing is written, and nothing outside that copy is read.

mod announce;
mod application;
mod environment;
mod parameters;
mod plugin;
mod selection;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::error::Error;
use crate::files::sandbox;
use crate::model::date::Date;
use crate::model::manifest::FileKind;
use crate::read::{self, Request};

use crate::pipeline::fleet::Fleet;
use crate::pipeline::rendered::{self, Faulty};
use crate::pipeline::{Terminal, Verdict};
use crate::report::Format;
pub use application::Simulated;
pub use environment::Environment;
use parameters::Given;
pub use plugin::{PluginOptions, plugin_config};

/// What the sidecar runs, and what is for people.
#[derive(Clone, Debug, Subcommand)]
pub enum CmpCommand {
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

impl CmpCommand {
    /// Runs the command. Those of the sidecar can read nothing outside the repository then.
    ///
    /// # Errors
    /// As the function of each.
    pub fn run(
        &self,
        request: &Request,
        environment: &Environment,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        if let Self::Generate | Self::Discover | Self::Parameters = self
            && let Some(folder) = repository(request, environment)
        {
            sandbox(&folder);
        }
        match self {
            Self::Generate => generate(request, environment, today, terminal),
            Self::Discover => discover(request, environment, terminal),
            Self::Parameters => parameters(request, environment, terminal),
            Self::PluginConfig(options) => plugin_config(options, terminal),
            Self::Simulate(options) => simulate(request, environment, options, today, terminal),
        }
    }
}

/// `metalmark cmp generate`: the objects of the application's cluster on stdout.
///
/// # Errors
/// The world failed; a parameter is not understood; nothing would be rendered, which lets Argo CD prune everything.
pub fn generate(
    request: &Request,
    environment: &Environment,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let given = Given::read(environment)?;
    let mut workspace = read::workspace(&confine(request, environment, &given)?)?;
    if given.allow_empty {
        workspace.settings.policy.allow_empty();
    }
    selection::outputs(&mut workspace.settings.outputs, &given.targets)?;
    let selected = selection::part(&workspace, &given, environment)?;
    let part = selected.part();
    let mut rendered = rendered::render(Fleet::open(workspace, today)?, part, Faulty::StopAll)?;
    rendered.files.retain(|file| file.kind == FileKind::Objects);
    let verdict = rendered.report(Format::Human, terminal)?;
    if verdict != Verdict::Clean {
        return Ok(verdict);
    }
    if rendered.files.is_empty() && !given.allow_empty {
        return Err(selected.is_empty(&rendered.workspace.settings.outputs));
    }
    rendered.print(terminal)?;
    Ok(verdict)
}

/// `metalmark cmp discover`: the project file's path where the application is one of this plugin's, else nothing. Argo CD takes
/// any text for a yes.
///
/// # Errors
/// Stdout is gone.
pub fn discover(
    request: &Request,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let project = read::project_file(&start(request), environment.steps());
    let Some(project) = project else {
        return Ok(Verdict::Clean);
    };
    if selection::is_ours(request, environment) {
        writeln!(terminal.out, "{}", project.display())?;
    }
    Ok(Verdict::Clean)
}

/// `metalmark cmp parameters`: what an application can set, with the project's own values, as Argo CD's dynamic announcement.
///
/// # Errors
/// Stdout is gone.
pub fn parameters(
    request: &Request,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let request = confine(request, environment, &Given::default());
    let workspace = request.and_then(|request| read::workspace(&request));
    // The form is shown whatever the repository contains; `generate` reports what is wrong with it.
    let announced = announce::list(workspace.as_ref().ok(), environment);
    terminal.out.json(&announced)?;
    Ok(Verdict::Clean)
}

/// What is simulated.
#[derive(Clone, Debug, Args)]
pub struct SimulateOptions {
    /// The Application's manifest.
    #[arg(long, value_name = "FILE")]
    pub app: PathBuf,
    /// What Argo CD knows besides the manifest.
    #[command(flatten)]
    pub simulated: Simulated,
    /// Print the variables and stop.
    #[arg(long)]
    pub environment: bool,
}

/// `metalmark cmp simulate`: `generate` as Argo CD would run it for an Application, in a sidecar with these variables.
///
/// # Errors
/// As [`generate`]; the manifest is no Application that a plugin could serve.
pub fn simulate(
    request: &Request,
    sidecar: &Environment,
    options: &SimulateOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let objects = read::objects(&options.app)?;
    let run = application::run(&objects, &options.simulated)?;
    if options.environment {
        for (name, value) in run.environment.iter() {
            writeln!(terminal.out, "{name}={value}")?;
        }
        return Ok(Verdict::Clean);
    }
    let request = Request {
        directory: Some(start(request).join(&run.path)),
        ..request.clone()
    };
    let environment = sidecar.with_others(&run.environment);
    generate(&request, &environment, today, terminal)
}

/// The folder that the run starts in.
fn start(request: &Request) -> PathBuf {
    let here = || PathBuf::from(".");
    request.directory.clone().unwrap_or_else(here)
}

/// The folder of the repository that Argo CD sent; none where Argo CD does not say which it is.
fn repository(request: &Request, environment: &Environment) -> Option<PathBuf> {
    let mut folder = start(request);
    folder.extend(std::iter::repeat_n("..", environment.steps()?));
    Some(folder)
}

/// The request within the repository that Argo CD sent: its project file, and no file outside it. Where Argo CD does not say
/// which folder that is, nothing is read.
fn confine(request: &Request, environment: &Environment, given: &Given) -> Result<Request, Error> {
    let mut request = request.clone();
    let start = start(&request);
    let steps = environment.steps().ok_or_else(no_host)?;
    if request.project.is_none() {
        let found = read::project_file(&start, Some(steps));
        let below = found.and_then(|file| Some(file.strip_prefix(&start).ok()?.to_owned()));
        request.project = Some(below.ok_or_else(no_project)?);
    }
    request.flags.confined = repository(&request, environment);
    given.set(&mut request.flags);
    Ok(request)
}

fn no_host() -> Error {
    let message = "`ARGOCD_APP_SOURCE_PATH` is not set, so the repository that may be read is not known\n\
         help: Argo CD sets it; to try the plugin elsewhere, use `metalmark cmp simulate`";
    Error::usage(message)
}

fn no_project() -> Error {
    let message = "there is no `metalmark.yaml` in the application's folder, nor above it in what Argo CD sent of the repository\n\
         help: put one at the repository's root, and name it in argocd.argoproj.io/manifest-generate-paths where that is set";
    Error::usage(message)
}

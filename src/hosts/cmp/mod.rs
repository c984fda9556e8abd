//! `metalmark cmp`: what Argo CD's sidecar runs as a config management plugin, and how to try it without a cluster.
//!
//! The contract is `cmpserver/plugin/plugin.go` of argoproj/argo-cd: the command runs in the application's folder of a copy of
//! the repository, stdout holds nothing but Kubernetes objects, and stderr is shown to people only when the exit status is
//! not 0. Nothing is written, and nothing outside that copy is read.

mod application;
mod environment;
mod parameters;
mod selection;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::error::Error;
use crate::files::{sandbox, start_threads};
use crate::model::date::Date;
use crate::model::manifest::FileKind;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::rendered;
use crate::pipeline::{Terminal, Verdict};
use crate::read::{self, Request, Workspace};
use crate::report::Format;

use parameters::{ALL, CHECKSUM, CHECKSUMS, CLUSTER, FROZEN, Given, IMAGE_URL, SCOPE, TARGETS};

pub use application::Simulated;
pub use environment::Environment;

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
        start_threads()?;
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
    let mut rendered = rendered::render(Fleet::open(workspace, today)?, part)?;
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
    let announced = announcements(workspace.as_ref().ok(), environment);
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
    let objects = read::objects(&request.locate(&options.app))?;
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

/// One announcement (`reposerver/repository/repository.proto`, `ParameterAnnouncement`).
#[derive(Debug, Serialize)]
struct Announcement {
    name: &'static str,
    title: &'static str,
    tooltip: &'static str,
    #[serde(rename = "collectionType")]
    collection_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    string: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<Vec<String>>,
}

/// Every parameter with what holds unless it is set. Argo CD shows these defaults and never sends them.
fn announcements(workspace: Option<&Workspace>, environment: &Environment) -> Vec<Announcement> {
    let default = |name: &str| -> Option<Vec<String>> {
        let settings = &workspace?.settings;
        let text = match name {
            CLUSTER => selection::cluster(workspace?, &Given::default(), environment)?
                .name
                .to_string(),
            SCOPE => "cluster".to_owned(),
            TARGETS => {
                let mut outputs = settings.outputs.clone();
                selection::outputs(&mut outputs, &[]).ok()?;
                let mut targets: Vec<String> =
                    outputs.into_iter().map(|output| output.target).collect();
                targets.sort();
                targets.dedup();
                return Some(targets);
            }
            IMAGE_URL => settings.images.url.clone(),
            CHECKSUM => {
                let style = settings.images.checksum;
                CHECKSUMS
                    .iter()
                    .find(|(_, known)| *known == style)?
                    .0
                    .to_owned()
            }
            FROZEN => "true".to_owned(),
            _ => "false".to_owned(),
        };
        Some(vec![text])
    };
    let announced = ALL.iter().map(|parameter| {
        let default = default(parameter.name);
        let (string, array) = if parameter.is_list {
            (None, default)
        } else {
            (default.and_then(|mut all| all.pop()), None)
        };
        Announcement {
            name: parameter.name,
            title: parameter.title,
            tooltip: parameter.tooltip,
            collection_type: if parameter.is_list { "array" } else { "string" },
            string,
            array,
        }
    });
    announced.collect()
}

/// How the sidecar serves Applications.
#[derive(Clone, Debug, Args)]
pub struct PluginOptions {
    /// The name that Applications say in `spec.source.plugin.name`.
    #[arg(long, default_value = "metalmark", value_name = "NAME")]
    pub name: String,
    /// Serve Applications that name no plugin too; costs sending the repository twice.
    #[arg(long)]
    pub discover: bool,
}

/// `metalmark cmp plugin-config`: the sidecar's plugin.yaml on stdout.
///
/// # Errors
/// Stdout is gone, or there is no name.
pub fn plugin_config(options: &PluginOptions, terminal: &mut Terminal) -> Result<Verdict, Error> {
    if options.name.is_empty() || options.name.contains('/') {
        let message =
            "a plugin's name is the name of its socket: it is not empty and holds no slash";
        return Err(Error::usage(message));
    }
    terminal.out.product(plugin_text(options).as_bytes())?;
    Ok(Verdict::Clean)
}

fn plugin_text(options: &PluginOptions) -> String {
    let name = yaml_tree::quote(&options.name);
    let discover = if options.discover {
        DISCOVER
    } else {
        NO_DISCOVERY
    };
    format!(
        "\
# Argo CD's sidecar reads this file at /home/argocd/cmp-server/config/plugin.yaml.
apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: {name}
spec:
  # Without `version`, which would become part of the name that Applications say.
  generate:
    command: [metalmark]
    args: [cmp, generate]
{discover}  parameters:
    dynamic:
      command: [metalmark]
      args: [cmp, parameters]
"
    )
}

const DISCOVER: &str = "  \
  # Applications that name no plugin are served where they are called like a cluster of their project.
  discover:
    find:
      command: [metalmark]
      args: [cmp, discover]
";

const NO_DISCOVERY: &str = "  \
  # Without `discover`: Applications name the plugin, and the repository is sent once instead of twice.
";

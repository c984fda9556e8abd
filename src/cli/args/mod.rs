//! The command line as clap reads it: the commands, each with its options, and how flags become the request.

mod examples;
mod workspace;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, value_parser};

use crate::budget::Limits;
use crate::bundle::commands::BundleCommand;
use crate::commands::{
    self, CheckOptions, ClustersOptions, ExplainOptions, ImagesOptions, ImpactOptions, InitOptions,
    LockOptions, MirrorOptions, NamesOptions, PageOptions, PlanOptions, RegistryCommand,
    RenderOptions, RulesOptions, StampOptions, UpdateOptions, ValuesOptions, VerifyOptions,
};
use crate::error::Error;
use crate::files::{sandbox, start_threads};
use crate::hosts::cmp::CmpCommand;
use crate::model::date::Date;
use crate::model::finding::Finding;
use crate::model::renovate::DATA_FILE;
use crate::pipeline::{self, Reporting, Terminal, Verdict};
use crate::printer::Detail;
use crate::read::Request;
use crate::{editor, hosts, output};

use super::terminal::ColorMode;
use super::watchdog::{self, Watched};
use super::{complete, today};

use workspace::{ProjectArguments, WorkspaceArguments};

/// The command line.
#[derive(Debug, Parser)]
#[command(about, version, propagate_version = true, after_long_help = format!("{}\n\n{}", examples::ALONE, examples::EXIT_STATUS))]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ProjectArguments,
    /// When to use colors; `auto` means on a terminal where NO_COLOR is not set.
    #[arg(long, value_enum, default_value_t = ColorMode::Auto, global = true, help_heading = "Everywhere")]
    pub(super) color: ColorMode,
    /// How much memory the run may take, in MiB; else 2048, and 512 for `cmp`, `fn` and `lsp`.
    #[arg(
        long,
        value_name = "MIB",
        global = true,
        help_heading = "Everywhere",
        value_parser = value_parser!(u64).range(1..1 << 40)
    )]
    max_memory: Option<u64>,
    /// How much CPU time the run may take, in seconds; else 60 and 2 ms a cluster, and 20 for `cmp`, `fn` and `lsp`.
    #[arg(
        long,
        value_name = "SECONDS",
        global = true,
        help_heading = "Everywhere",
        value_parser = value_parser!(u64).range(1..1 << 40)
    )]
    max_cpu: Option<u64>,
    /// Print errors only: no warnings, no summary, no list of files. The answer of a command is still printed.
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "verbose",
        help_heading = "Everywhere"
    )]
    quiet: bool,
    /// Print each finding by itself, even if several have one cause.
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    verbose: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks everything and writes the manifests.
    #[command(after_long_help = examples::RENDER)]
    Render(WithWorkspace<RenderOptions>),
    /// Checks everything and writes nothing.
    #[command(after_long_help = examples::CHECK)]
    Check(WithWorkspace<CheckOptions>),
    /// Resolves each image to a digest, and writes the lock.
    #[command(after_long_help = examples::LOCK)]
    Lock(WithWorkspace<LockOptions>),
    /// Compares the lock with the registries: tags, signatures, facts.
    #[command(after_long_help = examples::VERIFY)]
    Verify(WithWorkspace<VerifyOptions>),
    /// Copies the locked images to a mirror, with every signature and attestation.
    #[command(after_long_help = examples::MIRROR)]
    Mirror(WithWorkspace<MirrorOptions>),
    /// After a release of the image builder: edits version and catalog in the values, then renders.
    #[command(after_long_help = examples::UPDATE)]
    Update(WithWorkspace<UpdateOptions>),
    /// Lists clusters and node pools: version, image, and whether that is proven to fit.
    #[command(after_long_help = examples::CLUSTERS)]
    Clusters(WithWorkspace<ClustersOptions>),
    /// Lists the image catalog: facts, references, and who uses what.
    #[command(after_long_help = examples::IMAGES)]
    Images(WithWorkspace<ImagesOptions>),
    /// Builds the names of images by a scheme or a form, and tests what names say.
    #[command(after_long_help = examples::NAMES)]
    Names(WithWorkspace<NamesOptions>),
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
    /// Lists the rules with their levels in this project: what `check` looks for.
    #[command(after_long_help = examples::RULES)]
    Rules(RulesOptions),
    /// Prints the values of a cluster, merged and evaluated; where each comes from; why one is what it is.
    #[command(after_long_help = examples::VALUES)]
    Values(WithWorkspace<ValuesOptions>),
    /// Updates the images of manifests in place: markers or the project file say which.
    #[command(after_long_help = examples::STAMP)]
    Stamp(WithWorkspace<StampOptions>),
    /// A KRM function, as kustomize and kpt run it: a ResourceList on stdin, a ResourceList on stdout.
    #[command(after_long_help = examples::FUNCTION)]
    Fn,
    /// Runs as Argo CD's config management plugin, in its sidecar.
    #[command(after_long_help = examples::CMP)]
    Cmp {
        #[command(subcommand)]
        command: CmpCommand,
    },
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
    /// Writes a first project file for this repository, and says what to do next.
    #[command(after_long_help = examples::INIT)]
    Init(InitOptions),
    /// A language server, as editors run it: findings, hovers and completion while one types.
    #[command(after_long_help = examples::LSP)]
    Lsp {
        /// Ignored: editors pass it, and there is no other way to talk.
        #[arg(long)]
        stdio: bool,
    },
    /// Prints the JSON Schema of the project file, for editors.
    #[command(after_long_help = examples::SCHEMA)]
    Schema,
    /// Prints the manual page, or writes those of all commands.
    #[command(after_long_help = examples::MAN)]
    Man {
        /// Write a page for each command into this folder.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Prints a completion script for a shell.
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// The options of a command, and the flags that replace a project file.
#[derive(Debug, Args)]
struct WithWorkspace<T: Args> {
    #[command(flatten)]
    options: T,
    #[command(flatten)]
    workspace: WorkspaceArguments,
}

impl<T: Args> WithWorkspace<T> {
    fn request(&self, place: &ProjectArguments) -> Request {
        place.request_with(self.workspace.flags())
    }

    /// The request of a command that reads clusters and writes nothing for them: where there is no project, it reads the
    /// manifests below the folder.
    fn read_request(&self, place: &ProjectArguments) -> Request {
        let mut request = self.request(place);
        request.flags.discovers = true;
        request
    }
}

/// The commands with examples that a user of kubectl's plugin can type.
fn plugin_command(command: clap::Command) -> clap::Command {
    let help = command.get_after_long_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let command = command.mut_subcommands(plugin_command);
    command.after_long_help(help.replace("\n  metalmark", "\n  kubectl metalmark"))
}

impl Arguments {
    /// Where the project is for a command line that is not typed to its end yet; none if it has no such place.
    pub(super) fn place(words: Vec<OsString>) -> Option<Request> {
        let typed = Self::command().ignore_errors(true);
        let matches = typed.try_get_matches_from(words).ok()?;
        let place = ProjectArguments::from_arg_matches(&matches).ok()?;
        Some(place.request())
    }

    /// What was typed, and the command's name.
    ///
    /// # Errors
    /// It is no command line, or it is `--help` or `--version`.
    pub(super) fn parse_named() -> Result<(Self, String), clap::Error> {
        let called = std::env::args_os().next().unwrap_or_default();
        let mut command = Self::command();
        // So kubectl finds its plugins, and what is typed is another command.
        if Path::new(&called).file_stem() == Some(OsStr::new("kubectl-metalmark")) {
            command = plugin_command(command).bin_name("kubectl metalmark");
        }
        let matches = command.try_get_matches()?;
        let name = match matches.subcommand_name() {
            Some(name) => format!("`metalmark {name}`"),
            None => "`metalmark`".to_owned(),
        };
        Ok((Self::from_arg_matches(&matches)?, name))
    }

    /// How much of the findings is printed.
    pub(super) fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Whole,
            (false, false) => Detail::Folded,
        }
    }

    /// What the run may take. Only the command line raises it: a repository cannot.
    pub(super) fn budget(&self) -> (Limits, Watched) {
        let mut limits = match &self.command {
            Some(Command::Fn | Command::Cmp { .. } | Command::Lsp { .. }) => Limits::SERVED,
            _ => Limits::RUN,
        };
        if let Some(most) = watchdog::cgroup_memory() {
            limits.memory = limits.memory.min(most);
        }
        if let Some(mebibytes) = self.max_memory {
            limits.memory = mebibytes << 20;
        }
        if let Some(seconds) = self.max_cpu {
            limits.cpu = Duration::from_secs(seconds);
        }
        let watched = match &self.command {
            Some(Command::Lsp { .. }) => Watched::Turns,
            _ => Watched::Run,
        };
        (limits, watched)
    }

    /// Runs the command that was typed.
    pub(super) fn run(&self, today: Date, terminal: &mut Terminal) -> Result<Verdict, Error> {
        let place = &self.place;
        let Some(command) = &self.command else {
            return self.overview(today, terminal);
        };
        // The others start their threads in their sandbox.
        if !matches!(
            command,
            Command::Fn | Command::Cmp { .. } | Command::Lsp { .. }
        ) {
            start_threads()?;
        }
        if matches!(
            command,
            Command::Check(_)
                | Command::Verify(_)
                | Command::Mirror(_)
                | Command::Clusters(_)
                | Command::Images(_)
                | Command::Impact(_)
                | Command::Page(_)
                | Command::Plan(_)
                | Command::Explain(_)
                | Command::Values(_)
        ) {
            pipeline::mention_unfinished(&place.request(), terminal)?;
        }
        match command {
            Command::Render(it) => {
                commands::render(&it.request(place), &it.options, today, terminal)
            }
            Command::Check(it) => {
                commands::check(&it.read_request(place), &it.options, today, terminal)
            }
            Command::Lock(it) => commands::lock(&it.request(place), &it.options, today, terminal),
            Command::Verify(it) => {
                commands::verify(&it.request(place), &it.options, today, terminal)
            }
            Command::Mirror(it) => {
                commands::mirror(&it.request(place), &it.options, today, terminal)
            }
            Command::Update(it) => {
                let raised = std::env::var_os(DATA_FILE).filter(|name| !name.is_empty());
                let raised = raised.map(PathBuf::from);
                let request = it.request(place);
                commands::update(&request, &it.options, raised.as_deref(), today, terminal)
            }
            Command::Clusters(it) => {
                commands::clusters(&it.read_request(place), &it.options, today, terminal)
            }
            Command::Images(it) => {
                commands::images(&it.read_request(place), &it.options, today, terminal)
            }
            Command::Names(it) => {
                commands::image_names(&it.read_request(place), &it.options, today, terminal)
            }
            Command::Impact(it) => {
                commands::impact(&it.read_request(place), &it.options, today, terminal)
            }
            Command::Page(it) => {
                commands::page(&it.read_request(place), &it.options, today, terminal)
            }
            Command::Plan(it) => {
                commands::plan(&it.read_request(place), &it.options, today, terminal)
            }
            Command::Explain(it) => {
                commands::explain(&it.read_request(place), &it.options, today, terminal)
            }
            Command::Rules(options) => commands::rules(&place.request(), options, terminal),
            Command::Values(it) => {
                commands::values(&it.request(place), &it.options, today, terminal)
            }
            Command::Stamp(it) => {
                commands::stamp(&it.read_request(place), &it.options, today, terminal)
            }
            Command::Fn => {
                let list = hosts::read_list(std::io::stdin().lock())?;
                let request = place.request();
                sandbox(&hosts::function_folder(&request));
                start_threads()?;
                hosts::function(&request, &list, today, terminal)
            }
            Command::Cmp { command } => {
                let text = |text: OsString| text.to_string_lossy().into_owned();
                let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
                command.run(&place.request(), &variables.collect(), today, terminal)
            }
            Command::Registry { command } => command.run(&place.request(), terminal),
            Command::Bundle { command } => {
                command.run(&place.request(), today, today::epoch()?, terminal)
            }
            Command::Lsp { .. } if place.is_given() => Err(Error::usage(ELSEWHERE)),
            Command::Lsp { .. } => serve_editor(today),
            Command::Init(options) => commands::init(&place.request(), options, today, terminal),
            Command::Schema => commands::schema(terminal),
            Command::Man { dir } => {
                let folder = dir.as_ref().map(|dir| place.request().locate(dir));
                print_manual(folder.as_deref(), terminal)
            }
            Command::Completions { shell } => complete::print_script(*shell, terminal),
        }
    }

    /// Reports that the project file is no YAML as the command reports findings: `check` on stdout, for which they are the result.
    ///
    /// # Errors
    /// A report cannot be written, or nothing can be printed.
    pub(super) fn report(
        &self,
        fault: Finding,
        root: &Path,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let reporting = match &self.command {
            Some(Command::Check(it)) => &it.options.reporting,
            Some(Command::Render(it)) => &it.options.reporting,
            Some(Command::Update(it)) => &it.options.reporting,
            Some(Command::Stamp(it)) => &it.options.reporting,
            _ => &Reporting::default(),
        };
        let is_check = matches!(&self.command, Some(Command::Check(_)));
        let stream = if is_check || reporting.output.name() != "human" {
            &mut terminal.out
        } else {
            &mut terminal.err
        };
        let reporting = reporting.resolve_in(self.place.request().directory.as_ref());
        reporting.print_fault(fault, root, stream)?;
        match &self.command {
            Some(Command::Check(it)) if it.options.exit_zero => Ok(Verdict::Clean),
            _ => Ok(Verdict::Findings),
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

/// Prints the page of the whole, or writes all pages into a folder.
fn print_manual(folder: Option<&Path>, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let mut whole = Arguments::command().disable_help_subcommand(true);
    // Gives the commands below it their full names.
    whole.build();
    match folder {
        None => terminal.out.product(&page(whole)?)?,
        Some(folder) => {
            for (name, page) in pages(&whole)? {
                output::file(&folder.join(format!("{name}.1")), &page)?;
            }
        }
    }
    Ok(Verdict::Clean)
}

fn page(command: clap::Command) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let text = text.replace("\n.SH EXTRA\nExamples:\n", "\n.SH EXAMPLES\n");
    let text = text.replace(&format!("\n{}", examples::EXIT_STATUS), "");
    let exit_status = examples::EXIT_STATUS.replace("Exit status:", ".SH EXIT STATUS");
    Ok(format!("{text}{exit_status}\n").into_bytes())
}

/// The pages of a command and of those below it, by their names.
fn pages(command: &clap::Command) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let mut all = vec![(name.to_owned(), page(command.clone())?)];
    for below in command.get_subcommands() {
        all.extend(pages(below)?);
    }
    Ok(all)
}

/// What `-C` and `--project` are answered with.
const ELSEWHERE: &str = "`metalmark lsp` takes neither -C nor --project: it reads the projects of the folders that the editor opens
help: open the folder of the project in the editor";

/// Serves until the editor ends it.
fn serve_editor(today: Date) -> Result<Verdict, Error> {
    // Git runs on a thread that is started before the sandbox, and nothing else does.
    let bases = editor::Bases::start()?;
    // Reading is limited to the project's repository as for every command; which one that is, the client says later.
    sandbox(Path::new("/"));
    start_threads()?;
    let connected = editor::connect(std::io::stdin(), std::io::stdout());
    let (connection, threads) = connected.map_err(|cause| Error::Thread { cause })?;
    let ended = editor::serve(&connection, bases, &|| today::today().unwrap_or(today))?;
    drop(connection);
    threads.join().map_err(Error::reading("stdin"))?;
    Ok(Verdict::from_errors(!ended))
}

//! The command line as clap reads it, and what it means to the stages.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use super::terminal::Color;
use crate::commands::{
    CheckOptions, ExplainOptions, Format, ImagesOptions, ListFormat, RenderMode, RenderOptions,
    Show, Stage, ValuesOptions,
};
use crate::model::matching::Matching;
use crate::model::policy::Date;
use crate::model::workspace::ChecksumStyle;
use crate::read::{Flags, Request};

/// Stamps machine images into Cluster API GitOps repositories, and refuses the stamp that does not fit.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) place: ProjectArguments,
    /// When to use colours; `auto` means on a terminal where NO_COLOR is not set.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, help_heading = "Everywhere")]
    pub(super) color: Color,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Where the project is.
#[derive(Debug, Args)]
pub(super) struct ProjectArguments {
    /// Run as if started in this folder.
    #[arg(
        short = 'C',
        value_name = "DIR",
        global = true,
        help_heading = "Everywhere"
    )]
    directory: Option<PathBuf>,
    /// The project file; else `metalmark.yaml` in the working directory or the nearest folder above it.
    #[arg(long, value_name = "FILE", global = true, help_heading = "Everywhere")]
    project: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Checks everything and writes the manifests.
    Render(RenderArguments),
    /// Checks everything and writes nothing.
    Check(CheckArguments),
    /// Lists the image catalogue: facts, references, and who uses what.
    Images(ImagesArguments),
    /// Explains a rule, an image key, a cluster or a pool (CLUSTER/POOL): why this image, selector by selector.
    Explain(ExplainArguments),
    /// Prints the values of a cluster, merged and evaluated; where each comes from; why one is what it is.
    Values(ValuesArguments),
    /// Prints a completion script for a shell.
    Completions(CompletionArguments),
}

/// Which values make which clusters. With none of these, the project file says it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workspace without a project file")]
pub(super) struct WorkspaceArguments {
    /// A values file that every cluster shares, lowest first; the first one is the chart's own values.yaml.
    #[arg(long, value_name = "FILE")]
    values: Vec<String>,
    /// A pattern of values files: one cluster a match, named by the file's folder.
    #[arg(long, value_name = "GLOB")]
    clusters: Vec<String>,
    /// A file with image facts, such as an os-images-info ConfigMap.
    #[arg(long, value_name = "FILE")]
    info: Vec<String>,
    /// The URL that machines fetch an image from; a template that knows `image` and `cluster`.
    #[arg(long, value_name = "TEMPLATE")]
    image_url: Option<String>,
    /// Stamp checksums as literals or as the URL of a checksum file.
    #[arg(long, value_name = "STYLE")]
    checksum: Option<Checksum>,
    /// Serve every image of the catalogue, whoever uses it.
    #[arg(long)]
    all_images: bool,
    /// How selectors compare Kubernetes versions.
    #[arg(long, value_name = "MODE")]
    matching: Option<MatchingMode>,
}

#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// The format of what is printed.
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, value_name = "FORMAT")]
    output: OutputFormat,
}

#[derive(Debug, Args)]
pub(super) struct RenderArguments {
    /// What to render; with --out, instead of the project file's outputs.
    #[arg(long, value_name = "TARGET", requires = "out")]
    target: Vec<String>,
    /// The folder to render into.
    #[arg(long, value_name = "DIR", requires = "target")]
    out: Option<String>,
    /// Write nothing; exit 1 and show the difference when the tree is not what would be rendered.
    #[arg(long, conflicts_with = "stdout")]
    check: bool,
    /// Write nothing; print everything as one YAML stream.
    #[arg(long)]
    stdout: bool,
    /// Take over files that stand in the way and were not written by metalmark.
    #[arg(long)]
    adopt: bool,
    /// Write the clusters that are clean, even where others have errors.
    #[arg(long)]
    keep_going: bool,
    /// Allow a render that yields nothing, which lets a GitOps engine delete everything.
    #[arg(long)]
    allow_empty: bool,
    /// A folder of CustomResourceDefinitions that rendered objects are validated against.
    #[arg(long, value_name = "DIR")]
    schemas: Option<String>,
    /// A folder of templates, TARGET/FILE, that replace the embedded ones one by one.
    #[arg(long, value_name = "DIR")]
    templates: Option<String>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

#[derive(Debug, Args)]
pub(super) struct ImagesArguments {
    /// The format of what is printed.
    #[arg(long, value_enum, default_value_t = ListOutput::Human, value_name = "FORMAT")]
    output: ListOutput,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArguments {
    /// A rule's id, an image key, a cluster, or CLUSTER/POOL.
    #[arg(value_name = "ID")]
    subject: String,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

#[derive(Debug, Args)]
pub(super) struct ValuesArguments {
    /// The cluster; may be left out where there is only one.
    #[arg(value_name = "CLUSTER")]
    first: Option<String>,
    /// What to print of its values: keys with dots between them, `a."b.c"` or `a[b.c]` for a key with a dot, `a[0]` for an item.
    #[arg(value_name = "PATH")]
    second: Option<String>,
    /// Print each leaf with its layer, file, line and column.
    #[arg(long)]
    origin: bool,
    /// Print the values before evaluation.
    #[arg(long)]
    raw: bool,
    /// Tell every layer that set PATH, in order, and what its expression read.
    #[arg(long, conflicts_with_all = ["origin", "raw"])]
    why: bool,
    /// The format of what is printed; without it, values are YAML and all else is text.
    #[arg(long, value_enum, value_name = "FORMAT")]
    output: Option<DataOutput>,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

#[derive(Debug, Args)]
pub(super) struct CompletionArguments {
    /// The shell.
    shell: clap_complete::Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutputFormat {
    /// For people.
    Human,
    /// For machines; docs/json.md gives the shape.
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ListOutput {
    /// A table.
    Human,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DataOutput {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Checksum {
    Literal,
    Url,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MatchingMode {
    Exact,
    Normalised,
}

impl WorkspaceArguments {
    /// What the stages are asked for.
    pub(super) fn request(&self, place: &ProjectArguments) -> Request {
        Request {
            directory: place.directory.clone(),
            project: place.project.clone(),
            flags: Flags {
                values: self.values.clone(),
                clusters: self.clusters.clone(),
                info: self.info.clone(),
                image_url: self.image_url.clone(),
                checksum: self.checksum.map(|style| match style {
                    Checksum::Literal => ChecksumStyle::Literal,
                    Checksum::Url => ChecksumStyle::Url,
                }),
                all_images: self.all_images,
                matching: self.matching.map(|mode| match mode {
                    MatchingMode::Exact => Matching::Exact,
                    MatchingMode::Normalised => Matching::Normalised,
                }),
                ..Flags::default()
            },
        }
    }
}

impl RenderArguments {
    pub(super) fn request(&self, place: &ProjectArguments) -> Request {
        let mut request = self.workspace.request(place);
        request.flags.targets.clone_from(&self.target);
        request.flags.out.clone_from(&self.out);
        request.flags.schemas.clone_from(&self.schemas);
        request.flags.templates.clone_from(&self.templates);
        request
    }

    pub(super) fn options(&self, today: Date) -> RenderOptions {
        let mode = match (self.check, self.stdout) {
            (true, _) => RenderMode::Check,
            (_, true) => RenderMode::Stdout,
            _ => RenderMode::Write,
        };
        RenderOptions {
            mode,
            adopt: self.adopt,
            keep_going: self.keep_going,
            allow_empty: self.allow_empty,
            format: self.report.format(),
            today,
        }
    }
}

impl ReportArguments {
    fn format(&self) -> Format {
        match self.output {
            OutputFormat::Human => Format::Human,
            OutputFormat::Json => Format::Json,
        }
    }
}

impl CheckArguments {
    pub(super) fn options(&self, today: Date) -> CheckOptions {
        CheckOptions {
            format: self.report.format(),
            today,
        }
    }
}

impl ImagesArguments {
    pub(super) fn options(&self, today: Date) -> ImagesOptions {
        let format = match self.output {
            ListOutput::Human => ListFormat::Human,
            ListOutput::Json => ListFormat::Json,
            ListOutput::Yaml => ListFormat::Yaml,
        };
        ImagesOptions { format, today }
    }
}

impl ExplainArguments {
    pub(super) fn options(&self, today: Date) -> ExplainOptions {
        ExplainOptions {
            subject: self.subject.clone(),
            format: self.report.format(),
            today,
        }
    }
}

impl ValuesArguments {
    pub(super) fn options(&self, today: Date) -> ValuesOptions {
        let show = match (self.why, self.origin) {
            (true, _) => Show::Why,
            (_, true) => Show::Origins,
            _ => Show::Values,
        };
        let stage = if self.raw {
            Stage::Raw
        } else {
            Stage::Evaluated
        };
        let format = match self.output {
            None => ListFormat::Human,
            Some(DataOutput::Yaml) => ListFormat::Yaml,
            Some(DataOutput::Json) => ListFormat::Json,
        };
        ValuesOptions {
            first: self.first.clone(),
            second: self.second.clone(),
            show,
            stage,
            format,
            today,
        }
    }
}

impl CompletionArguments {
    /// The script. In memory first: the generator panics where it cannot write.
    pub(super) fn script(&self) -> Vec<u8> {
        let mut script = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut Arguments::command(),
            "metalmark",
            &mut script,
        );
        script
    }
}

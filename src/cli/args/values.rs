//! `metalmark values` on the command line.

use clap::{Args, ValueEnum};

use super::workspace::{ProjectArguments, WorkspaceArguments};
use crate::commands::{self, ListFormat, Show, Stage, ValuesOptions};
use crate::error::Error;
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict};

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
    workspace: WorkspaceArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DataOutput {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}

impl ValuesArguments {
    /// Runs the command.
    pub(in crate::cli) fn run(
        &self,
        place: &ProjectArguments,
        today: Date,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        commands::values(
            &self.workspace.request(place),
            &self.options(today),
            terminal,
        )
    }

    fn options(&self, today: Date) -> ValuesOptions {
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

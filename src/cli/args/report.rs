//! The formats of what is printed.

use clap::{Args, ValueEnum};

use crate::commands::{Format, ListFormat};

#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// The format of what is printed.
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, value_name = "FORMAT")]
    output: OutputFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutputFormat {
    /// For people.
    Human,
    /// For machines; docs/json.md gives the shape.
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ListOutput {
    /// A table.
    Human,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

impl ReportArguments {
    pub(super) fn format(&self) -> Format {
        match self.output {
            OutputFormat::Human => Format::Human,
            OutputFormat::Json => Format::Json,
        }
    }
}

impl ListOutput {
    pub(super) fn format(self) -> ListFormat {
        match self {
            Self::Human => ListFormat::Human,
            Self::Json => ListFormat::Json,
            Self::Yaml => ListFormat::Yaml,
        }
    }
}

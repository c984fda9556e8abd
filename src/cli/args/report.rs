//! The formats of what is printed.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::commands::ListFormat;
use crate::pipeline::{Format, ReportFile, Reporting};
use crate::report::{self, REPORTS, Report};

/// The formats of an answer that is data.
#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// The format of what is printed.
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, value_name = "FORMAT")]
    output: OutputFormat,
}

/// Where findings go.
#[derive(Debug, Args)]
pub(super) struct FindingsArguments {
    /// The format of what is printed.
    #[arg(long, value_parser = format_parser(), default_value = REPORTS[0].name(), value_name = "FORMAT")]
    output: &'static dyn Report,
    /// Write a report to a file as well, in any format of --output; may be given several times.
    #[arg(long, value_parser = report_file, value_name = "FORMAT=FILE")]
    report: Vec<ReportFile>,
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

/// Any format of the table.
fn format_parser() -> impl TypedValueParser<Value = &'static dyn Report> {
    let formats = REPORTS
        .iter()
        .map(|report| PossibleValue::new(report.name()).help(report.summary()));
    PossibleValuesParser::new(formats).map(|name| report::by_name(&name).unwrap_or(REPORTS[0]))
}

/// `FORMAT=FILE`.
fn report_file(text: &str) -> Result<ReportFile, String> {
    let (name, path) = text.split_once('=').unwrap_or((text, ""));
    let Some(format) = report::by_name(name) else {
        let known: Vec<&str> = REPORTS.iter().map(|report| report.name()).collect();
        return Err(format!("the formats are {}", known.join(", ")));
    };
    if path.is_empty() {
        return Err(format!("write {name}=FILE"));
    }
    Ok(ReportFile {
        format,
        path: path.into(),
    })
}

impl ReportArguments {
    pub(super) fn format(&self) -> Format {
        match self.output {
            OutputFormat::Human => Format::Human,
            OutputFormat::Json => Format::Json,
        }
    }
}

impl FindingsArguments {
    pub(super) fn reporting(&self) -> Reporting {
        Reporting {
            output: self.output,
            files: self.report.clone(),
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

//! The formats of answers that are data, such as a list or an explanation.

use std::io;

use clap::ValueEnum;
use serde::Serialize;

use super::{Findings, REPORTS, Report};
use crate::model::finding::Judged;
use crate::printer::Printer;

/// The format of an answer that is data: not of findings, which [`super::REPORTS`] lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// For machines; docs/json.md gives the shape.
    Json,
    /// The same data as YAML.
    Yaml,
}

impl Format {
    /// Prints data as YAML, or as JSON.
    pub fn data<T: Serialize + ?Sized>(self, data: &T, out: &mut Printer) -> io::Result<()> {
        match self {
            Self::Yaml => out.yaml(data),
            Self::Human | Self::Json => out.json(data),
        }
    }

    /// The report that shows findings beside such an answer.
    pub fn report(self) -> &'static dyn Report {
        let name = match self {
            Self::Human => "human",
            // JSON is YAML.
            Self::Json | Self::Yaml => "json",
        };
        super::find(name).unwrap_or(REPORTS[0])
    }
}

/// The format of what is posted on code hosts, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CommentFormat {
    /// For people.
    Human,
    /// For machines; docs/json.md and docs/impact.md give the shapes.
    Json,
    /// The same data as YAML.
    Yaml,
    /// For a comment or a ticket.
    Markdown,
}

/// The format of what is printed beside a comment.
impl From<CommentFormat> for Format {
    fn from(format: CommentFormat) -> Self {
        match format {
            CommentFormat::Human | CommentFormat::Markdown => Self::Human,
            CommentFormat::Json => Self::Json,
            CommentFormat::Yaml => Self::Yaml,
        }
    }
}

/// Prints findings beside an answer.
pub fn print_findings(
    out: &mut Printer,
    judged: &[Judged],
    checked: usize,
    format: Format,
) -> io::Result<()> {
    let findings = Findings::new(judged, checked, out.color).with_detail(out.detail);
    format.report().findings(&findings, out)
}

//! The stages over all clusters, in parallel and in stable order: read, resolve, check, render. And what every run has: its streams,
//! its outcome and the reports of its findings.

pub mod check;
pub(crate) mod fleet;
pub(crate) mod outputs;
pub(crate) mod rendered;
pub(crate) mod reporting;
pub(crate) mod stores;
mod terminal;

pub use reporting::{ReportFile, Reporting};
pub use terminal::Terminal;

use std::io;

use std::io::Write as _;

use crate::error::Error;
use crate::model::finding::Judged;
use crate::output;
use crate::printer::Printer;
use crate::read::{self, Request};
use crate::report::{self, Findings, REPORTS, Report};

/// What a killed run has edited is taken back before a run that may write reads anything.
pub(crate) fn recover(request: &Request, terminal: &mut Terminal) -> Result<(), Error> {
    for path in output::recover(&read::location(request)?.root)? {
        let path = path.display();
        writeln!(
            terminal.err,
            "undid the edit of `{path}` that a killed run left"
        )?;
    }
    Ok(())
}

/// The format of an answer that is data: not of findings, which [`crate::report::REPORTS`] lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Human,
    /// For machines; docs/json.md gives the shape.
    Json,
}

impl Format {
    /// The report that tells findings beside such an answer.
    pub fn report(self) -> &'static dyn Report {
        let name = match self {
            Self::Human => "human",
            Self::Json => "json",
        };
        report::by_name(name).unwrap_or(REPORTS[0])
    }
}

/// Prints findings beside an answer.
pub(crate) fn print_findings(
    out: &mut Printer,
    judged: &[Judged],
    checked: usize,
    format: Format,
) -> io::Result<()> {
    let findings = Findings::new(judged, checked, out.color);
    format.report().findings(&findings, out)
}

/// What a run came to. The output's format never changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to complain of.
    Clean,
    /// Findings at error level.
    Findings,
    /// `--check`, and the tree is not what would be rendered; or `--fail-on-change`, and it was not.
    Drift,
}

impl Verdict {
    /// The exit status.
    pub fn status(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings | Self::Drift => 1,
        }
    }
}

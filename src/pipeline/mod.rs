//! The stages over all clusters, in parallel and in stable order: read, resolve, check, render. And what every run has: its streams,
//! its outcome and the reports of its findings.

pub(crate) mod booted;
pub mod check;
pub(crate) mod compare;
pub(crate) mod fleet;
pub(crate) mod outputs;
pub(crate) mod rendered;
pub(crate) mod reporting;
pub(crate) mod stores;
mod terminal;

pub use reporting::{ReportFile, Reporting};
pub use terminal::Terminal;

use std::io::Write as _;

use crate::error::Error;
use crate::output;
use crate::read::{self, Request};

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

/// The result of a run. The output's format never changes it.
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
    /// Of a check, by whether it has errors.
    pub(crate) fn from_errors(has_errors: bool) -> Self {
        if has_errors {
            Self::Findings
        } else {
            Self::Clean
        }
    }

    /// The exit status.
    pub fn status(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings | Self::Drift => 1,
        }
    }
}

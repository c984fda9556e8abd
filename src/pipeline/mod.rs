//! The stages over all clusters, in parallel and in stable order: read, resolve, check, render. And what every run has: its streams,
//! its outcome and the reports of its findings.

pub(crate) mod booted;
pub mod check;
pub(crate) mod compare;
pub mod fleet;
pub(crate) mod outputs;
pub(crate) mod rendered;
pub(crate) mod reporting;

use std::io::Write as _;
use std::sync::Arc;

use oci_artifacts::registry::Progress;

use crate::catalog::sources::{self, Stores};
use crate::error::Error;
use crate::output;
use crate::printer::Printer;
use crate::read::{self, Request, Workspace};

pub use reporting::{ReportFile, Reporting};

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

/// The stores of a project. No registry is contacted before the first query; a terminal is shown how far a batch is.
pub(crate) fn open_stores(workspace: &Workspace, terminal: &Terminal) -> Stores {
    let settings = &workspace.settings;
    sources::stores(
        &settings.root,
        &settings.registries,
        terminal.progress.clone(),
    )
}

/// The architecture whose manifest is taken of an index.
pub(crate) fn architecture(workspace: &Workspace) -> Arc<str> {
    Arc::clone(&workspace.settings.registries.architecture)
}

/// Where a command prints.
pub struct Terminal {
    /// Results.
    pub out: Printer,
    /// Talk.
    pub err: Printer,
    /// Draws how far a batch of requests is; none where stderr is no terminal. Commands that print for machines leave it out.
    pub progress: Option<Progress>,
}

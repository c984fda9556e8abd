//! The stages over all clusters, in parallel and in stable order: read, resolve, check, render. And what every run has: its streams,
//! its outcome and the reports of its findings.

pub(crate) mod booted;
pub mod check;
pub(crate) mod compare;
pub mod fleet;
mod idle_demands;
pub(crate) mod image_servers;
pub(crate) mod outputs;
mod readers;
pub(crate) mod rendered;
pub(crate) mod reporting;

use std::io::Write as _;

use oci_artifacts::registry::Progress;

use crate::catalog::sources::{self, Stores};
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
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

/// Says where a killed run has left its edits, which a command that only reads takes for the user's.
pub(crate) fn mention_unfinished(request: &Request, terminal: &mut Terminal) -> Result<(), Error> {
    let Ok(location) = read::location(request) else {
        return Ok(());
    };
    let left = output::leftovers(&location.root);
    if let Some(first) = left.first() {
        let (first, count) = (first.display(), left.len());
        writeln!(
            terminal.err,
            "a run that was killed has left its edits, {count} in all, the first in `{first}`\n\
             help: run the killed command again; any that writes, such as `metalmark render`, takes them back first"
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
///
/// # Errors
/// The project file cannot be relied on: without a mirror in it, the wrong registry would be queried.
pub(crate) fn open_stores(workspace: &Workspace, terminal: &Terminal) -> Result<Stores, Error> {
    let is_fault = |finding: &&Finding| {
        finding.rule == RuleId::ProjectFile && finding.unless_set != Some(Level::Warning)
    };
    if let Some(fault) = workspace.findings.iter().find(is_fault) {
        return Err(Error::usage(format!(
            "the project file cannot be relied on: {}\nhelp: `metalmark check` shows where",
            fault.message
        )));
    }
    let settings = &workspace.settings;
    Ok(sources::stores(
        &settings.root,
        &settings.registries,
        terminal.progress.clone(),
    ))
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

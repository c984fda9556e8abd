//! `metalmark check`: the rules only.

use crate::error::Error;
use crate::model::policy::Date;
use crate::read::{self, Request};

use super::{Format, Terminal, Verdict, fix, fleet};

/// What `check` was asked for.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Make the edits that findings are sure of, then check again.
    pub fix: bool,
    /// The format of the findings.
    pub format: Format,
    /// The day that waivers are held against.
    pub today: Date,
}

/// Reads, resolves and checks every cluster, and reports on stdout.
///
/// # Errors
/// The world failed, or there is no project.
pub fn check(
    request: &Request,
    options: &CheckOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let mut survey = fleet::survey(&workspace, &tools, |_, _| Ok(((), Vec::new())))?;
    if options.fix && fix::findings(&workspace, &survey.judged, terminal)? > 0 {
        workspace = read::workspace(request)?;
        let tools = fleet::tools(&mut workspace, options.today)?;
        survey = fleet::survey(&workspace, &tools, |_, _| Ok(((), Vec::new())))?;
    }
    terminal
        .out
        .findings(&survey.judged, workspace.clusters.len(), options.format)?;
    Ok(if survey.has_errors() {
        Verdict::Findings
    } else {
        Verdict::Clean
    })
}

//! `metalmark check`: the rules only.

use crate::error::Error;
use crate::model::policy::Date;
use crate::read::{self, Request, Workspace};
use crate::report::Changes;

use crate::edit::fix;
use crate::pipeline::{Reporting, Terminal, Verdict, fleet, recover, reporting};

/// What `check` was asked for.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Make the edits that findings are sure of, then check again.
    pub fix: bool,
    /// Accept a run that checks no node pool.
    pub allow_empty: bool,
    /// How the findings are told.
    pub reporting: Reporting,
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
    if options.fix {
        recover(request, terminal)?;
    }
    let mut workspace = opened(request, options)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let mut survey = fleet::survey(&workspace, &tools, |_, _| Ok(((), Vec::new())))?;
    if options.fix && fix::findings(&workspace, &survey.judged, None, terminal)? > 0 {
        workspace = opened(request, options)?;
        let tools = fleet::tools(&mut workspace, options.today)?;
        survey = fleet::survey(&workspace, &tools, |_, _| Ok(((), Vec::new())))?;
    }
    let reporting = options.reporting.within(request.directory.as_ref());
    survey.require_pools(&workspace, options.today);
    let found = (&*survey.judged, &survey.counts);
    reporting.save(found, &workspace, Changes::None)?;
    let findings = reporting::findings(found, &workspace, Changes::None, terminal.out.color);
    reporting.output.findings(&findings, &mut terminal.out)?;
    Ok(if survey.has_errors() {
        Verdict::Findings
    } else {
        Verdict::Clean
    })
}

fn opened(request: &Request, options: &CheckOptions) -> Result<Workspace, Error> {
    let mut workspace = read::workspace(request)?;
    if options.allow_empty {
        workspace.settings.policy.allow_empty();
    }
    Ok(workspace)
}

//! `metalmark check`: the rules only.

use crate::error::Error;
use crate::model::policy::Date;
use crate::read::{self, Request};
use crate::report::Changes;

use super::{Reporting, Terminal, Verdict, fix, fleet, mend, reporting};

/// What `check` was asked for.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Make the edits that findings are sure of, then check again.
    pub fix: bool,
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
        mend(request)?;
    }
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let mut survey = fleet::survey(&workspace, &tools, |_, _| Ok(((), Vec::new())))?;
    if options.fix && fix::findings(&workspace, &survey.judged, None, terminal)? > 0 {
        workspace = read::workspace(request)?;
        let tools = fleet::tools(&mut workspace, options.today)?;
        survey = fleet::survey(&workspace, &tools, |_, _| Ok(((), Vec::new())))?;
    }
    let reporting = options.reporting.within(request.directory.as_ref());
    reporting.save(&survey.judged, &workspace, Changes::None)?;
    let findings = reporting::findings(
        &survey.judged,
        &workspace,
        Changes::None,
        terminal.out.colour,
    );
    reporting.output.findings(&findings, &mut terminal.out)?;
    Ok(if survey.has_errors() {
        Verdict::Findings
    } else {
        Verdict::Clean
    })
}

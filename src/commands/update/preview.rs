//! `update --check`: reports what the update would do, without writing files.

use crate::catalog::offers::Summary;
use crate::error::Error;
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict, booted};
use crate::read::{Request, Workspace};
use crate::report::{self, update::Preview};

use super::UpdateOptions;
use super::before::Before;
use super::finish::finish;
use super::plan::Plan;
use crate::edit::update::UpdateTarget;

/// Prints what would be done; drift if that is anything.
pub(super) fn preview(
    request: &Request,
    workspace: &Workspace,
    (target, plan, before): (&UpdateTarget, &Plan, Before),
    mut summary: Summary,
    (options, today): (&UpdateOptions, Date),
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let booted = booted::read_booted(&plan.fleet)?;
    let unlocked = booted.unlocked.len();
    summary.pools = Some(before.changes(booted));
    let change = &plan.change;
    super::summarize(change, &summary, options, terminal)?;
    let files = change.files.iter().chain(&plan.fixed);
    let preview = Preview {
        to: &target.to,
        is_raised: target.is_raised(),
        versions: &change.versions,
        files: files.map(|file| &file.source).collect(),
        unlocked,
    };
    report::update::preview(&preview, &mut terminal.err)?;
    let is_left = !change.is_empty() || !plan.fixed.is_empty() || unlocked > 0;
    match (is_left, workspace.settings.outputs.is_empty()) {
        (true, _) => Ok(Verdict::Drift),
        (false, true) => Ok(Verdict::Clean),
        (false, false) => finish(request, workspace, options, today, None, terminal),
    }
}

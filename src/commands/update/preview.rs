//! `update --check`: what the update would do, worked out on files that are not written.

use std::io::Write as _;

use crate::catalog::offers::Summary;
use crate::error::Error;
use crate::read::{Request, Workspace};

use super::aim::Aim;
use super::before::Before;
use super::plan::Plan;
use super::render::RenderMode;
use super::{Terminal, UpdateOptions, Verdict, finish, pools, told};

/// Tells what would be done; drift where that is anything.
pub(super) fn preview(
    request: &Request,
    workspace: &Workspace,
    (aim, plan, before): (&Aim, &Plan, Before),
    mut summary: Summary,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let booted = pools::booted(&plan.workspace, &plan.tools)?;
    let unlocked = booted.unlocked.len();
    summary.pools = Some(before.changes(booted));
    let change = &plan.change;
    told::summary(change, &summary, options, terminal)?;
    for spot in &change.versions {
        match aim.is_raised() {
            true => writeln!(terminal.err, "{spot}: version {}", aim.to)?,
            false => writeln!(terminal.err, "would set {spot}: version {}", aim.to)?,
        }
    }
    for (source, _) in change.files.iter().chain(&plan.fixed) {
        writeln!(terminal.err, "would change {}", source.path)?;
    }
    if unlocked > 0 {
        let s = if unlocked == 1 { "" } else { "s" };
        writeln!(terminal.err, "would lock {unlocked} image{s}")?;
    }
    let is_left = !change.is_empty() || !plan.fixed.is_empty() || unlocked > 0;
    match (is_left, workspace.settings.outputs.is_empty()) {
        (true, _) => Ok(Verdict::Drift),
        (false, true) => Ok(Verdict::Clean),
        (false, false) => {
            let mode = RenderMode::Check;
            finish(request, workspace, mode, options, None, terminal)
        }
    }
}

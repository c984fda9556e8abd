//! `update --check`: reports what the update would do, without writing files.

use crate::catalog::offers::Summary;
use crate::error::Error;
use crate::model::date::Date;
use crate::pipeline::{Terminal, Verdict, booted};
use crate::read::{Request, Workspace};
use crate::report::{self, update::Preview};

use super::UpdateOptions;
use super::before::Before;
use super::finish::finish;
use super::plan::Plan;
use crate::edit::update::UpdateTarget;

/// An update that is not made.
pub(super) struct PlannedUpdate<'a> {
    pub(super) request: &'a Request,
    pub(super) workspace: &'a Workspace,
    pub(super) options: &'a UpdateOptions,
    pub(super) target: &'a UpdateTarget,
    pub(super) plan: &'a Plan,
    /// What machines boot without it.
    pub(super) before: Before,
    pub(super) today: Date,
}

impl PlannedUpdate<'_> {
    /// Prints what would be done; drift if that is anything.
    pub(super) fn print(
        self,
        mut summary: Summary,
        terminal: &mut Terminal,
    ) -> Result<Verdict, Error> {
        let Self {
            request,
            workspace,
            options,
            target,
            plan,
            before,
            today,
        } = self;
        let machines = booted::read_machines(&plan.fleet)?;
        let unlocked = machines.unlocked.len();
        summary.pools = Some(booted::changes(&before.machines, &machines));
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
}

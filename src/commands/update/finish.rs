//! The last steps of an update: the lock, and what is rendered.

use crate::commands::lock::{self, LockOptions};
use crate::commands::render::{self, RenderOptions};
use crate::commands::{CheckOptions, check};
use crate::error::Error;
use crate::model::date::Date;
use crate::output::Held;
use crate::pipeline::{Reporting, Terminal, Verdict};
use crate::read::{Request, Workspace};
use crate::report;

use super::UpdateOptions;

/// Locks what the catalog names now, in a project that has a lock. Its output goes to stderr: the result is what is
/// rendered.
pub(super) fn lock_again(
    request: &Request,
    has_lock: bool,
    today: Date,
    held: &mut Held,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !has_lock {
        return Ok(Verdict::Clean);
    }
    std::mem::swap(&mut terminal.out, &mut terminal.err);
    let verdict = lock::run_held(
        request,
        &LockOptions::default(),
        today,
        Some(held),
        terminal,
    );
    std::mem::swap(&mut terminal.out, &mut terminal.err);
    verdict
}

/// The last step: manifests where the project has any, else the rules alone. To a bot everything goes to stderr, whose end is
/// all that its merge request shows.
pub(super) fn finish(
    request: &Request,
    workspace: &Workspace,
    options: &UpdateOptions,
    today: Date,
    held: Option<&mut Held>,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !options.from_renovate {
        return render_or_check(request, workspace, options, today, held, terminal);
    }
    let options = UpdateOptions {
        reporting: Reporting {
            output: &report::update::Brief,
            files: options.reporting.files.clone(),
        },
        ..options.clone()
    };
    std::mem::swap(&mut terminal.out, &mut terminal.err);
    let verdict = render_or_check(request, workspace, &options, today, held, terminal);
    std::mem::swap(&mut terminal.out, &mut terminal.err);
    verdict
}

fn render_or_check(
    request: &Request,
    workspace: &Workspace,
    options: &UpdateOptions,
    today: Date,
    held: Option<&mut Held>,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let reporting = options.reporting.clone();
    if workspace.settings.outputs.is_empty() {
        let options = CheckOptions {
            // A catalog may be kept where no cluster is.
            allow_empty: true,
            reporting,
            ..CheckOptions::default()
        };
        return check::check(request, &options, today, terminal);
    }
    let options = RenderOptions {
        check: options.check,
        keep_going: options.keep_going,
        reporting,
        ..RenderOptions::default()
    };
    render::run_held(request, &options, today, held, terminal)
}

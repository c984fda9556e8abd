//! `metalmark check`: all that `render` says, and nothing is written.

use clap::Args;

use crate::error::Error;
use crate::model::date::Date;
use crate::read::{self, Request};
use crate::report::{Changes, JudgedPool};

use super::render::check_all;
use super::{FrozenOption, GateOption, PartOptions};
use crate::edit::fix;
use crate::pipeline::fleet::{Fleet, FleetCheck};
use crate::pipeline::reporting::CheckReport;
use crate::pipeline::{Reporting, Terminal, Verdict, recover};

/// What `check` does.
#[derive(Clone, Debug, Default, Args)]
pub struct CheckOptions {
    /// Make the safe edits in the values files, then check again.
    #[arg(long)]
    pub fix: bool,
    /// Accept a run that checks no node pool.
    #[arg(long)]
    pub allow_empty: bool,
    /// Exit 0 even if there are errors; a run that cannot check still exits 2.
    #[arg(long)]
    pub exit_zero: bool,
    /// Which judgments fail the run.
    #[command(flatten)]
    pub gate: GateOption,
    /// Where findings go.
    #[command(flatten)]
    pub reporting: Reporting,
    /// Whether the lock must be complete.
    #[command(flatten)]
    pub frozen: FrozenOption,
    /// Which clusters are checked.
    #[command(flatten)]
    pub part: PartOptions,
}

/// Reads, resolves and checks every cluster, and reports on stdout.
///
/// # Errors
/// I/O failed, or there is no project.
pub fn check(
    request: &Request,
    options: &CheckOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut request = request.clone();
    request.flags.locking = options.frozen.locking();
    options.part.apply(&mut request.flags);
    if options.fix {
        recover(&request, terminal)?;
    }
    let (mut fleet, mut fleet_check) = read_and_check(&request, options, today)?;
    if options.fix && fix::findings(&fleet.workspace, &fleet_check.judged, None, terminal)? > 0 {
        (fleet, fleet_check) = read_and_check(&request, options, today)?;
    }
    let reporting = options.reporting.resolve_in(request.directory.as_ref());
    let pools = std::mem::take(&mut fleet_check.results).into_iter();
    let pools: Vec<JudgedPool> = pools.flatten().collect();
    let found = CheckReport {
        pool_list: options.reporting.lists_pools().then_some(&pools),
        ..fleet_check.report()
    };
    reporting.print_to(&mut terminal.out, found, &fleet.workspace, Changes::None)?;
    match fleet_check.verdict() {
        Verdict::Findings if options.exit_zero => Ok(Verdict::Clean),
        verdict => Ok(verdict),
    }
}

fn read_and_check(
    request: &Request,
    options: &CheckOptions,
    today: Date,
) -> Result<(Fleet, FleetCheck<Vec<JudgedPool>>), Error> {
    let mut workspace = read::workspace(request)?;
    if options.allow_empty {
        workspace.settings.policy.allow_empty();
    }
    options.gate.apply(&mut workspace.settings.policy);
    let mut fleet = Fleet::open(workspace, today)?;
    let lists_pools = options.reporting.lists_pools();
    let fleet_check = check_all(request, &mut fleet, |view| {
        let pools = lists_pools.then(|| JudgedPool::list(view));
        pools.unwrap_or_default()
    })?;
    Ok((fleet, fleet_check))
}

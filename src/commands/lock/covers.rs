//! `lock --check`: whether the lock covers the workspace.

use crate::error::Error;
use crate::model::date::Date;
use crate::model::finding::{Finding, Judged};
use crate::model::lock::Locking;
use crate::model::rule::{Level, RuleId};
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Terminal, Verdict, check};
use crate::read::{self, Request};
use crate::report::print_findings;

use super::{LockOptions, errors};

/// Whether the lock covers the workspace: what the lock's rules find, and what keeps the values from being read.
pub(super) fn check(
    request: &Request,
    options: &LockOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut request = request.clone();
    request.flags.locking = Locking::Frozen;
    request.flags.shard = options.shard;
    let mut fleet = Fleet::open(read::workspace(&request)?, today)?;
    let found = std::mem::take(&mut fleet.workspace.findings);
    let fleet_check = fleet.check(|view, _, _| Ok(view.findings.clone()))?;
    let reading = fleet_check.results.into_iter().flatten();
    let mut reading: Vec<Finding> = reading.filter(|it| !it.rule.is_of_lock()).collect();
    reading.extend(found);
    let reading = check::findings(reading, &fleet.workspace.settings, today).findings;
    let of_lock = fleet_check.judged.into_iter();
    let of_lock = of_lock.filter(|judged| judged.finding.rule.is_of_lock());
    let mut judged: Vec<Judged> = of_lock.collect();
    judged.extend(errors(reading));
    // A lock that names more than is used would lose entries in the next run.
    let is_stale =
        |judged: &Judged| judged.level == Level::Error || judged.finding.rule == RuleId::LockUnused;
    let verdict = Verdict::from_errors(judged.iter().any(is_stale));
    print_findings(
        &mut terminal.out,
        &judged,
        fleet.workspace.entries().count(),
        options.format,
    )?;
    Ok(verdict)
}

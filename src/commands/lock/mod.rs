//! `metalmark lock`: resolves what is new or changed, keeps what is locked, drops what no cluster uses, writes the lock.

mod covers;
mod pages;
mod request;
mod requirements;
mod save;

use std::sync::Arc;

use clap::Args;

use crate::catalog::locking::{self, LockRequest, Locked, Requirements};
use crate::error::Error;
use crate::model::date::Date;
use crate::model::finding::{Finding, Judged};
use crate::model::rule::{Level, RuleId};
use crate::model::shard::Shard;
use crate::output::Held;
use crate::pipeline::check::{self, Checked};
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{self, Terminal, Verdict, recover};
use crate::read::{self, Request, Workspace};
use crate::report::{self, Format, print_findings};

pub(super) use pages::pages;
use request::lock_request;
pub(super) use requirements::requirements;
pub(super) use save::Before;
use save::save;

/// What `lock` does.
#[derive(Clone, Debug, Default, Args)]
pub struct LockOptions {
    /// Resolve these image keys again; without any, all.
    #[arg(long, value_name = "KEY", num_args = 0.., conflicts_with = "check")]
    pub upgrade: Option<Vec<String>>,
    /// Take the new digest of an image although its tag has moved.
    #[arg(long, value_name = "KEY", conflicts_with = "check")]
    pub accept_moved: Vec<String>,
    /// Query nothing and write nothing; exit 1 when the lock does not cover the workspace.
    #[arg(long)]
    pub check: bool,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
    /// With --check: process only the I-th of N parts of the clusters, selected by their names.
    #[arg(long, value_name = "I/N", requires = "check")]
    pub shard: Option<Shard>,
}

/// Locks every image that a cluster's catalog names.
///
/// What resolved and verified is written although other images failed: each entry is right by itself, the next run
/// resolves only the rest, and `check` reports what is missing. While the values of a cluster cannot be read, nothing is
/// dropped: that cluster may use it.
///
/// # Errors
/// I/O or the network failed, or there is no project; images could not be resolved, which is reported when the others are written.
pub fn lock(
    request: &Request,
    options: &LockOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if options.check {
        return covers::check(request, options, today, terminal);
    }
    recover(request, terminal)?;
    run_held(request, options, today, None, terminal)
}

/// Locks as [`lock`] does, in a project that the caller may hold already.
pub(super) fn run_held(
    request: &Request,
    options: &LockOptions,
    today: Date,
    held: Option<&mut Held>,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    workspace.checks_signers = true;
    // Read before they are understood: where they change in between, they are not written over.
    let before = Before::read(&workspace)?;
    let fleet = Fleet::open(workspace, today)?;
    let workspace = &fleet.workspace;
    // What was edited is written as the artifacts say it; everything else has to be put right first.
    let (mut tampered, found): (Vec<Finding>, Vec<Finding>) = workspace
        .findings
        .iter()
        .cloned()
        .partition(|finding| finding.rule == RuleId::LockTampered);
    for finding in &mut tampered {
        *finding = finding.clone().unless_set(Level::Warning);
    }
    let judged = check::findings(found, &workspace.settings, today);
    if judged.has_errors() {
        let errors = errors(judged.findings);
        let clusters = workspace.clusters.len();
        print_findings(&mut terminal.err, &errors, clusters, options.format)?;
        return Ok(Verdict::Findings);
    }
    let required = requirements(&fleet)?;
    let accepts = |finding: &Finding| acceptance(finding, workspace, today);
    let mut lock_request = LockRequest {
        accepts: &accepts,
        ..lock_request(options, &required.requirements, fleet.lock(), workspace)?
    };
    let judged = check::findings(required.findings.clone(), &workspace.settings, today);
    lock_request.keep_unrequired = judged.has_errors();
    let store = pipeline::open_stores(workspace, terminal);
    let answers = pages(workspace, &store);
    lock_request.pages = answers.pages;
    // Manifests that are stamped may name any of them.
    lock_request.pages.used = if workspace.stamps.is_empty() {
        required.used
    } else {
        fleet
            .lock()
            .images()
            .iter()
            .map(|image| Arc::clone(&image.key.value))
            .collect()
    };
    let wanted = (&lock_request, &fleet.keyring);
    let mut locked = locking::lock(
        fleet.lock(),
        &fleet.lock_sources(),
        &required.requirements,
        wanted,
        &store,
    );
    locked.findings.extend(tampered);
    locked.findings.extend(required.findings);
    locked.findings.extend(answers.findings);
    locked.failures.extend(answers.failures);
    let written = save(workspace, &locked, &before, held)?;
    let judged = check::findings(locked.findings.clone(), &workspace.settings, today);
    finish(
        locked,
        &judged,
        written,
        workspace,
        options.format,
        terminal,
    )
}

/// The lock with further requirements, as the next run of [`lock`] would make it. Nothing is written.
pub(super) fn preview(fleet: &Fleet, requirements: &Requirements, terminal: &Terminal) -> Locked {
    let workspace = &fleet.workspace;
    let accepts = |finding: &Finding| acceptance(finding, workspace, fleet.today);
    let lock_request = LockRequest {
        keep_unrequired: true,
        architecture: pipeline::architecture(workspace),
        accepts: &accepts,
        ..LockRequest::default()
    };
    let store = pipeline::open_stores(workspace, terminal);
    let wanted = (&lock_request, &fleet.keyring);
    locking::lock(
        fleet.lock(),
        &fleet.lock_sources(),
        requirements,
        wanted,
        &store,
    )
}

/// Why the project's policy accepts a finding: a waiver's reason, or a level below an error.
fn acceptance(finding: &Finding, workspace: &Workspace, today: Date) -> Option<String> {
    let policy = &workspace.settings.policy;
    if policy.level(finding) != Level::Error {
        return Some("the policy makes it no error".to_owned());
    }
    let waiver = policy.waiver(finding, today)?;
    let reason = policy
        .waivers
        .get(waiver)
        .map(|waiver| waiver.reason.clone());
    Some(format!("waived: {}", reason.unwrap_or_default()))
}

fn finish(
    locked: Locked,
    judged: &Checked,
    written: bool,
    workspace: &Workspace,
    format: Format,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let verdict = judged.verdict();
    if !judged.findings.is_empty() {
        print_findings(
            &mut terminal.err,
            &judged.findings,
            workspace.clusters.len(),
            format,
        )?;
    }
    let path = workspace.lock.to_string_lossy();
    report::lock_changes(&path, &locked, written, format, &mut terminal.out)?;
    if locked.failures.is_empty() {
        Ok(verdict)
    } else {
        Err(Error::Fetch {
            failures: locked.failures,
        })
    }
}

/// The findings at error level.
fn errors(mut judged: Vec<Judged>) -> Vec<Judged> {
    judged.retain(|judged| judged.level == Level::Error);
    judged
}

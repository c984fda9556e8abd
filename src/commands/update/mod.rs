//! `metalmark update`: the whole step after a release of the image builder: version, catalog, choices, render.

mod before;
mod offer;
mod plan;
mod target;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::catalog::offers::{Moves, Summary, VersionChange, locked_moves};
use crate::commands::lock::{self, LockOptions};
use crate::commands::render::{self, RenderOptions};
use crate::commands::{CheckOptions, check};
use crate::error::Error;
use crate::model::date::Date;
use crate::model::finding::Judged;
use crate::model::rule::RuleId;
use crate::output::{self, Held};
use crate::read::{self, Request, Workspace};
use crate::report::{self, update::Preview};
use crate::rules;

use crate::edit::update::{self, UpdateTarget};
use crate::edit::{fix, texts};
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Reporting, Terminal, Verdict, booted, recover};
use before::Before;
pub use offer::OfferOptions;
pub(super) use offer::offer;
pub(super) use plan::Plan;

/// What an update does.
#[derive(Clone, Debug, Args)]
pub struct UpdateOptions {
    /// The version to move to, or `REGISTRY=VERSION` for the builder of a registry's images where there are several. Left out, it
    /// is the one that the values name for each builder: a bot has raised it already.
    #[arg(value_name = "VERSION")]
    pub to: Vec<String>,
    /// Run as Renovate's command after an upgrade: with `--fix` and `--k8s-versions`, for the versions that it raised; stderr
    /// holds all that its merge request is to show, the result first.
    #[arg(long, conflicts_with = "to")]
    pub from_renovate: bool,
    /// Where the version's images are listed.
    #[command(flatten)]
    pub offer: OfferOptions,
    /// Move Kubernetes versions with the images: the values' map of them (`k8s_version_map`), and those that clusters and
    /// pools write themselves.
    #[arg(long)]
    pub k8s_versions: bool,
    /// Move selections of images that are gone to their successors.
    #[arg(long)]
    pub fix: bool,
    /// Say what would be done, do nothing, and exit 1 if there is anything to do.
    #[arg(long)]
    pub check: bool,
    /// Write the summary to FILE as Markdown.
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,
    /// Where findings go.
    #[command(flatten)]
    pub reporting: Reporting,
}

/// Edits version and catalog in the values, moves selections on request, then locks, renders and reports. While there are
/// errors, nothing is written.
///
/// `renovate` is the file that Renovate describes its upgrades in.
///
/// # Errors
/// I/O or the network failed; there is no project; the values have no builder's version; nothing is listed for it.
pub fn update(
    request: &Request,
    options: &UpdateOptions,
    renovate: Option<&Path>,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !options.check {
        recover(request, terminal)?;
    }
    let fleet = Fleet::open(read::workspace(request)?, today)?;
    let workspace = &fleet.workspace;
    let catalogs = fleet.catalogs()?;
    let targets = target::targets(options, renovate, &catalogs)?;
    let mut plan = Plan::new(request, &fleet);
    for target in &targets {
        let catalogs = plan.fleet().catalogs()?;
        let offer = offer(&options.offer, target, workspace, &catalogs, terminal)?;
        plan.add_offer(&catalogs, target, &offer)?;
        report::update::unread(&offer, &mut terminal.err)?;
    }
    report::update::computed(&plan.computed, &mut terminal.err)?;
    let moves_versions = options.k8s_versions || options.from_renovate;
    let moves = if moves_versions {
        plan.move_versions()?
    } else {
        Moves::new()
    };
    if options.fix || options.from_renovate {
        plan.fix(options, terminal)?;
    }
    let before = before::find(request, &fleet, &targets)?;
    let versions = targets.iter().zip(&before.from);
    let mut summary = Summary {
        versions: versions
            .map(|(target, from)| VersionChange {
                builder: target.builder.name(),
                from: from.clone(),
                to: target.to.clone(),
            })
            .collect(),
        moves,
        drift: plan.drift.clone(),
        pools: None,
        since: before.since.clone(),
        doubt: before.doubt.clone(),
    };
    if options.check {
        let preview = PlannedUpdate {
            request,
            workspace,
            options,
            targets: &targets,
            plan: &plan,
            before,
            today,
        };
        return preview.print(summary, terminal);
    }
    // From the first edit to the last rendered file no other run writes here.
    let mut held = output::hold(&workspace.settings.root)?;
    let has_lock = lock::Before::read(workspace)?.has_lock();
    texts::replace(workspace, &plan.files, &mut held)?;
    let mut changed: BTreeSet<&str> = plan.files.iter().map(|file| &*file.source.path).collect();
    let mut moved = Vec::new();
    let mut finished = || -> Result<Verdict, Error> {
        let locked = lock_again(request, has_lock, today, &mut held, terminal);
        let mut after = Fleet::open(read::workspace(request)?, today)?;
        if moves_versions {
            let used = before.machines.by_pool.values();
            let used = used.map(|machine| Arc::clone(&machine.key)).collect();
            let mut disagreements = Vec::new();
            let (old, new) = (fleet.lock(), after.lock());
            let moves = locked_moves(old, new, &plan.drift, &used, &mut disagreements);
            report::update::disagreements(&disagreements, &mut terminal.err)?;
            moved = update::k8s_versions(&after, &moves)?;
            if !moved.is_empty() {
                texts::replace(&after.workspace, &moved, &mut held)?;
                after = Fleet::open(read::workspace(request)?, today)?;
                summary.moves.extend(moves);
            }
        }
        let machines = booted::read_machines(&after)?;
        summary.pools = Some(booted::changes(&before.machines, &machines));
        let is_edited = !(plan.files.is_empty() && moved.is_empty());
        summarize(is_edited, &summary, options, terminal)?;
        match locked? {
            Verdict::Clean => {
                let held = Some(&mut held);
                finish(request, &after.workspace, options, today, held, terminal)
            }
            refused => Ok(refused),
        }
    };
    let verdict = finished();
    if matches!(verdict, Ok(Verdict::Clean)) {
        changed.extend(moved.iter().map(|file| &*file.source.path));
        for path in changed {
            writeln!(terminal.err, "changed {path}")?;
        }
    } else if held.undo()? {
        writeln!(terminal.err, "{NOTHING_WRITTEN}")?;
    }
    verdict
}

const NOTHING_WRITTEN: &str = "what was written is undone, because of the errors above\n\
     help: correct them and run this again; `--fix` moves selections to the new images, `--k8s-versions` Kubernetes with them\n\
     help: `metalmark render CLUSTER…` renders clusters alone, without the update";

/// Prints the summary, and writes it where that was requested.
fn summarize(
    is_edited: bool,
    summary: &Summary,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    if let Some(path) = &options.summary {
        output::file(path, summary.markdown().as_str().as_bytes())?;
    }
    report::update::summary(summary, is_edited, &mut terminal.err)?;
    Ok(())
}

/// The selections of images that the catalog does not have, of pools and of levels that no pool takes one from.
fn dangling_selections(fleet: &Fleet) -> Result<Vec<Judged>, Error> {
    let settings = &fleet.workspace.settings;
    let fleet_check = fleet.check(|view, _, findings| {
        findings.extend(rules::keys_without_pool(view, settings));
        Ok(())
    })?;
    let judged = fleet_check.judged.into_iter();
    Ok(judged
        .filter(|judged| judged.finding.rule == RuleId::UnknownImage)
        .collect())
}

/// An update that is not made.
struct PlannedUpdate<'a> {
    request: &'a Request,
    workspace: &'a Workspace,
    options: &'a UpdateOptions,
    targets: &'a [UpdateTarget],
    plan: &'a Plan<'a>,
    /// What machines boot without it.
    before: Before,
    today: Date,
}

impl PlannedUpdate<'_> {
    /// Prints what would be done; drift if that is anything.
    fn print(self, mut summary: Summary, terminal: &mut Terminal) -> Result<Verdict, Error> {
        let Self {
            request,
            workspace,
            options,
            targets,
            plan,
            before,
            today,
        } = self;
        let machines = booted::read_machines(plan.fleet())?;
        let unlocked = machines.unlocked.len();
        summary.pools = Some(booted::changes(&before.machines, &machines));
        let is_edited = !plan.files.is_empty();
        summarize(is_edited, &summary, options, terminal)?;
        let files = plan.files.iter();
        let preview = Preview {
            to: &summary.title(),
            is_raised: targets.iter().all(UpdateTarget::is_raised),
            versions: &plan.versions,
            files: files.map(|file| &file.source).collect(),
            unlocked,
        };
        report::update::preview(&preview, &mut terminal.err)?;
        let is_left = is_edited || unlocked > 0;
        match (is_left, workspace.settings.outputs.is_empty()) {
            (true, _) => Ok(Verdict::Drift),
            (false, true) => Ok(Verdict::Clean),
            (false, false) => finish(request, workspace, options, today, None, terminal),
        }
    }
}

/// Locks what the catalog names now, in a project that has a lock. Its output goes to stderr: the result is what is
/// rendered.
fn lock_again(
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
fn finish(
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
            ..Reporting::default()
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
        reporting,
        ..RenderOptions::default()
    };
    render::run_held(request, &options, today, held, terminal)
}

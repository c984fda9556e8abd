//! `metalmark update`: the whole step after a release of the image builder: version, catalog, choices, render.

mod before;
mod offer;
mod plan;
mod target;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::image::fact;
use clap::Args;

use crate::catalog::offers::{Caller, Offer, Summary, VersionChange};
use crate::commands::lock::{self, LockOptions};
use crate::commands::render::{self, RenderOptions};
use crate::commands::{CheckOptions, check};
use crate::edit::fix::{Tense, TriedFixes};
use crate::edit::texts::{self, EditedFile};
use crate::edit::update::UpdateTarget;
use crate::error::Error;
use crate::model::date::Date;
use crate::model::finding::Finding;
use crate::model::fix::Fix;
use crate::model::lock::Lock;
use crate::model::rule::{Level, RuleId};
use crate::output::{self, Held};
use crate::printer::{Color, Printer};
use crate::read::{self, Request, Workspace};
use crate::report;
use crate::report::update::{OtherBytes, Preview, PreviewedVersion};
use crate::rules;

use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Reporting, Terminal, Verdict, booted, recover};
use before::Before;
pub use offer::OfferOptions;
pub(super) use offer::offer;
pub(super) use plan::Plan;
pub(super) use target::parse_target;

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
    /// Move Kubernetes versions to what the images hold once they are locked: the values' map of them (`k8s_version_map`), and
    /// those that clusters and pools write themselves. Without a lock or other facts of the images, none moves.
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
    if !options.from_renovate {
        return run(request, options, None, today, terminal);
    }
    let options = UpdateOptions {
        fix: true,
        k8s_versions: true,
        reporting: Reporting {
            output: &report::update::Brief,
            files: options.reporting.files.clone(),
            ..Reporting::default()
        },
        offer: OfferOptions {
            caller: Caller::Bot,
            ..options.offer.clone()
        },
        ..options.clone()
    };
    // A merge request shows stderr: results come first, and what is said on the way to them behind.
    let mut verdict = Ok(Verdict::Clean);
    let said = Printer::print_to_string(Color::Never, |kept| {
        std::mem::swap(&mut terminal.out, &mut terminal.err);
        std::mem::swap(&mut terminal.err, kept);
        verdict = run(request, &options, renovate, today, terminal);
        std::mem::swap(&mut terminal.err, kept);
        std::mem::swap(&mut terminal.out, &mut terminal.err);
        Ok(())
    })?;
    write!(terminal.err, "{said}")?;
    verdict
}

fn run(
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
    if renovate.is_none() {
        let left = target::other_versions(&targets, &catalogs);
        report::update::other_versions(&left, &mut terminal.err)?;
    }
    let text = options.offer.text(request)?;
    let mut plan = Plan::new(request, &fleet);
    let mut offers = Vec::new();
    for target in &targets {
        let catalogs = plan.fleet().catalogs()?;
        let offer = offer(
            &options.offer,
            text.as_ref(),
            target,
            workspace,
            &catalogs,
            terminal,
        )?;
        let known = plan.drift.removed.len();
        plan.add_offer(&catalogs, target, &offer, options.offer.caller)?;
        if offer.is_listed
            && let Some(name) = plan.drift.removed.get(known)
        {
            return Err(Error::usage(format!(
                "the registries do not show `{name}:{}`, which is no proof that the image is gone, so the catalog keeps it\nhelp: {}",
                target.to,
                options.offer.caller.otherwise()
            )));
        }
        report::update::gaps(&offer, &mut terminal.err)?;
        offers.push(offer);
    }
    report::update::omissions(&plan.computed, &mut terminal.err)?;
    if options.fix && options.check {
        plan.fix()?;
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
        drift: plan.drift.clone(),
        since: before.since.clone(),
        doubt: before.doubt.clone(),
        ..Summary::default()
    };
    let has_lock = lock::Before::read(workspace)?.has_lock();
    if options.check {
        let preview = PlannedUpdate {
            request,
            workspace,
            options,
            targets: &targets,
            plan: &plan,
            before,
            has_lock,
            today,
        };
        return preview.print(summary, terminal);
    }
    // From the first edit to the last rendered file no other run writes here.
    let mut held = output::hold(&workspace.settings.root)?;
    texts::replace(workspace, &plan.files, &mut held)?;
    let mut changed: BTreeSet<Arc<str>> = paths(&plan.files).collect();
    // What is said of edits waits until they stay.
    let (mut locked, mut edits) = (String::new(), Vec::new());
    let mut finished = || -> Result<Verdict, Error> {
        let verdict = lock_again(request, has_lock, today, &mut held, &mut locked, terminal)?;
        if verdict != Verdict::Clean {
            return Ok(verdict);
        }
        let mut after = Fleet::open(read::workspace(request)?, today)?;
        let offered = targets.iter().zip(&offers);
        let others: Vec<OtherBytes> = offered
            .flat_map(|(target, offer)| other_bytes(offer, &target.to, after.lock()))
            .collect();
        if !others.is_empty() {
            report::update::other_bytes(&others, options.offer.caller, notes(options, terminal))?;
            return Ok(Verdict::Findings);
        }
        let mut edit = |tried: TriedFixes, after: &mut Fleet| -> Result<(), Error> {
            if !tried.files.is_empty() {
                texts::replace(&after.workspace, &tried.files, &mut held)?;
                changed.extend(paths(&tried.files));
                *after = Fleet::open(read::workspace(request)?, today)?;
            }
            edits.push(tried);
            Ok(())
        };
        if options.k8s_versions {
            let moved = follow_images(&after, &mut summary)?;
            edit(moved, &mut after)?;
            report::update::stays(&summary.stays, notes(options, terminal))?;
        }
        // A selection moves to an image of the version that its cluster runs then.
        if options.fix {
            let fixes = selection_fixes(&after)?;
            edit(TriedFixes::new(&after.workspace, &fixes), &mut after)?;
        }
        let machines = booted::read_machines(&after)?;
        summary.pools = Some(booted::changes(&before.machines, &machines));
        if !has_lock && options.reporting.is_for_people() && lacks_facts(&after)? {
            report::update::missing_lock(&mut terminal.err)?;
            return Ok(Verdict::Findings);
        }
        let held = Some(&mut held);
        finish(request, &after.workspace, options, today, held, terminal)
    };
    let verdict = finished();
    let (is_done, is_edited) = (matches!(verdict, Ok(Verdict::Clean)), !changed.is_empty());
    let is_undone = !is_done && held.undo()?;
    let has_summary = verdict.is_ok() && summary.pools.is_some();
    summary.is_refused = !is_done;
    if has_summary {
        report::update::summary(&summary, is_edited, notes(options, terminal))?;
    }
    report::update::print_minors(&summary.unmapped, notes(options, terminal))?;
    let tense = if is_done { Tense::Done } else { Tense::Would };
    for tried in edits {
        tried.print(tense, terminal)?;
    }
    if is_done {
        write!(terminal.err, "{locked}")?;
        for path in changed {
            writeln!(terminal.err, "changed {path}")?;
        }
    } else if is_undone {
        report::update::refusal(&options.other_flags(), &mut terminal.err)?;
    }
    if has_summary {
        save(&summary, request, options)?;
    }
    verdict
}

fn paths(files: &[EditedFile]) -> impl Iterator<Item = Arc<str>> {
    files.iter().map(|file| Arc::clone(&file.source.path))
}

impl UpdateOptions {
    /// The flags that would repair more, each with what it does.
    fn other_flags(&self) -> Vec<&'static str> {
        let fix = (!self.fix).then_some("`--fix` moves selections to the new images");
        let versions = (!self.k8s_versions)
            .then_some("`--k8s-versions` moves Kubernetes versions to what they hold");
        fix.into_iter().chain(versions).collect()
    }
}

/// The images of a version whose release says another checksum than their artifacts.
fn other_bytes(offer: &Offer, version: &str, lock: &Lock) -> Vec<OtherBytes> {
    let mut found = Vec::new();
    for (key, offered) in &offer.checksums {
        let entries = lock.entries_of(key).iter();
        let entries = entries.filter(|entry| entry.origin.version.as_deref() == Some(version));
        let locked = entries.filter_map(|entry| Some((entry, entry.facts.get(fact::SHA256)?)));
        let others = locked.filter(|(_, sum)| !sum.value.eq_ignore_ascii_case(offered));
        found.extend(others.map(|(entry, sum)| OtherBytes {
            reference: entry.reference.value.clone(),
            offered: offered.clone(),
            locked: Arc::clone(&sum.value),
        }));
    }
    found
}

/// Whether it is an error that nothing says a fact of an image, which its artifact has: what else is wrong may follow from that.
fn lacks_facts(fleet: &Fleet) -> Result<bool, Error> {
    let fleet_check = fleet.check(|_, _, _| Ok(()))?;
    let lacking = [RuleId::ChecksumMissing, RuleId::FormatMissing];
    let mut errors = { fleet_check.judged.iter() }.filter(|judged| judged.level == Level::Error);
    Ok(errors.any(|judged| lacking.contains(&judged.finding.rule)))
}

/// Where the summary goes: beside what is rendered; to a bot it is the result.
fn notes<'t>(options: &UpdateOptions, terminal: &'t mut Terminal) -> &'t mut Printer {
    if options.from_renovate {
        &mut terminal.out
    } else {
        &mut terminal.err
    }
}

/// Moves Kubernetes versions to what the images hold, and says in the summary which ones move and why others stay.
fn follow_images(fleet: &Fleet, summary: &mut Summary) -> Result<TriedFixes, Error> {
    let settings = &fleet.workspace.settings;
    let behind = fleet.check(|view, _, _| {
        Ok((
            rules::versions_behind(view, settings),
            rules::find_unmapped(view),
        ))
    })?;
    let mut fixes = Vec::new();
    let reason = |finding: &Finding| format!("{}; {}", finding.message, finding.help.join("; "));
    let (behind_all, unmapped): (Vec<_>, Vec<_>) = behind.results.into_iter().unzip();
    let unmapped = unmapped.iter().flatten();
    summary.unmapped.extend(unmapped.map(reason));
    let of_others = { behind.judged.into_iter() }
        .map(|judged| judged.finding)
        .filter(|finding| {
            finding.rule == RuleId::K8sVersionMap && finding.subject.cluster.is_none()
        });
    let mut behind: Vec<Finding> = behind_all.into_iter().flatten().chain(of_others).collect();
    fleet.keep_common_edits(behind.iter_mut())?;
    for finding in behind {
        let reason = reason(&finding);
        match finding.fix {
            Some(fix) => fixes.push(fix),
            None => drop(summary.stays.insert(reason)),
        }
    }
    let tried = TriedFixes::new(&fleet.workspace, &fixes);
    summary.moves.extend(tried.fixes().map(|fix| {
        let old = fix.old().trim_matches(['"', '\'']);
        format!("`{old}` → `{}`", fix.value)
    }));
    let refused = tried.refusals();
    let refused = refused.map(|(fix, why)| format!("{}: `{}`: {why}", fix.spot, fix.text));
    summary.stays.extend(refused);
    Ok(tried)
}

/// Writes the summary where that was requested.
fn save(summary: &Summary, request: &Request, options: &UpdateOptions) -> Result<(), Error> {
    let Some(path) = &options.summary else {
        return Ok(());
    };
    let text = summary.markdown();
    output::file(&request.locate(path), text.as_str().as_bytes())
}

/// The edits of selections of images that the catalog does not have, of pools and of levels that no pool takes one from.
fn selection_fixes(fleet: &Fleet) -> Result<Vec<Fix>, Error> {
    let settings = &fleet.workspace.settings;
    let fleet_check = fleet.check(|view, _, findings| {
        findings.extend(rules::keys_without_pool(view, settings));
        Ok(())
    })?;
    let findings = fleet_check.judged.into_iter().map(|judged| judged.finding);
    let dangling = findings.filter(|finding| finding.rule == RuleId::UnknownImage);
    Ok(dangling.filter_map(|finding| finding.fix).collect())
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
    has_lock: bool,
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
            has_lock,
            today,
        } = self;
        let machines = booted::read_machines(plan.fleet())?;
        let unlocked = machines.unlocked.len();
        summary.pools = Some(booted::changes(&before.machines, &machines));
        // What images hold is known once they are locked.
        let moved = if options.k8s_versions && (unlocked == 0 || !has_lock) {
            follow_images(plan.fleet(), &mut summary)?
        } else {
            TriedFixes::default()
        };
        let is_edited = !plan.files.is_empty() || !moved.files.is_empty();
        plan.fixes.print(Tense::Would, terminal)?;
        moved.print(Tense::Would, terminal)?;
        report::update::stays(&summary.stays, notes(options, terminal))?;
        report::update::summary(&summary, is_edited, notes(options, terminal))?;
        report::update::print_minors(&summary.unmapped, notes(options, terminal))?;
        save(&summary, request, options)?;
        let targets = targets.iter().map(UpdateTarget::is_raised);
        let changes = summary.versions.iter().zip(targets).zip(&plan.versions);
        let preview = Preview {
            versions: changes
                .map(|((change, is_raised), spots)| PreviewedVersion {
                    change,
                    is_raised,
                    spots,
                })
                .collect(),
            files: plan.files.iter().map(|file| &file.source).collect(),
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

/// Locks what the catalog names now, in a project that has a lock. `said` gets what it says of the lock.
fn lock_again(
    request: &Request,
    has_lock: bool,
    today: Date,
    held: &mut Held,
    said: &mut String,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (options, mut verdict) = (LockOptions::default(), Ok(Verdict::Clean));
    if has_lock {
        *said = Printer::print_to_string(Color::Never, |kept| {
            std::mem::swap(&mut terminal.out, kept);
            verdict = lock::run_held(request, &options, today, Some(held), terminal);
            std::mem::swap(&mut terminal.out, kept);
            Ok(())
        })?;
    }
    verdict
}

/// The last step: manifests where the project has any, else the rules alone.
fn finish(
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

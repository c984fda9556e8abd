//! `metalmark update`: the whole step after a release of the image builder: version, catalog, choices, render.

mod aim;
mod before;
mod catalog;
mod offer;
mod plan;
mod pools;
mod preview;
mod told;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;

use crate::catalog::offers::Summary;
use crate::error::Error;
use crate::model::finding::Judged;
use crate::model::policy::Date;
use crate::model::rule::RuleId;
use crate::output::{self, Held};
use crate::read::{self, Request, Workspace};

use super::lock::{self, LockMode, LockOptions};
use super::render::{self, RenderMode, RenderOptions};
use super::{CheckOptions, check};
use crate::edit::{fix, texts};
use crate::pipeline::{Format, Reporting, Terminal, Verdict, fleet, recover, stores};
pub use aim::VersionSource;
use catalog::Versions;
use fleet::Tools;
pub use offer::OfferSource;
use plan::Plan;

/// What `update` was asked for.
#[derive(Clone, Debug)]
pub struct UpdateOptions {
    /// Who says which version is meant.
    pub version: VersionSource,
    /// Where its images are listed.
    pub offer: OfferSource,
    /// Move the map of Kubernetes versions with the images.
    pub k8s_versions: bool,
    /// Move choices to successors.
    pub fix: bool,
    /// Say what would be done, and do nothing.
    pub check: bool,
    /// Write the edits although there are errors, and render the clusters that have none.
    pub keep_going: bool,
    /// Where to write the summary as Markdown.
    pub summary: Option<PathBuf>,
    /// How findings and changes are told.
    pub reporting: Reporting,
    /// The day that waivers are held against.
    pub today: Date,
}

/// Edits version and catalog in the values, moves selections on request, then locks, renders and reports. While there are
/// errors, nothing is written.
///
/// # Errors
/// I/O or the network failed; there is no project; the values have no builder's version; nothing is listed for it.
pub fn update(
    request: &Request,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !options.check {
        recover(request, terminal)?;
    }
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let catalogs = fleet::catalogs(&workspace, &tools)?;
    let aim = aim::aim(&options.version, &catalogs)?;
    let offer = offer::offer(&options.offer, &aim, &workspace, &catalogs, terminal)?;
    let versions = match options.k8s_versions {
        true => Versions::Move,
        false => Versions::Keep,
    };
    let change = |untouched: &BTreeSet<String>| {
        let (from, to) = (&catalogs, &aim);
        catalog::change((&workspace, &tools), from, to, &offer, versions, untouched)
    };
    let mut plan = Plan::of(request, &workspace, change(&BTreeSet::new())?, options)?;
    // What expressions evaluate to may change with the version.
    let computed = catalog::computed(&plan.catalogs()?, Some(&aim.to));
    if plan.change.adds(&computed) {
        plan = Plan::of(request, &workspace, change(&computed)?, options)?;
    }
    plan.fix(request, options, terminal)?;
    told::left_out(&plan.change, &offer, terminal)?;
    let before = before::before(request, &workspace, &tools, &aim)?;
    let mut summary = Summary {
        from: before.from.clone(),
        to: aim.to.clone(),
        drift: plan.change.drift.clone(),
        pools: None,
        since: before.since.clone(),
        doubt: before.doubt.clone(),
    };
    if options.check {
        let planned = (&aim, &plan, before);
        return preview::preview(request, &workspace, planned, summary, options, terminal);
    }
    // From the first edit to the last rendered file no other run writes here.
    let mut held = output::hold(&workspace.settings.root)?;
    let has_lock = lock::Before::read(&workspace)?.has_lock();
    texts::replace(&workspace, &plan.files(), &mut held)?;
    let finished = || -> Result<Verdict, Error> {
        let locked = lock_again(request, has_lock, options, &mut held, terminal);
        let mut after = read::workspace(request)?;
        let tools = fleet::tools(&mut after, options.today)?;
        summary.pools = Some(before.changes(pools::booted(&after, &tools)?));
        told::summary(&plan.change, &summary, options, terminal)?;
        match locked? {
            Verdict::Clean => {
                let held = Some(&mut held);
                finish(request, &after, RenderMode::Write, options, held, terminal)
            }
            refused => Ok(refused),
        }
    };
    let verdict = finished();
    if matches!(verdict, Ok(Verdict::Clean)) || options.keep_going {
        for (source, _) in &plan.change.files {
            writeln!(terminal.err, "changed {}", source.path)?;
        }
    } else if held.undo()? {
        writeln!(terminal.err, "{NOTHING_WRITTEN}")?;
    }
    verdict
}

const NOTHING_WRITTEN: &str = "nothing is written while there are errors\n\
     help: correct them, or type --keep-going to write what the update changes all the same";

fn usage(message: impl Into<String>) -> Error {
    let message = message.into();
    Error::Usage { message }
}

/// The choices of images that the catalog does not have.
fn lost(workspace: &Workspace, tools: &Tools) -> Result<Vec<Judged>, Error> {
    let survey = fleet::survey(workspace, tools, |_, _| Ok(((), Vec::new())))?;
    let judged = survey.judged.into_iter();
    Ok(judged
        .filter(|judged| judged.finding.rule == RuleId::UnknownImage)
        .collect())
}

/// Locks what the catalog names now, in a project that has a lock. What it tells goes to stderr: the result is what is
/// rendered.
fn lock_again(
    request: &Request,
    has_lock: bool,
    options: &UpdateOptions,
    held: &mut Held,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !has_lock {
        return Ok(Verdict::Clean);
    }
    let options = LockOptions {
        mode: LockMode::Complete,
        accept_moved: Vec::new(),
        format: Format::Human,
        today: options.today,
    };
    std::mem::swap(&mut terminal.out, &mut terminal.err);
    let verdict = lock::within(request, &options, Some(held), terminal);
    std::mem::swap(&mut terminal.out, &mut terminal.err);
    verdict
}

/// The last step: manifests where the project has any, else the rules alone. To a bot everything goes to stderr, whose end is
/// all that its merge request shows.
fn finish(
    request: &Request,
    workspace: &Workspace,
    mode: RenderMode,
    options: &UpdateOptions,
    held: Option<&mut Held>,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !matches!(options.version, VersionSource::Renovate(_)) {
        return render_or_check(request, workspace, mode, options, held, terminal);
    }
    let options = UpdateOptions {
        reporting: Reporting {
            output: &told::Brief,
            files: options.reporting.files.clone(),
        },
        ..options.clone()
    };
    std::mem::swap(&mut terminal.out, &mut terminal.err);
    let verdict = render_or_check(request, workspace, mode, &options, held, terminal);
    std::mem::swap(&mut terminal.out, &mut terminal.err);
    verdict
}

fn render_or_check(
    request: &Request,
    workspace: &Workspace,
    mode: RenderMode,
    options: &UpdateOptions,
    held: Option<&mut Held>,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (reporting, today) = (options.reporting.clone(), options.today);
    if workspace.settings.outputs.is_empty() {
        let options = CheckOptions {
            fix: false,
            // A catalog may be kept where no cluster is.
            allow_empty: true,
            reporting,
            today,
        };
        return check::check(request, &options, terminal);
    }
    let options = RenderOptions {
        mode,
        adopt: false,
        keep_going: options.keep_going,
        fail_on_change: false,
        allow_empty: false,
        reporting,
        today,
    };
    render::within(request, &options, held, terminal)
}

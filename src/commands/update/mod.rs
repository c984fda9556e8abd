//! `metalmark update`: the whole step after a release of the image builder: version, catalogue, choices, render.

mod aim;
mod before;
mod catalogue;
mod offer;
mod pools;
mod preview;
mod told;

use std::io::Write as _;
use std::path::PathBuf;

use crate::error::Error;
use crate::model::finding::Judged;
use crate::model::policy::Date;
use crate::read::{self, Request, Workspace};
use crate::sources;
use crate::update::Summary;
use crate::write::{self, Held};

use super::lock::{self, LockMode, LockOptions};
use super::render::{self, RenderMode, RenderOptions};
use super::{
    CheckOptions, Format, Reporting, Terminal, Verdict, check, fix, fleet, mend, stores, texts,
};
pub use aim::VersionSource;
use catalogue::Versions;
use fleet::Tools;
pub use offer::OfferSource;

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
    /// Where to write the summary as Markdown.
    pub summary: Option<PathBuf>,
    /// How findings and changes are told.
    pub reporting: Reporting,
    /// The day that waivers are held against.
    pub today: Date,
}

/// Edits version and catalogue in the values, moves choices where asked, then locks, renders and reports.
///
/// # Errors
/// The world failed; there is no project; the values have no builder's version; nothing is listed for it.
pub fn update(
    request: &Request,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !options.check {
        mend(request)?;
    }
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let catalogues = fleet::catalogues(&workspace, &tools)?;
    let aim = aim::aim(&options.version, &catalogues)?;
    let offer = offer::offer(&options.offer, &aim, &workspace, &catalogues, terminal)?;
    let versions = match options.k8s_versions {
        true => Versions::Move,
        false => Versions::Keep,
    };
    let change = catalogue::change(&workspace, &catalogues, &aim, &offer, versions)?;
    let before = before::before(request, &workspace, &tools, &aim)?;
    let mut summary = Summary {
        from: before.from.clone(),
        to: aim.to.clone(),
        drift: change.drift.clone(),
        pools: None,
        since: before.since.clone(),
        doubt: before.doubt.clone(),
    };
    if options.check {
        let planned = (&aim, &change, before);
        return preview::preview(request, &workspace, planned, summary, options, terminal);
    }
    // From the first edit to the last rendered file no other run writes here.
    let mut held = write::hold(&workspace.settings.root)?;
    texts::replace(&workspace, &change.files, &mut held)?;
    if options.fix {
        moved(request, options, &mut held, terminal)?;
    }
    let locked = lock_again(request, &workspace, options, &mut held, terminal);
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    summary.pools = Some(before.changes(pools::booted(&workspace, &tools)?));
    told::summary(&change, &summary, options, terminal)?;
    for (source, _) in &change.files {
        writeln!(terminal.err, "changed {}", source.path)?;
    }
    match locked? {
        Verdict::Clean => {
            let mode = RenderMode::Write;
            finish(
                request,
                &workspace,
                mode,
                options,
                Some(&mut held),
                terminal,
            )
        }
        refused => Ok(refused),
    }
}

fn usage(message: impl Into<String>) -> Error {
    let message = message.into();
    Error::Usage { message }
}

/// Moves the choices of images that the catalogue no longer has.
fn moved(
    request: &Request,
    options: &UpdateOptions,
    held: &mut Held,
    terminal: &mut Terminal,
) -> Result<usize, Error> {
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let lost = lost(&workspace, &tools)?;
    fix::findings(&workspace, &lost, Some(held), terminal)
}

/// The choices of images that the catalogue does not have.
fn lost(workspace: &Workspace, tools: &Tools) -> Result<Vec<Judged>, Error> {
    let survey = fleet::survey(workspace, tools, |_, _| Ok(((), Vec::new())))?;
    let judged = survey.judged.into_iter();
    Ok(judged
        .filter(|judged| judged.finding.rule == "unknown-image")
        .collect())
}

/// Locks what the catalogue names now, in a project that has a lock. What it tells goes to stderr: the result is what is
/// rendered.
fn lock_again(
    request: &Request,
    workspace: &Workspace,
    options: &UpdateOptions,
    held: &mut Held,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if sources::lock_bytes(&*workspace.files, &workspace.lock)?.is_none() {
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
            allow_empty: false,
            reporting,
            today,
        };
        return check::check(request, &options, terminal);
    }
    let options = RenderOptions {
        mode,
        adopt: false,
        keep_going: false,
        fail_on_change: false,
        allow_empty: false,
        reporting,
        today,
    };
    render::within(request, &options, held, terminal)
}

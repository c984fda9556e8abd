//! `metalmark update`: the whole step after a release of the image builder: version, catalogue, choices, render.

mod catalogue;
mod pools;

use std::path::PathBuf;

use crate::error::Error;
use crate::model::finding::Judged;
use crate::model::policy::Date;
use crate::read::{self, Request, Workspace};
use crate::sources;
use crate::update::{self, Offer, Summary};
use crate::write;

use super::lock::{self, LockMode, LockOptions};
use super::render::{self, RenderMode, RenderOptions};
use super::{CheckOptions, Format, Reporting, Terminal, Verdict, check, fix, fleet};
use catalogue::{Change, Versions};

/// Where the images of a version are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferSource {
    /// A file of references or names, or release notes; `-` is the standard input.
    Text(PathBuf),
}

/// What `update` was asked for.
#[derive(Clone, Debug)]
pub struct UpdateOptions {
    /// The version to move to; none where the values name it already.
    pub version: Option<String>,
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

/// Edits version and catalogue in the values, moves choices where asked, then renders and reports.
///
/// # Errors
/// The world failed; there is no project; the values have no builder's version; nothing is listed for it.
pub fn update(
    request: &Request,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let catalogues = fleet::catalogues(&workspace, &tools)?;
    let from = catalogue::version(&catalogues);
    let version = options.version.clone().or_else(|| from.clone());
    let version = version.ok_or_else(|| usage(NO_VERSION))?;
    let offer = offer(&options.offer, &version)?;
    let versions = match options.k8s_versions {
        true => Versions::Move,
        false => Versions::Keep,
    };
    let from_text = from.as_deref();
    let change = catalogue::change(
        &workspace,
        &catalogues,
        from_text,
        &version,
        &offer,
        versions,
    )?;
    let mut summary = Summary {
        from,
        to: version,
        drift: change.drift.clone(),
        pools: None,
    };
    if options.check {
        return told(&change, &summary, options, terminal);
    }
    let before = pools::booted(&workspace, &tools)?;
    write_all(&workspace, &change)?;
    let moved = options.fix && moved(request, options, terminal)? > 0;
    if change.is_empty() && !moved {
        return told(&change, &summary, options, terminal);
    }
    let locked = lock_again(request, &workspace, options, terminal);
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    summary.pools = Some(pools::changes(before, pools::booted(&workspace, &tools)?));
    told(&change, &summary, options, terminal)?;
    if locked? == Verdict::Findings {
        return Ok(Verdict::Findings);
    }
    render_or_check(request, &workspace, options, terminal)
}

const NO_VERSION: &str = "the values name no version of the image builder\n\
     help: type the version: `metalmark update VERSION`";

fn usage(message: impl Into<String>) -> Error {
    let message = message.into();
    Error::Usage { message }
}

/// What the version offers. An empty list would empty the catalogue, and so is refused.
fn offer(source: &OfferSource, version: &str) -> Result<Offer, Error> {
    let OfferSource::Text(path) = source;
    let offer = update::offered(&read::text(path)?, version);
    if !offer.images.is_empty() {
        return Ok(offer);
    }
    let others: Vec<&str> = offer.other_versions.iter().map(String::as_str).collect();
    let help = match others.is_empty() {
        true => "it is to hold lines such as `oci://REGISTRY/…/NAME:VERSION`, or names".to_owned(),
        false => format!("it names images of {}", others.join(", ")),
    };
    let path = path.display();
    Err(usage(format!(
        "`{path}` names no image of version `{version}`\nhelp: {help}"
    )))
}

/// Every file as it is to be, each whole. One that changed meanwhile ends the run; the next run does the rest.
fn write_all(workspace: &Workspace, change: &Change) -> Result<(), Error> {
    for (source, text) in &change.files {
        let path = workspace.settings.root.join(&*source.path);
        if !write::replace(&path, &source.text, text)? {
            return Err(usage(format!(
                "`{}` is not what was read: run again",
                source.path
            )));
        }
    }
    Ok(())
}

/// Moves the choices of images that the catalogue no longer has.
fn moved(
    request: &Request,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<usize, Error> {
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let survey = fleet::survey(&workspace, &tools, |_, _| Ok(((), Vec::new())))?;
    let lost: Vec<Judged> = survey
        .judged
        .into_iter()
        .filter(|judged| judged.finding.rule == "unknown-image")
        .collect();
    fix::findings(&workspace, &lost, terminal)
}

/// Prints the summary, and what `--check` comes to.
fn told(
    change: &Change,
    summary: &Summary,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    use std::io::Write as _;
    let markdown = summary.markdown();
    if let Some(path) = &options.summary {
        write::file(path, markdown.as_bytes())?;
    }
    if change.is_empty() && summary.pools.is_none() {
        writeln!(
            terminal.err,
            "the catalogue lists what {} offers",
            summary.to
        )?;
        return Ok(Verdict::Clean);
    }
    write!(terminal.err, "{}", summary.text())?;
    for (source, _) in &change.files {
        let verb = if options.check {
            "would change"
        } else {
            "changed"
        };
        writeln!(terminal.err, "{verb} {}", source.path)?;
    }
    Ok(match options.check {
        true => Verdict::Drift,
        false => Verdict::Clean,
    })
}

/// Locks what the catalogue names now, in a project that has a lock. What it tells goes to stderr: the result is what is
/// rendered.
fn lock_again(
    request: &Request,
    workspace: &Workspace,
    options: &UpdateOptions,
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
    let verdict = lock::lock(request, &options, terminal);
    std::mem::swap(&mut terminal.out, &mut terminal.err);
    verdict
}

/// The last step: manifests where the project has any, else the rules alone.
fn render_or_check(
    request: &Request,
    workspace: &Workspace,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (reporting, today) = (options.reporting.clone(), options.today);
    if workspace.settings.outputs.is_empty() {
        let options = CheckOptions {
            fix: false,
            reporting,
            today,
        };
        return check::check(request, &options, terminal);
    }
    let options = RenderOptions {
        mode: RenderMode::Write,
        adopt: false,
        keep_going: false,
        fail_on_change: false,
        allow_empty: false,
        reporting,
        today,
    };
    render::render(request, &options, terminal)
}

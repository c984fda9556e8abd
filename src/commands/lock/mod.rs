//! `metalmark lock`: asks for what is new or changed, keeps what is locked, drops what nobody asks for, writes the lock.

mod asks;
mod pages;
mod told;

use std::collections::BTreeSet;

use crate::check;
use crate::error::Error;
use crate::locking::{self, Asks, Locked, Upgrade, Wish};
use crate::model::finding::Finding;
use crate::model::lock::{Lock, Locking};
use crate::model::policy::Date;
use crate::model::suggest::did_you_mean;
use crate::read::{self, Request, Workspace};
use crate::sources;
use crate::write::{self, Held};

pub(super) use asks::asks;
pub(super) use pages::pages;

use super::{Format, Terminal, Verdict, fleet, mend};

/// What `lock` was asked for.
#[derive(Clone, Debug)]
pub struct LockOptions {
    /// Whether the lock is written, or only looked at.
    pub mode: LockMode,
    /// Keys whose tags may have moved.
    pub accept_moved: Vec<String>,
    /// The format of what is printed.
    pub format: Format,
    /// The day that waivers are held against.
    pub today: Date,
}

/// What happens to the lock.
#[derive(Clone, Debug)]
pub enum LockMode {
    /// What is missing is asked for.
    Complete,
    /// These keys are asked for again; without any, all.
    Upgrade(Vec<String>),
    /// Nothing is asked for: exit 1 where it does not cover the workspace.
    Check,
}

/// Locks every image that a cluster's catalogue names.
///
/// What resolved and verified is written although other images failed: each entry is right by itself, the next run asks only
/// for the rest, and `check` tells what is missing. While the values of a cluster cannot be read, nothing is dropped: it may
/// be what that cluster asks for.
///
/// # Errors
/// The world failed, or there is no project; images could not be had, which is told when the others are written.
pub fn lock(
    request: &Request,
    options: &LockOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if matches!(options.mode, LockMode::Check) {
        return check_only(request, options, terminal);
    }
    mend(request)?;
    within(request, options, None, terminal)
}

/// Locks as [`lock`] does, in a project that the caller may hold already.
pub(super) fn within(
    request: &Request,
    options: &LockOptions,
    held: Option<&mut Held>,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    // Read before it is understood: where it changes in between, it is not written over.
    let before = sources::lock_bytes(&*workspace.files, &workspace.lock)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let found = workspace.findings.clone();
    let judged = check::findings(found, &workspace.settings, options.today);
    if judged.has_errors() {
        let clusters = workspace.clusters.len();
        told::findings(judged.findings, clusters, options.format, terminal)?;
        return Ok(Verdict::Findings);
    }
    let (asks, unread) = asks(&workspace, &tools)?;
    let mut wish = wish(options, &asks, tools.lock(), &workspace)?;
    let judged = check::findings(unread.clone(), &workspace.settings, options.today);
    wish.keep_unasked = judged.has_errors();
    let store = super::stores::open(&workspace, terminal);
    let listed = pages(&workspace, &store);
    wish.offered = listed.offered;
    wish.unread_pages = listed.unread;
    let mut locked = locking::lock(tools.lock(), &tools.lock_sources(), &asks, &wish, &store);
    locked.findings.extend(unread);
    locked.findings.extend(listed.findings);
    locked.failures.extend(listed.failures);
    let written = save(&workspace, &locked, before.as_deref(), held)?;
    finish(locked, written, &workspace, options, terminal)
}

/// Writes the lock where its bytes change. Where nothing is locked and nothing was, there is none.
fn save(
    workspace: &Workspace,
    locked: &Locked,
    before: Option<&[u8]>,
    held: Option<&mut Held>,
) -> Result<bool, Error> {
    let root = &workspace.settings.root;
    let text = sources::lock_text(&locked.lock);
    let is_needless = match before {
        Some(before) => before == text.as_bytes(),
        None => locked.lock.images().is_empty(),
    };
    if !is_needless {
        write::holding(held, root, |held| {
            write::owned_file(held, &root.join(&workspace.lock), before, &text)
        })?;
    }
    Ok(!is_needless)
}

fn finish(
    locked: Locked,
    written: bool,
    workspace: &Workspace,
    options: &LockOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let judged = check::findings(locked.findings, &workspace.settings, options.today);
    let verdict = match judged.has_errors() {
        true => Verdict::Findings,
        false => Verdict::Clean,
    };
    if !judged.findings.is_empty() {
        terminal
            .err
            .findings(&judged.findings, workspace.clusters.len(), options.format)?;
    }
    let path = workspace.lock.to_string_lossy();
    told::changes(&path, &locked.changes, written, options.format, terminal)?;
    match locked.failures.is_empty() {
        true => Ok(verdict),
        false => Err(Error::Fetch {
            failures: locked.failures,
        }),
    }
}

/// `--upgrade` and `--accept-moved` name keys that someone asks for.
fn wish(
    options: &LockOptions,
    asks: &Asks,
    lock: &Lock,
    workspace: &Workspace,
) -> Result<Wish, Error> {
    let asked = asks.keys().map(|(key, _)| &**key);
    let known: BTreeSet<&str> = asked
        .chain(lock.images().iter().map(|image| image.identity().0))
        .collect();
    let upgraded = match &options.mode {
        LockMode::Upgrade(keys) => keys.as_slice(),
        LockMode::Complete | LockMode::Check => &[],
    };
    for key in upgraded.iter().chain(&options.accept_moved) {
        if !known.contains(&**key) {
            let help = match did_you_mean(key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`metalmark images` lists them".to_owned(),
            };
            let message = format!("no cluster's catalogue has an image `{key}`\nhelp: {help}");
            return Err(Error::Usage { message });
        }
    }
    Ok(Wish {
        upgrade: match &options.mode {
            LockMode::Upgrade(keys) if keys.is_empty() => Upgrade::All,
            LockMode::Upgrade(keys) => Upgrade::Keys(keys.iter().cloned().collect()),
            LockMode::Complete | LockMode::Check => Upgrade::Nothing,
        },
        accept_moved: options.accept_moved.iter().cloned().collect(),
        architecture: super::stores::architecture(workspace),
        ..Wish::default()
    })
}

/// Whether the lock covers the workspace: what the lock's rules find, and what keeps the values from being read.
fn check_only(
    request: &Request,
    options: &LockOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut request = request.clone();
    request.flags.locking = Locking::Frozen;
    let mut workspace = read::workspace(&request)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    let found = std::mem::take(&mut workspace.findings);
    let survey = fleet::survey(&workspace, &tools, |view, _| {
        Ok((view.findings.clone(), Vec::new()))
    })?;
    let mut reading: Vec<Finding> = survey.results.into_iter().flatten().collect();
    reading.extend(found);
    let reading = check::findings(reading, &workspace.settings, options.today).findings;
    let of_lock = survey.judged.into_iter();
    let of_lock = of_lock.filter(|judged| judged.finding.rule.starts_with("lock-"));
    let mut judged: Vec<_> = of_lock.collect();
    judged.extend(told::errors(reading));
    let verdict = match told::has_errors(&judged) || told::is_stale(&judged) {
        true => Verdict::Findings,
        false => Verdict::Clean,
    };
    terminal
        .out
        .findings(&judged, fleet::entries(&workspace).count(), options.format)?;
    Ok(verdict)
}

//! `metalmark lock`: asks for what is new or changed, keeps what is locked, drops what nobody asks for, writes the lock.

mod asks;
mod pages;
mod told;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::catalog::locking::{self, Asks, Locked, Upgrade, Wish};
use crate::catalog::sources;
use crate::error::Error;
use crate::model::finding::{Finding, Level};
use crate::model::lock::{Lock, Locking};
use crate::model::policy::Date;
use crate::model::rule::RuleId;
use crate::model::suggest::did_you_mean;
use crate::output::{self, Held};
use crate::pipeline::check;
use crate::read::{self, Request, Workspace};

pub(super) use asks::asks;
pub(super) use pages::pages;

use crate::pipeline::{Format, Terminal, Verdict, fleet, print_findings, recover};

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

/// Locks every image that a cluster's catalog names.
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
    recover(request, terminal)?;
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
    workspace.checks_signers = true;
    // Read before they are understood: where they change in between, they are not written over.
    let before = Before::read(&workspace)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    // What was edited is written as the artifacts say it; everything else has to be put right first.
    let (mut tampered, found): (Vec<Finding>, Vec<Finding>) = workspace
        .findings
        .iter()
        .cloned()
        .partition(|finding| finding.rule == RuleId::LockTampered);
    for finding in &mut tampered {
        *finding = finding.clone().unless_set(Level::Warning);
    }
    let judged = check::findings(found, &workspace.settings, options.today);
    if judged.has_errors() {
        let clusters = workspace.clusters.len();
        told::findings(judged.findings, clusters, options.format, terminal)?;
        return Ok(Verdict::Findings);
    }
    let asked = asks(&workspace, &tools)?;
    let accepts = |finding: &Finding| accepted(finding, &workspace, options.today);
    let mut wish = Wish {
        accepts: &accepts,
        ..wish(options, &asked.asks, tools.lock(), &workspace)?
    };
    let judged = check::findings(asked.findings.clone(), &workspace.settings, options.today);
    wish.keep_unasked = judged.has_errors();
    let store = crate::pipeline::stores::open(&workspace, terminal);
    let answers = pages(&workspace, &store);
    wish.pages = answers.pages;
    // Manifests that are stamped may name any of them.
    wish.pages.used = match workspace.stamps.is_empty() {
        true => asked.used,
        false => tools
            .lock()
            .images()
            .iter()
            .map(|image| Arc::clone(&image.key.value))
            .collect(),
    };
    let wanted = (&wish, &tools.keyring);
    let mut locked = locking::lock(
        tools.lock(),
        &tools.lock_sources(),
        &asked.asks,
        wanted,
        &store,
    );
    locked.findings.extend(tampered);
    locked.findings.extend(asked.findings);
    locked.findings.extend(answers.findings);
    locked.failures.extend(answers.failures);
    let written = save(&workspace, &locked, &before, held)?;
    finish(locked, written, &workspace, options, terminal)
}

/// Why the project's policy accepts a finding: a waiver's reason, or a level below an error.
fn accepted(finding: &Finding, workspace: &Workspace, today: Date) -> Option<String> {
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

/// The bytes of the lock and of its evidence before the run; none where there are none yet.
pub(super) struct Before {
    lock: Option<Vec<u8>>,
    evidence: Option<Vec<u8>>,
}

impl Before {
    /// Whether there was a lock.
    pub(super) fn has_lock(&self) -> bool {
        self.lock.is_some()
    }

    pub(super) fn read(workspace: &Workspace) -> Result<Self, Error> {
        let bytes = |path: &Path| sources::lock_bytes(&*workspace.files, path);
        Ok(Self {
            lock: bytes(&workspace.lock)?,
            evidence: bytes(&sources::evidence_path(&workspace.lock))?,
        })
    }
}

/// Writes the lock and its evidence where their bytes change. Where nothing is locked and nothing was, there are none. The evidence
/// comes first: more of it than the lock needs does no harm where a run ends in between.
fn save(
    workspace: &Workspace,
    locked: &Locked,
    before: &Before,
    held: Option<&mut Held>,
) -> Result<bool, Error> {
    let root = &workspace.settings.root;
    let evidence = sources::evidence_text(&locked.lock);
    let lock = sources::lock_text(&locked.lock);
    let lock = (!locked.lock.images().is_empty() || before.lock.is_some()).then_some(lock);
    let mut files = vec![
        (
            sources::evidence_path(&workspace.lock),
            &before.evidence,
            evidence,
        ),
        (workspace.lock.clone(), &before.lock, lock),
    ];
    files.retain(|(_, before, text)| {
        let text = text.as_deref().unwrap_or_default().as_bytes();
        before.as_deref().unwrap_or_default() != text
    });
    if files.is_empty() {
        return Ok(false);
    }
    output::holding(held, root, |held| {
        files.iter().try_for_each(|(path, before, text)| {
            let text = text.as_deref().unwrap_or_default();
            output::owned_file(held, &root.join(path), before.as_deref(), text)
        })
    })?;
    Ok(true)
}

fn finish(
    locked: Locked,
    written: bool,
    workspace: &Workspace,
    options: &LockOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let judged = check::findings(locked.findings.clone(), &workspace.settings, options.today);
    let verdict = match judged.has_errors() {
        true => Verdict::Findings,
        false => Verdict::Clean,
    };
    if !judged.findings.is_empty() {
        print_findings(
            &mut terminal.err,
            &judged.findings,
            workspace.clusters.len(),
            options.format,
        )?;
    }
    let path = workspace.lock.to_string_lossy();
    told::changes(&path, &locked, written, options.format, terminal)?;
    match locked.failures.is_empty() {
        true => Ok(verdict),
        false => Err(Error::Fetch {
            failures: locked.failures,
        }),
    }
}

/// `--upgrade` and `--accept-moved` name keys that someone asks for.
fn wish<'a>(
    options: &LockOptions,
    asks: &Asks,
    lock: &Lock,
    workspace: &Workspace,
) -> Result<Wish<'a>, Error> {
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
            let message = format!("no cluster's catalog has an image `{key}`\nhelp: {help}");
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
        architecture: crate::pipeline::stores::architecture(workspace),
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
    let reading = survey.results.into_iter().flatten();
    let mut reading: Vec<Finding> = reading.filter(|it| !it.rule.is_of_lock()).collect();
    reading.extend(found);
    let reading = check::findings(reading, &workspace.settings, options.today).findings;
    let of_lock = survey.judged.into_iter();
    let of_lock = of_lock.filter(|judged| judged.finding.rule.is_of_lock());
    let mut judged: Vec<_> = of_lock.collect();
    judged.extend(told::errors(reading));
    let verdict = match told::has_errors(&judged) || told::is_stale(&judged) {
        true => Verdict::Findings,
        false => Verdict::Clean,
    };
    print_findings(
        &mut terminal.out,
        &judged,
        fleet::entries(&workspace).count(),
        options.format,
    )?;
    Ok(verdict)
}

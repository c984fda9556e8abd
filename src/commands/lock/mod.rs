//! `metalmark lock`: resolves what is new or changed, keeps what is locked, drops what no cluster uses, writes the lock.

mod pages;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use capi::image::ImageKey;
use clap::Args;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use yaml_tree::suggest::did_you_mean;

use crate::catalog::locking::{
    self, LockRequest, Locked, Requirements, Upgrade, add, requirements_of,
};
use crate::catalog::sources;
use crate::error::Error;
use crate::files::FILE_LIMIT;
use crate::model::date::Date;
use crate::model::finding::{Finding, Judged};
use crate::model::lock::{Lock, Locking, is_lockable};
use crate::model::rule::{Level, RuleId};
use crate::output::{self, Held};
use crate::pipeline::check::{self, Checked};
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{self, Terminal, Verdict, recover};
use crate::read::{self, ClusterEntry, Request, Workspace};
use crate::report::{self, Format, print_findings};
pub(super) use pages::pages;

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
        return check_coverage(request, options, today, terminal);
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
    // What was edited is written as the artifacts say it, what is in conflict is merged, and what is another image is reported of
    // what is locked then; everything else has to be put right first.
    let (mut repaired, found): (Vec<Finding>, Vec<Finding>) = workspace
        .findings
        .iter()
        .filter(|finding| {
            !matches!(
                finding.rule,
                RuleId::ArtifactOtherImage | RuleId::LockStale | RuleId::ProvenanceUnproven
            )
        })
        .cloned()
        .partition(|finding| matches!(finding.rule, RuleId::LockTampered | RuleId::LockConflict));
    for finding in &mut repaired {
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
    let store = pipeline::open_stores(workspace, terminal)?;
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
    let mut locked = locking::lock(
        fleet.lock(),
        &fleet.lock_sources(),
        &required.requirements,
        &lock_request,
        &fleet.keyring,
        &store,
    );
    locked.findings.extend(repaired);
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
///
/// # Errors
/// The project file cannot be relied on.
pub(super) fn preview(
    fleet: &Fleet,
    requirements: &Requirements,
    terminal: &Terminal,
) -> Result<Locked, Error> {
    let workspace = &fleet.workspace;
    let accepts = |finding: &Finding| acceptance(finding, workspace, fleet.today);
    let lock_request = LockRequest {
        keep_unrequired: true,
        platform: workspace.settings.registries.platform.clone(),
        schemes: workspace.settings.schemes.clone(),
        signatures: workspace.settings.policy.signatures.clone(),
        accepts: &accepts,
        ..LockRequest::default()
    };
    let store = pipeline::open_stores(workspace, terminal)?;
    Ok(locking::lock(
        fleet.lock(),
        &fleet.lock_sources(),
        requirements,
        &lock_request,
        &fleet.keyring,
        &store,
    ))
}

/// Why the project's policy accepts a finding: a waiver's reason, or a level below an error.
fn acceptance(finding: &Finding, workspace: &Workspace, today: Date) -> Option<String> {
    let policy = &workspace.settings.policy;
    if policy.level(finding) != Level::Error {
        let reason = if policy.has_level(finding) {
            "the policy makes it a warning at most"
        } else {
            "it is a warning unless the policy makes it an error"
        };
        return Some(reason.to_owned());
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

/// Whether the lock covers the workspace: what the lock's rules find, and what keeps the values from being read.
fn check_coverage(
    request: &Request,
    options: &LockOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut request = request.clone();
    request.flags.locking = Locking::Frozen;
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

/// `--upgrade` and `--accept-moved` name keys that some cluster has.
fn lock_request<'a>(
    options: &LockOptions,
    requirements: &Requirements,
    lock: &Lock,
    workspace: &Workspace,
) -> Result<LockRequest<'a>, Error> {
    let required = requirements.keys().map(|(key, _)| &**key);
    let known: BTreeSet<&str> = required
        .chain(lock.images().iter().map(|image| image.identity().0))
        .collect();
    let upgraded = options.upgrade.as_deref().unwrap_or_default();
    for key in upgraded.iter().chain(&options.accept_moved) {
        if !known.contains(&**key) {
            let help = match did_you_mean(key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`metalmark images` lists them".to_owned(),
            };
            let message = format!("no cluster's catalog has an image `{key}`\nhelp: {help}");
            return Err(Error::usage(message));
        }
    }
    Ok(LockRequest {
        upgrade: match options.upgrade.as_deref() {
            None => Upgrade::Nothing,
            Some([]) => Upgrade::All,
            Some(keys) => Upgrade::Keys(keys.iter().cloned().collect()),
        },
        accept_moved: options.accept_moved.iter().cloned().collect(),
        platform: workspace.settings.registries.platform.clone(),
        schemes: workspace.settings.schemes.clone(),
        signatures: workspace.settings.policy.signatures.clone(),
        ..LockRequest::default()
    })
}

/// What clusters use.
#[derive(Default)]
pub(in crate::commands) struct Required {
    /// The images and bundles that can be locked by their references.
    pub(in crate::commands) requirements: Requirements,
    /// What is wrong with the values that say it.
    pub(in crate::commands) findings: Vec<Finding>,
    /// The other images that some cluster boots or serves.
    pub(in crate::commands) used: BTreeSet<ImageKey>,
}

/// Reads every cluster. What the first cluster says of a reference is shown, whichever thread is the first.
pub(in crate::commands) fn requirements(fleet: &Fleet) -> Result<Required, Error> {
    let one = |entry: &ClusterEntry| cluster_requirements(fleet, entry);
    let join = |mut left: Required, right: Required| {
        for requirement in right.requirements.into_values() {
            add(&mut left.requirements, requirement);
        }
        left.findings.extend(right.findings);
        left.used.extend(right.used);
        left
    };
    fleet
        .workspace
        .clusters
        .par_iter()
        .map(one)
        .try_reduce(Required::default, |left, right| Ok(join(left, right)))
}

fn cluster_requirements(fleet: &Fleet, entry: &ClusterEntry) -> Result<Required, Error> {
    let mut view = fleet.view_without_lock(entry)?;
    let mut findings = std::mem::take(&mut view.findings);
    let required = &fleet.workspace.settings.policy.signatures;
    let requirements = requirements_of(&view, required, &fleet.keyring, &mut findings);
    let others = view.images.values().filter(|image| !is_lockable(image));
    let used = others.filter(|image| view.is_used(&image.key));
    let used = used.map(|image| Arc::clone(&image.key)).collect();
    Ok(Required {
        requirements,
        findings,
        used,
    })
}

/// The bytes of the lock and of its evidence before the run; none where there are none yet.
pub(in crate::commands) struct Before {
    lock: Option<Vec<u8>>,
    evidence: Option<Vec<u8>>,
}

impl Before {
    /// Whether there was a lock.
    pub(in crate::commands) fn has_lock(&self) -> bool {
        self.lock.is_some()
    }

    pub(in crate::commands) fn read(workspace: &Workspace) -> Result<Self, Error> {
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
    for (path, _, text) in &files {
        // No later run could read it.
        if text
            .as_ref()
            .is_some_and(|text| text.len() as u64 > FILE_LIMIT)
        {
            let path = root.join(path);
            let cause = std::io::Error::other(format!(
                "it would be larger than {} MiB\n\
                 help: lock fewer images, or images whose manifests have shorter annotations",
                FILE_LIMIT >> 20
            ));
            return Err(Error::Write { path, cause });
        }
    }
    output::holding(held, root, |held| {
        files.iter().try_for_each(|(path, before, text)| {
            let text = text.as_deref().unwrap_or_default();
            output::write_owned_file(held, &root.join(path), before.as_deref(), text)
        })
    })?;
    Ok(true)
}

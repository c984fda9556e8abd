//! `metalmark stamp`: updates the image fields of manifests that people keep, in place.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use yaml_tree::engine::Engine;

use super::FrozenOption;
use crate::decide::pool_counts::PoolCounts;
use crate::edit::stamp::{self, Chooser, Job, Plan};
use crate::edit::texts;
use crate::error::Error;
use crate::files::{Files, Found, Repository, Revision, Scope};
use crate::model::date::Date;
use crate::output;
use crate::pipeline::check::{self, Checked};
use crate::pipeline::fleet::Fleet;
use crate::pipeline::reporting::CheckReport;
use crate::pipeline::{Reporting, Terminal, Verdict, recover};
use crate::read::{self, ManifestFiles, Request, Workspace};
use crate::render::Renderer;
use crate::report::{self, Changes};

/// What is stamped.
#[derive(Clone, Debug, Args)]
pub struct StampOptions {
    /// Files and folders of manifests; without them those that the project file names, else all below its folder.
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// Write nothing, show the difference and exit 1 if there is any.
    #[arg(long)]
    pub check: bool,
    /// How templates are stamped.
    #[command(flatten)]
    pub templates: stamp::Options,
    /// The commit that templates are compared with, to find those that changed under the same name; the last one unless given.
    #[arg(long, value_name = "REV")]
    pub against: Option<String>,
    /// Where findings go.
    #[command(flatten)]
    pub reporting: Reporting,
    /// Whether the lock must be complete.
    #[command(flatten)]
    pub frozen: FrozenOption,
}

/// Finds the machine templates among the manifests, and writes what their images say into them.
///
/// # Errors
/// I/O failed; there is no project; a file changed while it was being stamped.
pub fn stamp(
    request: &Request,
    options: &StampOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !options.check {
        recover(request, terminal)?;
    }
    let mut named = request.naming(&options.paths);
    named.flags.locking = options.frozen.locking();
    named.flags.manifests = true;
    let fleet = Fleet::open(read::workspace(&named)?, today)?;
    let workspace = &fleet.workspace;
    let files = read::manifests(workspace, request, &options.paths)?;
    let (plan, mut checked) = plan_stamp(
        &fleet,
        &files,
        &Job {
            options: options.templates,
            ..Job::default()
        },
        options.against.as_deref(),
    )?;
    if options.paths.is_empty() {
        let unused = stamp::find_unused_entries(&files.objects, &workspace.stamps);
        checked.join(check::findings(unused, &workspace.settings, today));
    }
    report::skips(&files.skipped, &mut terminal.err)?;
    let changes = [texts::changes(workspace, &plan.files, files.read)];
    let shown = match (checked.has_errors(), options.check) {
        (true, _) => Changes::None,
        (false, true) => Changes::Drift(&changes),
        (false, false) => Changes::Written(&changes),
    };
    let reporting = options.reporting.resolve_in(request.directory.as_ref());
    let found = CheckReport {
        judged: &checked.findings,
        pools: &PoolCounts::default(),
        pool_list: None,
    };
    reporting.print(found, workspace, shown, terminal)?;
    if checked.has_errors() {
        return Ok(Verdict::Findings);
    }
    if !options.check {
        write_all(workspace, &plan)?;
    }
    report::stamp_changes(&shown, reporting.output, &mut terminal.out)?;
    Ok(if options.check && !plan.files.is_empty() {
        Verdict::Drift
    } else {
        Verdict::Clean
    })
}

/// Every file as it is to be, each whole.
fn write_all(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    if plan.files.is_empty() {
        return Ok(());
    }
    let mut held = output::hold(&workspace.settings.root)?;
    texts::replace(workspace, &plan.files, &mut held)
}

/// The plan, and all findings.
pub(in crate::commands) fn plan_stamp(
    fleet: &Fleet,
    files: &ManifestFiles,
    job: &Job,
    against: Option<&str>,
) -> Result<(Plan, Checked), Error> {
    let (workspace, today) = (&fleet.workspace, fleet.today);
    let shared = fleet.resolve_shared()?;
    let settings = workspace.settings.clone();
    let mut found = workspace.findings.clone();
    found.extend(shared.findings.iter().cloned());
    found.extend(files.findings.iter().cloned());
    let renderer = Renderer::new(&settings, &BTreeMap::new(), None, &mut found);
    let chooser = Chooser {
        images: &shared.images,
        keys: OnceCell::new(),
        matching: settings.matching,
        patterns: &fleet.patterns,
        stamp: &|image| renderer.stamp_of(&shared.images, image, None),
    };
    let mut plan = stamp::plan(
        &files.objects,
        &workspace.stamps,
        &chooser,
        job,
        &files.skipped,
    );
    found.append(&mut plan.findings);
    compare_with(workspace, files, against, &mut plan)?;
    found.extend(stamp::findings(&files.objects, &plan));
    let clusters = fleet.clusters_after_stamp(&files.objects, &plan.to_stamped(), &mut found)?;
    let mut checked = check::findings(found, &settings, today);
    for view in clusters {
        checked.join(check::cluster(&view, &settings, today));
    }
    Ok((plan, checked))
}

/// Marks the templates that change since a commit. Where none is named, and there is no repository or no commit in it yet, no
/// template is marked.
fn compare_with(
    workspace: &Workspace,
    files: &ManifestFiles,
    against: Option<&str>,
    plan: &mut Plan,
) -> Result<(), Error> {
    let is_guarded = |object| stamp::immutable_path(object).is_some();
    if against.is_none() && !files.objects.iter().any(is_guarded) {
        return Ok(());
    }
    let revision = match (revision(workspace, against.unwrap_or("HEAD")), against) {
        (Ok(revision), _) => revision,
        (Err(_), None) => return Ok(()),
        (Err(error), Some(_)) => return Err(error),
    };
    stamp::record_changes(&files.objects, plan, |source| {
        match revision.file(Path::new(&*source.path)) {
            Ok(Found::File(content)) => yaml_tree::decode(content.plain()?, Engine::Kubectl).ok(),
            _ => None,
        }
    });
    Ok(())
}

fn revision(workspace: &Workspace, name: &str) -> Result<Revision, Error> {
    let repository = Repository::find(&workspace.settings.root)?;
    let commit = repository.commit(name)?;
    Revision::open(&repository, &commit, Scope::repository(&repository.top)?)
}

//! `metalmark stamp`: updates the image fields of manifests that people keep, in place.

mod plan;

use std::path::PathBuf;

use clap::Args;

use super::FrozenOption;
use crate::decide::pool_counts::PoolCounts;
use crate::edit::stamp::{self, Job, Plan};
use crate::edit::texts;
use crate::error::Error;
use crate::model::date::Date;
use crate::output;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Reporting, Terminal, Verdict, recover};
use crate::read::{self, Request, Workspace};
use crate::report::{self, Changes};

pub(super) use plan::plan_stamp;

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
    let (plan, checked) = plan_stamp(
        &fleet,
        &files,
        &Job {
            options: options.templates,
            ..Job::default()
        },
        options.against.as_deref(),
    )?;
    report::skips(&files.skipped, &mut terminal.err)?;
    let changes = [texts::changes(workspace, &plan.files, files.read)];
    let shown = match (checked.has_errors(), options.check) {
        (true, _) => Changes::None,
        (false, true) => Changes::Drift(&changes),
        (false, false) => Changes::Written(&changes),
    };
    let reporting = options.reporting.resolve_in(request.directory.as_ref());
    let found = (checked.findings.as_slice(), &PoolCounts::default());
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

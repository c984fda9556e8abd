//! `metalmark` without a command: a summary of the project.

use std::path::Path;

use crate::error::Error;
use crate::files::repository_top;
use crate::model::date::Date;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Terminal, Verdict};
use crate::read::{self, Request};
use crate::report::{self, Findings, Run};

use super::init::propose_project;
use super::render::check_all;

/// Whether a run starts in a project or a repository, rather than anywhere on a machine.
pub fn has_place(request: &Request) -> bool {
    let start = request.directory.clone().unwrap_or_else(|| ".".into());
    let is_project = || read::location(request).is_ok_and(|place| place.file.is_some());
    repository_top(&start).is_some() || is_project()
}

/// Checks every cluster and prints the sum; with errors it ends as `check` does.
///
/// # Errors
/// There is nothing to read here, or I/O failed.
pub fn overview(request: &Request, today: Date, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let place = read::location(request)?;
    let proposed = match place.file {
        None => propose_project(request)?,
        Some(_) => None,
    };
    let kind = proposed.as_ref().map(|(_, kind)| *kind);
    let workspace = match proposed {
        Some((workspace, _)) => workspace,
        None => read::workspace(request)?,
    };
    let mut fleet = Fleet::open(workspace, today)?;
    let found = check_all(request, &mut fleet, |_| ())?;
    let clusters = fleet.workspace.entries().count();
    let findings =
        Findings::new(&found.judged, clusters, terminal.out.color).with_pools(&found.counts);
    let findings = findings.with_run(Run::from_folder(&fleet.workspace.settings.root));
    let project = place.file.map(|file| place.root.join(file));
    let project = project.map(|file| display_path(&file));
    report::overview::overview(&findings, project.as_deref(), kind, &mut terminal.out)?;
    Ok(found.verdict())
}

/// The project file as people type it.
fn display_path(file: &Path) -> String {
    let file = file.strip_prefix(".").unwrap_or(file);
    file.to_string_lossy().into_owned()
}

//! `update --check`: what the update would do, worked out on files that are not written.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::Error;
use crate::files::{Files, With};
use crate::model::place::Source;
use crate::read::{self, Request, Workspace};
use crate::update::Summary;

use super::aim::Aim;
use super::before::Before;
use super::catalogue::Change;
use super::fleet::{self, Tools};
use super::render::RenderMode;
use super::{Terminal, UpdateOptions, Verdict, finish, fix, lost, pools, told};

/// Tells what would be done; drift where that is anything.
pub(super) fn preview(
    request: &Request,
    workspace: &Workspace,
    (aim, change, before): (&Aim, &Change, Before),
    mut summary: Summary,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let files = overlaid(Arc::clone(&workspace.files), &change.files);
    let (mut after, mut tools) = reread(request, files, options)?;
    let mut fixed = Vec::new();
    if options.fix {
        fixed = fix::planned(&after, &lost(&after, &tools)?, terminal)?;
        let files = overlaid(Arc::clone(&after.files), &fixed);
        (after, tools) = reread(request, files, options)?;
    }
    let booted = pools::booted(&after, &tools)?;
    let unlocked = booted.unlocked.len();
    summary.pools = Some(before.changes(booted));
    told::summary(change, &summary, options, terminal)?;
    for spot in &change.versions {
        match aim.is_raised() {
            true => writeln!(terminal.err, "{spot}: version {}", aim.to)?,
            false => writeln!(terminal.err, "would set {spot}: version {}", aim.to)?,
        }
    }
    for (source, _) in change.files.iter().chain(&fixed) {
        writeln!(terminal.err, "would change {}", source.path)?;
    }
    if unlocked > 0 {
        let s = if unlocked == 1 { "" } else { "s" };
        writeln!(terminal.err, "would lock {unlocked} image{s}")?;
    }
    let is_left = !change.is_empty() || !fixed.is_empty() || unlocked > 0;
    match (is_left, workspace.settings.outputs.is_empty()) {
        (true, _) => Ok(Verdict::Drift),
        (false, true) => Ok(Verdict::Clean),
        (false, false) => {
            let mode = RenderMode::Check;
            finish(request, workspace, mode, options, None, terminal)
        }
    }
}

fn reread(
    request: &Request,
    files: Arc<dyn Files>,
    options: &UpdateOptions,
) -> Result<(Workspace, Tools), Error> {
    let location = read::location(request)?;
    let mut workspace = read::workspace_in(request, &location, files)?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    Ok((workspace, tools))
}

/// Files with other texts in the place of some.
fn overlaid(files: Arc<dyn Files>, texts: &[(Arc<Source>, String)]) -> Arc<dyn Files> {
    texts.iter().fold(files, |files, (source, text)| {
        Arc::new(With {
            files,
            path: PathBuf::from(&*source.path),
            bytes: text.clone().into_bytes(),
        })
    })
}

//! `metalmark stamp`: the image fields of manifests that people keep, brought up to date where they stand.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::edit::stamp::{self, Chooser, Plan};
use crate::error::Error;
use crate::files::{Files, Found, Repository, Revision, Scope};
use crate::model::engine::Engine;
use crate::model::place::Source;
use crate::model::policy::Date;
use crate::model::pool_counts::PoolCounts;
use crate::objects::Manifests;
use crate::output;
use crate::pipeline::check::{self, Checked};
use crate::read::{self, ManifestFiles, Request, Workspace};
use crate::render::Renderer;
use crate::report::{self, Changes};
use crate::yaml;

use crate::edit::texts;
use crate::pipeline::{Reporting, Terminal, Verdict, fleet, recover, reporting};

/// What `stamp` was asked for.
#[derive(Clone, Debug)]
pub struct StampOptions {
    /// Files and folders of manifests, as typed.
    pub paths: Vec<PathBuf>,
    /// Write nothing, and show what would change.
    pub check: bool,
    /// How templates are stamped.
    pub templates: stamp::Options,
    /// The commit that templates are held against; the last one unless it is given.
    pub against: Option<String>,
    /// How findings and changes are told.
    pub reporting: Reporting,
    /// The day that waivers are held against.
    pub today: Date,
}

/// Finds the machine templates among the manifests, and writes what their images say into them.
///
/// # Errors
/// The world failed; there is no project; a file changed while it was being stamped.
pub fn stamp(
    request: &Request,
    options: &StampOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !options.check {
        recover(request, terminal)?;
    }
    let mut workspace = read::workspace(&request.naming(&options.paths))?;
    let files = read::manifests(&workspace, request, &options.paths)?;
    let (plan, checked) = planned(&mut workspace, &files, options)?;
    tell_skipped(&files.skipped, terminal)?;
    let changes = [texts::changes(&workspace, &plan.files, files.read)];
    let told = match (checked.has_errors(), options.check) {
        (true, _) => Changes::None,
        (false, true) => Changes::Drift(&changes),
        (false, false) => Changes::Written(&changes),
    };
    let reporting = options.reporting.within(request.directory.as_ref());
    report(&workspace, &checked, told, &reporting, terminal)?;
    if checked.has_errors() {
        return Ok(Verdict::Findings);
    }
    if !options.check {
        write_all(&workspace, &plan)?;
    }
    tell(&told, &reporting, terminal)?;
    Ok(match options.check && !plan.files.is_empty() {
        true => Verdict::Drift,
        false => Verdict::Clean,
    })
}

/// Files that hold no manifests as they are, such as a chart's templates: the first by name.
fn tell_skipped(skipped: &[Arc<Source>], terminal: &mut Terminal) -> Result<(), Error> {
    /// How many are named.
    const NAMED: usize = 3;
    for Source { path, .. } in skipped.iter().take(NAMED).map(|source| &**source) {
        writeln!(
            terminal.err,
            "skipped {path}: it is no YAML, and holds no marker"
        )?;
    }
    if let Some(more @ 1..) = skipped.len().checked_sub(NAMED) {
        let files = if more == 1 { "file" } else { "files" };
        writeln!(terminal.err, "skipped {more} more {files} of that kind")?;
    }
    Ok(())
}

/// The plan, and everything that is to be said of it.
fn planned(
    workspace: &mut Workspace,
    files: &ManifestFiles,
    options: &StampOptions,
) -> Result<(Plan, Checked), Error> {
    let tools = fleet::tools(workspace, options.today)?;
    let shared = fleet::shared(workspace, &tools)?;
    let settings = workspace.settings.clone();
    let mut found = workspace.findings.clone();
    found.extend(shared.findings.iter().cloned());
    found.extend(files.findings.iter().cloned());
    let renderer = Renderer::new(&settings, &BTreeMap::new(), None, &mut |finding| {
        found.push(finding)
    });
    let chooser = Chooser {
        images: &shared.images,
        matching: settings.matching,
        patterns: &tools.patterns,
        stamp: &|image| renderer.stamp_of(&shared.images, image, None),
    };
    let mut plan = stamp::plan(
        &files.objects,
        &workspace.stamps,
        &chooser,
        &options.templates,
        &files.skipped,
    );
    found.append(&mut plan.findings);
    hold_against(workspace, files, options.against.as_deref(), &mut plan)?;
    let manifests = Manifests {
        objects: &files.objects,
        choices: &plan.choices,
        images: &shared.images,
        matching: settings.matching,
        versions: &plan.versions,
    };
    found.extend(check::manifests(&manifests, &settings.policy));
    let checked = check::findings(found, &settings, options.today);
    Ok((plan, checked))
}

/// Tells the plan which templates change since a commit. Where none is named, and there is no repository or no commit in it yet,
/// nothing is told.
fn hold_against(
    workspace: &Workspace,
    files: &ManifestFiles,
    against: Option<&str>,
    plan: &mut Plan,
) -> Result<(), Error> {
    let is_guarded = |object| Manifests::guarded(object).is_some();
    if against.is_none() && !files.objects.iter().any(is_guarded) {
        return Ok(());
    }
    let revision = match (revision(workspace, against.unwrap_or("HEAD")), against) {
        (Ok(revision), _) => revision,
        (Err(_), None) => return Ok(()),
        (Err(error), Some(_)) => return Err(error),
    };
    stamp::since(&files.objects, plan, |source| {
        match revision.file(Path::new(&*source.path)) {
            Ok(Found::File(bytes)) => yaml::decode(&bytes, Engine::Kubectl).ok(),
            _ => None,
        }
    });
    Ok(())
}

fn revision(workspace: &Workspace, name: &str) -> Result<Revision, Error> {
    let repository = Repository::of(&workspace.settings.root)?;
    let commit = repository.commit(name)?;
    Revision::open(&repository, &commit, Scope::repository(&repository.top)?)
}

/// Findings beside a result go to stderr; a format that holds both in one document is the result.
fn report(
    workspace: &Workspace,
    checked: &Checked,
    changes: Changes<'_>,
    reporting: &Reporting,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let found = (checked.findings.as_slice(), &PoolCounts::default());
    reporting.save(found, workspace, changes)?;
    let beside = reporting.output.changes().is_some();
    let stream = match beside {
        true => &mut terminal.err,
        false => &mut terminal.out,
    };
    if !beside || !checked.findings.is_empty() {
        let color = stream.color;
        let findings = reporting::findings(found, workspace, changes, color);
        reporting.output.findings(&findings, stream)?;
    }
    Ok(())
}

/// Every file as it is to be, each whole.
fn write_all(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    if plan.files.is_empty() {
        return Ok(());
    }
    let mut held = output::hold(&workspace.settings.root)?;
    texts::replace(workspace, &plan.files, &mut held)
}

/// For people the files, under `--check` line by line; else as the format has it.
fn tell(
    changes: &Changes<'_>,
    reporting: &Reporting,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let (folders, is_check) = match changes {
        Changes::None => return Ok(()),
        Changes::Written(folders) => (folders, false),
        Changes::Drift(folders) => (folders, true),
    };
    if reporting.output.name() != "human" {
        if let Some(list) = reporting.output.changes() {
            list(changes, &mut terminal.out)?;
        }
        return Ok(());
    }
    let (mut changed, mut read) = (0, 0);
    for folder in *folders {
        if is_check {
            report::diff(folder, &mut terminal.out)?;
        }
        for change in folder.changes.iter().filter(|_| !is_check) {
            writeln!(terminal.out, "stamped  {}", change.path)?;
        }
        changed += folder.changes.len();
        read += folder.rendered;
    }
    let verb = if is_check { "to stamp" } else { "stamped" };
    let noun = if read == 1 { "file" } else { "files" };
    writeln!(terminal.out, "{read} {noun} of manifests, {changed} {verb}")?;
    Ok(())
}

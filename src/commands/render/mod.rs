//! `metalmark render`: checks everything, then writes, compares or prints the manifests.

mod plan;

use std::io::Write as _;
use std::path::Path;

use clap::Args;

use super::{FrozenOption, GateOption, PartOptions};
use crate::edit::texts;
use crate::error::Error;
use crate::files::Repository;
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::model::manifest::ChangeSet;
use crate::model::part::Part;
use crate::output::{self, Held, Texts};
use crate::pipeline::fleet::{Fleet, FleetCheck};
use crate::pipeline::rendered::{self, EMPTY, Material, RenderScope, RenderedPart};
use crate::pipeline::{Reporting, Terminal, Verdict, recover};
use crate::read::{self, Request, Workspace};
use crate::report::{self, Changes};

use plan::{Job, Planned, plan_render};

/// What happens to what is rendered.
#[derive(Clone, Debug, Default, Args)]
pub struct RenderOptions {
    /// What to render; with --out, instead of the project file's outputs.
    #[arg(long, value_name = "TARGET", requires = "out")]
    pub target: Vec<String>,
    /// The folder to render into.
    #[arg(long, value_name = "DIR", requires = "target")]
    pub out: Option<String>,
    /// Write nothing; show the difference, and exit 1 if there is any.
    #[arg(long, conflicts_with = "stdout")]
    pub check: bool,
    /// Write nothing; print the objects as one YAML stream.
    #[arg(long)]
    pub stdout: bool,
    /// Overwrite existing files whose first line does not say that metalmark rendered them.
    #[arg(long)]
    pub adopt: bool,
    /// Exit 1 if files had to be written: for hooks, which would let a new file pass.
    #[arg(long, conflicts_with = "stdout")]
    pub fail_on_change: bool,
    /// Accept a run that checks no node pool, or renders nothing, so that a GitOps engine may delete everything.
    #[arg(long)]
    pub allow_empty: bool,
    /// Which judgments fail the run.
    #[command(flatten)]
    pub gate: GateOption,
    /// Where findings go.
    #[command(flatten)]
    pub reporting: Reporting,
    /// A folder of CustomResourceDefinitions that rendered objects are validated against.
    #[arg(long, value_name = "DIR")]
    pub schemas: Option<String>,
    /// A folder of templates, TARGET/FILE, that replace the embedded ones one by one.
    #[arg(long, value_name = "DIR")]
    pub templates: Option<String>,
    /// Leave out files that are new to git, and fail while rendered files are new: for hooks, because a commit has neither.
    #[arg(long, conflicts_with = "stdout")]
    pub tracked: bool,
    /// Whether the lock must be complete.
    #[command(flatten)]
    pub frozen: FrozenOption,
    /// Which clusters are rendered.
    #[command(flatten)]
    pub part: PartOptions,
}

/// Reads, resolves and checks every cluster; what is clean becomes files.
///
/// # Errors
/// I/O failed; there is no project; nothing would be rendered.
pub fn render(
    request: &Request,
    options: &RenderOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !options.check && !options.stdout {
        recover(request, terminal)?;
    }
    let mut request = request.clone();
    let flags = &mut request.flags;
    flags.targets.clone_from(&options.target);
    flags.out.clone_from(&options.out);
    flags.schemas.clone_from(&options.schemas);
    flags.templates.clone_from(&options.templates);
    flags.tracked = options.tracked;
    flags.locking = options.frozen.locking();
    options.part.apply(flags);
    run_held(&request, options, today, None, terminal)
}

/// Renders as [`render`] does, in a project that the caller may hold already.
pub(super) fn run_held(
    request: &Request,
    options: &RenderOptions,
    today: Date,
    held: Option<&mut Held>,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    if options.allow_empty {
        workspace.settings.policy.allow_empty();
    }
    options.gate.apply(&mut workspace.settings.policy);
    if workspace.settings.outputs.is_empty() {
        let help = if workspace.manifests.is_empty() || workspace.has_values() {
            RENDER_VALUES
        } else {
            CHECK_MANIFESTS
        };
        return Err(Error::usage(format!("{NO_OUTPUT}\nhelp: {help}")));
    }
    let options = &RenderOptions {
        reporting: options.reporting.resolve_in(request.directory.as_ref()),
        ..options.clone()
    };
    if options.stdout {
        return print(Fleet::open(workspace, today)?, options, terminal);
    }
    let mut fleet = Fleet::open(workspace, today)?;
    let material = Material::take(&mut fleet.workspace);
    let renderer = material.renderer(&mut fleet.workspace);
    let scope = RenderScope::new(&fleet, &renderer)?;
    let job = Job {
        request,
        fleet: &fleet,
        renderer: &renderer,
        scope: &scope,
        options,
        texts: if options.check {
            Texts::Both
        } else {
            Texts::New
        },
    };
    plan(&job, held, terminal)
}

/// Checks every cluster by all rules that a render has, and writes nothing.
///
/// # Errors
/// A file cannot be read.
pub(super) fn check_all<T: Send>(
    request: &Request,
    fleet: &mut Fleet,
    keep: impl Fn(&ClusterView) -> T + Sync,
) -> Result<FleetCheck<T>, Error> {
    if fleet.workspace.settings.outputs.is_empty() {
        let mut fleet_check = fleet.check(|view, _, _| Ok(keep(view)))?;
        fleet_check.require_pools(fleet);
        return Ok(fleet_check);
    }
    let material = Material::take(&mut fleet.workspace);
    let renderer = material.renderer(&mut fleet.workspace);
    let scope = RenderScope::new(fleet, &renderer)?;
    let job = Job {
        request,
        fleet,
        renderer: &renderer,
        scope: &scope,
        options: &RenderOptions::default(),
        texts: Texts::None,
    };
    Ok(plan_render(&job, keep)?.fleet_check)
}

const NO_OUTPUT: &str = "there is nothing to render: the project file has no `outputs`";
const RENDER_VALUES: &str = "add `outputs: [{target: manifests, path: rendered}]`, or type --target manifests --out rendered";
/// Manifests are there already.
const CHECK_MANIFESTS: &str =
    "`metalmark check` checks your manifests; `metalmark stamp` writes images into them";

/// Everything as one stream, clusters in order, then what they share.
fn print(fleet: Fleet, options: &RenderOptions, terminal: &mut Terminal) -> Result<Verdict, Error> {
    // Nothing is pruned by a stream.
    let is_part = fleet.workspace.part != Part::Whole;
    let rendered = rendered::render(fleet, RenderedPart::Whole)?;
    let verdict = report(
        &rendered.workspace,
        &rendered.fleet_check,
        Changes::None,
        options,
        terminal,
    )?;
    if !rendered.fleet_check.has_errors() {
        refuse_empty(rendered.files.is_empty() && !is_part, options)?;
        rendered.print(terminal)?;
    }
    Ok(verdict)
}

/// Files against the disk: written, or shown.
fn plan(job: &Job<'_>, held: Option<&mut Held>, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let (workspace, options) = (&job.fleet.workspace, job.options);
    let mut planned = plan_render(job, |_| ())?;
    let (mut held, mut own) = (held, None);
    if !options.check && (planned.is_any() || planned.is_blocked()) {
        let root = &workspace.settings.root;
        if held.is_none() {
            held = Some(own.insert(output::hold(root)?));
        }
        // Another run has written meanwhile, maybe the same; none does from here on.
        if planned.is_blocked() || !output::is_as_planned(&planned.changes)? {
            planned = plan_render(job, |_| ())?;
        }
    }
    let Planned {
        fleet_check,
        changes,
        followed,
    } = planned;
    let mut changes = vec![changes];
    if !followed.is_empty() {
        changes.push(texts::changes(workspace, &followed, 0));
    }
    let shown = match options.check {
        _ if fleet_check.has_errors() => Changes::None,
        true => Changes::Drift(&changes),
        false => Changes::Written(&changes),
    };
    let verdict = report(workspace, &fleet_check, shown, options, terminal)?;
    if fleet_check.has_errors() {
        return Ok(verdict);
    }
    if matches!(job.scope.part, Part::Named(_)) && job.renderer.has_shared() {
        writeln!(terminal.err, "{SHARED_KEPT}")?;
    }
    let is_empty = changes.iter().all(ChangeSet::is_empty);
    refuse_empty(is_empty, options)?;
    if let Some(held) = held {
        output::apply(&changes[0])?;
        texts::replace(workspace, &followed, held)?;
    }
    if let Some(list) = options.reporting.list_changes(terminal.out.detail) {
        list(&shown, &mut terminal.out)?;
    }
    if verdict != Verdict::Clean {
        return Ok(verdict);
    }
    if changes.iter().any(ChangeSet::drift) {
        return drift(&changes, options, terminal);
    }
    if job.request.flags.tracked {
        check_new_files(workspace, &changes[0], terminal)
    } else {
        Ok(verdict)
    }
}

/// The verdict on rendered files that are right, and maybe new to git.
fn check_new_files(
    workspace: &Workspace,
    changes: &ChangeSet,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let repository = Repository::find(&workspace.settings.root)?;
    let (new, tracked) = (repository.new_files()?, repository.index_files()?);
    let is_new = |path: &&str| {
        let path = changes.display_path(path);
        let mut above = Path::new(&path).ancestors();
        above.any(|above| new.contains(above))
    };
    let is_tracked = |path: &&str| tracked.contains(Path::new(&changes.display_path(path)));
    let (new, others): (Vec<&str>, Vec<&str>) =
        { changes.paths.iter().map(String::as_str) }.partition(is_new);
    if let Some(ignored) = others.iter().find(|path| !is_tracked(path)) {
        let path = changes.display_path(ignored);
        writeln!(
            terminal.err,
            "git ignores `{path}`, so that no commit has it: take it out of .gitignore (`git check-ignore -v {path}` names the line)"
        )?;
        return Ok(Verdict::Drift);
    }
    if new.is_empty() {
        return Ok(Verdict::Clean);
    }
    report::git_add_hint(
        "are new to git",
        &changes.outputs_of(&new),
        &mut terminal.err,
    )?;
    Ok(Verdict::Drift)
}

/// Of named clusters alone, what the others put into shared files is not known.
const SHARED_KEPT: &str = "the files that all clusters share stay as they are: they are made of every cluster's values\n\
     help: `metalmark render` without names renders them, where all are checked out";

/// The verdict on a tree that is not, or was not, what is rendered.
fn drift(
    changes: &[ChangeSet],
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    match (options.check, options.fail_on_change) {
        (true, _) => return Ok(Verdict::Drift),
        (false, false) => return Ok(Verdict::Clean),
        (false, true) => {}
    }
    let changed = changes.iter().flat_map(|changes| {
        let paths: Vec<&str> = changes.changes.iter().map(|change| &*change.path).collect();
        changes.outputs_of(&paths)
    });
    let changed: Vec<String> = changed.collect();
    report::git_add_hint("have changed", &changed, &mut terminal.err)?;
    Ok(Verdict::Drift)
}

/// A GitOps engine would delete everything.
fn refuse_empty(is_empty: bool, options: &RenderOptions) -> Result<(), Error> {
    if is_empty && !options.allow_empty {
        let message = EMPTY.to_owned();
        return Err(Error::usage(message));
    }
    Ok(())
}

/// Writes the reports and prints the findings.
fn report<T>(
    workspace: &Workspace,
    fleet_check: &FleetCheck<T>,
    changes: Changes<'_>,
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let found = fleet_check.report();
    let reporting = &options.reporting;
    if options.stdout {
        reporting.print_beside(found, workspace, changes, terminal)?
    } else {
        reporting.print(found, workspace, changes, terminal)?
    }
    Ok(fleet_check.verdict())
}

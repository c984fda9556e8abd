//! `metalmark render`: checks everything, then writes, compares or prints the manifests.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use crate::edit::stamp::{self, Rendered};
use crate::error::Error;
use crate::model::manifest::{ChangeSet, Keeps};
use crate::model::place::Source;
use crate::model::policy::Date;
use crate::output::{self, Foreign, Held, Previous};
use crate::read::{self, Request, Workspace};
use crate::render::{self, FileObjects, Renderer};
use crate::report::Changes;

use crate::edit::texts;
use crate::pipeline::fleet::{self, Survey};
use crate::pipeline::outputs::{self, Outputs};
use crate::pipeline::rendered::{self, Duty, EMPTY, Faulty, Material, Part};
use crate::pipeline::reporting::{self, Reporting};
use crate::pipeline::{Terminal, Verdict, recover};

/// What `render` was asked for.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// What happens to what is rendered.
    pub mode: RenderMode,
    /// Overwrite files that metalmark does not own.
    pub adopt: bool,
    /// Write the clusters that are clean, even where others have errors.
    pub keep_going: bool,
    /// Allow a render that yields nothing.
    pub allow_empty: bool,
    /// A tree that had to be changed is no clean run.
    pub fail_on_change: bool,
    /// How findings and changes are told.
    pub reporting: Reporting,
    /// The day that waivers are held against.
    pub today: Date,
}

/// What happens to what is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderMode {
    /// It is written.
    Write,
    /// It is compared with what stands there.
    Check,
    /// It is printed as one YAML stream.
    Stdout,
}

/// Reads, resolves and checks every cluster; what is clean becomes files.
///
/// # Errors
/// The world failed; there is no project; nothing would be rendered.
pub fn render(
    request: &Request,
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if options.mode == RenderMode::Write {
        recover(request, terminal)?;
    }
    within(request, options, None, terminal)
}

/// Renders as [`render`] does, in a project that the caller may hold already.
pub(super) fn within(
    request: &Request,
    options: &RenderOptions,
    held: Option<&mut Held>,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    if options.allow_empty {
        workspace.settings.policy.allow_empty();
    }
    if workspace.settings.outputs.is_empty() {
        return Err(Error::Usage {
            message: NO_OUTPUT.to_owned(),
        });
    }
    let options = &RenderOptions {
        reporting: options.reporting.within(request.directory.as_ref()),
        ..options.clone()
    };
    if options.mode == RenderMode::Stdout {
        return print(&mut workspace, options, terminal);
    }
    let tools = fleet::tools(&mut workspace, options.today)?;
    let material = Material::of(&mut workspace);
    let renderer = material.renderer(&mut workspace);
    let duty = Duty::of(&mut workspace, &renderer, options.today);
    let job = Job {
        request,
        workspace: &workspace,
        tools: &tools,
        renderer: &renderer,
        duty: &duty,
        options,
    };
    plan(&job, held, terminal)
}

/// What is rendered, with what and how.
struct Job<'a> {
    request: &'a Request,
    workspace: &'a Workspace,
    tools: &'a fleet::Tools,
    renderer: &'a Renderer<'a>,
    duty: &'a Duty,
    options: &'a RenderOptions,
}

const NO_OUTPUT: &str = "there is nothing to render: the project file has no `outputs`\n\
     help: add `outputs: [{target: manifests, path: rendered}]`, or type --target manifests --out rendered";

/// Everything as one stream, clusters in order, then what they share.
fn print(
    workspace: &mut Workspace,
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let faulty = match options.keep_going {
        true => Faulty::KeepGoing,
        false => Faulty::StopAll,
    };
    // Nothing is pruned by a stream, and another shard may have all the clusters.
    let in_shard = workspace.shard.is_some();
    let rendered = rendered::rendered(workspace, options.today, Part::Whole, faulty)?;
    let verdict = report(
        workspace,
        &rendered.survey,
        Changes::None,
        options,
        terminal,
    )?;
    if may_write(&rendered.survey, options) {
        refuse_empty(rendered.files.is_empty() && !in_shard, options)?;
        rendered.print(terminal)?;
    }
    Ok(verdict)
}

/// Files against the disk: written, or shown.
fn plan(job: &Job<'_>, held: Option<&mut Held>, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let Job {
        workspace, options, ..
    } = *job;
    let Planned {
        survey,
        mut changes,
        followed,
    } = planned(job)?;
    let owned = changes.len();
    if !followed.is_empty() {
        changes.push(texts::changes(workspace, &followed, 0));
    }
    let told = match options.mode {
        _ if !may_write(&survey, options) => Changes::None,
        RenderMode::Check => Changes::Drift(&changes),
        RenderMode::Write | RenderMode::Stdout => Changes::Written(&changes),
    };
    let verdict = report(workspace, &survey, told, options, terminal)?;
    if !may_write(&survey, options) {
        return Ok(verdict);
    }
    let is_empty = changes.iter().all(ChangeSet::is_empty);
    refuse_empty(is_empty && !is_idle(job), options)?;
    if options.mode == RenderMode::Write && changes.iter().any(is_unlike) {
        output::holding(held, &workspace.settings.root, |held| {
            output::apply_all(&changes[..owned])?;
            texts::replace(workspace, &followed, held)
        })?;
    }
    if let Some(list) = options.reporting.output.changes() {
        list(&told, &mut terminal.out)?;
    }
    if verdict == Verdict::Clean && changes.iter().any(ChangeSet::drift) {
        return drift(&changes, options, terminal);
    }
    Ok(verdict)
}

/// What a run does.
struct Planned {
    survey: Survey<()>,
    /// The changes of the folders that metalmark owns.
    changes: Vec<ChangeSet>,
    /// The manifests of people whose references move, each with its new text.
    followed: Vec<(Arc<Source>, String)>,
}

/// Every cluster checked, rendered and held against the disk; what may not be written is among the findings.
fn planned(job: &Job<'_>) -> Result<Planned, Error> {
    let Job {
        workspace,
        tools,
        renderer,
        duty,
        options,
        ..
    } = *job;
    let foreign = Foreign::by(options.adopt);
    let previous = match options.mode {
        RenderMode::Check => Previous::Keep,
        RenderMode::Write | RenderMode::Stdout => Previous::Drop,
    };
    let trees = Outputs::open(workspace, foreign, previous)?;
    let mut survey = fleet::survey(workspace, tools, |view, checked| {
        let (mut made, found) = duty.cluster(workspace, renderer, view, checked);
        let files = std::mem::take(&mut made.files);
        Ok(((made, trees.compare(files)?), found))
    })?;
    let mut made = std::mem::take(&mut survey.results);
    let mut objects = Vec::new();
    for (made, _) in &mut made {
        objects.append(&mut made.objects);
    }
    rendered::compare((&objects, &[]), workspace, &mut survey, options.today);
    survey.require_pools(workspace, options.today);
    // While an error stands, what is shared would speak for clusters that are not written.
    let mut shared = match duty.shares() && may_write(&survey, options) {
        true => rendered::shared(workspace, renderer, &mut survey, tools),
        false => Vec::new(),
    };
    let of_all = render::objects(&mut shared, None);
    rendered::compare_shared((&objects, &of_all), workspace, &mut survey, options.today);
    let mut parts = Vec::with_capacity(made.len() + 1);
    for (made, part) in made {
        // Clusters that render each other's objects were compared with the disk before that was known.
        parts.push(match survey.faulty.contains(&made.cluster) {
            true => trees.compare(Vec::new())?,
            false => part,
        });
    }
    parts.push(trees.compare(shared)?);
    let mut changes = trees.finish(parts, &keeps(job, &survey))?;
    let refused = changes
        .iter_mut()
        .flat_map(|changes| std::mem::take(&mut changes.findings));
    let refused = refused.collect();
    survey.add(refused, workspace, options.today);
    if workspace.out.is_none() {
        survey.add(outputs::orphans(workspace)?, workspace, options.today);
    }
    objects.extend(of_all);
    let followed = followed(job, &objects, &mut survey)?;
    Ok(Planned {
        survey: survey.without_results(),
        changes,
        followed,
    })
}

/// The manifests of people that refer to what was rendered. Files that are written elsewhere for a look move nothing.
fn followed<T>(
    job: &Job<'_>,
    objects: &[FileObjects],
    survey: &mut Survey<T>,
) -> Result<Vec<(Arc<Source>, String)>, Error> {
    let workspace = job.workspace;
    if workspace.manifests.is_empty() || workspace.out.is_some() {
        return Ok(Vec::new());
    }
    let mut files = read::manifests(workspace, job.request, &[])?;
    let is_clean = |file: &&FileObjects| {
        let cluster = file.cluster();
        cluster.is_none_or(|name| !survey.faulty.contains(name))
    };
    let rendered = objects.iter().filter(is_clean).flat_map(|file| {
        let cluster = file.cluster().map(|name| &**name);
        file.identities()
            .filter_map(move |it| Rendered::read(it, cluster))
    });
    let rendered: Vec<Rendered<'_>> = rendered.collect();
    let mut followed = stamp::follow(&files.objects, &rendered);
    followed.findings.append(&mut files.findings);
    survey.add(followed.findings, workspace, job.options.today);
    Ok(followed.files)
}

/// What a tree comes to that is not, or was not, what is rendered.
fn drift(
    changes: &[ChangeSet],
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    match options.mode {
        RenderMode::Check => return Ok(Verdict::Drift),
        RenderMode::Write if options.fail_on_change => {}
        RenderMode::Write | RenderMode::Stdout => return Ok(Verdict::Clean),
    }
    let folders = changes
        .iter()
        .filter(|changes| changes.drift())
        .map(|changes| {
            let folder = changes.root.strip_prefix(".").unwrap_or(&changes.root);
            match folder.to_string_lossy() {
                empty if empty.is_empty() => ".".to_owned(),
                folder => pasted(folder.trim_end_matches('/')),
            }
        });
    let folders: Vec<String> = folders.collect();
    writeln!(
        terminal.err,
        "rendered files have changed: `git add --all -- {}`, then run this again",
        folders.join(" ")
    )?;
    Ok(Verdict::Drift)
}

/// A path as a shell takes it.
fn pasted(path: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/+@%,:=".contains(letter);
    match path.chars().all(plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// Whether applying does anything: a killed run may have left no more than litter.
fn is_unlike(changes: &ChangeSet) -> bool {
    changes.drift() || changes.ownership.unfinished
}

/// A GitOps engine would delete everything.
fn refuse_empty(is_empty: bool, options: &RenderOptions) -> Result<(), Error> {
    if is_empty && !options.allow_empty {
        let message = EMPTY.to_owned();
        return Err(Error::Usage { message });
    }
    Ok(())
}

fn may_write<T>(survey: &Survey<T>, options: &RenderOptions) -> bool {
    options.keep_going || !survey.has_errors()
}

/// Whether no cluster of a fleet falls to this shard.
fn is_idle(job: &Job<'_>) -> bool {
    let clusters = &job.workspace.clusters;
    job.duty.shard.is_some_and(|shard| {
        !clusters.is_empty() && !clusters.iter().any(|entry| shard.holds(&entry.name))
    })
}

/// Whose earlier files stay: those of clusters that have errors, and those of other shards.
fn keeps<T>(job: &Job<'_>, survey: &Survey<T>) -> Keeps {
    let mut these = BTreeSet::new();
    if job.options.keep_going {
        for cluster in &survey.faulty {
            let outputs = job.workspace.settings.outputs.iter();
            these.extend(outputs.map(|output| Arc::from(format!("{}/{cluster}", output.target))));
        }
    }
    let names = || {
        job.workspace
            .clusters
            .iter()
            .map(|entry| Arc::clone(&entry.name))
    };
    match job.duty.shard {
        Some(shard) => Keeps::OtherShards {
            shard,
            these,
            clusters: names().collect(),
        },
        None if these.is_empty() => Keeps::Nobody,
        None => Keeps::These(these),
    }
}

/// Writes the reports. Findings beside a result go to stderr; a format that holds both in one document is the result.
fn report<T>(
    workspace: &Workspace,
    survey: &Survey<T>,
    changes: Changes<'_>,
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let (judged, reporting) = (&survey.judged, &options.reporting);
    let found = (judged.as_slice(), &survey.counts);
    reporting.save(found, workspace, changes)?;
    let beside = reporting.output.changes().is_some() || options.mode == RenderMode::Stdout;
    let stream = match beside {
        true => &mut terminal.err,
        false => &mut terminal.out,
    };
    if !beside || !judged.is_empty() {
        let findings = reporting::findings(found, workspace, changes, stream.color);
        reporting.output.findings(&findings, stream)?;
    }
    Ok(if survey.has_errors() {
        Verdict::Findings
    } else {
        Verdict::Clean
    })
}

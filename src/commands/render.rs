//! `metalmark render`: checks everything, then writes, compares or prints the manifests.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::manifest::{ChangeSet, Keeps, ManifestFile};
use crate::model::policy::Date;
use crate::read::{self, Request, Workspace};
use crate::render::Renderer;
use crate::report;
use crate::write::{self, Foreign, Previous};

use super::fleet::{self, Survey};
use super::outputs::Outputs;
use super::{Format, Terminal, Verdict};

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
    /// The format of findings and changes.
    pub format: Format,
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
    let mut workspace = read::workspace(request)?;
    if workspace.settings.outputs.is_empty() {
        return Err(Error::Usage {
            message: NO_OUTPUT.to_owned(),
        });
    }
    let tools = fleet::tools(&mut workspace, options.today)?;
    let (settings, templates) = (
        workspace.settings.clone(),
        std::mem::take(&mut workspace.templates),
    );
    let schemas = workspace.schemas.take();
    let mut found = Vec::new();
    let renderer = Renderer::new(&settings, &templates, schemas.as_ref(), &mut |finding| {
        found.push(finding)
    });
    workspace.findings.extend(found);
    match options.mode {
        RenderMode::Stdout => print(&workspace, &tools, &renderer, options, terminal),
        RenderMode::Write | RenderMode::Check => {
            plan(&workspace, &tools, &renderer, options, terminal)
        }
    }
}

const NO_OUTPUT: &str = "there is nothing to render: the project file has no `outputs`\n\
     help: add `outputs: [{target: manifests, path: rendered}]`, or type --target manifests --out rendered";

const EMPTY: &str = "the render yields no file, and a GitOps engine that prunes would delete everything\n\
     help: check `clusters`, or type --allow-empty if that is what you want";

/// Everything as one stream, clusters in order, then what they share.
fn print(
    workspace: &Workspace,
    tools: &fleet::Tools,
    renderer: &Renderer<'_>,
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut survey = fleet::survey(workspace, tools, |view, checked| {
        let mut found = Vec::new();
        let files = match checked.has_errors() {
            true => Vec::new(),
            false => renderer.cluster(view, &mut |finding| found.push(finding)),
        };
        Ok((files, found))
    })?;
    let shared = shared_files(workspace, renderer, &mut survey, options);
    let verdict = report(workspace, &survey, options, terminal)?;
    if may_write(&survey, options) {
        let files: Vec<&ManifestFile> = survey.results.iter().flatten().chain(&shared).collect();
        if files.is_empty() && !options.allow_empty {
            return Err(Error::Usage {
                message: EMPTY.to_owned(),
            });
        }
        for file in files {
            write!(
                terminal.out,
                "---\n# {}\n{}",
                file.path,
                file.text.strip_prefix("---\n").unwrap_or(&file.text)
            )?;
        }
    }
    Ok(verdict)
}

/// Files against the disk: written, or shown.
fn plan(
    workspace: &Workspace,
    tools: &fleet::Tools,
    renderer: &Renderer<'_>,
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let foreign = if options.adopt {
        Foreign::Adopt
    } else {
        Foreign::Refuse
    };
    let previous = if options.mode == RenderMode::Check {
        Previous::Keep
    } else {
        Previous::Drop
    };
    let outputs = Outputs::open(workspace, foreign, previous)?;
    let mut survey = fleet::survey(workspace, tools, |view, checked| {
        let mut found = Vec::new();
        let files = match checked.has_errors() {
            true => Vec::new(),
            false => renderer.cluster(view, &mut |finding| found.push(finding)),
        };
        Ok((outputs.compare(files)?, found))
    })?;
    let shared = shared_files(workspace, renderer, &mut survey, options);
    let mut parts = std::mem::take(&mut survey.results);
    parts.push(outputs.compare(shared)?);
    let mut changes = outputs.finish(parts, &keeps(workspace, &survey, options))?;
    let refused: Vec<Finding> = changes
        .iter_mut()
        .flat_map(|changes| std::mem::take(&mut changes.findings))
        .collect();
    survey.add(refused, workspace, options.today);
    let verdict = report(workspace, &survey, options, terminal)?;
    if !may_write(&survey, options) {
        return Ok(verdict);
    }
    if changes.iter().all(ChangeSet::is_empty) && !options.allow_empty {
        return Err(Error::Usage {
            message: EMPTY.to_owned(),
        });
    }
    carry_out(&changes, options, terminal)?;
    let drift = options.mode == RenderMode::Check && changes.iter().any(ChangeSet::drift);
    Ok(if drift && verdict == Verdict::Clean {
        Verdict::Drift
    } else {
        verdict
    })
}

/// Writes the changes, or shows them.
fn carry_out(
    changes: &[ChangeSet],
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    for changes in changes {
        if options.mode == RenderMode::Write {
            write::apply(changes)?;
        } else if options.format == Format::Human {
            report::diff(changes, terminal.out.colour, &mut terminal.out)?;
        }
    }
    match options.format {
        Format::Human => report::changes(changes, &mut terminal.out)?,
        Format::Json => report::changes_json(changes, &mut terminal.out)?,
    }
    Ok(())
}

/// What all clusters share; nothing while an error stands, for it would speak for clusters that are not written.
fn shared_files<T>(
    workspace: &Workspace,
    renderer: &Renderer<'_>,
    survey: &mut Survey<T>,
    options: &RenderOptions,
) -> Vec<ManifestFile> {
    if !may_write(survey, options) {
        return Vec::new();
    }
    let clean = |name: &Arc<str>| !survey.faulty.contains(name);
    let names: Vec<Arc<str>> = workspace
        .clusters
        .iter()
        .map(|entry| Arc::clone(&entry.name))
        .filter(clean)
        .collect();
    let mut found = Vec::new();
    let files = renderer.shared(&survey.served, &names, &mut |finding| found.push(finding));
    survey.add(found, workspace, options.today);
    files
}

fn may_write<T>(survey: &Survey<T>, options: &RenderOptions) -> bool {
    options.keep_going || !survey.has_errors()
}

/// Whose earlier files stay: those of clusters that have errors.
fn keeps<T>(workspace: &Workspace, survey: &Survey<T>, options: &RenderOptions) -> Keeps {
    if !options.keep_going || survey.faulty.is_empty() {
        return Keeps::Nobody;
    }
    let owners = survey.faulty.iter().flat_map(|cluster| {
        workspace
            .settings
            .outputs
            .iter()
            .map(move |output| Arc::from(format!("{}/{cluster}", output.target)))
    });
    Keeps::These(owners.collect::<BTreeSet<_>>())
}

/// Findings beside a result go to stderr.
fn report<T>(
    workspace: &Workspace,
    survey: &Survey<T>,
    options: &RenderOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if !survey.judged.is_empty() {
        terminal
            .err
            .findings(&survey.judged, workspace.clusters.len(), options.format)?;
    }
    Ok(if survey.has_errors() {
        Verdict::Findings
    } else {
        Verdict::Clean
    })
}

//! `metalmark init`: a first project file from what the repository holds, and what a render would do with it.

mod found;
mod hosts;
mod patterns;
mod project;
mod records;
mod word;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::image::ImageKey;
use clap::{Args, ValueEnum};

use crate::error::Error;
use crate::files::{Disk, Files, Overlay, repository_top};
use crate::model::date::Date;
use crate::output;
use crate::printer::Color;
use crate::read::{self, Location, PROJECT_FILE_NAME, Request};
use crate::render::Renderer;
use crate::report::init::{Outlook, Templates};
use crate::report::{self, Findings};

use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Terminal, Verdict};
use found::Found;
use hosts::Snippet;
use records::Described;

/// What `init` is to do.
#[derive(Clone, Debug, Args)]
pub struct InitOptions {
    /// Print the project file, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Write `.pre-commit-config.yaml`, or say what to add to the one that is there.
    #[arg(long)]
    pub pre_commit: bool,
    /// Write `renovate.json`, or say what to add to the one that is there.
    #[arg(long)]
    pub renovate: bool,
    /// Write the job of the code host that the repository is on, or say what to add: `.gitlab-ci.yml`, or a workflow of GitHub.
    #[arg(long, value_name = "HOST", num_args = 0..=1, require_equals = true)]
    pub ci: Option<Option<CodeHost>>,
}

/// Looks at the repository, writes the files that are not there, and says what comes next. Never changes a file.
///
/// # Errors
/// There is nothing to make a project file from; a file cannot be read or written.
pub fn init(
    request: &Request,
    options: &InitOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let root = request.directory.clone().unwrap_or_else(|| ".".into());
    let path = root.join(PROJECT_FILE_NAME);
    let host = code_host(&root, options)?;
    let files: Arc<dyn Files> = Arc::new(Disk::new(&root)?);
    if files.is_file(Path::new(PROJECT_FILE_NAME)) && !options.dry_run {
        return again(request, &root, options, host, &mut terminal.out);
    }
    let found = found::search(&*files)?;
    let has_any = !found.manifests.is_empty() || !found.pairs.is_empty();
    let is_of_manifests = found.is_nothing() && has_any;
    if found.is_nothing() && !is_of_manifests {
        return Err(Error::Usage {
            message: Found::missing().to_owned(),
        });
    }
    let described = if found.templates.is_empty() || !is_of_manifests {
        Described::default()
    } else {
        let text = |described: &Described| project::for_manifests(&found, described);
        records::describe(request, &root, &files, today, &text)?
    };
    let text = if is_of_manifests {
        project::for_manifests(&found, &described)
    } else {
        project::text(&found)
    };
    if options.dry_run {
        terminal.out.write_all(text.as_bytes())?;
    } else if !output::new_file(&path, text.as_bytes())? {
        return again(request, &root, options, host, &mut terminal.out);
    }
    // What is printed beside a printed file goes beside it.
    let out = if options.dry_run {
        &mut terminal.err
    } else {
        &mut terminal.out
    };
    if !options.dry_run {
        report::init::wrote(PROJECT_FILE_NAME, out)?;
    }
    settings(
        &root,
        options,
        host.map(|host| (host, !is_of_manifests)),
        out,
    )?;
    if is_of_manifests {
        stamping(&found, &described, out)?
    } else {
        outlook(request, &root, files, &text, &found, today, out)?
    }
    Ok(Verdict::Clean)
}

/// The code host whose job is requested.
fn code_host(root: &Path, options: &InitOptions) -> Result<Option<CodeHost>, Error> {
    let Some(named) = options.ci else {
        return Ok(None);
    };
    let top = repository_top(root).unwrap_or_else(|| root.to_owned());
    match named {
        Some(host) => Ok(Some(host)),
        None => CodeHost::detect(&Disk::new(&top)?).map(Some),
    }
}

/// What is there to be stamped, and the next step.
fn stamping(found: &Found, described: &Described, out: &mut dyn Write) -> Result<(), Error> {
    if !found.pairs.is_empty() {
        report::init::pairs(out)?;
    }
    if let Some(first) = found.templates.first() {
        let templates = Templates {
            files: found.templates.len(),
            first,
            records: described.records.len(),
            left_out: described.left_out,
        };
        report::init::templates(&templates, out)?;
    }
    Ok(())
}

/// A later run: the project file is left as it is.
fn again(
    request: &Request,
    root: &Path,
    options: &InitOptions,
    host: Option<CodeHost>,
    out: &mut dyn Write,
) -> Result<Verdict, Error> {
    report::init::exists(PROJECT_FILE_NAME, out)?;
    let is_rendered =
        read::workspace(request).is_ok_and(|workspace| !workspace.settings.outputs.is_empty());
    settings(root, options, host.map(|host| (host, is_rendered)), out)?;
    Ok(Verdict::Clean)
}

/// What git and the requested hosts need; of a code host also whether the project has outputs.
fn settings(
    root: &Path,
    options: &InitOptions,
    job: Option<(CodeHost, bool)>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let top = repository_top(root).unwrap_or_else(|| root.to_owned());
    let project = match root.canonicalize() {
        Ok(root) => root
            .strip_prefix(&top)
            .map(Path::to_owned)
            .unwrap_or_default(),
        Err(_) => PathBuf::new(),
    };
    let project = match project.to_string_lossy().replace('\\', "/") {
        project if project.is_empty() => project,
        project => format!("{project}/"),
    };
    let files = Disk::new(&top)?;
    let mut wanted = vec![
        (top.join(".git").exists(), hosts::git(&project)),
        (options.pre_commit, hosts::pre_commit(&project)),
        (options.renovate, hosts::renovate(&project)),
    ];
    if let Some((host, is_rendered)) = job {
        wanted.push((true, ci_job(host, &project, is_rendered)));
    }
    for (_, snippet) in wanted.into_iter().filter(|(is_wanted, _)| *is_wanted) {
        hosts::give(&snippet, &top, &files, options.dry_run, out)?;
    }
    Ok(())
}

/// What a render would do with the project, and the next step.
fn outlook(
    request: &Request,
    root: &Path,
    files: Arc<dyn Files>,
    text: &str,
    found: &Found,
    today: Date,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let location = Location {
        root: root.to_owned(),
        file: Some(PathBuf::from(PROJECT_FILE_NAME)),
    };
    let added = [(PathBuf::from(PROJECT_FILE_NAME), text.as_bytes().to_vec())];
    let files = Overlay::new(files, added);
    let workspace = read::workspace_in(request, &location, Arc::new(files))?;
    let fleet = Fleet::open(workspace, today)?;
    let workspace = &fleet.workspace;
    let renderer = Renderer::new(
        &workspace.settings,
        &workspace.templates,
        None,
        &mut Vec::new(),
    );
    let fleet_check = fleet.check(|view, checked, _| {
        let pools = view.cluster.pools.len();
        let rendered = if checked.has_errors() {
            0
        } else {
            renderer.cluster(view, &mut Vec::new()).len()
        };
        Ok((view.served.clone(), [pools, rendered]))
    })?;
    let made = fleet_check.results.iter();
    let served: BTreeSet<&ImageKey> = made.clone().flat_map(|(served, _)| served).collect();
    let sum = |number: usize| made.clone().map(|(_, counts)| counts[number]).sum();
    let clean = workspace
        .clusters
        .len()
        .saturating_sub(fleet_check.faulty.len());
    let outlook = Outlook {
        clusters: workspace.clusters.len(),
        pools: sum(0),
        served: served.len(),
        rendered: sum(1),
        clean,
    };
    report::init::outlook(&outlook, out)?;
    let findings = Findings::new(&fleet_check.judged, workspace.clusters.len(), Color::Never);
    report::overview::errors(&findings, out)?;
    let can_render = !fleet_check.has_errors() && !workspace.clusters.is_empty();
    report::init::next(!found.facts.is_empty(), can_render, out)?;
    Ok(())
}

/// A host of repositories with pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CodeHost {
    /// GitLab.
    Gitlab,
    /// GitHub.
    Github,
}

impl CodeHost {
    /// The host that a repository is on: whose settings it has, else whose name its remotes have. `files` is the top of the
    /// repository.
    ///
    /// # Errors
    /// That is neither or both; a file cannot be read.
    fn detect(files: &dyn Files) -> Result<Self, Error> {
        let gitlab = files.is_file(Path::new(GITLAB));
        let github = files.is_folder(Path::new(".github/workflows"));
        if gitlab != github {
            return Ok(if gitlab { Self::Gitlab } else { Self::Github });
        }
        let config = Path::new(".git/config");
        let config = if files.is_file(config) {
            files.read_file(config)?
        } else {
            Vec::new()
        };
        let config = String::from_utf8_lossy(&config).into_owned();
        let has = |name: &str| {
            let mut lines = config.lines().map(str::trim);
            lines.any(|line| line.starts_with("url") && line.contains(name))
        };
        match (has("gitlab"), has("github")) {
            (true, false) => Ok(Self::Gitlab),
            (false, true) => Ok(Self::Github),
            _ => Err(Error::usage(
                "neither settings nor remotes say which code host this is: write `--ci=gitlab` or `--ci=github`".to_owned(),
            )),
        }
    }
}

const GITLAB: &str = ".gitlab-ci.yml";
const GITLAB_JOB: &str = include_str!("../../../templates/hosts/gitlab/job.gitlab-ci.yml");
const GITHUB_JOB: &str = include_str!("../../../templates/hosts/github/job.workflow.yml");

/// How the command of the templates begins.
const COMMAND: &str = "metalmark render --check";

/// The job for a project below a folder, which ends with a slash if it is not the top. A project without outputs has nothing
/// to render.
fn ci_job(host: CodeHost, project: &str, is_rendered: bool) -> Snippet {
    let command = if is_rendered {
        "render --check"
    } else {
        "check"
    };
    let command = match project.trim_end_matches('/') {
        "" => format!("metalmark {command}"),
        folder => format!("metalmark -C {} {command}", report::shell_quote(folder)),
    };
    let (template, files): (_, &[&str]) = match host {
        CodeHost::Gitlab => (GITLAB_JOB, &[GITLAB]),
        CodeHost::Github => (GITHUB_JOB, &[".github/workflows/metalmark.yml"]),
    };
    let job = template.replace(COMMAND, &command);
    Snippet {
        files,
        part: job.clone(),
        whole: job,
        place: "as a job of its own",
        mark: "metalmark",
    }
}

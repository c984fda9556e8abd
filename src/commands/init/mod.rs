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

use clap::{Args, ValueEnum};

use crate::error::Error;
use crate::files::{Disk, Files, Overlay, repository_top};
use crate::model::date::Date;
use crate::model::finding::Judged;
use crate::model::output_path::OutputFolders;
use crate::model::rule::RuleId;
use crate::output;
use crate::printer::Color;
use crate::read::{self, Location, PROJECT_FILE_NAME, Request, Workspace};
use crate::report::init::NextStep;
use crate::report::{self, Findings, Run};

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
    let proposal = Proposal::make(request, &root, &files, today)?.ok_or_else(|| Error::Usage {
        message: Found::missing().to_owned(),
    })?;
    let workspace = proposal.workspace(request, &root, files)?;
    if options.dry_run {
        terminal.out.write_all(proposal.text.as_bytes())?;
    } else if !output::new_file(&path, proposal.text.as_bytes())? {
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
    settings(&root, options, host, &output_folders(&workspace), out)?;
    proposal.judge(workspace, options, today, out)?;
    Ok(Verdict::Clean)
}

/// A first project file, and what it is made from.
struct Proposal {
    found: Found,
    described: Described,
    text: String,
}

impl Proposal {
    /// Looks at the repository; none if it holds nothing that metalmark reads.
    fn make(
        request: &Request,
        root: &Path,
        files: &Arc<dyn Files>,
        today: Date,
    ) -> Result<Option<Self>, Error> {
        let mut found = found::search(&**files)?;
        if !found.is_nothing() {
            return Ok(Some(Self::for_values(found)));
        }
        let read = discover(request, root, files)?;
        if found.manifests.is_empty() && found.pairs.is_empty() {
            if read.clusters.is_empty() {
                return Ok(None);
            }
            found.manifests.push(PathBuf::from("."));
        }
        if !found.manifests.is_empty() {
            // No kind distinguishes values of charts from other files.
            let of_clusters = read.manifest_files().into_iter().map(PathBuf::from);
            found.manifests.extend(of_clusters);
        }
        let text = |described: &Described| project::for_manifests(&found, described);
        let described = match found.templates.first() {
            Some(_) => records::describe(request, root, files, today, &text)?,
            None => Described::default(),
        };
        let text = text(&described);
        Ok(Some(Self {
            found,
            described,
            text,
        }))
    }

    fn for_values(found: Found) -> Self {
        Self {
            text: project::text(&found),
            described: Described::default(),
            found,
        }
    }

    /// The project, as if the file were there.
    fn workspace(
        &self,
        request: &Request,
        root: &Path,
        files: Arc<dyn Files>,
    ) -> Result<Workspace, Error> {
        let location = Location {
            root: root.to_owned(),
            file: Some(PathBuf::from(PROJECT_FILE_NAME)),
        };
        let text = self.text.as_bytes().to_vec();
        let added = [(PathBuf::from(PROJECT_FILE_NAME), text)];
        read::workspace_in(request, &location, Arc::new(Overlay::new(files, added)))
    }

    /// Prints what was found, how it is judged, and the next step.
    fn judge(
        &self,
        workspace: Workspace,
        options: &InitOptions,
        today: Date,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let fleet = Fleet::open(workspace, today)?;
        let mut checked = fleet.check(|view, _, _| Ok(view.cluster.pools.len()))?;
        checked.require_pools(&fleet);
        let workspace = &fleet.workspace;
        let clusters = workspace.entries().count();
        let pools = checked.results.iter().sum();
        report::init::print_found(self.found.kind(), clusters, pools, out)?;
        let Described {
            records, left_out, ..
        } = &self.described;
        report::init::print_described(records.len(), left_out, out)?;
        let findings = Findings::new(&checked.judged, clusters, Color::Never);
        let findings = findings
            .with_pools(&checked.counts)
            .with_run(Run::from_folder(&workspace.settings.root));
        report::overview::print_judged(&findings, out)?;
        let lacks_facts = |judged: &Judged| {
            use RuleId::{ChecksumMissing, FormatMissing, K8sVersionUnproven};
            [ChecksumMissing, FormatMissing, K8sVersionUnproven].contains(&judged.finding.rule)
        };
        let has_facts = self.found.is_nothing() || !self.found.facts.is_empty();
        let next = if !has_facts && checked.judged.iter().any(lacks_facts) {
            NextStep::SupplyFacts
        } else if clusters == 0 && self.found.pairs.is_empty() {
            NextStep::DescribeImages
        } else if checked.has_errors() {
            NextStep::Check
        } else if !workspace.settings.outputs.is_empty() {
            NextStep::Render
        } else if options.pre_commit || options.ci.is_some() {
            NextStep::Commit
        } else {
            let top = repository_top(&workspace.settings.root);
            let files = Disk::new(&top.unwrap_or_else(|| workspace.settings.root.clone()))?;
            NextStep::Automate {
                knows_host: CodeHost::detect(&files).is_ok(),
            }
        };
        report::init::next(next, out)?;
        Ok(())
    }
}

/// What `check` reads of the manifests here, such as those of EKS Anywhere and of charts, without a project file.
fn discover(request: &Request, root: &Path, files: &Arc<dyn Files>) -> Result<Workspace, Error> {
    let mut request = request.clone();
    request.flags.discovers = true;
    let location = Location {
        root: root.to_owned(),
        file: None,
    };
    read::workspace_in(&request, &location, Arc::clone(files))
}

/// The project that `init` would make of a repository with values, and what kind of repository that is. Manifests need none.
///
/// # Errors
/// A file cannot be read.
pub(super) fn propose_project(
    request: &Request,
) -> Result<Option<(Workspace, &'static str)>, Error> {
    let root = request.directory.clone().unwrap_or_else(|| ".".into());
    let files: Arc<dyn Files> = Arc::new(Disk::new(&root)?);
    let found = found::search(&*files)?;
    if found.is_nothing() {
        return Ok(None);
    }
    let kind = found.kind();
    let proposal = Proposal::for_values(found);
    Ok(Some((proposal.workspace(request, &root, files)?, kind)))
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

/// A later run: the project file is left as it is.
fn again(
    request: &Request,
    root: &Path,
    options: &InitOptions,
    host: Option<CodeHost>,
    out: &mut dyn Write,
) -> Result<Verdict, Error> {
    let folders = output_folders(&read::workspace(request)?);
    report::init::exists(PROJECT_FILE_NAME, out)?;
    settings(root, options, host, &folders, out)?;
    Ok(Verdict::Clean)
}

/// What git and the requested hosts need, where `render` writes into these folders.
fn settings(
    root: &Path,
    options: &InitOptions,
    host: Option<CodeHost>,
    rendered: &BTreeSet<String>,
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
        (top.join(".git").exists(), hosts::git(&project, rendered)),
        (
            options.pre_commit,
            hosts::pre_commit(&project, !rendered.is_empty()),
        ),
        (options.renovate, hosts::renovate(&project)),
    ];
    if let Some(host) = host {
        wanted.push((true, ci_job(host, &project, !rendered.is_empty())));
    }
    for (_, snippet) in wanted.into_iter().filter(|(is_wanted, _)| *is_wanted) {
        hosts::give(&snippet, &top, &files, options.dry_run, out)?;
    }
    Ok(())
}

/// The folders that `render` writes into, each as far as it is the same for every cluster, but for the project's own: that one has
/// other files too.
fn output_folders(workspace: &Workspace) -> BTreeSet<String> {
    let outputs = workspace.settings.outputs.iter();
    let folders = OutputFolders::new(outputs.map(|output| &*output.path));
    let apart = folders.roots().into_iter().filter(|root| !root.is_empty());
    apart.map(str::to_owned).collect()
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
    let name = format!("metalmark{}", hosts::name_end(project));
    let job = template.replace(COMMAND, &command);
    let job = job.replacen("\nmetalmark:", &format!("\n{name}:"), 1);
    let job = job.replace("name: metalmark\n", &format!("name: {name}\n"));
    let job = job.replace("category: metalmark\n", &format!("category: {name}\n"));
    Snippet {
        files,
        part: job.clone(),
        whole: job,
        place: match host {
            CodeHost::Gitlab => "as a job of its own",
            CodeHost::Github => "as a job of its own, or write a workflow of its own beside it,",
        },
        project: Some(project.trim_end_matches('/').to_owned()),
    }
}

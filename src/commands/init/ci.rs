//! The job that runs metalmark on each change, for the code host that the repository is on.

use std::path::Path;

use clap::ValueEnum;

use crate::error::Error;
use crate::files::Files;
use crate::report;

use super::hosts::Snippet;

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
    pub(super) fn detect(files: &dyn Files) -> Result<Self, Error> {
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
pub(super) fn job(host: CodeHost, project: &str, is_rendered: bool) -> Snippet {
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

//! The files for pipelines of code hosts are what those hosts read: as actionlint and the published schemas say.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::programs;
use crate::support::repository;
use crate::support::stage::project;

/// The workflows and pipelines, of this repository and of those that take our templates.
fn files(github: bool) -> Vec<PathBuf> {
    let names: &[&str] = if github {
        &[
            ".github/workflows/release.yml",
            ".github/workflows/site.yml",
            ".github/workflows/test.yml",
            "templates/hosts/github/example.workflow.yml",
            "templates/hosts/github/job.workflow.yml",
            "templates/hosts/github/wave.workflow.yml",
        ]
    } else {
        &[
            ".gitlab-ci.yml",
            "templates/hosts/gitlab/example.gitlab-ci.yml",
            "templates/hosts/gitlab/job.gitlab-ci.yml",
            "templates/hosts/gitlab/wave.gitlab-ci.yml",
        ]
    };
    names.iter().map(|name| repository().join(name)).collect()
}

fn passes(command: &mut Command) {
    let output = command.output().expect("it runs");
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    assert!(output.status.success(), "{command:?}\n{printed}");
}

#[test]
fn workflows_pass_actionlint() {
    let Some(actionlint) = programs::find("actionlint") else {
        return;
    };
    // Outside of a repository, so that each is looked at alone.
    let scratch = project();
    for file in files(true) {
        let name = file.file_name().expect("a file");
        fs::copy(&file, scratch.path().join(name)).expect("copied");
        passes(
            Command::new(&actionlint)
                .current_dir(scratch.path())
                .arg(name),
        );
    }
}

#[test]
fn pipelines_are_valid_under_the_published_schemas() {
    let Some(validator) = programs::find("check-jsonschema") else {
        return;
    };
    let valid = |arguments: &[&str], files: &[PathBuf]| {
        let mut command = Command::new(&validator);
        passes(command.arg("--builtin-schema").args(arguments).args(files));
    };
    valid(&["vendor.github-workflows"], &files(true));
    // GitLab reads tags that YAML does not have.
    let pipelines = ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"];
    valid(&pipelines, &files(false));
    let action = repository().join("templates/hosts/github/action.yml");
    valid(&["vendor.github-actions"], &[action]);
}

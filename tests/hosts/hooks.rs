//! The hooks of `.pre-commit-hooks.yaml` under the real pre-commit and the real prek, in a scratch repository.
//!
//! The ids that end in `-system` run the binary built here. Those that build it need the network and are asked for by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::demo;
use crate::programs::find;
use crate::support::stage::{Stage, project};
use crate::support::{repository, search_path};

/// A repository with the demo workspace, its hooks configured, everything committed but what is rendered.
struct Scratch {
    runner: PathBuf,
    demo: Stage,
    home: Stage,
}

/// What a run of a hook came to.
struct HookRun {
    passed: bool,
    said: String,
}

impl Scratch {
    /// None where the runner is not found.
    fn new(runner: &str) -> Option<Self> {
        let runner = find(runner)?;
        find("git")?;
        let manifest = ".pre-commit-hooks.yaml";
        let hooks = fs::read(repository().join(manifest)).expect("the hooks");
        let home = project().file(&format!("hooks/{manifest}"), hooks);
        let scratch = Self {
            runner,
            demo: demo(),
            home,
        };
        fs::remove_dir_all(scratch.path("expected")).expect("removed");
        let hooks = scratch.home.path().join("hooks");
        for folder in [&hooks, scratch.demo.path()] {
            scratch.git_in(folder, &["init", "--quiet"]);
        }
        scratch.commit_in(&hooks);
        let revision = scratch.git_in(&hooks, &["rev-parse", "HEAD"]);
        let config = format!(
            "repos:\n- repo: {}\n  rev: {revision}  hooks:\n  - id: metalmark-render-system\n  - id: metalmark-check-system\n",
            hooks.display()
        );
        scratch.demo.write(".pre-commit-config.yaml", config);
        scratch.commit();
        Some(scratch)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.demo.path().join(below)
    }

    /// A program with nothing of the developer's own around it.
    fn command(&self, program: &Path, folder: &Path) -> Command {
        let home = self.home.path();
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", home)
            .env("PRE_COMMIT_HOME", home.join("pre-commit"))
            .env("PREK_HOME", home.join("prek"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let output = self
            .command(Path::new("git"), folder)
            .args(author)
            .args(arguments)
            .output()
            .expect("git runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.git_in(self.demo.path(), arguments)
    }

    fn commit_in(&self, folder: &Path) {
        self.git_in(folder, &["add", "--all"]);
        let arguments = ["commit", "--quiet", "--no-verify", "--message", "x"];
        self.git_in(folder, &arguments);
    }

    fn commit(&self) {
        self.commit_in(self.demo.path());
    }

    fn run(&self, hook: &str) -> HookRun {
        let output = self
            .command(&self.runner, self.demo.path())
            .args(["run", &format!("metalmark-{hook}-system")])
            .output()
            .expect("the runner starts");
        let said = [output.stdout, output.stderr].concat();
        HookRun {
            passed: output.status.success(),
            said: String::from_utf8_lossy(&said).into_owned(),
        }
    }

    /// What git sees changed, untracked files included.
    fn changed(&self) -> String {
        self.git(&["status", "--porcelain", "--untracked-files=all"])
    }
}

fn passes(run: &HookRun) {
    assert!(run.passed, "{}", run.said);
}

fn fails(run: &HookRun, reported: &str) {
    assert!(
        !run.passed && run.said.contains(reported),
        "no `{reported}` in: {}",
        run.said
    );
}

const LYON: &str = "environment-values/workload-clusters/edge-lyon/values.yaml";
const RENDERED: &str = "rendered/clusters/edge-lyon/edge-lyon.yaml";

fn new_files_fail_until_they_are_added(scratch: &Scratch) {
    fails(&scratch.run("check"), "exit code: 1");
    assert_eq!(scratch.changed(), "", "the check writes nothing");
    let reported = "rendered files have changed: `git add --all -- rendered/clusters rendered/shared`, then run this again";
    fails(&scratch.run("render"), reported);
    assert!(scratch.changed().contains(&format!("?? {RENDERED}\n")));
    // A second try without the command.
    fails(
        &scratch.run("render"),
        &reported.replace("have changed", "are new to git"),
    );
    let rendered = ["rendered/clusters", "rendered/shared"];
    scratch.git(&[&["add", "--all", "--"], &rendered[..]].concat());
    passes(&scratch.run("render"));
    passes(&scratch.run("check"));
    scratch.commit();
    passes(&scratch.run("render"));
    assert_eq!(scratch.changed(), "");
}

fn drift_fails_and_is_repaired(scratch: &Scratch) {
    let text = scratch.demo.read("metalmark.yaml");
    let moved = text.replace("https://os-images.", "https://images.");
    scratch.demo.write("metalmark.yaml", moved);
    scratch.git(&["add", "--all"]);
    fails(&scratch.run("check"), "edge-lyon.yaml");
    fails(&scratch.run("render"), "git add --all -- rendered/clusters");
    assert!(
        scratch.changed().contains(&format!(" M {RENDERED}\n")),
        "{}",
        scratch.changed()
    );
    scratch.commit();
    passes(&scratch.run("check"));
}

fn a_deleted_file_is_rendered_again(scratch: &Scratch) {
    scratch.git(&["rm", "--quiet", RENDERED]);
    fails(&scratch.run("check"), "edge-lyon.yaml");
    fails(&scratch.run("render"), "git add --all -- rendered/clusters");
    assert!(scratch.path(RENDERED).is_file());
    scratch.git(&["reset", "--quiet", "--hard"]);
}

fn a_deleted_cluster_takes_its_files_along(scratch: &Scratch) {
    scratch.git(&["rm", "--quiet", LYON]);
    fails(&scratch.run("render"), "git add --all -- rendered/clusters");
    assert!(!scratch.path(RENDERED).exists());
    scratch.commit();
    passes(&scratch.run("render"));
}

fn bad_input_fails_and_writes_nothing(scratch: &Scratch) {
    let paris = "environment-values/workload-clusters/edge-paris/values.yaml";
    scratch.demo.write(paris, "cluster: [\n");
    scratch.git(&["add", "--all"]);
    let before = scratch.changed();
    for hook in ["render", "check"] {
        fails(&scratch.run(hook), "error[yaml-syntax]");
    }
    assert_eq!(scratch.changed(), before);
}

fn work_in_progress_is_rendered_into_nobodys_commit(scratch: &Scratch) {
    let path = "environment-values/workload-clusters/edge-wip/values.yaml";
    let values = "cluster: {name: edge-wip, capm3: {image_key: none-yet}}\n";
    scratch.demo.write(path, values);
    for hook in ["render", "check"] {
        passes(&scratch.run(hook));
    }
    assert!(!scratch.path("rendered/clusters/edge-wip").exists());
    scratch.demo.remove(path);
}

fn works_under(runner: &str) {
    let Some(scratch) = Scratch::new(runner) else {
        return;
    };
    new_files_fail_until_they_are_added(&scratch);
    drift_fails_and_is_repaired(&scratch);
    a_deleted_file_is_rendered_again(&scratch);
    a_deleted_cluster_takes_its_files_along(&scratch);
    work_in_progress_is_rendered_into_nobodys_commit(&scratch);
    bad_input_fails_and_writes_nothing(&scratch);
}

#[test]
fn pre_commit_runs_the_hooks() {
    works_under("pre-commit");
}

#[test]
fn prek_runs_the_hooks() {
    works_under("prek");
}

#[test]
fn each_hook_has_its_twin_that_runs_an_installed_binary() {
    let text = fs::read_to_string(repository().join(".pre-commit-hooks.yaml")).expect("text");
    let hooks: Vec<&str> = text.split("\n- id: ").skip(1).collect();
    let (built, installed) = hooks.split_at(hooks.len() / 2);
    for (built, installed) in built.iter().zip(installed) {
        let field = |hook: &str, name: &str| {
            let line = hook
                .lines()
                .find(|line| line.starts_with(&format!("  {name}: ")));
            line.unwrap_or_else(|| panic!("{name} in {hook}"))
                .to_owned()
        };
        assert_eq!(
            format!("{}-system", built.lines().next().expect("an id")),
            installed.lines().next().expect("an id")
        );
        assert_eq!(field(built, "language"), "  language: rust");
        for name in ["entry", "stages", "always_run", "pass_filenames"] {
            assert_eq!(field(built, name), field(installed, name));
        }
    }
    assert_eq!(hooks.len(), 6);
}

//! The hooks of `.pre-commit-hooks.yaml` under the real pre-commit and the real prek, in a scratch repository.
//!
//! The ids that end in `-system` run the binary built here. Those that build it need the network and are asked for by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::programs::find;
use super::support::{copy_of, repository};

/// A repository with the demo workspace, its hooks configured, everything committed but what is rendered.
struct Scratch {
    runner: PathBuf,
    folder: tempfile::TempDir,
    home: tempfile::TempDir,
}

/// What a run of a hook came to.
struct Run {
    passed: bool,
    said: String,
}

impl Scratch {
    /// None where the runner is not found.
    fn new(runner: &str) -> Option<Self> {
        let runner = find(runner)?;
        find("git")?;
        let home = tempfile::tempdir().expect("a scratch folder");
        let folder = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
        fs::remove_dir_all(folder.path().join("expected")).expect("removed");
        let scratch = Self {
            runner,
            folder,
            home,
        };
        let hooks = scratch.home.path().join("hooks");
        fs::create_dir(&hooks).expect("made");
        let manifest = ".pre-commit-hooks.yaml";
        fs::copy(repository().join(manifest), hooks.join(manifest)).expect("copied");
        for folder in [&hooks, scratch.folder.path()] {
            scratch.git(folder, &["init", "--quiet"]);
        }
        scratch.commit(&hooks);
        let revision = scratch.git(&hooks, &["rev-parse", "HEAD"]);
        let config = format!(
            "repos:\n- repo: {}\n  rev: {revision}  hooks:\n  - id: metalmark-render-system\n  - id: metalmark-check-system\n",
            hooks.display()
        );
        fs::write(scratch.path(".pre-commit-config.yaml"), config).expect("written");
        scratch.commit(scratch.folder.path());
        Some(scratch)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// A program with nothing of the developer's own around it.
    fn command(&self, program: &Path, folder: &Path) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_metalmark"))
            .parent()
            .expect("a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&path);
        let path = std::iter::once(binary.to_owned()).chain(path);
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::join_paths(path).expect("a search path"))
            .env("HOME", self.home.path())
            .env("PRE_COMMIT_HOME", self.home.path().join("pre-commit"))
            .env("PREK_HOME", self.home.path().join("prek"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
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

    fn commit(&self, folder: &Path) {
        self.git(folder, &["add", "--all"]);
        self.git(
            folder,
            &["commit", "--quiet", "--no-verify", "--message", "x"],
        );
    }

    fn run(&self, hook: &str) -> Run {
        let output = self
            .command(&self.runner, self.folder.path())
            .args(["run", &format!("metalmark-{hook}-system")])
            .output()
            .expect("the runner starts");
        let said = [output.stdout, output.stderr].concat();
        Run {
            passed: output.status.success(),
            said: String::from_utf8_lossy(&said).into_owned(),
        }
    }

    /// What git sees changed, untracked files included.
    fn changed(&self) -> String {
        self.git(
            self.folder.path(),
            &["status", "--porcelain", "--untracked-files=all"],
        )
    }
}

fn passes(run: &Run) {
    assert!(run.passed, "{}", run.said);
}

fn fails(run: &Run, reported: &str) {
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
    scratch.git(
        scratch.folder.path(),
        &["add", "--all", "--", "rendered/clusters", "rendered/shared"],
    );
    passes(&scratch.run("render"));
    passes(&scratch.run("check"));
    scratch.commit(scratch.folder.path());
    passes(&scratch.run("render"));
    assert_eq!(scratch.changed(), "");
}

fn drift_fails_and_is_repaired(scratch: &Scratch) {
    let project = scratch.path("metalmark.yaml");
    let text = fs::read_to_string(&project).expect("text");
    let moved = text.replace(
        "https://os-images.example.org",
        "https://images.example.org",
    );
    fs::write(&project, moved).expect("written");
    scratch.git(scratch.folder.path(), &["add", "--all"]);
    fails(&scratch.run("check"), "edge-lyon.yaml");
    fails(&scratch.run("render"), "git add --all -- rendered/clusters");
    assert!(
        scratch.changed().contains(&format!(" M {RENDERED}\n")),
        "{}",
        scratch.changed()
    );
    scratch.commit(scratch.folder.path());
    passes(&scratch.run("check"));
}

fn a_deleted_file_is_rendered_again(scratch: &Scratch) {
    scratch.git(scratch.folder.path(), &["rm", "--quiet", RENDERED]);
    fails(&scratch.run("check"), "edge-lyon.yaml");
    fails(&scratch.run("render"), "git add --all -- rendered/clusters");
    assert!(scratch.path(RENDERED).is_file());
    scratch.git(scratch.folder.path(), &["reset", "--quiet", "--hard"]);
}

fn a_deleted_cluster_takes_its_files_along(scratch: &Scratch) {
    scratch.git(scratch.folder.path(), &["rm", "--quiet", LYON]);
    fails(&scratch.run("render"), "git add --all -- rendered/clusters");
    assert!(!scratch.path(RENDERED).exists());
    scratch.commit(scratch.folder.path());
    passes(&scratch.run("render"));
}

fn bad_input_fails_and_writes_nothing(scratch: &Scratch) {
    let paris = "environment-values/workload-clusters/edge-paris/values.yaml";
    fs::write(scratch.path(paris), "cluster: [\n").expect("written");
    scratch.git(scratch.folder.path(), &["add", "--all"]);
    let before = scratch.changed();
    for hook in ["render", "check"] {
        fails(&scratch.run(hook), "error[yaml-syntax]");
    }
    assert_eq!(scratch.changed(), before);
}

fn work_in_progress_is_rendered_into_nobodys_commit(scratch: &Scratch) {
    let path = scratch.path("environment-values/workload-clusters/edge-wip/values.yaml");
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(
        &path,
        "cluster: {name: edge-wip, capm3: {image_key: none-yet}}\n",
    )
    .expect("written");
    for hook in ["render", "check"] {
        passes(&scratch.run(hook));
    }
    assert!(!scratch.path("rendered/clusters/edge-wip").exists());
    fs::remove_file(path).expect("removed");
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

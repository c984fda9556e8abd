//! Another program changes a file between a run's reading and its writing: the run refuses, and the other's bytes stay.
//!
//! The run is held up at a known place: by a named pipe where it reads an input that its command line names, or where it writes
//! its report; or where it writes, by another run's unfinished file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::case::{case, tree};
use super::{is_litter, undisturbed};
use crate::support::{copy_of, repository};

/// What the other program leaves.
const THEIRS: &[u8] = b"# theirs\n";

/// A run that is held up, and how it is let go.
struct HeldUp {
    workspace: TempDir,
    /// Where the command is typed, below the workspace.
    within: &'static str,
    args: Vec<String>,
    by: Obstacle,
}

/// What holds a run up.
enum Obstacle {
    /// A pipe that the run writes into.
    Report(PathBuf),
    /// A pipe that gives the run these bytes.
    Input(PathBuf, Vec<u8>),
    /// The file that another run is writing.
    Unfinished(PathBuf, File),
}

impl Obstacle {
    fn let_go(self) {
        match self {
            Self::Report(pipe) => drop(fs::read(pipe).expect("taken")),
            Self::Input(pipe, bytes) => fs::write(pipe, bytes).expect("given"),
            Self::Unfinished(path, file) => {
                fs::remove_file(path).expect("removed");
                drop(file);
            }
        }
    }
}

impl HeldUp {
    /// A run that waits before it writes its report: behind its plan, before its writing.
    fn at_its_report(name: &str) -> Self {
        let case = case(name);
        let workspace = undisturbed(case).fresh();
        let pipe = piped(&workspace.path().join(".pipe"));
        let mut args: Vec<String> = case.args.iter().map(|arg| (*arg).to_owned()).collect();
        args.extend(["--report".to_owned(), "json=.pipe".to_owned()]);
        Self {
            workspace,
            within: case.within,
            args,
            by: Obstacle::Report(pipe),
        }
    }

    /// A run that waits for one of its inputs.
    fn at_an_input(workspace: TempDir, within: &'static str, input: &str, args: &[&str]) -> Self {
        let file = workspace.path().join(input);
        let gives = fs::read(&file).expect("there");
        fs::remove_file(&file).expect("removed");
        Self {
            by: Obstacle::Input(piped(&file), gives),
            workspace,
            within,
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        }
    }

    /// A run that waits before it replaces a file.
    fn at_its_writing(workspace: TempDir, file: &str, args: &[&str]) -> Self {
        let unfinished = workspace.path().join(format!(".metalmark-tmp-{file}"));
        let other = File::create(&unfinished).expect("created");
        other.lock().expect("locked");
        Self {
            by: Obstacle::Unfinished(unfinished, other),
            workspace,
            within: "",
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        }
    }

    /// Runs it, changes a file while it waits, and says what it came to. Nothing else may have changed.
    fn while_they_change(self, file: &str, change: impl FnOnce(&Path)) {
        let root = self.workspace.path().join(self.within);
        let child = Command::new(env!("CARGO_BIN_EXE_metalmark"))
            .args(&self.args)
            .current_dir(&root)
            .env_clear()
            // More than one, so that the pipe holds up no other input.
            .env("RAYON_NUM_THREADS", "4")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        wait_until_it_waits(&child);
        change(&root.join(file));
        let mut expected = tree(self.workspace.path());
        expected.retain(|path, _| !is_litter(path));
        self.by.let_go();
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let reported = format!("{:?}, {file}: {said}", self.args);
        let left = tree(self.workspace.path());
        assert!(left.keys().all(|path| !is_litter(path)), "{reported}");
        assert!(left == expected, "{reported}");
        let is_named = said.contains(&format!("{file}` is not what was read"))
            || said.contains(": the file is not what was read");
        assert!(is_named, "{reported}");
    }
}

fn piped(path: &Path) -> PathBuf {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo runs").success());
    path.to_owned()
}

/// No thread of it has run for a tenth of a second.
fn wait_until_it_waits(child: &Child) {
    let tasks = format!("/proc/{}/task", child.id());
    let (start, mut quiet) = (Instant::now(), 0);
    while quiet < 20 {
        assert!(start.elapsed() < Duration::from_secs(240), "it never waits");
        let threads = fs::read_dir(&tasks).expect("this test needs /proc");
        let sleeps = threads.flatten().all(|thread| {
            let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_none_or(|(_, rest)| rest.starts_with('S'))
        });
        quiet = if sleeps { quiet + 1 } else { 0 };
        sleep(Duration::from_millis(5));
    }
}

fn theirs(path: &Path) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, THEIRS).expect("written");
}

#[test]
fn render_overwrites_and_deletes_nothing_that_changed_meanwhile() {
    let calm = undisturbed(case("render"));
    let rendered = |tree: &super::Tree| -> Vec<String> {
        let paths = tree
            .keys()
            .filter(|path| path.starts_with("rendered/clusters"));
        let paths = paths.filter(|path| path.extension().is_some());
        paths
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    };
    let (before, after) = (rendered(&calm.before), rendered(&calm.after));
    let created = after
        .iter()
        .find(|path| !before.contains(path))
        .expect("one");
    let deleted = before
        .iter()
        .find(|path| !after.contains(path))
        .expect("one");
    for file in ["rendered/shared/os-images-info.yaml", created, deleted] {
        HeldUp::at_its_report("render").while_they_change(file, theirs);
    }
    // Gone is gone: there is nothing to overwrite, and nothing of theirs to keep.
    HeldUp::at_its_report("render").while_they_change(
        "rendered/shared/os-images-info.yaml",
        |path| {
            fs::remove_file(path).expect("removed");
        },
    );
}

#[test]
fn stamp_touches_no_file_where_one_changed_meanwhile() {
    for file in ["01-plain.yaml", "21-long-text-around.yaml"] {
        HeldUp::at_its_report("stamp").while_they_change(file, theirs);
    }
}

#[test]
fn lock_does_not_write_over_a_lock_that_changed_meanwhile() {
    let run = || {
        let workspace = (case("lock").workspace)();
        HeldUp::at_its_writing(workspace, "metalmark.lock", &["lock", "--upgrade"])
    };
    run().while_they_change("metalmark.lock", theirs);
    run().while_they_change("metalmark.lock", |path| {
        fs::remove_file(path).expect("removed");
    });
}

#[test]
fn update_touches_no_file_where_one_changed_meanwhile() {
    let workspace = copy_of(&repository().join("fixtures/update/sylva"));
    let args = ["update", "0.4.13", "--release-notes", "../notes.md"];
    HeldUp::at_an_input(workspace, "before", "notes.md", &args)
        .while_they_change("values.yaml", theirs);
}

#[test]
fn check_fix_leaves_a_file_that_changed_meanwhile() {
    let workspace = (case("check --fix").workspace)();
    HeldUp::at_its_writing(workspace, "edge-0.yaml", &["check", "--fix"])
        .while_they_change("edge-0.yaml", theirs);
}

//! Runs tests: once each to learn what they reach, then, for each mutant, those that reach it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// A test of one of the programs.
#[derive(Clone, Debug)]
pub struct Test {
    pub program: PathBuf,
    /// `all`, `lib` or a crate's folder, then the test's own name: `lib matching::tests::a_test`.
    pub name: String,
    pub took: Duration,
    pub reached: BTreeSet<u32>,
    pub passes: bool,
}

impl Test {
    /// Its name in its program.
    pub fn own_name(&self) -> &str {
        self.name
            .split_once(' ')
            .map_or(&self.name, |(_, name)| name)
    }
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Killed,
    Survived,
    /// No test executes its place.
    Unreached,
    /// Only tests that are slow, or fail without it, execute its place.
    LeftOut,
    /// The time was over.
    Untried,
}

/// Every test of a program, not yet run.
pub fn tests(label: &str, program: &Path, folder: &Path) -> io::Result<Vec<Test>> {
    let listed = Command::new(program)
        .args(["--list", "--format", "terse"])
        .current_dir(folder)
        .output()?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    let test = |name: &str| Test {
        program: program.to_owned(),
        name: format!("{label} {name}"),
        took: Duration::ZERO,
        reached: BTreeSet::new(),
        passes: false,
    };
    Ok(names.map(test).collect())
}

const MEMORY: u64 = 8 << 30;

fn command(program: &Path, folder: &Path, names: &[&str]) -> Command {
    // What would take all memory fails.
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--as={MEMORY}"))
        // As cargo runs them: with their files in memory.
        .arg(folder.join("tests/runner"))
        .arg(program)
        .args(names)
        .args(["--exact", "--test-threads=1", "-q"])
        .current_dir(folder)
        .env("CARGO_MANIFEST_DIR", folder)
        // What a mutant fails on is no regression of the project.
        .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for name in [
        "METALMARK_REQUIRE",
        "METALMARK_MUTANT",
        "METALMARK_MUTANTS_REACHED",
        "BLESS",
    ] {
        command.env_remove(name);
    }
    command
}

/// Waits at most so long; whether the program succeeded. Nothing where the time was over.
fn succeeds(mut command: Command, limit: Duration) -> Option<bool> {
    use std::os::unix::process::CommandExt;
    let Ok(mut child) = command.process_group(0).spawn() else {
        return Some(false);
    };
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if start.elapsed() < limit => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            _ => {
                stop(&mut child);
                return None;
            }
        }
    }
}

fn stop(child: &mut Child) {
    // The programs that a test started belong to its group.
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", child.id())])
        .status();
    let _ = child.kill();
    let _ = child.wait();
}

/// The tests, each run without a mutant: what it reaches, whether it passes and how long it takes. One that takes longer than its
/// limit is ended there, and passes: what it reached until then counts, and nobody waits for the rest of what is too slow to use.
pub fn survey(
    tests: &[Test],
    limit: impl Fn(&Test) -> Duration + Sync,
    folder: &Path,
    scratch: &Path,
    jobs: usize,
) -> Vec<Test> {
    in_parallel(tests, jobs, |index, test| {
        if index.is_multiple_of(200) {
            eprintln!("survey: {index} of {} tests", tests.len());
        }
        let list = scratch.join(index.to_string());
        let _ = fs::remove_file(&list);
        let mut command = command(&test.program, folder, &[test.own_name()]);
        command.env("METALMARK_MUTANTS_REACHED", &list);
        let start = Instant::now();
        let passes = succeeds(command, limit(test)).unwrap_or(true);
        let text = fs::read_to_string(&list).unwrap_or_default();
        Test {
            took: start.elapsed(),
            reached: text.lines().filter_map(|line| line.parse().ok()).collect(),
            passes,
            ..test.clone()
        }
    })
}

/// The answer about each item, in the order of the items. The closure gets the item's number too.
pub fn in_parallel<I: Sync, T: Send>(
    items: &[I],
    jobs: usize,
    answer: impl Fn(usize, &I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let answer = answer(index, item);
                    answers.lock().expect("no panic").insert(index, answer);
                }
            });
        }
    });
    let answers = answers.into_inner().expect("no panic");
    answers.into_values().collect()
}

/// Runs the tests with that mutant, in that order, until one fails. Tests of up to a second in all share a process. Returns those
/// of the process that failed.
pub fn killers<'t, 'a>(mutant: u32, tests: &'a [&'t Test], folder: &Path) -> &'a [&'t Test] {
    let mut rest = tests;
    while let Some(first) = rest.first() {
        let mut took = Duration::ZERO;
        let together = rest.iter().take_while(|test| {
            took += test.took;
            test.program == first.program && took < Duration::from_millis(800)
        });
        let (together, others) = rest.split_at(together.count().max(1));
        let names: Vec<&str> = together.iter().map(|test| test.own_name()).collect();
        let mut command = command(&first.program, folder, &names);
        command.env("METALMARK_MUTANT", mutant.to_string());
        let spent: Duration = together.iter().map(|test| test.took).sum();
        if succeeds(command, spent * 8 + Duration::from_secs(20)) != Some(true) {
            return together;
        }
        rest = others;
    }
    &[]
}

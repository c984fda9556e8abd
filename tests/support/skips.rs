//! Skipped tests, counted over all test binaries of one run: each notes its skips in a file, and the last binary of the run
//! (tests/skipped.rs) reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// The folder of the notes. A run is known by the process that started the test binaries, which is cargo for all of them.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("skipped")
}

/// The process that started this one, and when it started: numbers of processes are used again.
fn run() -> String {
    let parent = std::os::unix::process::parent_id();
    let stat = fs::read_to_string(format!("/proc/{parent}/stat")).unwrap_or_default();
    let (_, behind_the_name) = stat.rsplit_once(')').unwrap_or_default();
    let started = behind_the_name.split_whitespace().nth(19);
    format!("{parent}-{}", started.unwrap_or_default())
}

/// Notes that this test lacks something. Several lines of one test are one skip.
#[allow(dead_code, reason = "tests note, and the last binary counts")]
pub(crate) fn note(lacks: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("main");
    fs::create_dir_all(folder()).expect("a folder for what is skipped");
    let mut options = fs::File::options();
    let notes = options.create(true).append(true).open(folder().join(run()));
    // One write, so that lines of tests that run at once stay whole.
    let line = format!("{test}\t{lacks}\n");
    let written = notes.and_then(|mut notes| notes.write_all(line.as_bytes()));
    written.expect("a skip is noted");
}

/// The notes of this run, taken away with those that earlier runs left.
#[allow(dead_code, reason = "tests note, and the last binary counts")]
pub(crate) fn take() -> String {
    let notes = fs::read_to_string(folder().join(run())).unwrap_or_default();
    for entry in fs::read_dir(folder()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.split('-').next().unwrap_or_default().to_owned();
        // Another run may be under way in the same folder.
        if name == run() || !PathBuf::from("/proc").join(process).exists() {
            let _ = fs::remove_file(entry.path());
        }
    }
    notes
}

/// Whether `METALMARK_REQUIRE` names something.
pub(crate) fn names(required: &str, name: &str) -> bool {
    required.split([',', ' ']).any(|word| word == name)
}

/// `3 tests skipped: cosign 2, helm 2`, from notes. A test that lacks two things counts for both.
pub(crate) fn summary(notes: &str) -> String {
    let mut tests = BTreeSet::new();
    let mut lacking: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (test, lacks) in notes.lines().filter_map(|line| line.split_once('\t')) {
        tests.insert(test);
        lacking.entry(lacks).or_default().insert(test);
    }
    let parts = lacking.iter();
    let parts = parts.map(|(lacks, tests)| format!("{lacks} {}", tests.len()));
    let parts: Vec<String> = parts.collect();
    let word = if tests.len() == 1 { "test" } else { "tests" };
    if parts.is_empty() {
        "no tests skipped".to_owned()
    } else {
        format!("{} {word} skipped: {}", tests.len(), parts.join(", "))
    }
}

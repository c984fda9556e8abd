//! What the process takes in memory for input that is made to take much: the binary's own peak, as Linux counts it.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::is_long;
use crate::support::stage::project;

/// What a run may take above its input.
const MOST: u64 = 100 << 20;

/// A run: its peak in bytes, as far as it was seen, and what it printed.
struct Peak {
    bytes: u64,
    screen: String,
}

/// The peak of a run over a folder; none where the system does not say. A run that ends before it is looked at is repeated.
fn peak(folder: &Path, arguments: &[&str]) -> Option<Peak> {
    fs::metadata("/proc/self/status").ok()?;
    let mut runs = std::iter::repeat_with(|| seen_peak(folder, arguments)).take(100);
    Some(runs.find_map(|peak| peak).expect("a run that is seen"))
}

fn seen_peak(folder: &Path, arguments: &[&str]) -> Option<Peak> {
    let mut printed = tempfile::tempfile().expect("a scratch file");
    let copy = |file: &File| file.try_clone().expect("a file");
    let mut run = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .args(arguments)
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", "2")
        .stdin(Stdio::null())
        .stdout(copy(&printed))
        .stderr(copy(&printed))
        .spawn()
        .expect("it starts");
    let status = format!("/proc/{}/status", run.id());
    let mut bytes = None;
    // The peak only grows, so that the last look before the end is the peak but for what the last moment takes.
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        bytes = bytes.max(kibibytes.map(|kibibytes| kibibytes << 10));
        if run.try_wait().expect("its status").is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    let mut screen = String::new();
    printed.rewind().expect("a file");
    printed.read_to_string(&mut screen).expect("a text");
    Some(Peak {
        bytes: bytes?,
        screen,
    })
}

/// The peak of a check of a cluster with these values.
fn peak_of_values(text: &str) -> Option<Peak> {
    let project = project().cluster("c", text);
    peak(project.path(), &["check"])
}

/// A check of these values takes no more than that above the least, and finds what it finds in them.
#[track_caller]
fn fits(name: &str, text: &str, least: &Peak, finding: &str) {
    let Some(Peak { bytes, screen }) = peak_of_values(text) else {
        return;
    };
    assert!(screen.starts_with(finding), "{name} is read: {screen}");
    let above = bytes.saturating_sub(least.bytes + text.len() as u64);
    assert!(above <= MOST, "{name} takes {} MiB", above >> 20);
}

/// A text of about so many bytes.
type Shape = (&'static str, fn(usize) -> String);

#[test]
fn no_text_of_ten_megabytes_takes_more_memory_than_is_stated() {
    const SIZE: usize = 10 << 20;
    let shapes: &[Shape] = &[
        ("items in flow", |size| {
            format!("x: [{}]\n", "1,".repeat(size / 2))
        }),
        ("lists in lists", |size| {
            format!("x: [{}]\n", "[[[[1]]]],".repeat(size / 10))
        }),
        ("items", |size| format!("x:\n{}", "- a\n".repeat(size / 4))),
        ("one key", |size| "a:\t1\n".repeat(size / 5)),
        ("line breaks", |size| {
            format!("a: >+\n{}", "\n".repeat(size))
        }),
    ];
    let Some(least) = peak_of_values("a: 1\n") else {
        return;
    };
    let step = if is_long() { 1 } else { 2 };
    for (name, text) in shapes.iter().step_by(step) {
        fits(name, &text(SIZE), &least, "error[");
    }
}

/// Compiled at once, they took 1.3 GiB.
#[test]
fn the_patterns_of_a_helmignore_take_no_more_memory_than_their_text() {
    let text = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
    let project = project()
        .file("chart/Chart.yaml", text)
        .file("chart/templates/c.yaml", "a: {{ .Values.a }}\n");
    let Some(least) = peak(project.path(), &["check"]) else {
        return;
    };
    let line = format!("{}\n", "[a-z]?x*".repeat(75));
    project.write("chart/.helmignore", line.repeat(4_000));
    let Some(most) = peak(project.path(), &["check"]) else {
        return;
    };
    let above = most.bytes.saturating_sub(least.bytes) >> 20;
    assert!(above <= 30, "{above} MiB");
}

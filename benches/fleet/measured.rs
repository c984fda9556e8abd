//! Runs a program and tells what it cost, from the kernel's own accounting.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What the runs of one command came to: mean CPU time, median wall time, the highest peak.
pub(super) struct Figures {
    /// Seconds.
    pub(super) cpu: f64,
    /// Seconds.
    pub(super) wall: f64,
    /// MiB of the largest process among them.
    pub(super) peak: f64,
}

/// Runs a command that exits with `status`. `fresh` names a folder that is moved away before each run: ext4 makes files more
/// slowly for minutes after as many were deleted, which no user's run does first.
pub(super) fn measured(
    make: &dyn Fn() -> Command,
    fresh: Option<&Path>,
    status: i32,
    runs: usize,
) -> Figures {
    let (mut cpu, mut wall, mut peak) = (0.0, Vec::new(), 0_f64);
    for _ in 0..runs {
        if let Some(folder) = fresh.filter(|folder| folder.exists()) {
            let mut asides = (0..).map(|number| folder.with_extension(format!("before-{number}")));
            let aside = asides.find(|aside| !aside.exists()).expect("numbers go on");
            fs::rename(folder, aside).expect("moved away");
        }
        let (before, started) = (children_cpu(), Instant::now());
        let mut child = make()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let process = child.id();
        let watch = thread::spawn(move || peak_memory(process));
        let ended = child.wait().expect("the program ends");
        wall.push(started.elapsed().as_secs_f64());
        cpu += children_cpu() - before;
        peak = peak.max(watch.join().expect("the watch ends"));
        assert_eq!(ended.code(), Some(status), "what it ends with");
    }
    Figures {
        cpu: cpu / runs as f64,
        wall: median(wall),
        peak,
    }
}

/// The highest resident set of a process in MiB, looked at until it ends (proc(5), `VmHWM`).
fn peak_memory(process: u32) -> f64 {
    let mut peak = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(kibibytes) = line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        else {
            return f64::from(peak) / 1024.0;
        };
        peak = kibibytes;
        thread::sleep(Duration::from_millis(2));
    }
}

/// CPU seconds of all finished children, from the kernel's own accounting (proc(5), `cutime` and `cstime`).
fn children_cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("proc is mounted");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .expect("a name in parentheses")
        .split_whitespace()
        .collect();
    let ticks: f64 = fields[13..15]
        .iter()
        .map(|field| field.parse::<f64>().expect("a number"))
        .sum();
    ticks / 100.0
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

//! Ends the run that takes more than its [budget], with words and exit status 2. Never by a signal: where memory cannot be had, and
//! where a file may grow no more, it is the same.

use std::io::Write;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use crate::budget::{self, Limits};
use crate::error::Error;

use super::FAILED;
use super::terminal::{self, ColorMode};

/// How often the process is looked at.
const PERIOD: Duration = Duration::from_millis(5);

/// The same, while a server waits for its client.
const IDLE: Duration = Duration::from_millis(50);

/// How many parts of the work a message names.
const MOST_NAMED: usize = 3;

/// What has the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// The run.
    Run,
    /// Each turn of a server.
    Turns,
}

/// Watches the process from now on. `name` is the work where no part of it says what it is at.
///
/// # Errors
/// No thread can be started.
pub(super) fn start(limits: Limits, watched: Watched, name: String) -> Result<(), Error> {
    let meter = Meter::new(name);
    let watch = move || match watched {
        Watched::Run => watch_run(&meter, &limits),
        Watched::Turns => watch_turns(&meter, &limits),
    };
    let started = { thread::Builder::new().name("budget".to_owned()) }.spawn(watch);
    started.map(drop).map_err(|cause| Error::Thread { cause })
}

/// Lets the run end with status 2 where it would end by a signal: the standard library aborts where memory cannot be had, after a
/// line that says so, and a file that may grow no more is an error of its write.
pub(super) fn handle_signals() {
    use signal_hook::flag;
    let is_set = || Arc::new(AtomicBool::new(true));
    // A signal that cannot be handled ends the run as it did.
    let _ = flag::register_conditional_shutdown(
        signal_hook::consts::SIGABRT,
        i32::from(FAILED),
        is_set(),
    );
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, is_set());
}

fn watch_run(meter: &Meter, limits: &Limits) {
    loop {
        thread::sleep(PERIOD);
        if let Some(passed) = meter.check(limits, meter.cpu()) {
            end(&passed);
        }
    }
}

/// A turn that passes its budget is given up. One that is not, as it passes no [`budget::enter`], ends the process.
fn watch_turns(meter: &Meter, limits: &Limits) {
    let last = Limits {
        memory: limits.memory / 4 * 5,
        cpu: limits.cpu * 2,
        ..*limits
    };
    loop {
        let Some(cpu) = budget::longest_turn(meter.cpu()) else {
            thread::sleep(IDLE);
            continue;
        };
        if let Some(passed) = meter.check(&last, cpu) {
            end(&passed);
        }
        if let Some(passed) = meter.check(limits, cpu) {
            budget::give_up(&passed);
        }
        thread::sleep(PERIOD);
    }
}

/// Ends the process now: no destructor runs, as after a kill. The next run recovers what this one has begun to write.
fn end(passed: &str) -> ! {
    let mut err = terminal::open(ColorMode::Never).err;
    // There is nowhere to report that stderr itself is gone.
    let _ = writeln!(err, "error: {passed}").and_then(|()| err.flush());
    signal_hook::low_level::exit(FAILED.into())
}

/// What the process has taken.
struct Meter {
    name: String,
    #[cfg(target_os = "linux")]
    memory: Option<std::fs::File>,
    #[cfg(not(unix))]
    start: std::time::Instant,
}

impl Meter {
    fn new(name: String) -> Self {
        Self {
            name,
            // Opened now: a sandbox may forbid it later.
            #[cfg(target_os = "linux")]
            memory: std::fs::File::open("/proc/self/statm").ok(),
            #[cfg(not(unix))]
            start: std::time::Instant::now(),
        }
    }

    /// Resident memory, in bytes; none where the system does not say.
    fn memory(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::FileExt;
            let mut text = [0; 128];
            let length = self.memory.as_ref()?.read_at(&mut text, 0).ok()?;
            let text = std::str::from_utf8(&text[..length]).ok()?;
            let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
            Some(pages * rustix::param::page_size() as u64)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// The CPU time of all threads; where the system does not say, the time that has gone by.
    fn cpu(&self) -> Duration {
        #[cfg(unix)]
        {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
            Duration::try_from(time).unwrap_or_default()
        }
        #[cfg(not(unix))]
        self.start.elapsed()
    }

    /// What is passed, with what to do; none where nothing is.
    fn check(&self, limits: &Limits, cpu: Duration) -> Option<String> {
        let memory = self.memory().unwrap_or(0);
        let time = limits.cpu_time();
        let (what, flag) = if memory > limits.memory {
            let mebibytes = limits.memory >> 20;
            let flag = format!("--max-memory {}", mebibytes * 2);
            (format!("{mebibytes} MiB of memory"), flag)
        } else if cpu > time {
            let seconds = time.as_secs();
            let flag = format!("--max-cpu {}", seconds * 2);
            (format!("{seconds} seconds of CPU time"), flag)
        } else {
            return None;
        };
        let works = budget::works();
        let named: Vec<String> = { works.iter().take(MOST_NAMED) }
            .map(|work| work.to_string())
            .collect();
        let place = match (&*named.join(", "), budget::last_file()) {
            ("", Some(file)) => format!("{}, after it read `{}`", self.name, file.display()),
            ("", None) => self.name.clone(),
            (works, _) => works.to_owned(),
        };
        Some(format!(
            "more than {what} were taken in work on {place}\nhelp: this much is for input that is wrong or hostile; for a repository that you trust, pass `{flag}`"
        ))
    }
}

/// Three quarters of the least memory that a control group of this process allows; none where none says so.
#[cfg(target_os = "linux")]
pub(super) fn cgroup_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let most = least_limit(&groups, |file| std::fs::read_to_string(file).ok());
    most.map(|most| most / 4 * 3)
}

/// The least limit of the control groups in a text as of `/proc/PID/cgroup`, in bytes
/// (<https://man7.org/linux/man-pages/man7/cgroups.7.html>).
#[cfg(target_os = "linux")]
fn least_limit(groups: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (top, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return None,
        };
        let folders = Path::new(path.trim_start_matches('/')).ancestors();
        let limits = folders.filter_map(|folder| {
            let text = read(&Path::new(top).join(folder).join(name))?;
            text.trim().parse::<u64>().ok()
        });
        limits.min()
    });
    limits.min()
}

/// Other systems have no control groups.
#[cfg(not(target_os = "linux"))]
pub(super) fn cgroup_memory() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;

    use super::least_limit;

    #[test]
    fn the_least_limit_of_a_group_and_those_around_it_counts() {
        let files = [
            ("/sys/fs/cgroup/memory.max", "9000\n"),
            ("/sys/fs/cgroup/pod/memory.max", "4000\n"),
            ("/sys/fs/cgroup/pod/step/memory.max", "max\n"),
            (
                "/sys/fs/cgroup/memory/docker/a:b/memory.limit_in_bytes",
                "3000\n",
            ),
            (
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("/sys/fs/cgroup/cpu/small/memory.limit_in_bytes", "1\n"),
        ];
        let read = |path: &Path| {
            let file = files.iter().find(|(file, _)| Path::new(file) == path)?;
            Some(file.1.to_owned())
        };
        for (groups, expected) in [
            ("0::/pod/step\n", Some(4000)),
            ("0::/pod/other\n", Some(4000)),
            ("0::/\n", Some(9000)),
            // What is mounted inside a container begins at its own group.
            ("0::/../../elsewhere\n", Some(9000)),
            ("12:cpu,cpuacct:/small\n5:memory:/docker/a:b\n", Some(3000)),
            ("5:memory:/docker/a:b\n0::/pod\n", Some(3000)),
            ("5:memory:/docker\n", Some(9_223_372_036_854_771_712)),
            ("1:name=systemd:/x\n", None),
            ("", None),
            ("0:\n", None),
        ] {
            assert_eq!(least_limit(groups, read), expected, "{groups}");
        }
    }
}

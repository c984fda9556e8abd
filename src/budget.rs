//! The one budget of the process: how much memory and CPU time a run may take, and what it is working on.
//!
//! Nothing is counted where work is done, so that nothing can be forgotten. A thread of `cli` looks at the process from outside,
//! and ends it where a limit is passed. For its message, stages say what they work on, by [`enter`], and each read of a file names it.
//!
//! An editor's server goes on: there a [`Turn`] has the budget, and `enter` is where a turn that has passed it is given up. Only
//! one that never comes there ends the process. All of this is state of the process, because the budget is the process's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use parking_lot::Mutex;

/// What a run, or a turn of the editor's server, may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Resident memory, in bytes.
    pub memory: u64,
    /// CPU time of all threads.
    pub cpu: Duration,
    /// The same, for each cluster of the project.
    pub cpu_each: Duration,
}

impl Limits {
    /// Those of a command that a person or a pipeline starts.
    pub const RUN: Self = Self {
        memory: 2 << 30,
        cpu: Duration::from_secs(60),
        cpu_each: Duration::from_millis(2),
    };

    /// Those of a run that a server starts for somebody else's repository, or that a server is itself.
    pub const SERVED: Self = Self {
        memory: 512 << 20,
        cpu: Duration::from_secs(20),
        cpu_each: Duration::ZERO,
    };

    /// The CPU time for the clusters and contents that are known.
    pub fn cpu_time(&self) -> Duration {
        let clusters = u32::try_from(CLUSTERS.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        let mebibytes = u32::try_from(MEBIBYTES.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        self.cpu
            .saturating_add(self.cpu_each.saturating_mul(clusters))
            .saturating_add(CPU_EACH_MEBIBYTE.saturating_mul(mebibytes))
    }
}

static CLUSTERS: AtomicUsize = AtomicUsize::new(0);

/// The bytes of large contents that are read, in mebibytes.
static MEBIBYTES: AtomicU64 = AtomicU64::new(0);

/// The CPU time for a mebibyte that is sent and received, decrypted and digested.
const CPU_EACH_MEBIBYTE: Duration = Duration::from_millis(30);

/// Whether the turns are given up: what `enter` looks at without a lock.
static IS_GIVEN_UP: AtomicBool = AtomicBool::new(false);

static STATE: Mutex<State> = Mutex::new(State {
    works: Vec::new(),
    file: None,
    turns: BTreeMap::new(),
    given_up: None,
});

struct State {
    /// What each thread works on, a part behind its whole.
    works: Vec<(ThreadId, Arc<str>)>,
    /// The file that was read last.
    file: Option<PathBuf>,
    /// The turns that go on, in the order of their begin, with the CPU time of the process when each was first seen.
    turns: BTreeMap<u64, Option<Duration>>,
    /// The turn for which all are given up, and why.
    given_up: Option<(u64, Arc<str>)>,
}

/// Says how many clusters the project has.
pub fn set_clusters(count: usize) {
    CLUSTERS.fetch_max(count, Ordering::Relaxed);
}

/// Says that further contents of that many bytes are read, because the user requested them by name.
pub fn add_bytes(count: u64) {
    MEBIBYTES.fetch_add(count >> 20, Ordering::Relaxed);
}

/// Says what this thread works on, until the result is dropped.
///
/// # Errors
/// The turn that this is a part of is given up.
pub fn enter(what: impl Into<Arc<str>>) -> Result<Work, GivenUp> {
    let mut state = STATE.lock();
    if IS_GIVEN_UP.load(Ordering::Relaxed)
        && let Some((_, reason)) = &state.given_up
    {
        return Err(GivenUp(Arc::clone(reason)));
    }
    state.works.push((thread::current().id(), what.into()));
    Ok(Work(()))
}

/// Something that a thread works on.
#[derive(Debug)]
pub struct Work(());

impl Drop for Work {
    fn drop(&mut self) {
        let (own, mut state) = (thread::current().id(), STATE.lock());
        if let Some(at) = state.works.iter().rposition(|(thread, _)| *thread == own) {
            state.works.remove(at);
        }
    }
}

/// A turn of a server has passed its budget.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct GivenUp(Arc<str>);

/// What a server does for one change or one request, with a budget of its own, until this is dropped.
#[derive(Debug)]
pub struct Turn(u64);

impl Turn {
    /// Begins a turn.
    pub fn begin() -> Self {
        let turns = &mut STATE.lock().turns;
        let number = turns.last_key_value().map_or(0, |(last, _)| last + 1);
        turns.insert(number, None);
        Self(number)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let state = &mut *STATE.lock();
        state.turns.remove(&self.0);
        if state
            .given_up
            .as_ref()
            .is_some_and(|(turn, _)| *turn == self.0)
        {
            state.given_up = None;
            IS_GIVEN_UP.store(false, Ordering::Relaxed);
        }
    }
}

/// How long the oldest turn takes, at this CPU time of the process; none where the server is idle.
pub fn longest_turn(now: Duration) -> Option<Duration> {
    let turns = &mut STATE.lock().turns;
    let begins = turns.values_mut().map(|begin| *begin.get_or_insert(now));
    begins.min().map(|begin| now.saturating_sub(begin))
}

/// Gives up the turns that go on, for this reason, each at its next [`enter`].
pub fn give_up(reason: &str) {
    let state = &mut *STATE.lock();
    if let (Some((oldest, _)), None) = (state.turns.first_key_value(), &state.given_up) {
        state.given_up = Some((*oldest, reason.into()));
        IS_GIVEN_UP.store(true, Ordering::Relaxed);
    }
}

/// Says which file is read.
pub fn set_file(path: &Path) {
    STATE.lock().file = Some(path.to_owned());
}

/// The file that was read last.
pub fn last_file() -> Option<PathBuf> {
    STATE.lock().file.clone()
}

/// What the threads work on, the part of each that it has been at longest.
pub fn works() -> Vec<Arc<str>> {
    let state = STATE.lock();
    let mut parts: Vec<(ThreadId, &Arc<str>)> = Vec::new();
    for (thread, work) in &state.works {
        parts.retain(|(known, _)| known != thread);
        parts.push((*thread, work));
    }
    parts
        .into_iter()
        .map(|(_, work)| Arc::clone(work))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Limits, add_bytes};

    #[test]
    fn contents_that_are_read_extend_the_time() {
        let before = Limits::SERVED.cpu_time();
        add_bytes(100 << 20);
        let more = Limits::SERVED.cpu_time() - before;
        assert!(more >= Duration::from_secs(3), "{more:?}");
        assert!(more < Duration::from_secs(30), "{more:?}");
    }
}

//! Reports the progress of transfers, in MiB.

use std::sync::atomic::{AtomicU64, Ordering};

use super::options::Progress;

/// The bytes between two reports.
const STEP: u64 = 1 << 20;

/// Counts the bytes of a transfer of a known size.
pub(super) struct Meter {
    progress: Option<Progress>,
    size: u64,
    done: AtomicU64,
}

impl Meter {
    pub(super) fn new(progress: Option<Progress>, size: u64) -> Self {
        Self {
            progress,
            size,
            done: AtomicU64::new(0),
        }
    }

    /// Adds bytes that were transferred. Bytes that are sent again count again, but never complete the count.
    pub(super) fn add(&self, bytes: u64) {
        let before = self.done.fetch_add(bytes, Ordering::Relaxed);
        let after = before.saturating_add(bytes);
        if after / STEP != before / STEP {
            let all = self.steps();
            self.report((after / STEP).min(all - 1), all);
        }
    }

    fn steps(&self) -> u64 {
        self.size.div_ceil(STEP).max(1)
    }

    fn report(&self, done: u64, all: u64) {
        if let Some(progress) = &self.progress {
            let count = |steps: u64| usize::try_from(steps).unwrap_or(usize::MAX);
            progress(count(done), count(all));
        }
    }
}

/// Reports the end, whether the transfer succeeded or not.
impl Drop for Meter {
    fn drop(&mut self) {
        let all = self.steps();
        self.report(all, all);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::Meter;

    #[test]
    fn each_mebibyte_is_reported_and_the_end_once() {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&reported);
        let progress = move |done, of| seen.lock().expect("held").push((done, of));
        let meter = Meter::new(Some(Arc::new(progress)), 3 << 20);
        for _ in 0..8 {
            meter.add(512 << 10);
        }
        drop(meter);
        let reported = reported.lock().expect("held").clone();
        assert_eq!(reported, [(1, 3), (2, 3), (2, 3), (2, 3), (3, 3)]);
    }
}

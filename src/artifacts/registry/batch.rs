//! Many questions at once: bounded, in order, each with its own deadline and all with one.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::oci::FailureKind;

use super::options::{Limits, Progress};
use super::session::Turn;
use super::trouble::Trouble;

/// How a batch runs.
pub(super) struct Pace {
    pub(super) batch: u64,
    pub(super) concurrency: usize,
    pub(super) limits: Limits,
    pub(super) progress: Option<Progress>,
}

/// Answers each of `wanted` by `each`, in order.
pub(super) async fn run<T, R, F>(
    wanted: Vec<T>,
    pace: Pace,
    each: impl Fn(T, Turn) -> F + Clone + Send + 'static,
) -> Vec<Result<R, Trouble>>
where
    T: Clone + Send + Sync + 'static,
    R: Send + 'static,
    F: Future<Output = Result<R, Trouble>> + Send,
{
    let total = wanted.len();
    let wanted: Arc<[T]> = wanted.into();
    let (next, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let answers: Vec<Option<Result<R, Trouble>>> = (0..total).map(|_| None).collect();
    let answers = Arc::new(Mutex::new(answers));
    let end = Instant::now() + pace.limits.batch;
    let mut workers = JoinSet::new();
    for _ in 0..pace.concurrency.clamp(1, total.max(1)) {
        let (wanted, next, done) = (Arc::clone(&wanted), Arc::clone(&next), Arc::clone(&done));
        let (answers, each) = (Arc::clone(&answers), each.clone());
        let (limits, batch, progress) = (pace.limits, pace.batch, pace.progress.clone());
        workers.spawn(async move {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = wanted.get(index).cloned() else {
                    break;
                };
                let deadline = end.min(Instant::now() + limits.request);
                let turn = Turn { batch, deadline };
                let answer = timeout_at(deadline, each(item, turn)).await;
                let answer = answer.unwrap_or_else(|_| Err(too_late(&limits, deadline == end)));
                let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
                answers[index] = Some(answer);
                drop(answers);
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                if let Some(progress) = &progress {
                    progress(done, total);
                }
            }
        });
    }
    while workers.join_next().await.is_some() {}
    let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
    let lost = || {
        Err(Trouble::new(
            FailureKind::Unreachable,
            "it was not asked for",
        ))
    };
    answers
        .drain(..)
        .map(|answer| answer.unwrap_or_else(lost))
        .collect()
}

fn too_late(limits: &Limits, is_batch: bool) -> Trouble {
    let message = match is_batch {
        true => format!("not all was answered within {:?}", limits.batch),
        false => format!(
            "it was not answered within {:?}, attempts included",
            limits.request
        ),
    };
    Trouble::new(FailureKind::Unreachable, message)
}

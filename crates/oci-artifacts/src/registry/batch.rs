//! Runs many requests at once: a bounded number of workers, results in input order, one deadline per request and one for all.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::FailureKind;

use super::error::RegistryError;
use super::options::{Limits, Progress};
use super::session::Context;

/// The settings of one batch.
pub(super) struct BatchOptions {
    pub(super) batch: u64,
    pub(super) concurrency: usize,
    pub(super) limits: Limits,
    pub(super) progress: Option<Progress>,
}

/// Runs `each` for every item, and returns the results in the order of `items`.
pub(super) async fn run<T, R, F>(
    items: Vec<T>,
    options: BatchOptions,
    each: impl Fn(T, Context) -> F + Clone + Send + 'static,
) -> Vec<Result<R, RegistryError>>
where
    T: Clone + Send + Sync + 'static,
    R: Send + 'static,
    F: Future<Output = Result<R, RegistryError>> + Send,
{
    let total = items.len();
    let items: Arc<[T]> = items.into();
    let (next, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let answers: Vec<Option<Result<R, RegistryError>>> = (0..total).map(|_| None).collect();
    let answers = Arc::new(Mutex::new(answers));
    let end = Instant::now() + options.limits.batch;
    let mut workers = JoinSet::new();
    for _ in 0..options.concurrency.clamp(1, total.max(1)) {
        let (items, next, done) = (Arc::clone(&items), Arc::clone(&next), Arc::clone(&done));
        let (answers, each) = (Arc::clone(&answers), each.clone());
        let (limits, batch, progress) = (options.limits, options.batch, options.progress.clone());
        workers.spawn(async move {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index).cloned() else {
                    break;
                };
                let deadline = end.min(Instant::now() + limits.request);
                let context = Context { batch, deadline };
                let answer = timeout_at(deadline, each(item, context))
                    .await
                    .unwrap_or_else(|_| Err(timeout_error(&limits, deadline == end)));
                let mut answers = answers.lock();
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
    let mut answers = answers.lock();
    let lost = || {
        Err(RegistryError::new(
            FailureKind::Unreachable,
            "it was not requested",
        ))
    };
    answers
        .drain(..)
        .map(|answer| answer.unwrap_or_else(lost))
        .collect()
}

fn timeout_error(limits: &Limits, is_batch: bool) -> RegistryError {
    let message = if is_batch {
        format!("the requests did not all finish within {:?}", limits.batch)
    } else {
        format!(
            "it was not answered within {:?}, retries included",
            limits.request
        )
    };
    RegistryError::new(FailureKind::Unreachable, message)
}

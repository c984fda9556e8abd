//! The client of OCI registries: the only module that opens network connections.
//!
//! A manifest costs one request: the first answer of a registry shows which authentication it requires, and one token per
//! repository is fetched where it requires tokens. `oci-client` sends two requests for each manifest and never retries after
//! an error, so this client uses `reqwest` directly.
//!
//! Credentials are sent only to the host that they belong to, and are neither printed nor stored. The runtime, TLS and
//! connections are set up at the first request.

mod authorization;
mod batch;
mod body;
mod challenge;
mod clients;
mod content;
mod copy;
mod credentials;
mod document;
mod endpoint;
mod error;
mod lists;
mod meter;
mod options;
mod program;
mod push;
mod repository;
mod request;
mod retry;
mod session;
mod sink;
mod token;
mod transport;
mod trust;

use std::future::Future;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout_at};

use crate::{Descriptor, Digest, Failure, FailureKind, Manifest, Reference, SCHEME, Store};

use batch::BatchOptions;
pub use credentials::Environment;
use error::RegistryError;
pub use options::{Limits, Progress, RegistryOptions};
pub use program::find_program;
use repository::Repository;
use session::{Context, Sessions};

const MISSING: &str = "check the names of the repository and the tag; some registries answer this to users \
                       without read permission";

/// The client for all registries. Do not use it within an asynchronous runtime: it has its own.
pub struct Registries {
    options: RegistryOptions,
    sessions: Arc<Sessions>,
    runtime: OnceLock<Option<Runtime>>,
    batches: AtomicU64,
}

impl Registries {
    /// Creates a client; sends nothing.
    pub fn new(options: RegistryOptions) -> Self {
        let clients = clients::Clients::new(options.settings.clone(), options.limits);
        let transport = transport::Transport::new(clients, options.limits);
        let known =
            credentials::Credentials::new(options.environment.clone(), options.limits.helper);
        Self {
            options,
            sessions: Arc::new(Sessions::new(transport, known)),
            runtime: OnceLock::new(),
            batches: AtomicU64::new(0),
        }
    }

    /// Runs `each` for every item; reports progress if `reports`.
    fn batch<T, R, F>(
        &self,
        items: Vec<T>,
        reports: bool,
        each: impl Fn(Arc<Sessions>, T, Context) -> F + Clone + Send + 'static,
    ) -> Vec<Result<R, RegistryError>>
    where
        T: Clone + Send + Sync + 'static,
        R: Send + 'static,
        F: Future<Output = Result<R, RegistryError>> + Send,
    {
        self.batch_within(self.options.limits, items, reports, each)
    }

    fn next_batch(&self) -> u64 {
        self.batches.fetch_add(1, Ordering::Relaxed)
    }

    fn batch_within<T, R, F>(
        &self,
        limits: Limits,
        items: Vec<T>,
        reports: bool,
        each: impl Fn(Arc<Sessions>, T, Context) -> F + Clone + Send + 'static,
    ) -> Vec<Result<R, RegistryError>>
    where
        T: Clone + Send + Sync + 'static,
        R: Send + 'static,
        F: Future<Output = Result<R, RegistryError>> + Send,
    {
        let Some(runtime) = self.runtime() else {
            return items.into_iter().map(|_| Err(no_threads())).collect();
        };
        let options = BatchOptions {
            batch: self.next_batch(),
            concurrency: self.options.settings.concurrency,
            limits,
            progress: self.options.progress.clone().filter(|_| reports),
        };
        let sessions = Arc::clone(&self.sessions);
        let each = move |item, context| each(Arc::clone(&sessions), item, context);
        runtime.block_on(batch::run(items, options, each))
    }

    /// Runs one request, which has to end in time.
    fn run_one<R>(
        &self,
        limit: Duration,
        request: impl AsyncFnOnce(Context) -> Result<R, RegistryError>,
    ) -> Result<R, RegistryError> {
        let runtime = self.runtime().ok_or_else(no_threads)?;
        runtime.block_on(async {
            let context = Context {
                batch: self.next_batch(),
                deadline: Instant::now() + limit,
            };
            let answer = timeout_at(context.deadline, request(context)).await;
            answer.unwrap_or_else(|_| {
                let message = format!("it was not sent within {limit:?}");
                Err(RegistryError::new(FailureKind::Unreachable, message))
            })
        })
    }

    fn runtime(&self) -> Option<&Runtime> {
        let make = || {
            Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .ok()
        };
        self.runtime.get_or_init(make).as_ref()
    }

    fn tags_of(
        &self,
        repositories: Vec<Reference>,
        reports: bool,
    ) -> Vec<Result<Vec<String>, RegistryError>> {
        self.batch(
            repositories,
            reports,
            |sessions, of: Reference, context| async move {
                lists::tags(&Repository::for_pull(&sessions, &of, context)).await
            },
        )
    }

    /// Fetches the text at a web address, without credentials.
    ///
    /// # Errors
    /// The address is invalid, or the request fails. The message does not contain the parts of the address that may be secret.
    pub fn page(&self, address: &str) -> Result<String, Failure> {
        let mut answers = self.pages(vec![address.to_owned()]);
        answers.pop().unwrap_or_else(|| Ok(String::new()))
    }

    /// Fetches the texts at several web addresses, in their order.
    pub fn pages(&self, addresses: Vec<String>) -> Vec<Result<String, Failure>> {
        let each = |sessions: Arc<Sessions>, address: String, context| async move {
            document::text(&sessions, &address, context).await
        };
        let answers = self.batch(addresses.clone(), false, each);
        let pairs = addresses.iter().zip(answers);
        let failure = |(address, answer): (&String, Result<String, RegistryError>)| {
            answer.map_err(|error| error.failure(&document::display_url(address)))
        };
        pairs.map(failure).collect()
    }

    fn repositories_of(&self, hosts: Vec<Reference>) -> Vec<Result<Vec<String>, RegistryError>> {
        self.batch(
            hosts,
            false,
            |sessions, of: Reference, context| async move {
                lists::repositories(Repository::for_pull(&sessions, &of, context)).await
            },
        )
    }
}

impl Store for Registries {
    fn manifests(&self, references: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        let each = |sessions: Arc<Sessions>, reference: Reference, context| async move {
            let repository = Repository::for_pull(&sessions, &reference, context);
            content::manifest(&repository, &reference).await
        };
        let answers = self.batch(references.to_vec(), true, each);
        let pairs = references.iter().zip(answers);
        pairs
            .map(|(reference, answer)| for_reference(advise(answer), reference))
            .collect()
    }

    fn blobs(
        &self,
        blobs: &[(Reference, Descriptor)],
        limit: u64,
    ) -> Vec<Result<Vec<u8>, Failure>> {
        type Item = (Reference, Descriptor);
        let each = move |sessions: Arc<Sessions>, (reference, descriptor): Item, context| async move {
            let repository = Repository::for_pull(&sessions, &reference, context);
            content::blob(&repository, &descriptor, limit).await
        };
        let answers = self.batch(blobs.to_vec(), true, each);
        let pairs = blobs.iter().zip(answers);
        pairs
            .map(|((reference, _), answer)| for_reference(answer, reference))
            .collect()
    }

    /// Uses bounded memory, whatever the length of the blob.
    fn copy(
        &self,
        of: &Reference,
        blob: &Descriptor,
        into: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        self.copy_blob(of, blob, into)
    }

    /// Sends one request for each blob, for its first byte.
    fn sizes(&self, blobs: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>> {
        type Item = (Reference, Digest);
        let each = |sessions: Arc<Sessions>, (reference, digest): Item, context| async move {
            let repository = Repository::for_pull(&sessions, &reference, context);
            content::size(&repository, &digest).await.map(Some)
        };
        let answers = self.batch(blobs.to_vec(), true, each);
        let pairs = blobs.iter().zip(answers);
        pairs
            .map(|((reference, digest), answer)| {
                for_reference(answer, &reference.with_digest(digest))
            })
            .collect()
    }

    fn referrers(&self, subjects: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>> {
        type Item = (Reference, Digest);
        let each = |sessions: Arc<Sessions>, (reference, digest): Item, context| async move {
            let repository = Repository::for_pull(&sessions, &reference, context);
            lists::referrers(&repository, &reference, &digest).await
        };
        let answers = self.batch(subjects.to_vec(), true, each);
        let pairs = subjects.iter().zip(answers);
        pairs
            .map(|((reference, _), answer)| for_reference(answer, reference))
            .collect()
    }

    fn tags(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        let answer = self.tags_of(vec![of.clone()], false).pop();
        let answer = answer.unwrap_or_else(|| Ok(Vec::new()));
        advise(answer).map_err(|error| error.failure(&format!("{SCHEME}{}", of.name())))
    }

    fn tag_lists(&self, of: &[Reference]) -> Vec<Result<Vec<String>, Failure>> {
        let answers = self.tags_of(of.to_vec(), true);
        let pairs = of.iter().zip(answers);
        pairs
            .map(|(of, answer)| {
                answer.map_err(|error| error.failure(&format!("{SCHEME}{}", of.name())))
            })
            .collect()
    }

    fn repositories(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        let answer = self.repositories_of(vec![of.clone()]).pop();
        let answer = answer.unwrap_or_else(|| Ok(Vec::new()));
        answer.map_err(|error| error.failure(&format!("{SCHEME}{}", of.registry)))
    }
}

fn no_threads() -> RegistryError {
    RegistryError::new(FailureKind::Unreachable, "the system provides no threads")
}

/// Adds what to do about an answer of 404.
fn advise<R>(answer: Result<R, RegistryError>) -> Result<R, RegistryError> {
    answer.map_err(|error| match error.kind {
        FailureKind::NotFound => error.help(MISSING),
        _ => error,
    })
}

fn for_reference<R>(answer: Result<R, RegistryError>, reference: &Reference) -> Result<R, Failure> {
    answer.map_err(|error| {
        let error = match reference.spelling_help() {
            Some(help) if error.kind == FailureKind::NotFound => error.help(help),
            _ => error,
        };
        error.failure(&reference.to_string())
    })
}

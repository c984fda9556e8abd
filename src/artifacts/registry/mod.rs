//! Artifacts in OCI registries over the network: the only module that opens connections.
//!
//! Every manifest costs one request; a registry's first answer tells what proof it wants, and one token a repository is
//! bought where it wants tokens. Nothing is asked beforehand. `oci-client` asks twice for each manifest and never again after
//! an error, so the questions are put by `reqwest` here.
//!
//! Credentials go to the host that they are for and to no other one; nothing here prints or stores them. No connection is
//! opened, and neither runtime nor TLS is set up, before the first question.

mod batch;
mod body;
mod challenge;
mod clients;
mod content;
mod copy;
mod credentials;
mod lists;
mod meter;
mod near;
mod options;
mod page;
mod proof;
mod push;
mod question;
mod retry;
mod session;
mod sink;
mod site;
mod token;
mod trouble;
mod wire;

use std::future::Future;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};

use crate::oci::{Descriptor, Digest, Failure, FailureKind, Manifest, Reference, SCHEME, Store};

use batch::Pace;
pub use credentials::Environment;
pub use options::{Limits, Options, Progress};
use session::{Sessions, Turn};
use trouble::Trouble;

/// The registries of the world. Not to be used from within an asynchronous runtime: it has its own.
pub struct Registries {
    options: Options,
    sessions: Arc<Sessions>,
    runtime: OnceLock<Option<Runtime>>,
    batches: AtomicU64,
}

impl Registries {
    /// Nothing is asked yet.
    pub fn new(options: Options) -> Self {
        let clients = clients::Clients::new(options.settings.clone(), options.limits);
        let wire = wire::Wire::new(clients, options.limits);
        let known =
            credentials::Credentials::new(options.environment.clone(), options.limits.helper);
        Self {
            options,
            sessions: Arc::new(Sessions::new(wire, known)),
            runtime: OnceLock::new(),
            batches: AtomicU64::new(0),
        }
    }

    /// Runs a batch, told to whoever asked for progress.
    fn batch<T, R, F>(
        &self,
        wanted: Vec<T>,
        is_told: bool,
        each: impl Fn(Arc<Sessions>, T, Turn) -> F + Clone + Send + 'static,
    ) -> Vec<Result<R, Trouble>>
    where
        T: Clone + Send + Sync + 'static,
        R: Send + 'static,
        F: Future<Output = Result<R, Trouble>> + Send,
    {
        self.batch_within(self.options.limits, wanted, is_told, each)
    }

    fn next_batch(&self) -> u64 {
        self.batches.fetch_add(1, Ordering::Relaxed)
    }

    fn batch_within<T, R, F>(
        &self,
        limits: Limits,
        wanted: Vec<T>,
        is_told: bool,
        each: impl Fn(Arc<Sessions>, T, Turn) -> F + Clone + Send + 'static,
    ) -> Vec<Result<R, Trouble>>
    where
        T: Clone + Send + Sync + 'static,
        R: Send + 'static,
        F: Future<Output = Result<R, Trouble>> + Send,
    {
        let Some(runtime) = self.runtime() else {
            let none = |_| {
                Err(Trouble::new(
                    FailureKind::Unreachable,
                    "the system gives no threads",
                ))
            };
            return wanted.into_iter().map(none).collect();
        };
        let pace = Pace {
            batch: self.next_batch(),
            concurrency: self.options.settings.concurrency,
            limits,
            progress: self.options.progress.clone().filter(|_| is_told),
        };
        let sessions = Arc::clone(&self.sessions);
        let each = move |item, turn| each(Arc::clone(&sessions), item, turn);
        runtime.block_on(batch::run(wanted, pace, each))
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

    fn tags_of(&self, wanted: Vec<Reference>) -> Vec<Result<Vec<String>, Trouble>> {
        self.batch(wanted, false, |sessions, of: Reference, turn| async move {
            lists::tags(&sessions, &of, turn).await
        })
    }

    /// The text at an address of the web, asked for without credentials.
    ///
    /// # Errors
    /// It is no address, or cannot be had; the address is told without what may be secret in it.
    pub fn page(&self, address: &str) -> Result<String, Failure> {
        let mut answers = self.pages(vec![address.to_owned()]);
        answers.pop().unwrap_or_else(|| Ok(String::new()))
    }

    /// The texts at several addresses of the web, in their order.
    pub fn pages(&self, addresses: Vec<String>) -> Vec<Result<String, Failure>> {
        let each = |sessions: Arc<Sessions>, address: String, turn| async move {
            page::text(&sessions, &address, turn).await
        };
        let answers = self.batch(addresses.clone(), false, each);
        let pairs = addresses.iter().zip(answers);
        let failure = |(address, answer): (&String, Result<String, Trouble>)| {
            answer.map_err(|trouble| trouble.failure(&page::shown(address)))
        };
        pairs.map(failure).collect()
    }

    fn repositories_of(&self, wanted: Vec<Reference>) -> Vec<Result<Vec<String>, Trouble>> {
        self.batch(wanted, false, |sessions, of: Reference, turn| async move {
            lists::repositories(&sessions, &of, turn).await
        })
    }
}

impl Store for Registries {
    fn manifests(&self, wanted: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        let each = |sessions: Arc<Sessions>, reference: Reference, turn| async move {
            content::manifest(&sessions, &reference, turn).await
        };
        let mut answers = self.batch(wanted.to_vec(), true, each);
        near::advise(self, wanted, &mut answers);
        let pairs = wanted.iter().zip(answers);
        pairs
            .map(|(reference, answer)| told(answer, reference))
            .collect()
    }

    fn blobs(
        &self,
        wanted: &[(Reference, Descriptor)],
        limit: u64,
    ) -> Vec<Result<Vec<u8>, Failure>> {
        type Wanted = (Reference, Descriptor);
        let each = move |sessions: Arc<Sessions>, (reference, descriptor): Wanted, turn| async move {
            content::blob(&sessions, &reference, &descriptor, limit, turn).await
        };
        let answers = self.batch(wanted.to_vec(), true, each);
        let pairs = wanted.iter().zip(answers);
        pairs
            .map(|((reference, _), answer)| told(answer, reference))
            .collect()
    }

    /// Bounded memory, whatever its length.
    fn copy(
        &self,
        of: &Reference,
        blob: &Descriptor,
        into: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        self.copied(of, blob, into)
    }

    /// One request each, for the first byte.
    fn sizes(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>> {
        type Wanted = (Reference, Digest);
        let each = |sessions: Arc<Sessions>, (reference, digest): Wanted, turn| async move {
            let size = content::size(&sessions, &reference, &digest, turn).await;
            size.map(Some)
        };
        let answers = self.batch(wanted.to_vec(), true, each);
        let pairs = wanted.iter().zip(answers);
        pairs
            .map(|((reference, digest), answer)| told(answer, &reference.at(digest)))
            .collect()
    }

    fn referrers(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>> {
        type Wanted = (Reference, Digest);
        let each = |sessions: Arc<Sessions>, (reference, digest): Wanted, turn| async move {
            lists::referrers(&sessions, &reference, &digest, turn).await
        };
        let answers = self.batch(wanted.to_vec(), true, each);
        let pairs = wanted.iter().zip(answers);
        pairs
            .map(|((reference, _), answer)| told(answer, reference))
            .collect()
    }

    fn tags(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        let answer = self.tags_of(vec![of.clone()]).pop();
        let mut answer = [answer.unwrap_or_else(|| Ok(Vec::new()))];
        near::advise_repository(self, of, &mut answer[0]);
        let [answer] = answer;
        answer.map_err(|trouble| trouble.failure(&format!("{SCHEME}{}", of.name())))
    }

    fn tag_lists(&self, of: &[Reference]) -> Vec<Result<Vec<String>, Failure>> {
        let each = |sessions: Arc<Sessions>, of: Reference, turn| async move {
            lists::tags(&sessions, &of, turn).await
        };
        let answers = self.batch(of.to_vec(), true, each);
        let pairs = of.iter().zip(answers);
        pairs
            .map(|(of, answer)| {
                answer.map_err(|trouble| trouble.failure(&format!("{SCHEME}{}", of.name())))
            })
            .collect()
    }

    fn repositories(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        let answer = self.repositories_of(vec![of.clone()]).pop();
        let answer = answer.unwrap_or_else(|| Ok(Vec::new()));
        answer.map_err(|trouble| trouble.failure(&format!("{SCHEME}{}", of.registry)))
    }
}

fn told<R>(answer: Result<R, Trouble>, reference: &Reference) -> Result<R, Failure> {
    answer.map_err(|trouble| trouble.failure(&reference.to_string()))
}

//! What the client is told before it asks: hosts, limits, whom to tell how far it is.

use std::sync::Arc;
use std::time::Duration;

use crate::model::registries::RegistrySettings;

use super::credentials::Environment;

/// What the client is told.
#[derive(Clone)]
pub struct Options {
    /// Which registries are special, and how many requests are under way at once. Mirrors are not its affair.
    pub settings: RegistrySettings,
    /// How long it waits and how often it asks.
    pub limits: Limits,
    /// Where credentials are looked for.
    pub environment: Environment,
    /// Told after each answer of a batch.
    pub progress: Option<Progress>,
}

/// Told how many of a batch are done, and how many there are. Called from several threads.
pub type Progress = Arc<dyn Fn(usize, usize) + Send + Sync>;

/// How long the client waits and how often it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a connection.
    pub connect: Duration,
    /// For the next bytes.
    pub read: Duration,
    /// For one thing wanted, with its redirects, tokens, pages and retries.
    pub request: Duration,
    /// For a whole batch.
    pub batch: Duration,
    /// How often a request that may yet succeed is sent again.
    pub retries: u32,
    /// The most bytes of a blob that are sent by one request, at first.
    pub piece: u64,
    /// Before it is sent again the first time; twice as long each further time.
    pub first_pause: Duration,
    /// The longest pause, whatever `Retry-After` asks for.
    pub longest_pause: Duration,
    /// For a credential helper's answer.
    pub helper: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(30),
            request: Duration::from_secs(180),
            batch: Duration::from_secs(1800),
            retries: 4,
            piece: 64 << 20,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(60),
            helper: Duration::from_secs(30),
        }
    }
}

impl Options {
    /// The usual limits, and credentials where this process's environment says they are.
    pub fn new(settings: RegistrySettings) -> Self {
        Self {
            settings,
            limits: Limits::default(),
            environment: Environment::of_process(),
            progress: None,
        }
    }
}

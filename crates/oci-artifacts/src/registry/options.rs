//! The client's options: hosts, limits, and a callback for progress.

use std::sync::Arc;
use std::time::Duration;

use crate::registries::RegistrySettings;

use super::credentials::Environment;

/// The client's options.
#[derive(Clone)]
pub struct RegistryOptions {
    /// The settings of hosts, and how many requests run at once. Mirrors are resolved elsewhere.
    pub settings: RegistrySettings,
    /// Timeouts and retries.
    pub limits: Limits,
    /// Where credentials are searched.
    pub environment: Environment,
    /// Called after each answer of a batch.
    pub progress: Option<Progress>,
}

/// Receives how many items of a batch are done, and how many there are. Called from several threads.
pub type Progress = Arc<dyn Fn(usize, usize) + Send + Sync>;

/// Timeouts and retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To connect.
    pub connect: Duration,
    /// Between two reads from a connection.
    pub read: Duration,
    /// For one item of a batch, with its redirects, tokens, pages and retries.
    pub request: Duration,
    /// For a whole batch.
    pub batch: Duration,
    /// How often a failed request is sent again.
    pub retries: u32,
    /// The most bytes of a blob in one request of an upload, at first.
    pub piece: u64,
    /// The pause before the first retry; it doubles for each further one.
    pub first_pause: Duration,
    /// The longest pause, even if `Retry-After` requests more.
    pub longest_pause: Duration,
    /// For a credential helper.
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

impl RegistryOptions {
    /// The default limits, and credentials from where this process's environment locates them.
    pub fn new(settings: RegistrySettings) -> Self {
        Self {
            settings,
            limits: Limits::default(),
            environment: Environment::from_process(),
            progress: None,
        }
    }
}

//! Why an artifact could not be had, in words that tell what to do.

use std::fmt;

/// One thing wanted of a store and not had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was wanted: a reference, a repository, a file.
    pub wanted: String,
    /// The sort of failure, for those who act on it.
    pub kind: FailureKind,
    /// What happened, in one clause: who answered what.
    pub message: String,
    /// What to do, each an imperative.
    pub help: Vec<String>,
}

/// The sorts of failure that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// The store answered that it has no such thing.
    NotFound,
    /// The store wants other credentials, or forbids it (401, 403).
    Denied,
    /// What came is not what its digest, size or media type promised.
    Corrupt,
    /// What came, or was promised, is larger than the limit.
    TooLarge,
    /// The store answered something else, or nothing: a status, DNS, TLS, a time-out.
    Unreachable,
    /// What is wanted cannot be asked of this store: a reference without a registry, a list that it does not offer.
    Unsupported,
}

impl Failure {
    /// A failure without advice yet.
    pub fn new(wanted: impl fmt::Display, kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            wanted: wanted.to_string(),
            kind,
            message: message.into(),
            help: Vec::new(),
        }
    }

    /// Adds an imperative.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// `oci://…: what happened`, then a line of help each.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.wanted, self.message)?;
        self.help
            .iter()
            .try_for_each(|help| write!(f, "\n  help: {help}"))
    }
}

//! One repository of a registry, with what its requests have in common: session, access, batch and deadline.

use reqwest::Url;

use crate::{FailureKind, Reference};

use super::endpoint::Endpoint;
use super::error::{RegistryError, authority};
use super::request::{Answer, Request};
use super::session::{Context, Sessions};

/// A repository, for the requests of one batch.
pub(super) struct Repository<'a> {
    pub(super) sessions: &'a Sessions,
    pub(super) endpoint: Endpoint,
    pub(super) context: Context,
}

impl<'a> Repository<'a> {
    /// The repository of a reference, to be read.
    pub(super) fn for_pull(sessions: &'a Sessions, of: &Reference, context: Context) -> Self {
        let endpoint = Endpoint::for_pull(of);
        Self {
            sessions,
            endpoint,
            context,
        }
    }

    /// The same, with the credentials and scope for a push.
    pub(super) fn for_push(sessions: &'a Sessions, of: &Reference, context: Context) -> Self {
        let endpoint = Endpoint::for_push(of);
        Self {
            sessions,
            endpoint,
            context,
        }
    }

    /// The address of a path below the repository.
    pub(super) fn url(&self, path: &str) -> Result<Url, RegistryError> {
        let path = format!("{}/{path}", self.endpoint.repository);
        self.sessions.url(&self.endpoint, &path)
    }

    /// A GET of an address, with the deadline of the batch.
    pub(super) fn request(&self, url: Url) -> Request {
        Request::get(url, self.context.deadline)
    }

    /// Sends a request with the authentication that the registry requires. 401 and 403 are errors; the caller judges every
    /// other status.
    pub(super) async fn get(&self, request: Request) -> Result<Answer, RegistryError> {
        self.sessions
            .get(&self.endpoint, request, self.context)
            .await
    }

    /// The error for an answer to an upload that is not a success.
    pub(super) async fn refusal(&self, answer: &Answer, action: &str) -> RegistryError {
        let host = authority(&answer.url);
        let reason = self.sessions.reason(answer, &self.endpoint).await;
        let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
        let status = answer.status;
        let message = format!("`{host}` answered {status}{reason} when {action}");
        match status {
            404 => RegistryError::new(FailureKind::NotFound, message)
                .help("check the repository's name; in some registries a repository must be created before the first push"),
            413 => RegistryError::new(FailureKind::TooLarge, message)
                .help("have the operator of the registry, or of a proxy before it, allow larger requests"),
            429 => RegistryError::new(FailureKind::Unreachable, message)
                .help("try later, or send fewer requests at once: `registries: {concurrency: 1}`"),
            _ => RegistryError::new(FailureKind::Unreachable, message),
        }
    }
}

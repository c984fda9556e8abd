//! Uploads a blob: in one request, or in chunks if it is large or the registry accepts no more at once. An interrupted upload
//! resumes where the registry reports that it stopped, or starts over.
//!
//! Source: distribution-spec 1.1, "Pushing blobs".

use std::time::Duration;

use reqwest::Url;
use tokio::time::{Instant, sleep};

use crate::FailureKind;

use super::super::body::Source;
use super::super::endpoint::Endpoint;
use super::super::error::{RegistryError, authority};
use super::super::repository::Repository;
use super::super::request::{Answer, Operation};
use super::super::retry;
use super::{check_digest, request, send};

/// The chunk size for a registry that refused a larger one, in bytes.
const SMALL: u64 = 8 << 20;

/// How a blob is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// By one request.
    Whole,
    /// By requests of at most this many bytes.
    Chunks(u64),
}

/// Why a blob was not sent, and what may help.
struct UploadError {
    error: RegistryError,
    recovery: Recovery,
}

#[derive(Clone, Copy)]
enum Recovery {
    GiveUp,
    /// Start over, not before this time has passed.
    Retry(Option<Duration>),
    /// Send less at once.
    Smaller,
    /// Send all at once: the registry does not support chunks.
    Whole,
}

impl From<RegistryError> for UploadError {
    fn from(error: RegistryError) -> Self {
        let recovery = if error.retryable {
            Recovery::Retry(None)
        } else {
            Recovery::GiveUp
        };
        Self { error, recovery }
    }
}

/// An upload that was started, and the address where it continues.
struct Upload<'a> {
    repository: &'a Repository<'a>,
    source: &'a Source,
    url: Url,
}

/// Sends a blob, with retries.
pub(super) async fn whole(
    repository: &Repository<'_>,
    source: &Source,
) -> Result<(), RegistryError> {
    let limits = &repository.sessions.transport.limits;
    let mut mode = if source.descriptor().size > limits.piece {
        Mode::Chunks(limits.piece)
    } else {
        Mode::Whole
    };
    let (mut attempt, mut refused_chunks) = (0, false);
    loop {
        let Err(stop) = once(repository, source, mode).await else {
            return Ok(());
        };
        let UploadError { error, recovery } = stop;
        if source.fault().is_some() {
            return Err(error);
        }
        match (recovery, mode) {
            (Recovery::Retry(requested), _) if attempt < limits.retries => {
                let pause = retry::pause(limits, attempt, requested);
                if Instant::now() + pause >= repository.context.deadline {
                    return Err(error);
                }
                attempt += 1;
                sleep(pause).await;
            }
            (Recovery::Smaller, Mode::Whole) if !refused_chunks => mode = Mode::Chunks(SMALL),
            (Recovery::Smaller, Mode::Chunks(size)) if size > SMALL => mode = Mode::Chunks(SMALL),
            (Recovery::Whole, Mode::Chunks(_)) if !refused_chunks => {
                (mode, refused_chunks) = (Mode::Whole, true);
            }
            _ => return Err(error),
        }
    }
}

/// One upload from its start.
async fn once(repository: &Repository<'_>, source: &Source, mode: Mode) -> Result<(), UploadError> {
    let answer = send(repository, "blobs/uploads/", Operation::Begin).await?;
    if !matches!(answer.status, 200..=202) {
        let refusal = repository.refusal(&answer, "starting an upload").await;
        return Err(refusal.into());
    }
    let smallest = answer
        .header("oci-chunk-min-length")
        .and_then(|length| length.parse().ok());
    let mut upload = Upload {
        repository,
        source,
        url: continuation(&answer, &repository.endpoint)?,
    };
    let size = source.descriptor().size;
    match mode {
        Mode::Whole => {
            upload
                .finish(Operation::Finish(Some(source.piece(0, size))))
                .await
        }
        Mode::Chunks(size) => {
            let size = size.max(smallest.unwrap_or_default()).max(1);
            upload.chunks(size).await?;
            upload.finish(Operation::Finish(None)).await
        }
    }
}

impl Upload<'_> {
    /// Sends all chunks but does not complete the upload.
    async fn chunks(&mut self, chunk: u64) -> Result<(), UploadError> {
        let limits = &self.repository.sessions.transport.limits;
        let size = self.source.descriptor().size;
        let (mut at, mut attempt) = (0, 0);
        while at < size {
            let to = size.min(at.saturating_add(chunk));
            let stop = match self.chunk(at, to).await {
                Ok(next) if next > at && next <= to => {
                    (at, attempt) = (next, 0);
                    continue;
                }
                Ok(_) => return Err(self.wrong_range().into()),
                Err(stop) => stop,
            };
            let Recovery::Retry(requested) = stop.recovery else {
                return Err(stop);
            };
            if attempt == limits.retries || self.source.fault().is_some() {
                return Err(stop);
            }
            sleep(retry::pause(limits, attempt, requested)).await;
            attempt += 1;
            // A registry that does not report how much it has gets all of it again.
            let Some(known) = self.query_progress().await.filter(|known| *known <= size) else {
                return Err(stop);
            };
            at = known;
        }
        Ok(())
    }

    /// Sends one chunk, and returns how many bytes the registry has afterwards.
    async fn chunk(&mut self, from: u64, to: u64) -> Result<u64, UploadError> {
        let operation = Operation::Append(self.source.piece(from, to));
        let answer = self.send(operation).await?;
        match answer.status {
            200..=202 | 204 => {
                self.url = continuation(&answer, &self.repository.endpoint)?;
                Ok(parse_progress(&answer).unwrap_or(to))
            }
            400 | 404 | 405 | 411 | 415 | 501 if from == 0 => Err(UploadError {
                error: self.refusal(&answer).await,
                recovery: Recovery::Whole,
            }),
            _ => Err(self.error(&answer).await),
        }
    }

    /// How many bytes the registry reports that it has; none if it does not report it.
    async fn query_progress(&mut self) -> Option<u64> {
        let answer = self.send(Operation::Get).await.ok()?;
        if !matches!(answer.status, 200..=204) {
            return None;
        }
        let received = parse_progress(&answer)?;
        self.url =
            continuation(&answer, &self.repository.endpoint).unwrap_or_else(|_| self.url.clone());
        Some(received)
    }

    /// Completes the upload; the last request may carry all bytes.
    async fn finish(&mut self, operation: Operation) -> Result<(), UploadError> {
        let digest = &self.source.descriptor().digest;
        self.url
            .query_pairs_mut()
            .append_pair("digest", digest.as_str());
        let answer = self.send(operation).await?;
        match answer.status {
            200..=204 => Ok(check_digest(&answer, digest)?),
            _ => Err(self.error(&answer).await),
        }
    }

    /// Sends a request to the address where the upload continues. Another host gets no credentials.
    async fn send(&self, operation: Operation) -> Result<Answer, RegistryError> {
        let request = request(self.repository, self.url.clone(), operation);
        let own = self.repository.url("")?;
        if self.url.origin() == own.origin() {
            self.repository.get(request).await
        } else {
            let transport = &self.repository.sessions.transport;
            transport.execute(&request, None).await
        }
    }

    async fn error(&self, answer: &Answer) -> UploadError {
        let recovery = match answer.status {
            // The registry no longer knows the upload, or has other bytes of it.
            404 | 409 | 410 | 416 => Recovery::Retry(None),
            413 => Recovery::Smaller,
            status if retry::may_change(status) => Recovery::Retry(retry::delay(&answer.headers)),
            _ => Recovery::GiveUp,
        };
        let error = self.refusal(answer).await;
        UploadError { error, recovery }
    }

    async fn refusal(&self, answer: &Answer) -> RegistryError {
        let digest = &self.source.descriptor().digest;
        let action = format!("uploading blob `{digest}`");
        self.repository.refusal(answer, &action).await
    }

    fn wrong_range(&self) -> RegistryError {
        let host = authority(&self.url);
        let message = format!("`{host}` reports other bytes of the upload than were sent");
        RegistryError::new(FailureKind::Corrupt, message)
    }
}

/// The address where an upload continues: a URL, or a path of the registry. A registry behind a proxy that terminates TLS may
/// return `http`, which becomes `https` again.
fn continuation(answer: &Answer, endpoint: &Endpoint) -> Result<Url, RegistryError> {
    let location = answer.header("location").unwrap_or_default();
    let found = if location.is_empty() {
        None
    } else {
        answer.url.join(location).ok()
    };
    let found = found.filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(mut url) = found else {
        let message = format!(
            "`{}` started an upload but did not return its address",
            endpoint.registry
        );
        return Err(RegistryError::new(FailureKind::Unreachable, message));
    };
    let same_host = authority(&url) == authority(&answer.url);
    if same_host && answer.url.scheme() == "https" && url.scheme() == "http" {
        let _ = url.set_scheme("https");
    }
    // Credentials in the address are the server's invention: they are not sent.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    Ok(url)
}

/// How many bytes a registry has, from `Range: 0-LAST`. Registries write `0-0` for none.
fn parse_progress(answer: &Answer) -> Option<u64> {
    let range = answer.header("range")?;
    let range = range.strip_prefix("bytes=").unwrap_or(range);
    let (first, last) = range.split_once('-')?;
    let last: u64 = last.trim().parse().ok()?;
    (first.trim() == "0").then(|| if last == 0 { 0 } else { last.saturating_add(1) })
}

//! Copies blobs of any length: written as they arrive, resumed where the connection broke, and verified at the end.

use std::io::Write;

use reqwest::Response;
use tokio::time::{Instant, sleep};

use crate::{Descriptor, Digesting, FailureKind};

use super::content;
use super::error::{self, RegistryError, authority};
use super::meter::Meter;
use super::options::Limits;
use super::repository::Repository;
use super::request::{Answer, ByteRange, Request};
use super::retry;

/// Copies a blob into a writer. The caller must discard what was written if this fails.
pub(super) async fn blob(
    repository: &Repository<'_>,
    blob: &Descriptor,
    into: &mut (dyn Write + Send),
    meter: &Meter,
) -> Result<(), RegistryError> {
    let whole = content::blob_request(repository, &blob.digest)?;
    let limits = &repository.sessions.transport.limits;
    let mut into = Digesting::like(&blob.digest, into);
    let mut attempt = 0;
    // An empty blob needs no request.
    while into.byte_count() < blob.size {
        let from = into.byte_count();
        let request = Request {
            range: ByteRange::From(from),
            limit: 0,
            ..whole.clone()
        };
        let answer = repository.get(request).await;
        let outcome = match answer.and_then(content::require_success) {
            Ok(answer) => append(answer, limits, blob, &mut into, meter).await,
            Err(error) => Err(error),
        };
        let Err(error) = outcome else {
            continue;
        };
        if into.byte_count() > from {
            attempt = 0;
        }
        let pause = retry::pause(limits, attempt, None);
        let is_late = Instant::now() + pause >= whole.deadline;
        if !error.retryable || attempt == limits.retries || is_late {
            return Err(error);
        }
        attempt += 1;
        sleep(pause).await;
    }
    let digest = into.finish().digest;
    if digest == blob.digest {
        Ok(())
    } else {
        let message = format!(
            "`{}` sent {} bytes with the digest `{digest}`, not the requested digest `{}`",
            repository.endpoint.registry, blob.size, blob.digest
        );
        Err(RegistryError::new(FailureKind::Corrupt, message).help(content::DO_NOT_USE))
    }
}

/// Appends the bytes of one answer as they arrive.
async fn append<W: Write>(
    mut answer: Answer,
    limits: &Limits,
    blob: &Descriptor,
    into: &mut Digesting<W>,
    meter: &Meter,
) -> Result<(), RegistryError> {
    let mut skip = bytes_to_skip(&answer, into.byte_count())?;
    let Some(rest) = answer.rest.as_mut() else {
        return Ok(());
    };
    while let Some(chunk) = next(rest, &answer.url, limits).await? {
        let skipped = (chunk.len() as u64).min(skip);
        skip -= skipped;
        let chunk = &chunk[usize::try_from(skipped).unwrap_or(chunk.len())..];
        if into.byte_count() + chunk.len() as u64 > blob.size {
            let host = authority(&answer.url);
            let message = format!(
                "`{host}` sends more bytes of blob `{}` than its {}",
                blob.digest, blob.size
            );
            return Err(RegistryError::new(FailureKind::Corrupt, message));
        }
        meter.add(chunk.len() as u64);
        into.write_all(chunk).map_err(|error| {
            let message = format!("blob `{}` cannot be stored: {error}", blob.digest);
            RegistryError::new(FailureKind::Unreachable, message)
        })?;
    }
    if into.byte_count() < blob.size {
        let host = authority(&answer.url);
        let message = format!(
            "`{host}` sent {} bytes of blob `{}`, which has {}",
            into.byte_count(),
            blob.digest,
            blob.size
        );
        Err(RegistryError::new(FailureKind::Corrupt, message).retryable())
    } else {
        Ok(())
    }
}

/// How many of the first bytes of an answer to skip: a server without support for ranges sends the blob from its start.
fn bytes_to_skip(answer: &Answer, from: u64) -> Result<u64, RegistryError> {
    if answer.status != 206 {
        return Ok(from);
    }
    let range = answer.header("content-range");
    let first = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next());
    match first.and_then(|first| first.parse::<u64>().ok()) {
        Some(first) if first <= from => Ok(from - first),
        _ => {
            let host = authority(&answer.url);
            let message = format!("`{host}` sent another range of the blob than the requested one");
            Err(RegistryError::new(FailureKind::Corrupt, message))
        }
    }
}

pub(super) async fn next(
    rest: &mut Response,
    url: &reqwest::Url,
    limits: &Limits,
) -> Result<Option<bytes::Bytes>, RegistryError> {
    let chunk = rest.chunk().await;
    chunk.map_err(|error| error::from_exchange(&error, url, limits))
}

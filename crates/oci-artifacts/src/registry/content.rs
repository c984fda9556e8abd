//! Fetches manifests and blobs by name or digest, and returns them only if their bytes have the expected digest and length.

use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderMap};

use crate::{Descriptor, Digest, FailureKind, Manifest, ManifestError, Reference};

use super::error::{RegistryError, authority};
use super::repository::Repository;
use super::request::{Answer, ByteRange, Request};

/// The accepted media types of manifests (image-spec, media-types.md, and Docker's older ones).
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.docker.distribution.manifest.list.v2+json";

/// The help for bytes that do not have their digest.
pub(super) const DO_NOT_USE: &str = "something between here and the registry, or the registry itself, changes what it serves; do not use it";

/// Fetches the manifest that a reference names, with one request.
pub(super) async fn manifest(
    repository: &Repository<'_>,
    reference: &Reference,
) -> Result<Manifest, RegistryError> {
    let url = repository.url(&format!("manifests/{}", reference.target()))?;
    let request = Request {
        accept: MANIFESTS,
        ..repository.request(url)
    };
    let answer = require_success(repository.get(request).await?)?;
    verify(answer, reference.digest.as_ref())
}

/// Fetches a whole blob of at most `limit` bytes.
pub(super) async fn blob(
    repository: &Repository<'_>,
    descriptor: &Descriptor,
    limit: u64,
) -> Result<Vec<u8>, RegistryError> {
    let (digest, size) = (&descriptor.digest, descriptor.size);
    if size > limit {
        let message = format!("blob `{digest}` has {size} bytes; at most {limit} are read");
        return Err(RegistryError::new(FailureKind::TooLarge, message));
    }
    let request = Request {
        limit: size,
        ..blob_request(repository, digest)?
    };
    let answer = require_success(repository.get(request).await?)?;
    if answer.body.len() as u64 != size {
        let host = authority(&answer.url);
        let message = format!(
            "`{host}` sent {} bytes of blob `{digest}`, which has {size}",
            answer.body.len()
        );
        return Err(RegistryError::new(FailureKind::Corrupt, message));
    }
    if !digest.is_of(&answer.body) {
        return Err(corrupt(
            &answer,
            &format!("the requested digest `{digest}`"),
        ));
    }
    Ok(answer.body)
}

/// The request for a blob; its caller limits what is read of the answer.
pub(super) fn blob_request(
    repository: &Repository<'_>,
    digest: &Digest,
) -> Result<Request, RegistryError> {
    let url = repository.url(&format!("blobs/{digest}"))?;
    Ok(repository.request(url))
}

/// The length of a blob in bytes, found by a request for its first byte.
pub(super) async fn size(
    repository: &Repository<'_>,
    digest: &Digest,
) -> Result<u64, RegistryError> {
    let request = Request {
        range: ByteRange::FirstByte,
        limit: 1,
        ..blob_request(repository, digest)?
    };
    let answer = repository.get(request).await?;
    let header = |name| answer.headers.get(name)?.to_str().ok();
    // `bytes 0-0/42`, or `bytes */0` for an empty blob (RFC 9110, 14.4).
    let length = match answer.status {
        206 | 416 => header(CONTENT_RANGE).and_then(|range| range.rsplit('/').next()),
        _ => header(CONTENT_LENGTH),
    };
    if let (200 | 206 | 416, Some(Ok(size))) = (answer.status, length.map(str::parse)) {
        return Ok(size);
    }
    let host = authority(&require_success(answer)?.url);
    let message = format!("`{host}` does not report how many bytes it has");
    Err(RegistryError::new(FailureKind::Unreachable, message))
}

/// The answer if it is a success; otherwise an error that distinguishes 404 (not found) from all others.
pub(super) fn require_success(answer: Answer) -> Result<Answer, RegistryError> {
    let host = authority(&answer.url);
    match answer.status {
        200..=299 => Ok(answer),
        404 => {
            let message = format!("`{host}` answered 404 (not found)");
            Err(RegistryError::new(FailureKind::NotFound, message))
        }
        429 => {
            let message = format!("`{host}` answered 429 (too many requests) to every attempt");
            Err(RegistryError::new(FailureKind::Unreachable, message)
                .help("try later, or send fewer requests at once: `registries: {concurrency: 4}`"))
        }
        400 if String::from_utf8_lossy(&answer.body).contains("HTTPS server") => {
            let message = format!("`{host}` does not support plain HTTP");
            Err(
                RegistryError::new(FailureKind::Unreachable, message).help(format!(
                    "remove `plain-http` of `{host}` below `registries: hosts:`"
                )),
            )
        }
        status => {
            let reason = answer.reason.map(|reason| format!(" ({reason})"));
            let message = format!("`{host}` answered {status}{}", reason.unwrap_or_default());
            let kind = match status {
                400 | 405 | 406 | 501 => FailureKind::Unsupported,
                _ => FailureKind::Unreachable,
            };
            Err(RegistryError::new(kind, message))
        }
    }
}

/// The manifest, if its bytes have the requested digest and the one in the answer's header.
fn verify(answer: Answer, expected: Option<&Digest>) -> Result<Manifest, RegistryError> {
    if let Some(expected) = expected.filter(|expected| !expected.is_of(&answer.body)) {
        let what = format!("the requested digest `{expected}`");
        return Err(corrupt(&answer, &what));
    }
    if let Some(reported) = digest_header(&answer.headers)
        && !Digest::parse(&reported).is_ok_and(|digest| digest.is_of(&answer.body))
    {
        let shown: String = reported.chars().take(160).collect();
        let what = format!("the digest `{shown}` in its own header");
        return Err(corrupt(&answer, &what));
    }
    let host = authority(&answer.url);
    Manifest::read(answer.body).map_err(|error| match error {
        ManifestError::TooLarge(_) => RegistryError::new(FailureKind::TooLarge, error.to_string()),
        ManifestError::Malformed(_) => {
            let message = format!("`{host}` sent something that is not a manifest: {error}");
            RegistryError::new(FailureKind::Corrupt, message)
        }
    })
}

fn digest_header(headers: &HeaderMap) -> Option<String> {
    let header = headers.get("docker-content-digest")?;
    Some(String::from_utf8_lossy(header.as_bytes()).into_owned())
}

fn corrupt(answer: &Answer, what: &str) -> RegistryError {
    let host = authority(&answer.url);
    let message = format!(
        "`{host}` sent {} bytes with the digest `{}`, not {what}",
        answer.body.len(),
        Digest::compute(&answer.body)
    );
    RegistryError::new(FailureKind::Corrupt, message).help(DO_NOT_USE)
}

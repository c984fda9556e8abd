//! Pushes artifacts: the blobs that the registry lacks, then the manifest, then the list of referrers of its subject if the
//! registry does not maintain one.
//!
//! Source: distribution-spec 1.1, "Push" and "Pushing manifests with subject".

mod referrers;
mod upload;

use std::sync::Arc;

use reqwest::Url;

use crate::oci::{Artifact, Blob, Content, Digest, FailureKind, Manifest, Reference, Target};

use super::body::Source;
use super::content;
use super::endpoint::Endpoint;
use super::error::{RegistryError, authority};
use super::meter::Meter;
use super::request::{Answer, ByteRange, Operation, Request};
use super::session::{Context, Sessions};

/// The most bytes of the answer to an upload; its content is not used.
const ANSWER_LIMIT: u64 = 1 << 20;

/// Uploads a blob unless it exists, and returns whether it was sent.
pub(super) async fn blob(
    sessions: &Sessions,
    to: &Reference,
    blob: &Blob,
    meter: &Arc<Meter>,
    context: Context,
) -> Result<bool, RegistryError> {
    let endpoint = Endpoint::for_push(to);
    if is_there(sessions, &endpoint, &blob.descriptor.digest, context).await? {
        meter.add(blob.descriptor.size);
        return Ok(false);
    }
    let source = Source::of(blob, meter);
    let sent = upload::whole(sessions, &endpoint, &source, context).await;
    // A local error explains more than what the registry or the connection made of an incomplete body.
    let sent = sent.map_err(|error| source.fault().unwrap_or(error));
    sent.map(|()| true)
}

/// Whether a blob exists. On an answer that says neither, it is sent.
async fn is_there(
    sessions: &Sessions,
    endpoint: &Endpoint,
    digest: &Digest,
    context: Context,
) -> Result<bool, RegistryError> {
    let url = sessions.url(endpoint, &format!("{}/blobs/{digest}", endpoint.repository))?;
    let answer = sessions
        .get(endpoint, request(url, Operation::Head, context), context)
        .await?;
    match answer.status {
        // A redirect to the registry's storage means that the blob exists.
        200..=399 => Ok(true),
        400..=407 | 410..=428 => Ok(false),
        _ => Err(refusal(sessions, endpoint, &answer, "checking for a blob").await),
    }
}

/// Uploads the manifest, whose blobs exist, and returns whether the reference already named it.
pub(super) async fn manifest(
    sessions: &Sessions,
    to: &Reference,
    artifact: &Artifact,
    context: Context,
) -> Result<bool, RegistryError> {
    let digest = &artifact.descriptor.digest;
    let named = match &to.tag {
        Some(tag) => to.tagged(tag),
        None => to.at(digest),
    };
    let is_unchanged = match content::manifest_to_push(sessions, &named, context).await {
        Ok(known) => known.digest == *digest,
        Err(error) if error.kind == FailureKind::Unreachable => return Err(error),
        Err(_) => false,
    };
    let media_type = artifact.descriptor.media_type.as_str();
    let bytes = &artifact.manifest;
    let lists = match is_unchanged {
        true => None,
        false => Some(put(sessions, &named, media_type, bytes, digest, context).await?),
    };
    if let Ok(Manifest { content, .. }) = Manifest::read(bytes.clone())
        && let Content::Image {
            subject: Some(subject),
            ..
        } = &content
        && lists != Some(SubjectSupport::Referrers)
    {
        let descriptor = &artifact.descriptor;
        referrers::add(sessions, to, &subject.digest, descriptor, &content, context).await?;
    }
    Ok(is_unchanged)
}

/// Whether a registry maintains the list of referrers (`OCI-Subject`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubjectSupport {
    Referrers,
    Nothing,
}

/// Uploads one manifest or index under one name.
async fn put(
    sessions: &Sessions,
    named: &Reference,
    media_type: &str,
    bytes: &[u8],
    digest: &Digest,
    context: Context,
) -> Result<SubjectSupport, RegistryError> {
    let endpoint = Endpoint::for_push(named);
    let target = match named.target() {
        Target::Tag(tag) => tag,
        Target::Digest(digest) => digest.as_str(),
    };
    let url = sessions.url(
        &endpoint,
        &format!("{}/manifests/{target}", endpoint.repository),
    )?;
    let operation = Operation::Put {
        media_type: media_type.into(),
        bytes: Arc::from(bytes),
    };
    let answer = sessions
        .get(&endpoint, request(url, operation, context), context)
        .await?;
    if !(200..=299).contains(&answer.status) {
        return Err(refusal(sessions, &endpoint, &answer, "uploading the manifest").await);
    }
    check_digest(&answer, digest)?;
    Ok(match answer.header("oci-subject") {
        Some(_) => SubjectSupport::Referrers,
        None => SubjectSupport::Nothing,
    })
}

fn request(url: Url, operation: Operation, context: Context) -> Request {
    Request {
        url,
        accept: "*/*",
        operation,
        range: ByteRange::Whole,
        limit: ANSWER_LIMIT,
        deadline: context.deadline,
    }
}

/// Fails if the registry reports another digest than that of what it was sent.
fn check_digest(answer: &Answer, digest: &Digest) -> Result<(), RegistryError> {
    let Some(reported) = answer.header("docker-content-digest") else {
        return Ok(());
    };
    // A registry may use another hash algorithm.
    let same_algorithm = reported.split(':').next() == digest.as_str().split(':').next();
    if reported == digest.as_str() || (Digest::parse(reported).is_ok() && !same_algorithm) {
        return Ok(());
    }
    let shown: String = reported.chars().take(160).collect();
    let host = authority(&answer.url);
    let message = format!("`{host}` was sent `{digest}` and reports `{shown}`");
    Err(RegistryError::new(FailureKind::Corrupt, message).help(
        "something between here and the registry, or the registry itself, changes what is pushed; do not use it",
    ))
}

/// The error for an answer that is not a success.
async fn refusal(
    sessions: &Sessions,
    endpoint: &Endpoint,
    answer: &Answer,
    action: &str,
) -> RegistryError {
    let host = authority(&answer.url);
    let reason = sessions.reason(answer, endpoint).await;
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

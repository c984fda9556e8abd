//! Pushes artifacts: the blobs that the registry lacks, then the manifest, then the list of referrers of its subject if the
//! registry does not maintain one.
//!
//! Source: distribution-spec 1.1, "Push", "Pushing manifests with subject" and "Referrers tag schema".

mod upload;

use std::sync::Arc;

use reqwest::Url;
use serde_json::{Value, json};

use crate::{Artifact, Blob, Descriptor, Digest, FailureKind, INDEX_TYPE, Manifest, Reference};

use super::body::Source;
use super::content;
use super::error::{RegistryError, authority};
use super::meter::Meter;
use super::repository::Repository;
use super::request::{Answer, Operation, Request};

/// The most bytes of the answer to an upload; its content is not used.
const ANSWER_LIMIT: u64 = 1 << 20;

/// Uploads a blob unless it exists, and returns whether it was sent.
pub(super) async fn blob(
    repository: &Repository<'_>,
    blob: &Blob,
    meter: &Arc<Meter>,
) -> Result<bool, RegistryError> {
    if is_there(repository, &blob.descriptor.digest).await? {
        meter.add(blob.descriptor.size);
        return Ok(false);
    }
    let source = Source::new(blob, meter);
    let sent = upload::whole(repository, &source).await;
    // A local error explains more than what the registry or the connection made of an incomplete body.
    let sent = sent.map_err(|error| source.fault().unwrap_or(error));
    sent.map(|()| true)
}

/// Whether a blob exists. On an answer that says neither, it is sent.
async fn is_there(repository: &Repository<'_>, digest: &Digest) -> Result<bool, RegistryError> {
    let path = format!("blobs/{digest}");
    let answer = send(repository, &path, Operation::Head).await?;
    match answer.status {
        // A redirect to the registry's storage means that the blob exists.
        200..=399 => Ok(true),
        400..=407 | 410..=428 => Ok(false),
        _ => Err(repository.refusal(&answer, "checking for a blob").await),
    }
}

/// Uploads the manifest, whose blobs exist, and returns whether the reference already named it.
pub(super) async fn manifest(
    repository: &Repository<'_>,
    to: &Reference,
    artifact: &Artifact,
) -> Result<bool, RegistryError> {
    let descriptor = &artifact.descriptor;
    let digest = &descriptor.digest;
    let named = match &to.tag {
        Some(tag) => to.with_tag(tag),
        None => to.with_digest(digest),
    };
    let is_unchanged = match content::manifest(repository, &named).await {
        Ok(known) => known.digest == *digest,
        Err(error) if error.kind == FailureKind::Unreachable => return Err(error),
        Err(_) => false,
    };
    let bytes = &artifact.manifest;
    let lists = if is_unchanged {
        None
    } else {
        Some(put(repository, &named, descriptor, bytes).await?)
    };
    if let Ok(Manifest { content, .. }) = Manifest::read(bytes.clone())
        && let Some(subject) = content.subject()
        && lists != Some(SubjectSupport::Referrers)
    {
        // Without what else the artifact's own descriptor may have, such as the name of its entry in a layout.
        let bare = Descriptor::new(&descriptor.media_type, digest.clone(), descriptor.size);
        add_referrer(repository, to, &subject.digest, &content.describe(bare)).await?;
    }
    Ok(is_unchanged)
}

/// Adds a manifest to the list of a subject's referrers, which is kept under the tag `sha256-<hex>` in registries without the
/// referrers API ("Referrers tag schema"). Of two concurrent pushes, one may lose the other's entry: registries offer no
/// protection against that.
async fn add_referrer(
    repository: &Repository<'_>,
    to: &Reference,
    subject: &Digest,
    entry: &Descriptor,
) -> Result<(), RegistryError> {
    let tag = to.with_tag(&subject.as_tag());
    let known = match content::manifest(repository, &tag).await {
        Ok(known) => Some(known),
        Err(error) if error.kind == FailureKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let Some(bytes) = with_entry(known, entry)? else {
        return Ok(());
    };
    put(
        repository,
        &tag,
        &Descriptor::from_bytes(INDEX_TYPE, &bytes),
        &bytes,
    )
    .await?;
    Ok(())
}

/// The list with one more entry and all others unchanged; none if it has that entry already.
fn with_entry(
    known: Option<Manifest>,
    entry: &Descriptor,
) -> Result<Option<Vec<u8>>, RegistryError> {
    let not_an_index = || {
        let message = "the tag of its list of referrers names something else";
        RegistryError::new(FailureKind::Unsupported, message)
    };
    let mut index = match known {
        None => json!({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": []}),
        Some(known) => serde_json::from_slice(&known.bytes).map_err(|_| not_an_index())?,
    };
    let entries = index.get_mut("manifests").and_then(Value::as_array_mut);
    let entries = entries.ok_or_else(not_an_index)?;
    let is_same = |known: &Value| known["digest"].as_str() == Some(entry.digest.as_str());
    if entries.iter().any(is_same) {
        return Ok(None);
    }
    entries.push(json!(entry));
    Ok(Some(index.to_string().into_bytes()))
}

/// Whether a registry maintains the list of referrers (`OCI-Subject`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubjectSupport {
    Referrers,
    Nothing,
}

/// Uploads one manifest or index under one name.
async fn put(
    repository: &Repository<'_>,
    named: &Reference,
    descriptor: &Descriptor,
    bytes: &[u8],
) -> Result<SubjectSupport, RegistryError> {
    let path = format!("manifests/{}", named.target());
    let operation = Operation::Put {
        media_type: descriptor.media_type.as_str().into(),
        bytes: Arc::from(bytes),
    };
    let answer = send(repository, &path, operation).await?;
    if !(200..=299).contains(&answer.status) {
        return Err(repository.refusal(&answer, "uploading the manifest").await);
    }
    check_digest(&answer, &descriptor.digest)?;
    Ok(match answer.header("oci-subject") {
        Some(_) => SubjectSupport::Referrers,
        None => SubjectSupport::Nothing,
    })
}

/// Sends a request for a path below the repository.
async fn send(
    repository: &Repository<'_>,
    path: &str,
    operation: Operation,
) -> Result<Answer, RegistryError> {
    let request = request(repository, repository.url(path)?, operation);
    repository.get(request).await
}

fn request(repository: &Repository<'_>, url: Url, operation: Operation) -> Request {
    Request {
        operation,
        limit: ANSWER_LIMIT,
        ..repository.request(url)
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
        "something between here and the registry, or the registry itself, changes the pushed bytes; do not use it",
    ))
}

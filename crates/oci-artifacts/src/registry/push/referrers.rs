//! The list of a manifest's referrers, which is kept under the tag `sha256-<hex>` in registries without the referrers API.
//!
//! Source: distribution-spec 1.1, "Pushing manifests with subject" and "Referrers tag schema". Of two concurrent pushes, one
//! may lose the other's entry: registries offer no protection against that.

use serde_json::{Value, json};

use crate::{Descriptor, Digest, FailureKind, INDEX_TYPE, Manifest, Reference};

use super::super::content;
use super::super::error::RegistryError;
use super::super::repository::Repository;
use super::put;

/// Adds a manifest to the list of a subject's referrers.
pub(super) async fn add(
    repository: &Repository<'_>,
    to: &Reference,
    subject: &Digest,
    entry: &Descriptor,
) -> Result<(), RegistryError> {
    let tag = to.tagged(&subject.as_tag());
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
        &Descriptor::of(INDEX_TYPE, &bytes),
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

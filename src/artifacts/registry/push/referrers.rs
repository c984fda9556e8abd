//! The list of what refers to a manifest, kept under the tag `sha256-<hex>` of registries that keep none of their own.
//!
//! Source: distribution-spec 1.1, "Pushing manifests with subject" and "Referrers tag schema". Two who push at once may each
//! lose the other's entry: registries offer nothing against that.

use serde_json::{Map, Value, json};

use crate::oci::{Content, Descriptor, Digest, FailureKind, Manifest, Reference};

use super::super::content;
use super::super::lists::INDEX;
use super::super::session::{Sessions, Turn};
use super::super::trouble::Trouble;
use super::put;

/// Adds a manifest to the list of what refers to a subject, where the list is ours to keep.
pub(super) async fn list(
    sessions: &Sessions,
    to: &Reference,
    subject: &Digest,
    descriptor: &Descriptor,
    content: &Content,
    turn: Turn,
) -> Result<(), Trouble> {
    let tag = to.tagged(&subject.as_str().replacen(':', "-", 1));
    let known = match content::manifest_to_push(sessions, &tag, turn).await {
        Ok(known) => Some(known),
        Err(trouble) if trouble.kind == FailureKind::NotFound => None,
        Err(trouble) => return Err(trouble),
    };
    let Some(bytes) = with(known, descriptor, content)? else {
        return Ok(());
    };
    put(sessions, &tag, INDEX, &bytes, &Digest::of(&bytes), turn).await?;
    Ok(())
}

/// The list with one entry more, what is known of it left as it is; none where it has that entry.
fn with(
    known: Option<Manifest>,
    descriptor: &Descriptor,
    content: &Content,
) -> Result<Option<Vec<u8>>, Trouble> {
    let other = || {
        let message = "the tag of the list of what refers to it names something else";
        Trouble::new(FailureKind::Unsupported, message)
    };
    let mut index = match known {
        None => json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": []}),
        Some(known) => serde_json::from_slice(&known.bytes).map_err(|_| other())?,
    };
    let entries = index.get_mut("manifests").and_then(Value::as_array_mut);
    let entries = entries.ok_or_else(other)?;
    let is_it = |entry: &Value| entry["digest"].as_str() == Some(descriptor.digest.as_str());
    if entries.iter().any(is_it) {
        return Ok(None);
    }
    entries.push(entry(descriptor, content));
    Ok(Some(index.to_string().into_bytes()))
}

fn entry(descriptor: &Descriptor, content: &Content) -> Value {
    let mut entry = Map::new();
    entry.insert("mediaType".to_owned(), json!(descriptor.media_type));
    entry.insert("digest".to_owned(), json!(descriptor.digest.as_str()));
    entry.insert("size".to_owned(), json!(descriptor.size));
    if let Content::Image {
        config,
        annotations,
        artifact_type,
        ..
    } = content
    {
        let kind = artifact_type.as_ref().unwrap_or(&config.media_type);
        entry.insert("artifactType".to_owned(), json!(kind));
        if !annotations.is_empty() {
            entry.insert("annotations".to_owned(), json!(annotations));
        }
    }
    Value::Object(entry)
}

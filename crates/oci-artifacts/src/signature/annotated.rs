//! What cosign 2 keeps in the annotations of a layer, and cosign 3 in a Sigstore bundle: certificate, log entry, timestamp. They become a bundle, so
//! that there is one form to verify and to keep.
//!
//! Source: <https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md>.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER_PERMISSIVE as HEX;
use serde::Deserialize;
use serde_json::{Value, json};
use yaml_tree::bytes::BASE64;

use super::payload::decode_base64;

/// The media type of an envelope at the tag `sha256-<hex>.att`.
pub(super) const ENVELOPE: &str = "application/vnd.dsse.envelope.v1+json";

const VERSION_0_1: &str = "application/vnd.dev.sigstore.bundle+json;version=0.1";
const VERSION_0_3: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

const CERTIFICATE: &str = "dev.sigstore.cosign/certificate";
const CHAIN: &str = "dev.sigstore.cosign/chain";
const ENTRY: &str = "dev.sigstore.cosign/bundle";
const TIMESTAMP: &str = "dev.sigstore.cosign/rfc3161timestamp";

/// cosign's record of a log entry.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    signed_entry_timestamp: String,
    payload: EntryPayload,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntryPayload {
    body: String,
    integrated_time: i64,
    log_index: i64,
    #[serde(rename = "logID")]
    log_id: String,
}

/// What the log has of an entry: which sort it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    api_version: String,
    kind: String,
}

#[derive(Deserialize)]
struct Timestamp {
    #[serde(rename = "SignedRFC3161Timestamp")]
    signed: String,
}

/// Whether a layer says under which certificate it was signed.
pub(super) fn is_certified(annotations: &BTreeMap<String, String>) -> bool {
    let certificate = annotations.get(CERTIFICATE);
    certificate.is_some_and(|certificate| !certificate.trim().is_empty())
}

/// The bundle of a layer: `content` is its envelope or its signature, as a bundle holds it.
///
/// # Errors
/// An annotation cannot be read, in one clause.
pub(super) fn bundle(
    annotations: &BTreeMap<String, String>,
    content: (&str, Value),
) -> Result<String, String> {
    let annotation = |name: &str| {
        let text = annotations.get(name);
        text.filter(|text| !text.trim().is_empty())
    };
    let read = |name: &str| format!("its annotation `{name}` cannot be read");
    let certificates = [CERTIFICATE, CHAIN].into_iter().filter_map(annotation);
    let certificates = certificates.flat_map(|text| blocks(text));
    let certificates: Vec<Value> = certificates.map(|der| json!({"rawBytes": der})).collect();
    let mut material = json!({});
    let mut version = VERSION_0_3;
    match (certificates.as_slice(), annotation(ENTRY)) {
        ([], _) => material["publicKey"] = json!({"hint": ""}),
        ([signer, ..], None) => material["certificate"] = signer.clone(),
        // Only this version has chains, and a log's promise without its proof.
        (all, Some(entry)) => {
            version = VERSION_0_1;
            material["x509CertificateChain"] = json!({"certificates": all});
            material["tlogEntries"] = json!([log_entry(entry).ok_or_else(|| read(ENTRY))?]);
        }
    }
    if let Some(text) = annotation(TIMESTAMP) {
        let stamp: Timestamp = serde_json::from_str(text).map_err(|_| read(TIMESTAMP))?;
        material["timestampVerificationData"] =
            json!({"rfc3161Timestamps": [{"signedTimestamp": stamp.signed}]});
    }
    let (name, content) = content;
    Ok(json!({"mediaType": version, "verificationMaterial": material, name: content}).to_string())
}

/// A log entry as bundles have it.
fn log_entry(text: &str) -> Option<Value> {
    let Entry {
        signed_entry_timestamp,
        payload,
    } = serde_json::from_str(text).ok()?;
    let body: Body = serde_json::from_slice(&decode_base64(&payload.body)?).ok()?;
    let log = HEX.decode(payload.log_id.as_bytes()).ok()?;
    Some(json!({
        "logIndex": payload.log_index.to_string(),
        "logId": {"keyId": BASE64.encode(&log)},
        "kindVersion": {"kind": body.kind, "version": body.api_version},
        "integratedTime": payload.integrated_time.to_string(),
        "inclusionPromise": {"signedEntryTimestamp": signed_entry_timestamp},
        "canonicalizedBody": payload.body,
    }))
}

/// The DER of the certificates of a PEM text, in base64.
fn blocks(text: &str) -> impl Iterator<Item = String> {
    let blocks = text.split("-----BEGIN CERTIFICATE-----").skip(1);
    blocks.filter_map(|block| {
        let (body, _) = block.split_once("-----END CERTIFICATE-----")?;
        Some(body.split_whitespace().collect())
    })
}

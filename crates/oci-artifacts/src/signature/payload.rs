//! What a key signed: cosign's "simple signing" payload.
//!
//! Source: <https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md>. The signature is verified over the bytes
//! before they are parsed.

use serde::Deserialize;
use yaml_tree::bytes::BASE64;

use crate::Digest;

use super::key::PublicKey;
use super::verdict::{Claim, Flaw};

/// The media type of a payload among the layers of a signature image.
pub(super) const MEDIA_TYPE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";

/// What `critical.type` says where the payload is a signature of an image. Other tools sign other things with one key.
pub(super) const TYPE: &str = "cosign container image signature";

#[derive(Deserialize)]
struct Payload {
    critical: Critical,
}

#[derive(Deserialize)]
struct Critical {
    identity: Identity,
    image: Image,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Identity {
    #[serde(rename = "docker-reference", default)]
    docker_reference: String,
}

#[derive(Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

/// The image that a payload names.
pub(super) struct Signed {
    /// The digest of its manifest.
    pub(super) digest: String,
    /// The reference that it was signed under, where the payload says so.
    pub(super) name: Option<String>,
}

/// Reads a payload.
///
/// # Errors
/// Why it is none of cosign's, in one clause.
pub(super) fn read(payload: &[u8]) -> Result<Signed, String> {
    let Payload { critical } = serde_json::from_slice(payload)
        .map_err(|error| format!("its payload cannot be read: {error}"))?;
    if critical.kind != TYPE {
        return Err(format!("its payload is not of type `{TYPE}`"));
    }
    let name = critical.identity.docker_reference;
    Ok(Signed {
        digest: critical.image.digest,
        name: Some(name).filter(|name| !name.is_empty()),
    })
}

/// What the key claims by a payload and its signature (base64, as the annotation has it).
pub(super) fn claim(key: &PublicKey, ours: &Digest, payload: &[u8], signature: &str) -> Claim {
    let Some(signature) = decode_base64(signature) else {
        return Claim::Bad(Flaw::Malformed("its signature is not base64".to_owned()));
    };
    let is_proven = key.verifies(payload, &signature);
    match (is_proven, read(payload)) {
        (true, Err(reason)) => Claim::Bad(Flaw::Malformed(reason)),
        (true, Ok(image)) if image.digest != ours.as_str() => {
            Claim::Bad(Flaw::OtherDigest(image.digest))
        }
        (true, Ok(image)) => Claim::Good(image.name),
        (false, _) if key.is_elliptic() && !signature.starts_with(&[0x30]) => Claim::Bad(
            Flaw::Malformed("its signature is not DER, as cosign writes it".to_owned()),
        ),
        // Nothing in an unproven payload is believed. But one that names this very image is most likely unchanged, and
        // signed by somebody else.
        (false, Ok(image)) if image.digest == ours.as_str() => Claim::Bad(Flaw::WrongKey),
        (false, _) => Claim::Bad(Flaw::Altered),
    }
}

/// The bytes of a text in base64; line ends do not count. There is one spelling of each signature: letters whose last bits
/// say nothing are no other.
pub(super) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let bytes = BASE64.decode(text.as_bytes()).ok()?;
    let bare: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    (BASE64.encode(&bytes) == bare).then_some(bytes)
}

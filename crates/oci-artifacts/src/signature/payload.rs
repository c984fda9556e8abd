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

/// The annotation that carries the signature, base64, at the payload's layer.
pub(super) const ANNOTATION: &str = "dev.cosignproject.cosign/signature";

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

/// What the key claims by a payload and its signature (base64, as the annotation has it).
pub(super) fn claim(key: &PublicKey, ours: &Digest, payload: &[u8], signature: &str) -> Claim {
    let Some(signature) = decode_base64(signature) else {
        return Claim::Bad(Flaw::Malformed("its signature is not base64".to_owned()));
    };
    let is_proven = key.verifies(payload, &signature);
    let read = serde_json::from_slice::<Payload>(payload);
    match (is_proven, read) {
        (true, Err(error)) => Claim::Bad(Flaw::Malformed(format!(
            "its payload cannot be read: {error}"
        ))),
        (true, Ok(Payload { critical })) if critical.kind != TYPE => Claim::Bad(Flaw::Malformed(
            format!("its payload is not of type `{TYPE}`"),
        )),
        (true, Ok(Payload { critical })) if critical.image.digest != ours.as_str() => {
            Claim::Bad(Flaw::OtherDigest(critical.image.digest))
        }
        (true, Ok(Payload { critical })) => {
            let identity = critical.identity.docker_reference;
            Claim::Good(Some(identity).filter(|identity| !identity.is_empty()))
        }
        (false, _) if key.is_elliptic() && !signature.starts_with(&[0x30]) => Claim::Bad(
            Flaw::Malformed("its signature is not DER, as cosign writes it".to_owned()),
        ),
        // Nothing in an unproven payload is believed. But one that names this very image is most likely unchanged, and
        // signed by somebody else.
        (false, Ok(Payload { critical })) if critical.image.digest == ours.as_str() => {
            Claim::Bad(Flaw::WrongKey)
        }
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

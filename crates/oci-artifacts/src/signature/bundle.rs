//! What a key signed: a Sigstore bundle, as cosign 3 attaches it to an image.
//!
//! Sources: <https://github.com/sigstore/cosign/blob/main/specs/BUNDLE_SPEC.md>,
//! <https://github.com/secure-systems-lab/dsse/blob/master/protocol.md>, <https://github.com/in-toto/attestation/tree/main/spec/v1>.
//! The envelope has to be read for its signature; the statement in it is parsed only after that is verified, except
//! to say why it is not.

use std::collections::BTreeMap;

use serde::Deserialize;
use yaml_tree::bytes::BASE64;

use crate::Digest;

use super::key::PublicKey;
use super::payload::decode_base64;
use super::verdict::{Claim, Flaw};

/// How the media type of a bundle starts; the version follows, `v0.3+json`.
pub(super) const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.bundle.";

/// The predicate of a signature. Attestations (provenance, SBOM) have others, and prove no signature.
pub(super) const PREDICATE: &str = "https://sigstore.dev/cosign/sign/v1";

/// What a DSSE envelope around an in-toto statement says that it holds.
pub(super) const PAYLOAD: &str = "application/vnd.in-toto+json";

/// How the types of in-toto statements start: `v1`, and `v0.1` before it.
pub(super) const STATEMENT: &str = "https://in-toto.io/Statement/";

/// A bundle, its shape read.
pub(super) struct Bundle {
    content: Content,
    /// base64 of the sha256 of the key that it claims to be signed with.
    hint: Option<String>,
}

enum Content {
    Envelope {
        /// The payload's type.
        kind: String,
        payload: Vec<u8>,
        signatures: Vec<Vec<u8>>,
    },
    /// A signature over the manifest itself.
    Message { signature: Vec<u8> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawBundle {
    verification_material: Option<Material>,
    dsse_envelope: Option<Envelope>,
    message_signature: Option<Message>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Material {
    public_key: Option<Hint>,
}

#[derive(Deserialize)]
struct Hint {
    #[serde(default)]
    hint: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<Signature>,
}

#[derive(Deserialize)]
struct Signature {
    sig: String,
}

#[derive(Deserialize)]
struct Message {
    signature: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Subject>,
    predicate_type: String,
}

#[derive(Deserialize)]
struct Subject {
    #[serde(default)]
    name: String,
    digest: BTreeMap<String, String>,
}

impl Bundle {
    /// Reads a bundle.
    ///
    /// # Errors
    /// Why it is none, in one clause.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let raw: RawBundle = serde_json::from_slice(bytes)
            .map_err(|error| format!("its bundle cannot be read: {error}"))?;
        let base64 =
            |text: &str| decode_base64(text).ok_or("its bundle has a part that is not base64");
        let content = match (raw.dsse_envelope, raw.message_signature) {
            (Some(envelope), None) => Content::Envelope {
                kind: envelope.payload_type,
                payload: base64(&envelope.payload)?,
                signatures: envelope
                    .signatures
                    .iter()
                    .map(|signature| base64(&signature.sig))
                    .collect::<Result<_, _>>()?,
            },
            (None, Some(message)) => Content::Message {
                signature: base64(&message.signature)?,
            },
            _ => return Err("its bundle holds neither one envelope nor one signature".to_owned()),
        };
        let key = raw.verification_material.and_then(|part| part.public_key);
        Ok(Self {
            content,
            hint: key.map(|key| key.hint).filter(|hint| !hint.is_empty()),
        })
    }

    /// Whether the manifest itself is what it signs.
    pub(super) fn signs_manifest(&self) -> bool {
        matches!(self.content, Content::Message { .. })
    }

    /// What the key claims by this bundle of the manifest of that digest. `manifest`: its bytes, which a signature over them
    /// needs.
    pub(super) fn claim(&self, key: &PublicKey, ours: &Digest, manifest: Option<&[u8]>) -> Claim {
        match &self.content {
            Content::Envelope {
                kind,
                payload,
                signatures,
            } => self.claim_of_envelope(key, ours, kind, payload, signatures),
            Content::Message { signature } => match manifest {
                Some(bytes) if ours.is_of(bytes) && key.verifies(bytes, signature) => {
                    Claim::Good(None)
                }
                _ => self.unproven(key, true),
            },
        }
    }

    fn claim_of_envelope(
        &self,
        key: &PublicKey,
        ours: &Digest,
        kind: &str,
        payload: &[u8],
        signatures: &[Vec<u8>],
    ) -> Claim {
        let message = encode(kind, payload);
        let is_proven = signatures
            .iter()
            .take(SIGNATURES)
            .any(|signature| key.verifies(&message, signature));
        let statement = if kind == PAYLOAD {
            serde_json::from_slice::<Statement>(payload).map_err(|error| error.to_string())
        } else {
            Err(format!("it is not of type `{PAYLOAD}`"))
        };
        let Ok(statement) = statement.as_ref().map_err(String::as_str) else {
            let error = statement.err().unwrap_or_default();
            return if is_proven {
                Claim::Bad(Flaw::Malformed(format!(
                    "its statement cannot be read: {error}"
                )))
            } else {
                self.unproven(key, false)
            };
        };
        if statement.predicate_type != PREDICATE {
            return Claim::Bad(Flaw::Attestation);
        }
        let (algorithm, hex) = ours.as_str().split_once(':').unwrap_or_default();
        let of = |subject: &&Subject| subject.digest.get(algorithm).is_some_and(|it| it == hex);
        let subject = statement.subject.iter().find(of);
        match (is_proven, subject) {
            (false, _) => self.unproven(key, subject.is_some()),
            (true, _) if !statement.kind.starts_with(STATEMENT) => Claim::Bad(Flaw::Malformed(
                "its statement is not of in-toto's type".to_owned(),
            )),
            (true, Some(subject)) => {
                Claim::Good(Some(subject.name.clone()).filter(|name| !name.is_empty()))
            }
            (true, None) => Claim::Bad(Flaw::OtherDigest(digests_of(&statement.subject))),
        }
    }

    /// Why no signature is good: by the key that it names, else by whether what is signed names this image.
    fn unproven(&self, key: &PublicKey, is_ours: bool) -> Claim {
        let is_altered = match &self.hint {
            Some(hint) => *hint == hint_of(key),
            None => !is_ours,
        };
        if is_altered {
            Claim::Bad(Flaw::Altered)
        } else {
            Claim::Bad(Flaw::WrongKey)
        }
    }
}

/// The most signatures of one envelope that are tried.
const SIGNATURES: usize = 16;

/// What is signed of an envelope: DSSE's pre-authentication encoding.
pub(super) fn encode(kind: &str, payload: &[u8]) -> Vec<u8> {
    let mut message = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    message.extend_from_slice(payload);
    message
}

/// How cosign names a key: base64 of the sha256 of its SubjectPublicKeyInfo.
pub(super) fn hint_of(key: &PublicKey) -> String {
    BASE64.encode(&key.fingerprint().bytes())
}

/// The digests of subjects, for a message.
fn digests_of(subjects: &[Subject]) -> String {
    let digests = subjects.iter().take(3).flat_map(|subject| &subject.digest);
    let digests: Vec<String> = digests
        .map(|(algorithm, hex)| format!("{algorithm}:{hex}"))
        .collect();
    digests.join(", ")
}

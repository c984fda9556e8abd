//! What a key signed: a Sigstore bundle, as cosign 3 attaches it to an image.
//!
//! Sources: <https://github.com/sigstore/cosign/blob/main/specs/BUNDLE_SPEC.md>,
//! <https://github.com/secure-systems-lab/dsse/blob/master/protocol.md>, <https://github.com/in-toto/attestation/tree/main/spec/v1>.
//! The envelope has to be read for its signature; the statement in it is parsed only after that is verified, except
//! to say why it is not.

use serde::Deserialize;
use yaml_tree::bytes::BASE64;

use crate::Digest;

use super::key::PublicKey;
use super::keyless::Certificate;
use super::payload::decode_base64;
use super::predicate::{PAYLOAD, STATEMENT, Statement};
use super::verdict::{Claim, Flaw};

/// How the media type of a bundle starts; the version follows, `v0.3+json`.
pub(super) const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.bundle.";

/// The predicate of a signature. Attestations (provenance, SBOM) have others, and prove no signature.
pub(super) const PREDICATE: &str = "https://sigstore.dev/cosign/sign/v1";

/// A bundle, its shape read.
pub(super) struct Bundle {
    content: Content,
    /// base64 of the sha256 of the key that it claims to be signed with.
    hint: Option<String>,
    /// The certificate (DER) that it claims to be signed under.
    certificate: Option<Vec<u8>>,
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

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Material {
    public_key: Option<Hint>,
    certificate: Option<RawCertificate>,
    x509_certificate_chain: Option<Chain>,
}

#[derive(Deserialize)]
struct Chain {
    certificates: Vec<RawCertificate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawCertificate {
    raw_bytes: String,
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
        let material = raw.verification_material.unwrap_or_default();
        let chain = { material.x509_certificate_chain.into_iter() }.flat_map(|it| it.certificates);
        let certificate = material.certificate.into_iter().chain(chain).next();
        let hint = material.public_key.map(|key| key.hint);
        Ok(Self {
            content,
            hint: hint.filter(|hint| !hint.is_empty()),
            certificate: certificate.and_then(|it| decode_base64(&it.raw_bytes)),
        })
    }

    /// Whether bytes that are not in it are what it signs: those of the manifest, or of cosign's payload.
    pub(super) fn signs_bytes(&self) -> bool {
        matches!(self.content, Content::Message { .. })
    }

    /// The signature over bytes that are not in it.
    pub(super) fn signature(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Envelope { .. } => None,
            Content::Message { signature } => Some(signature),
        }
    }

    /// Whether the key signed what is in it, or else these bytes.
    pub(super) fn is_signed_by(&self, key: &PublicKey, bytes: &[u8]) -> bool {
        match &self.content {
            Content::Envelope {
                kind,
                payload,
                signatures,
            } => {
                let message = encode(kind, payload);
                let mut signatures = signatures.iter().take(SIGNATURES);
                signatures.any(|signature| key.verifies(&message, signature))
            }
            Content::Message { signature } => key.verifies(bytes, signature),
        }
    }

    /// The statement in it; none where it signs bytes that are not in it.
    ///
    /// # Errors
    /// Why there is none that can be read, in one clause.
    pub(super) fn statement(&self) -> Option<Result<Statement, String>> {
        let Content::Envelope { kind, payload, .. } = &self.content else {
            return None;
        };
        let read = if kind == PAYLOAD {
            serde_json::from_slice(payload).map_err(|error| error.to_string())
        } else {
            Err(format!("it is not of type `{PAYLOAD}`"))
        };
        Some(read.map_err(|error| format!("its statement cannot be read: {error}")))
    }

    /// What the key claims by this bundle of the manifest of that digest. `manifest`: its bytes, which a signature over them
    /// needs.
    pub(super) fn claim(&self, key: &PublicKey, ours: &Digest, manifest: Option<&[u8]>) -> Claim {
        let Some(statement) = self.statement() else {
            return match manifest {
                Some(bytes) if ours.is_of(bytes) && self.is_signed_by(key, bytes) => {
                    Claim::Good(None)
                }
                _ => self.unproven(key, true),
            };
        };
        let is_proven = self.is_signed_by(key, &[]);
        let statement = match statement {
            Ok(statement) => statement,
            Err(reason) if is_proven => return Claim::Bad(Flaw::Malformed(reason)),
            Err(_) => return self.unproven(key, false),
        };
        if statement.predicate_type != PREDICATE {
            return Claim::Bad(Flaw::Attestation);
        }
        let subject = statement.find_subject(ours);
        match (is_proven, subject) {
            (false, _) => self.unproven(key, subject.is_some()),
            (true, _) if !statement.kind.starts_with(STATEMENT) => Claim::Bad(Flaw::Malformed(
                "its statement is not of in-toto's type".to_owned(),
            )),
            (true, Some(subject)) => {
                Claim::Good(Some(subject.name.clone()).filter(|name| !name.is_empty()))
            }
            (true, None) => Claim::Bad(Flaw::OtherDigest(statement.digests())),
        }
    }

    /// What the certificate that it claims to be signed under says, unproven.
    pub(super) fn certificate(&self) -> Option<Certificate> {
        Certificate::read_unproven(self.certificate.as_ref()?)
    }

    /// Why no signature is good: by the key that it names, else by whether what is signed names this image.
    pub(super) fn unproven(&self, key: &PublicKey, is_ours: bool) -> Claim {
        if let Some(certificate) = self.certificate() {
            return Claim::Bad(Flaw::Certified(certificate.to_string()));
        }
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

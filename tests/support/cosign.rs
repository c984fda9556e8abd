//! What cosign signs and how it stores it, with keys made in this process: no program is needed.

use std::collections::BTreeMap;
use std::sync::Mutex;

use oci_artifacts::Digest;
use oci_artifacts::signature::PublicKey;
use rcgen::{PublicKeyData, SigningKey};
use serde_json::{Value, json};
use yaml_tree::bytes::BASE64;

/// The media type of a payload.
pub(crate) const SIMPLE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// The media type of a bundle.
pub(crate) const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The annotation of a payload's layer that carries the signature.
pub(crate) const ANNOTATION: &str = "dev.cosignproject.cosign/signature";
/// The predicate of a signature.
pub(crate) const SIGN: &str = "https://sigstore.dev/cosign/sign/v1";
/// The payload type of a DSSE envelope around an in-toto statement.
pub(crate) const IN_TOTO: &str = "application/vnd.in-toto+json";

/// Somebody who signs.
pub(crate) trait Signs {
    fn sign(&self, message: &[u8]) -> Vec<u8>;
}

/// An ECDSA key on P-256, as `cosign generate-key-pair` makes it.
pub(crate) struct Key(rcgen::KeyPair, Mutex<BTreeMap<Vec<u8>, Vec<u8>>>);

impl Key {
    pub(crate) fn new() -> Self {
        Self(rcgen::KeyPair::generate().expect("a key"), Mutex::default())
    }

    /// The public key as PEM.
    pub(crate) fn pem(&self) -> String {
        self.0.public_key_pem()
    }

    pub(crate) fn public(&self) -> PublicKey {
        PublicKey::read(&self.pem()).expect("a key")
    }

    /// The sha256 of the public key's DER.
    pub(crate) fn fingerprint(&self) -> Digest {
        Digest::compute(&self.0.subject_public_key_info())
    }

    /// How bundles name the key: base64 of the sha256 of its DER.
    pub(crate) fn hint(&self) -> String {
        let hex = self.fingerprint().hex().to_owned();
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        BASE64.encode(&bytes)
    }
}

impl Signs for Key {
    fn sign(&self, message: &[u8]) -> Vec<u8> {
        // ECDSA signs one message in as many ways as it is asked to; a test compares.
        let mut signed = self.1.lock().expect("not poisoned");
        let signature = signed.entry(message.to_owned());
        let signature = signature.or_insert_with(|| self.0.sign(message).expect("signed"));
        signature.clone()
    }
}

/// What is signed of an image at its tag.
pub(crate) fn payload(digest: &Digest, identity: &str) -> String {
    json!({
        "critical": {
            "identity": {"docker-reference": identity},
            "image": {"docker-manifest-digest": digest.as_str()},
            "type": "cosign container image signature",
        },
        "optional": null,
    })
    .to_string()
}

/// What is signed of an image in a bundle.
pub(crate) fn statement(digest: &Digest, predicate: &str) -> String {
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"digest": {"sha256": digest.hex()}}],
        "predicateType": predicate,
        "predicate": {},
    })
    .to_string()
}

/// DSSE's pre-authentication encoding of a payload (<https://github.com/secure-systems-lab/dsse/blob/master/protocol.md>).
pub(crate) fn encoded(kind: &str, payload: &str) -> Vec<u8> {
    let (kind_length, length) = (kind.len(), payload.len());
    format!("DSSEv1 {kind_length} {kind} {length} {payload}").into_bytes()
}

/// A bundle around a payload of that type, with these signatures and a hint of the key, where there is one.
pub(crate) fn bundle(
    (kind, payload): (&str, &str),
    signatures: &[Vec<u8>],
    hint: Option<&str>,
) -> Value {
    let one = |signature: &Vec<u8>| json!({"sig": BASE64.encode(signature)});
    let signatures: Vec<Value> = signatures.iter().map(one).collect();
    let mut bundle = json!({
        "mediaType": BUNDLE,
        "dsseEnvelope": {
            "payload": BASE64.encode(payload.as_bytes()),
            "payloadType": kind,
            "signatures": signatures,
        },
    });
    if let Some(hint) = hint {
        bundle["verificationMaterial"] = json!({"publicKey": {"hint": hint}});
    }
    bundle
}

/// The bundle of a statement as cosign 3 makes it.
pub(crate) fn signed_bundle(key: &Key, statement: &str) -> String {
    let signature = key.sign(&encoded(IN_TOTO, statement));
    bundle((IN_TOTO, statement), &[signature], Some(&key.hint())).to_string()
}

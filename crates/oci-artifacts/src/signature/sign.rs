//! Signs an artifact in a store, as cosign does with a key and without a transparency log, so that `cosign verify --key` and Flux
//! accept it.
//!
//! Sources: those of [`super::payload`] and [`super::bundle`]. The signature image keeps the signatures that it has.

use serde_json::{Value, json};
use yaml_tree::bytes::BASE64;

use crate::{
    Artifact, Blob, CONFIG_TYPE, Descriptor, Digest, Failure, FailureKind, MANIFEST_TYPE, Manifest,
    Reference, Sink, Store,
};

use super::bundle;
use super::payload;
use super::predicate;
use super::secret::SigningKey;
use super::{Question, Verdict};

const EMPTY: &str = "application/vnd.oci.empty.v1+json";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

/// Where a signature is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureForm {
    /// An image at the tag `sha256-<hex>.sig`: every cosign and Flux find it.
    Tag,
    /// A Sigstore bundle that refers to the artifact, as cosign 3 makes it.
    Bundle,
}

/// The result of signing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// A signature was written beside the artifact.
    New,
    /// A good one by this key existed.
    Already,
}

/// Signs the artifact of a descriptor under the name of its repository. One that the key has signed in the same
/// form is left as it is.
///
/// # Errors
/// The signatures that are there cannot be had, or the new one cannot be put there.
pub fn sign(
    store: &dyn Store,
    sink: &dyn Sink,
    of: &Reference,
    artifact: &Descriptor,
    key: &SigningKey,
    form: SignatureForm,
) -> Result<Signed, Failure> {
    let question = Question {
        of: of.clone(),
        signed_as: None,
        digest: artifact.digest.clone(),
        key: key.public().clone(),
    };
    if let Ok(Verdict::Good(signature)) = super::check_one(store, question)
        && (signature.form == super::Form::Bundle) == (form == SignatureForm::Bundle)
    {
        return Ok(Signed::Already);
    }
    let (to, signature) = match form {
        SignatureForm::Tag => {
            let tag = format!("{}.sig", artifact.digest.as_tag());
            let at = of.with_tag(&tag);
            let before = match store.manifest(&at) {
                Ok(manifest) => Some(manifest),
                Err(failure) if failure.kind == FailureKind::NotFound => None,
                Err(failure) => return Err(failure),
            };
            let signature = image(of, &artifact.digest, key, before);
            (at, signature.ok_or_else(|| no_signature(of))?)
        }
        SignatureForm::Bundle => {
            let signature = envelope(artifact, key).ok_or_else(|| no_signature(of))?;
            let at = Reference {
                tag: None,
                ..of.with_digest(&signature.descriptor.digest)
            };
            (at, signature)
        }
    };
    sink.put(&to, &signature)?;
    Ok(Signed::New)
}

fn no_signature(of: &Reference) -> Failure {
    let message =
        "it cannot be signed: the system gives no random numbers, or its signature image is none";
    Failure::new(of, FailureKind::Unreachable, message)
}

/// The signature image with one signature more.
fn image(
    of: &Reference,
    digest: &Digest,
    key: &SigningKey,
    before: Option<Manifest>,
) -> Option<Artifact> {
    let payload = json!({
        "critical": {
            "identity": {"docker-reference": of.name()},
            "image": {"docker-manifest-digest": digest.as_str()},
            "type": payload::TYPE,
        },
        "optional": null,
    });
    let payload = payload.to_string().into_bytes();
    let signature = key.signs(&payload)?;
    let layer = Blob::new(payload::MEDIA_TYPE, payload);
    let before = match before {
        Some(manifest) => serde_json::from_slice(&manifest.bytes).ok()?,
        None => json!({"layers": []}),
    };
    let mut layers = before["layers"].as_array()?.clone();
    let mut entry = layer.descriptor.clone();
    entry
        .annotations
        .insert(crate::evidence::ANNOTATION.to_owned(), signature);
    layers.push(json!(entry));
    let ids: Vec<&Value> = layers.iter().map(|layer| &layer["digest"]).collect();
    let config = json!({
        "architecture": "", "os": "", "created": "0001-01-01T00:00:00Z", "config": {},
        "rootfs": {"type": "layers", "diff_ids": ids},
        "history": vec![json!({"created": "0001-01-01T00:00:00Z"}); ids.len()],
    });
    let config = Blob::new(CONFIG_TYPE, config.to_string().into_bytes());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": config.descriptor,
        "layers": layers,
    });
    Some(Artifact::new(
        manifest.to_string().into_bytes(),
        vec![config, layer],
    ))
}

/// A bundle that refers to the artifact.
fn envelope(artifact: &Descriptor, key: &SigningKey) -> Option<Artifact> {
    let (algorithm, hex) = artifact.digest.as_str().split_once(':')?;
    let statement = json!({
        "_type": format!("{}v1", predicate::STATEMENT),
        "subject": [{"digest": {algorithm: hex}}],
        "predicateType": bundle::PREDICATE,
        "predicate": {},
    });
    let statement = statement.to_string().into_bytes();
    let signature = key.signs(&bundle::encode(predicate::PAYLOAD, &statement))?;
    let content = json!({
        "mediaType": BUNDLE,
        "verificationMaterial": {"publicKey": {"hint": bundle::hint_of(key.public())}},
        "dsseEnvelope": {
            "payload": BASE64.encode(&statement),
            "payloadType": predicate::PAYLOAD,
            "signatures": [{"sig": signature}],
        },
    });
    let config = Blob::new(EMPTY, b"{}".to_vec());
    let layer = Blob::new(BUNDLE, content.to_string().into_bytes());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": BUNDLE,
        "config": config.descriptor,
        "layers": [layer.descriptor],
        "subject": Descriptor::new(&artifact.media_type, artifact.digest.clone(), artifact.size),
        "annotations": {
            "dev.sigstore.bundle.content": "dsse-envelope",
            "dev.sigstore.bundle.predicateType": bundle::PREDICATE,
        },
    });
    Some(Artifact::new(
        manifest.to_string().into_bytes(),
        vec![config, layer],
    ))
}

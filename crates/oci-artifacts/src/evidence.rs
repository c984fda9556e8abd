//! The evidence of a lock entry, which proves it without a network: the bytes with its digest, and the signatures of that digest.
//!
//! Nothing here is believed because it is in a file: the manifest is compared with the digest, the facts with the manifest, and
//! the signatures with the key that the values name, at every gate.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Descriptor;

/// The annotation that carries a signature, base64, at the layer of its payload.
pub(crate) const ANNOTATION: &str = "dev.cosignproject.cosign/signature";

/// The proof of one digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The manifest or index that the digest is of, byte for byte.
    pub manifest: Arc<str>,
    /// Of an index, the manifest for the project's architecture.
    pub part: Option<Arc<str>>,
    /// What decided: a signature for each key that is named, what the project's policy demands.
    pub signatures: Vec<Witness>,
}

impl Evidence {
    /// Adds the signatures that another source has for the same manifest.
    pub fn join(&mut self, other: &Self) {
        self.signatures.extend(other.signatures.iter().cloned());
        self.signatures.sort();
        self.signatures.dedup();
    }
}

impl Witness {
    /// Whether it is what a layer holds. One that could not be read may be any.
    pub fn is_stored_as(&self, layer: &Descriptor) -> bool {
        match self {
            Self::Tag { payload, signature } | Self::Referrer { payload, signature } => {
                let stored = layer.annotations.get(ANNOTATION);
                layer.digest.is_of(payload.as_bytes())
                    && stored.is_some_and(|it| **it == **signature)
            }
            Self::Bundle { bundle } => layer.digest.is_of(bundle.as_bytes()),
            Self::Certified { payload, .. } => layer.digest.is_of(payload.as_bytes()),
            Self::Malformed { .. } => true,
        }
    }
}

/// A signature in the form in which it was stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(tag = "form", rename_all = "lowercase", deny_unknown_fields)]
pub enum Witness {
    /// cosign's payload and its signature in base64, from the tag `sha256-<hex>.sig`.
    Tag {
        /// What is signed.
        payload: Arc<str>,
        /// The signature in base64.
        signature: Arc<str>,
    },
    /// The same, from an image that refers to the artifact.
    Referrer {
        /// What is signed.
        payload: Arc<str>,
        /// The signature in base64.
        signature: Arc<str>,
    },
    /// A Sigstore bundle that refers to the artifact, or an attestation of cosign's as one.
    Bundle {
        /// The bundle's JSON.
        bundle: Arc<str>,
    },
    /// cosign's payload, signed under a certificate.
    Certified {
        /// What is signed.
        payload: Arc<str>,
        /// Signature, certificate, log entry and timestamp as the JSON of a bundle.
        bundle: Arc<str>,
    },
    /// A signature that cannot be read. It proves nothing, and is kept so that a waiver still applies to it.
    Malformed {
        /// Why it cannot be read.
        reason: Arc<str>,
    },
}

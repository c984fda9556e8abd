//! Verifies what was signed under a short-lived certificate ("keyless"), without a network: the certificate of Fulcio, the entry of
//! Rekor's log and timestamps (RFC 3161), against the trusted root that a project pins.
//!
//! `sigstore-verify` does the cryptography, and verifies everything that the root has a key for: an instance without a
//! transparency log proves the time by a timestamp, one without a certificate log has no receipts in its certificates. Who may
//! sign is decided here ([`super::attestation`]), for the crate knows no patterns.
//!
//! Source: <https://github.com/sigstore/protobuf-specs/blob/main/protos/sigstore_trustroot.proto>.

use std::fmt;
use std::sync::Arc;

use sigstore_verify::crypto::{CertificateInfo, parse_certificate_info};
use sigstore_verify::trust_root::TrustedRoot as Authorities;
use sigstore_verify::types::{Bundle, DerCertificate};
use sigstore_verify::{
    CertificateError, Error, TimestampError, TransparencyLogError, VerificationPolicy, Verifier,
};

use crate::Digest;

/// The most log entries, and the most timestamps, of one bundle; there is one of each.
const MOST: usize = 8;

/// The certificate authorities, logs and timestamp authorities that a project trusts: a `trusted_root.json`. Cheap to clone.
#[derive(Clone)]
pub struct TrustedRoot(Arc<Root>);

struct Root {
    digest: Digest,
    verifier: Verifier,
    policy: VerificationPolicy,
}

/// What a certificate says of who signed and of the build that requested it, once it is proven.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Certificate {
    /// The URI or e-mail address of its subject: a build's configuration, a person.
    pub(super) subject: String,
    /// Who identified the subject: the address of an OpenID Connect issuer.
    pub(super) issuer: String,
    /// The repository that was built from.
    pub(super) source: Option<String>,
    /// Its commit.
    pub(super) revision: Option<String>,
    /// The branch or tag, such as `refs/heads/main`.
    pub(super) reference: Option<String>,
    /// The build configuration that requested the certificate.
    pub(super) builder: Option<String>,
}

impl TrustedRoot {
    /// Reads a trusted root, as `cosign trusted-root create` and `gh attestation trusted-root` write it.
    ///
    /// # Errors
    /// Why nothing can be verified against it, in one clause.
    pub fn read(text: &str) -> Result<Self, String> {
        let root = Authorities::from_json(text).map_err(|error| error.to_string())?;
        if root.certificate_authorities.is_empty() {
            return Err("it names no certificate authority".to_owned());
        }
        if root.tlogs.is_empty() && root.timestamp_authorities.is_empty() {
            return Err(
                "it names neither a transparency log nor a timestamp authority: nothing would prove when something was signed"
                    .to_owned(),
            );
        }
        let verifier = Verifier::new(&root).map_err(|error| error.to_string())?;
        let mut policy = VerificationPolicy::any_identity();
        if root.tlogs.is_empty() {
            policy = policy.skip_tlog_unsafe();
        }
        if root.ctlogs.is_empty() {
            policy = policy.skip_sct();
        }
        Ok(Self(Arc::new(Root {
            digest: Digest::compute(text.as_bytes()),
            verifier,
            policy,
        })))
    }

    /// Who signed the bytes of `signed`, by a bundle: a signature over them, or an envelope whose statement is about them.
    ///
    /// # Errors
    /// Why that is not proven, in one clause.
    pub(super) fn verify(&self, bundle: &str, signed: &[u8]) -> Result<Certificate, String> {
        let bundle = Bundle::from_json(bundle).map_err(|error| unreadable(&error))?;
        let material = &bundle.verification_material;
        let stamps = &material.timestamp_verification_data.rfc3161_timestamps;
        if material.tlog_entries.len() > MOST || stamps.len() > MOST {
            return Err(format!("it has more than {MOST} log entries or timestamps"));
        }
        let Root {
            verifier, policy, ..
        } = &*self.0;
        let proven =
            { verifier.verify(signed, &bundle, policy) }.map_err(|error| reason(&error))?;
        let certificate = proven.certificate().ok_or("it has no certificate")?;
        Ok(Certificate::new(certificate))
    }
}

impl PartialEq for TrustedRoot {
    fn eq(&self, other: &Self) -> bool {
        self.0.digest == other.0.digest
    }
}

impl Eq for TrustedRoot {}

impl fmt::Debug for TrustedRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrustedRoot({})", self.0.digest)
    }
}

impl Certificate {
    fn new(info: &CertificateInfo) -> Self {
        let identity = info.identity.as_ref();
        let claims = &info.ci_claims;
        Self {
            subject: identity.map_or_else(String::new, ToString::to_string),
            issuer: info.issuer.clone().unwrap_or_default(),
            source: claims.source_repository_uri.clone(),
            revision: claims.source_repository_digest.clone(),
            reference: claims.source_repository_ref.clone(),
            builder: claims.build_signer_uri.clone(),
        }
    }

    /// What an unproven certificate (DER) says of itself, for a message.
    pub(super) fn read_unproven(der: &[u8]) -> Option<Self> {
        let info = parse_certificate_info(&DerCertificate::from_bytes(der)).ok()?;
        Some(Self::new(&info))
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (issuer `{}`)", self.subject, self.issuer)
    }
}

fn unreadable(error: &dyn fmt::Display) -> String {
    format!("its bundle cannot be read: {error}")
}

/// The library's reason in this crate's words, where a reader has to do something about it.
fn reason(error: &Error) -> String {
    match error {
        Error::ArtifactMismatch(_) => "it is about another digest".to_owned(),
        Error::Certificate(CertificateError::ChainInvalid(why)) => {
            let is_late = why.contains("CertExpired");
            let is_early = why.contains("CertNotValidYet");
            if is_late {
                "its certificate had expired when it was signed".to_owned()
            } else if is_early {
                "its certificate was not valid yet when it was signed".to_owned()
            } else {
                "its certificate is of no authority in the trusted root".to_owned()
            }
        }
        Error::TransparencyLog(TransparencyLogError::InclusionPromise(why))
            if why.starts_with("No log key") =>
        {
            "its log entry is of no log that the trusted root has for its time".to_owned()
        }
        Error::Bundle(why) => format!("its bundle lacks a part: {why}"),
        Error::Timestamp(TimestampError::NoVerifiedTimestamp(_)) => {
            "nothing proves when it was signed: it has neither a timestamp nor a log entry with a promise".to_owned()
        }
        other => other.to_string(),
    }
}

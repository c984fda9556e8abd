//! The verdict on one artifact's signatures.

use std::fmt;

use super::Question;
use crate::{Digest, Reference};

/// What signatures and attestations are about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The original reference, not a mirror's.
    pub of: &'a Reference,
    /// The reference that it was signed as before it was copied, where the project says so.
    pub signed_as: Option<&'a Reference>,
    /// The digest of the resolved manifest.
    pub digest: &'a Digest,
    /// The bytes with that digest.
    pub manifest: &'a str,
}

/// The verdict on the signatures of an artifact. That a store does not answer is no verdict, but a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One is good, and names this artifact or none.
    Good(Signature),
    /// One is good for the digest, but names another artifact: in the registry, what was signed as one image replaces another.
    OtherImage(Signature),
    /// There is none.
    Missing,
    /// None of this key: those that exist name this artifact and were signed by another key.
    WrongKey,
    /// What was signed was changed afterwards.
    PayloadAltered,
    /// This key signed, but another digest, which is the payload's.
    OtherDigest(String),
    /// There are only attestations: provenance, an SBOM. They say something about the artifact, not that it is released.
    NotASignature,
    /// It was signed under a certificate, whose subject and issuer these are, in words: no key proves that.
    Certified(String),
    /// There is one that cannot be read, for the reason given.
    Malformed(String),
}

/// A signature that is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The sha256 of the key's SubjectPublicKeyInfo.
    pub fingerprint: Digest,
    /// How it is stored.
    pub form: Form,
    /// The repository that it was made for, where it says so; with its registry.
    pub identity: Option<String>,
}

impl Verdict {
    /// Whether the key signed this digest, for whichever repository.
    pub fn is_proven(&self) -> bool {
        matches!(self, Self::Good(_) | Self::OtherImage(_))
    }
}

/// How a signature is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// An image at the tag `sha256-<hex>.sig`.
    Tag,
    /// Such an image that refers to the artifact.
    Referrer,
    /// A Sigstore bundle that refers to the artifact.
    Bundle,
}

impl Form {
    /// Its name in the lock.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tag => "tag",
            Self::Referrer => "referrer",
            Self::Bundle => "bundle",
        }
    }
}

/// One clause, for a message: what is wrong, or who signed.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good(signature) => write!(f, "signed by the key {}", signature.fingerprint),
            Self::OtherImage(signature) => {
                let identity = signature.identity.as_deref().unwrap_or_default();
                write!(f, "its signature was made for `{identity}`")
            }
            Self::Missing => f.write_str("it has no signature"),
            Self::WrongKey => {
                f.write_str("its signature was made by another key, or in a way that is not read")
            }
            Self::PayloadAltered => {
                f.write_str("what was signed was altered, or was signed by another key")
            }
            Self::OtherDigest(digest) => write!(f, "its signature is one of `{digest}`"),
            Self::NotASignature => f.write_str("it has attestations, and no signature"),
            Self::Certified(signer) => write!(
                f,
                "it was signed under a certificate of {signer}, and under no key"
            ),
            Self::Malformed(reason) => f.write_str(reason),
        }
    }
}

/// What one payload or bundle claims under one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// Proven, for our digest; with the identity that it names.
    Good(Option<String>),
    /// Not proven.
    Bad(Flaw),
}

/// Why a claim is not proven. The most informative ones come last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Flaw {
    /// It is no signature, whosever it is.
    Attestation,
    Malformed(String),
    WrongKey,
    /// Under a certificate of this identity.
    Certified(String),
    Altered,
    /// Proven, for another digest.
    OtherDigest(String),
}

impl From<Flaw> for Verdict {
    fn from(flaw: Flaw) -> Self {
        match flaw {
            Flaw::Attestation => Self::NotASignature,
            Flaw::Malformed(reason) => Self::Malformed(reason),
            Flaw::WrongKey => Self::WrongKey,
            Flaw::Certified(signer) => Self::Certified(signer),
            Flaw::Altered => Self::PayloadAltered,
            Flaw::OtherDigest(digest) => Self::OtherDigest(digest),
        }
    }
}

/// A verdict, and the number of the claim that decided it.
pub(super) struct Decision {
    pub(super) verdict: Verdict,
    pub(super) claim: Option<usize>,
}

/// The verdict of all claims of one artifact: any good one is enough; else the most informative one.
pub(super) fn decide(
    claims: impl IntoIterator<Item = (Form, Claim)>,
    question: &Question,
) -> Decision {
    let decided = |verdict, claim| Decision {
        verdict,
        claim: Some(claim),
    };
    let mut best: Option<(Flaw, usize)> = None;
    let mut elsewhere = None;
    for (index, (form, claim)) in claims.into_iter().enumerate() {
        let identity = match claim {
            Claim::Good(identity) => identity,
            Claim::Bad(flaw) => {
                if best.as_ref().is_none_or(|(best, _)| flaw > *best) {
                    best = Some((flaw, index));
                }
                continue;
            }
        };
        let is_ours = identity
            .as_deref()
            .is_none_or(|identity| is_named(identity, &question.subject("")));
        let signature = Signature {
            fingerprint: question.key.fingerprint().clone(),
            form,
            identity,
        };
        if is_ours {
            return decided(Verdict::Good(signature), index);
        }
        elsewhere = elsewhere.or(Some((signature, index)));
    }
    match (elsewhere, best) {
        (Some((signature, index)), _) => decided(Verdict::OtherImage(signature), index),
        (None, Some((flaw, index))) => decided(flaw.into(), index),
        (None, None) => Decision {
            verdict: Verdict::Missing,
            claim: None,
        },
    }
}

/// Whether an identity names what is requested: the same repository, and no other tag or digest, as containers/image compares
/// them. A copy keeps the name of what it was copied from, which the project has to allow. Cosign itself compares nothing here.
pub(super) fn is_named(identity: &str, subject: &Subject<'_>) -> bool {
    let Ok(signed) = Reference::parse(identity) else {
        return false;
    };
    let names = |reference: &Reference| {
        let is_tag = |tag: &_| reference.tag.as_ref().is_none_or(|wanted| wanted == tag);
        signed.name() == reference.name() && signed.tag.as_ref().is_none_or(is_tag)
    };
    let is_digest = |digest: &Digest| digest == subject.digest;
    (names(subject.of) || subject.signed_as.is_some_and(names))
        && signed.digest.as_ref().is_none_or(is_digest)
}

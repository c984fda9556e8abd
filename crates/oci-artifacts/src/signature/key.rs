//! Public keys as cosign writes them: PEM around a SubjectPublicKeyInfo.
//!
//! What each signs with is fixed by the key, never by the signature: SHA-256, as cosign does with every key of its own, and
//! SHA-384 too for P-384, as the bundles of cosign 3 have it.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519,
    ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
};
use yaml_tree::bytes::BASE64;

use crate::Digest;

const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const END: &str = "-----END PUBLIC KEY-----";

/// Longer texts are no key: one of RSA with 8192 bits has 1,500 bytes.
const LIMIT: usize = 16 << 10;

/// A key that signatures are proven with. Cheap to clone.
#[derive(Clone)]
pub struct PublicKey(Arc<Parsed>);

struct Parsed {
    fingerprint: Digest,
    is_elliptic: bool,
    /// One for each algorithm that the key may have signed with.
    verifiers: Vec<ParsedPublicKey>,
}

/// Why a text is no public key that is read. Never quotes the text: it may be a private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no PEM block of a public key.
    #[error("it holds no `{BEGIN}`: cosign writes one to cosign.pub")]
    NotAKey,
    /// A private key.
    #[error("it is a private key: give its public key, `cosign public-key --key cosign.key`")]
    Private,
    /// More than one key.
    #[error("it holds more than one key: keep the one that signs")]
    Several,
    /// Not base64, not DER, a point that is not on its curve.
    #[error("its key cannot be read")]
    Malformed,
    /// A key of another sort.
    #[error("its key is of a sort that is not read: ECDSA P-256 and P-384, RSA and Ed25519 are")]
    Unsupported,
    /// An RSA key that is too short.
    #[error("its RSA key has less than 2048 bits, or more than 8192")]
    RsaLength,
}

impl PublicKey {
    /// Reads a PEM text; text around the block is left aside, and indentation too.
    ///
    /// # Errors
    /// It holds no public key, or one that is not read.
    pub fn read(text: &str) -> Result<Self, KeyError> {
        Self::from_der(&only_block(text)?)
    }

    /// The key of a SubjectPublicKeyInfo.
    pub(super) fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        let verifiers = algorithms(der)?
            .iter()
            .map(|algorithm| ParsedPublicKey::new(*algorithm, der))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| KeyError::Malformed)?;
        let fingerprint = Digest::compute(der);
        Ok(Self(Arc::new(Parsed {
            fingerprint,
            is_elliptic: identifiers(der).is_some_and(|it| it.starts_with(ELLIPTIC)),
            verifiers,
        })))
    }

    /// The sha256 of the key's SubjectPublicKeyInfo: what `openssl pkey -pubin -outform DER | sha256sum` prints.
    pub fn fingerprint(&self) -> &Digest {
        &self.0.fingerprint
    }

    /// Whether its signatures are DER: those of elliptic curves are, where cosign makes them.
    pub(super) fn is_elliptic(&self) -> bool {
        self.0.is_elliptic
    }

    /// Whether the signature of the message was made by the private half of this key.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verifies = |key: &ParsedPublicKey| key.verify_sig(message, signature).is_ok();
        self.0.verifiers.iter().any(verifies)
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.0.fingerprint)
    }
}

/// The DER inside the one PEM block.
fn only_block(text: &str) -> Result<Vec<u8>, KeyError> {
    if text.len() > LIMIT {
        return Err(KeyError::NotAKey);
    }
    if text.contains("PRIVATE KEY-----") {
        return Err(KeyError::Private);
    }
    let (_, rest) = text.split_once(BEGIN).ok_or(KeyError::NotAKey)?;
    let (body, rest) = rest.split_once(END).ok_or(KeyError::Malformed)?;
    if rest.contains("-----BEGIN ") {
        return Err(KeyError::Several);
    }
    pem_bytes(body).ok_or(KeyError::Malformed)
}

/// The bytes of the lines between the marks of a PEM block.
pub(super) fn pem_bytes(body: &str) -> Option<Vec<u8>> {
    let bare: Vec<u8> = body
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    BASE64.decode(&bare).ok()
}

// Object identifiers of algorithms and curves, with tag and length (RFC 5480, RFC 8017, RFC 8410).
const ELLIPTIC: &[u8] = &[6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384: &[u8] = &[6, 5, 0x2b, 0x81, 4, 0, 0x22];
const RSA: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const EDWARDS: &[u8] = &[6, 3, 0x2b, 0x65, 0x70];

/// The algorithms of a key, by the identifiers that it starts with.
fn algorithms(der: &[u8]) -> Result<&'static [&'static dyn VerificationAlgorithm], KeyError> {
    let identifiers = identifiers(der).ok_or(KeyError::Malformed)?;
    let curve = identifiers.strip_prefix(ELLIPTIC);
    if curve == Some(P256) {
        Ok(&[&ECDSA_P256_SHA256_ASN1])
    } else if curve == Some(P384) {
        Ok(&[&ECDSA_P384_SHA256_ASN1, &ECDSA_P384_SHA384_ASN1])
    } else if identifiers.starts_with(RSA) {
        match modulus_bits(der).ok_or(KeyError::Malformed)? {
            2048..=8192 => Ok(&[&RSA_PKCS1_2048_8192_SHA256]),
            _ => Err(KeyError::RsaLength),
        }
    } else if identifiers == EDWARDS {
        Ok(&[&ED25519])
    } else {
        Err(KeyError::Unsupported)
    }
}

/// The content of the AlgorithmIdentifier of a SubjectPublicKeyInfo (RFC 5280 §4.1): two sequences, one in the other.
fn identifiers(der: &[u8]) -> Option<&[u8]> {
    let whole = element(SEQUENCE, der)?;
    let identifiers = element(SEQUENCE, whole.content)?;
    whole.rest.is_empty().then_some(identifiers.content)
}

/// The length of the modulus of an RSA key (RFC 8017 §A.1.1): the first number of the sequence in the bit string.
fn modulus_bits(der: &[u8]) -> Option<usize> {
    let whole = element(SEQUENCE, der)?.content;
    let key = element(SEQUENCE, whole)?.rest;
    let key = element(BIT_STRING, key)?.content;
    let numbers = element(SEQUENCE, key.strip_prefix(&[0])?)?.content;
    let modulus = element(INTEGER, numbers)?.content;
    let modulus = modulus.strip_prefix(&[0]).unwrap_or(modulus);
    let unused = modulus.first()?.leading_zeros() as usize;
    Some(modulus.len() * 8 - unused)
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;

/// An element of DER.
struct Element<'a> {
    content: &'a [u8],
    /// What follows it.
    rest: &'a [u8],
}

/// The element of that tag at the start.
fn element(tag: u8, der: &[u8]) -> Option<Element<'_>> {
    let (length, content) = match der.strip_prefix(&[tag])? {
        [length @ 0..=0x7f, content @ ..] => (usize::from(*length), content),
        [0x81, length @ 0x80..=0xff, content @ ..] => (usize::from(*length), content),
        [0x82, high @ 1..=0xff, low, content @ ..] => {
            (usize::from(*high) << 8 | usize::from(*low), content)
        }
        _ => return None,
    };
    let (content, rest) = content.split_at_checked(length)?;
    Some(Element { content, rest })
}

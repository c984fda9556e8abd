//! Private keys that sign: ECDSA on P-256, which is what cosign makes. Nothing here prints one, and none is kept but in memory.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};

use crate::model::bytes::BASE64;

use super::encrypted;
use super::key::PublicKey;

/// Longer texts are no key.
const LIMIT: usize = 16 << 10;

/// How the names of PEM blocks end that hold keys which are read, and whether they are encrypted as cosign does it.
const BLOCKS: &[(&str, bool)] = &[
    ("ENCRYPTED SIGSTORE PRIVATE KEY", true),
    ("ENCRYPTED COSIGN PRIVATE KEY", true),
    ("EC PRIVATE KEY", false),
    ("PRIVATE KEY", false),
];

/// A key that signs.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    public: PublicKey,
}

/// Why a text is no private key that is read. Never quotes the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretKeyError {
    /// There is no PEM block of a private key.
    #[error("it holds no private key as PEM: cosign writes one to cosign.key")]
    NotAKey,
    /// A public key.
    #[error("it is a public key, which cannot sign: give the private one, cosign.key")]
    Public,
    /// Not base64, not DER, not what cosign writes.
    #[error("its key cannot be read")]
    Malformed,
    /// A key of another sort.
    #[error(
        "its key is of a sort that does not sign here: ECDSA P-256 does, as `cosign generate-key-pair` makes it"
    )]
    Unsupported,
    /// Encrypted in another way, or with parameters that ask for too much.
    #[error(
        "it is encrypted in a way that is not read: cosign's own is (`cosign import-key-pair`)"
    )]
    Encryption,
    /// It is encrypted, and no password was given.
    #[error("it is encrypted, and no password is given")]
    NoPassword,
    /// It does not open.
    #[error("it does not open with the password given")]
    Password,
}

impl SigningKey {
    /// Reads a PEM text: PKCS #8 or SEC 1, or cosign's own, which the password opens.
    ///
    /// # Errors
    /// It holds no private key, or one that is not read, or the password is another.
    pub fn read(text: &str, password: Option<&str>) -> Result<Self, SecretKeyError> {
        let (der, is_encrypted) = block(text)?;
        let der = match (is_encrypted, password) {
            (false, _) => der,
            (true, Some(password)) => encrypted::open(&der, password)?,
            (true, None) => return Err(SecretKeyError::NoPassword),
        };
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, &der)
            .or_else(|_| EcdsaKeyPair::from_private_key_der(algorithm, &der))
            .map_err(|_| SecretKeyError::Unsupported)?;
        let public: PublicKeyX509Der<'_> = pair
            .public_key()
            .as_der()
            .map_err(|_| SecretKeyError::Malformed)?;
        let public = PublicKey::of_der(public.as_ref()).map_err(|_| SecretKeyError::Unsupported)?;
        Ok(Self { pair, public })
    }

    /// Its public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The signature of a message as ASN.1, in base64; none where the system gives no random numbers.
    pub(super) fn signs(&self, message: &[u8]) -> Option<String> {
        let signature = self.pair.sign(&SystemRandom::new(), message).ok()?;
        Some(BASE64.encode(signature.as_ref()))
    }
}

/// By its public half alone.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public.fingerprint())
    }
}

/// The bytes of the first PEM block of a private key, and whether they are encrypted.
fn block(text: &str) -> Result<(Vec<u8>, bool), SecretKeyError> {
    if text.len() > LIMIT {
        return Err(SecretKeyError::NotAKey);
    }
    for (name, is_encrypted) in BLOCKS {
        let (begin, end) = (
            format!("-----BEGIN {name}-----"),
            format!("-----END {name}-----"),
        );
        let Some((_, rest)) = text.split_once(&begin) else {
            continue;
        };
        let (body, _) = rest.split_once(&end).ok_or(SecretKeyError::Malformed)?;
        if body.contains("Proc-Type:") {
            return Err(SecretKeyError::Encryption);
        }
        let bare: Vec<u8> = body
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        let bytes = BASE64.decode(&bare);
        return Ok((bytes.map_err(|_| SecretKeyError::Malformed)?, *is_encrypted));
    }
    Err(match text {
        text if text.contains("BEGIN ENCRYPTED PRIVATE KEY") => SecretKeyError::Encryption,
        text if text.contains("PRIVATE KEY-----") => SecretKeyError::Unsupported,
        text if text.contains("BEGIN PUBLIC KEY") => SecretKeyError::Public,
        _ => SecretKeyError::NotAKey,
    })
}

//! Private keys that sign: ECDSA on P-256, without a password. Nothing here prints one, and none is kept but in memory.
//!
//! Keys with a password are refused: cosign itself signs with them, and their encryption would be three more ciphers to maintain.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};

use yaml_tree::bytes::BASE64;

use super::key::{PublicKey, pem_bytes};

/// Longer texts are no key.
const LIMIT: usize = 16 << 10;

/// The names of PEM blocks with keys that are read: SEC 1 and PKCS #8.
const BLOCKS: [&str; 2] = ["EC PRIVATE KEY", "PRIVATE KEY"];

/// The start of the names of PEM blocks with keys that have a password: those of cosign, Sigstore and PKCS #8.
const ENCRYPTED: &str = "-----BEGIN ENCRYPTED ";

/// A key that signs.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    public: PublicKey,
}

/// Why a text is no private key that is read. Never quotes the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretKeyError {
    /// There is no PEM block of a private key.
    #[error("it holds no private key as PEM")]
    NotAKey,
    /// A public key.
    #[error("it is a public key, which cannot sign: give the private one")]
    Public,
    /// Not base64, not DER.
    #[error("its key cannot be read")]
    Malformed,
    /// A key of another algorithm or curve.
    #[error(
        "its key is not supported: ECDSA P-256 signs, as `openssl ecparam -name prime256v1 -genkey` makes it"
    )]
    Unsupported,
    /// It has a password.
    #[error("it has a password, and keys with a password are not read")]
    Encrypted,
}

impl SigningKey {
    /// Reads a PEM text: PKCS #8 or SEC 1.
    ///
    /// # Errors
    /// It holds no private key, or one that is not read.
    pub fn read(text: &str) -> Result<Self, SecretKeyError> {
        let der = block(text)?;
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, &der)
            .or_else(|_| EcdsaKeyPair::from_private_key_der(algorithm, &der))
            .map_err(|_| SecretKeyError::Unsupported)?;
        let public: PublicKeyX509Der<'_> = pair
            .public_key()
            .as_der()
            .map_err(|_| SecretKeyError::Malformed)?;
        let public =
            PublicKey::from_der(public.as_ref()).map_err(|_| SecretKeyError::Unsupported)?;
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

/// The bytes of the first PEM block of a private key.
fn block(text: &str) -> Result<Vec<u8>, SecretKeyError> {
    if text.len() > LIMIT {
        return Err(SecretKeyError::NotAKey);
    }
    if text.contains(ENCRYPTED) {
        return Err(SecretKeyError::Encrypted);
    }
    for name in BLOCKS {
        let (begin, end) = (
            format!("-----BEGIN {name}-----"),
            format!("-----END {name}-----"),
        );
        let Some((_, rest)) = text.split_once(&begin) else {
            continue;
        };
        let (body, _) = rest.split_once(&end).ok_or(SecretKeyError::Malformed)?;
        if body.contains("Proc-Type:") {
            return Err(SecretKeyError::Encrypted);
        }
        return pem_bytes(body).ok_or(SecretKeyError::Malformed);
    }
    Err(match text {
        text if text.contains("PRIVATE KEY-----") => SecretKeyError::Unsupported,
        text if text.contains("BEGIN PUBLIC KEY") => SecretKeyError::Public,
        _ => SecretKeyError::NotAKey,
    })
}

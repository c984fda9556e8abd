//! Digests of content: `sha256:<64 hex digits>`.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::digest;
use data_encoding::HEXLOWER;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha512};

/// The SHA-256 of some bytes. Many processors have no instructions for it, and aws-lc's code takes a third less than sha2's
/// there.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut sum = [0; 32];
    sum.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    sum
}

/// The digest of some bytes, in the form of registries.
///
/// Source: image-spec, descriptor.md, "Digests": lower-case hex; sha256 and sha512 are the registered algorithms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(Arc<str>);

/// Why a text is not a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a digest: write `sha256:` and 64 lower-case hex digits")]
pub struct DigestError {
    text: String,
}

impl Digest {
    /// The sha256 digest of some bytes.
    pub fn compute(bytes: &[u8]) -> Self {
        Self::from_hash("sha256", &sha256(bytes))
    }

    /// The digest for a hash that was computed with an algorithm.
    pub(super) fn from_hash(algorithm: &str, hash: &[u8]) -> Self {
        Self(format!("{algorithm}:{}", HEXLOWER.encode(hash)).into())
    }

    /// Parses a digest.
    ///
    /// # Errors
    /// It is invalid, or of another algorithm than sha256 and sha512.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        let digits = match text.split_once(':') {
            Some(("sha256", hex)) if hex.len() == 64 => hex,
            Some(("sha512", hex)) if hex.len() == 128 => hex,
            _ => "",
        };
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if digits.is_empty() || !digits.bytes().all(is_digit) {
            let text = text.to_owned();
            return Err(DigestError { text });
        }
        Ok(Self(text.into()))
    }

    /// The full text, `sha256:…`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hex digits only.
    pub fn hex(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, hex)| hex)
    }

    /// The bytes of the hash.
    pub fn bytes(&self) -> Vec<u8> {
        let bytes = HEXLOWER.decode(self.hex().as_bytes());
        bytes.unwrap_or_default()
    }

    /// The tag for what belongs to content with this digest: `sha256-<hex>` (distribution-spec, "Referrers Tag Schema").
    pub fn as_tag(&self) -> String {
        self.0.replacen(':', "-", 1)
    }

    /// Whether the bytes have this digest.
    pub fn is_of(&self, bytes: &[u8]) -> bool {
        if self.0.starts_with("sha512:") {
            self.hex() == HEXLOWER.encode(&Sha512::digest(bytes))
        } else {
            *self == Self::compute(bytes)
        }
    }
}

/// As text.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    /// The digest of no bytes, from the image-spec.
    const OF_NOTHING: &str =
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn digests_have_the_form_of_registries() {
        assert_eq!(Digest::compute(b"").as_str(), OF_NOTHING);
        let parsed = Digest::parse(OF_NOTHING);
        assert_eq!(parsed.as_ref(), Ok(&Digest::compute(b"")));
        assert!(parsed.is_ok_and(|digest| digest.is_of(b"") && !digest.is_of(b"x")));
    }

    #[test]
    fn invalid_digests_are_refused() {
        let upper = OF_NOTHING.to_uppercase();
        let short = &OF_NOTHING[..70];
        for text in ["", "sha256:", "md5:00", "sha256", &upper, short] {
            assert!(Digest::parse(text).is_err(), "{text}");
        }
    }
}

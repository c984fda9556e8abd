//! Private keys as `cosign generate-key-pair` writes them: encrypted by a password.
//!
//! Source: <https://github.com/sigstore/sigstore/blob/main/pkg/cryptoutils/encrypted/encrypted.go>, which writes scrypt's
//! parameters beside what NaCl's secretbox made: XSalsa20, and Poly1305 under the first 32 bytes of its stream
//! (<https://nacl.cr.yp.to/secretbox.html>).

use poly1305::universal_hash::KeyInit as _;
use poly1305::{Key, Poly1305};
use salsa20::XSalsa20;
use salsa20::cipher::{KeyIvInit as _, StreamCipher as _};
use serde::Deserialize;

use crate::model::bytes::BASE64;

use super::secret::SecretKeyError;

/// The most memory that scrypt may ask for, in bytes; cosign's own parameters ask for 64 MiB.
const MEMORY: u64 = 512 << 20;

/// The most rounds beside each other.
const ROUNDS: u32 = 16;

/// How long secretbox's proof is, in bytes.
const TAG: usize = 16;

#[derive(Deserialize)]
struct Envelope {
    kdf: Derivation,
    cipher: Cipher,
    ciphertext: String,
}

#[derive(Deserialize)]
struct Derivation {
    name: String,
    params: Params,
    salt: String,
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "N")]
    n: u64,
    r: u32,
    p: u32,
}

#[derive(Deserialize)]
struct Cipher {
    name: String,
    nonce: String,
}

/// The key inside, as DER.
pub(super) fn open(bytes: &[u8], password: &str) -> Result<Vec<u8>, SecretKeyError> {
    let envelope: Envelope =
        serde_json::from_slice(bytes).map_err(|_| SecretKeyError::Malformed)?;
    if envelope.kdf.name != "scrypt" || envelope.cipher.name != "nacl/secretbox" {
        return Err(SecretKeyError::Encryption);
    }
    let base64 = |text: &str| {
        let bytes = BASE64.decode(text.as_bytes());
        bytes.map_err(|_| SecretKeyError::Malformed)
    };
    let key = derived(&envelope.kdf.params, &base64(&envelope.kdf.salt)?, password)?;
    let nonce: [u8; 24] = base64(&envelope.cipher.nonce)?
        .try_into()
        .map_err(|_| SecretKeyError::Malformed)?;
    unboxed(&key, &nonce, &base64(&envelope.ciphertext)?)
}

fn derived(params: &Params, salt: &[u8], password: &str) -> Result<[u8; 32], SecretKeyError> {
    let Params { n, r, p } = *params;
    let needs = n.saturating_mul(u64::from(r)).saturating_mul(128);
    if !n.is_power_of_two() || needs > MEMORY || p > ROUNDS {
        return Err(SecretKeyError::Encryption);
    }
    let log_n = u8::try_from(n.ilog2()).unwrap_or(u8::MAX);
    let params = scrypt::Params::new(log_n, r, p).map_err(|_| SecretKeyError::Encryption)?;
    let mut key = [0; 32];
    scrypt::scrypt(password.as_bytes(), salt, &params, &mut key)
        .map_err(|_| SecretKeyError::Encryption)?;
    Ok(key)
}

/// What secretbox holds: proven, then decrypted.
fn unboxed(key: &[u8; 32], nonce: &[u8; 24], boxed: &[u8]) -> Result<Vec<u8>, SecretKeyError> {
    let (tag, text) = boxed
        .split_at_checked(TAG)
        .ok_or(SecretKeyError::Malformed)?;
    let mut stream = XSalsa20::new(key.into(), nonce.into());
    let mut proof = [0; 32];
    stream.apply_keystream(&mut proof);
    let computed = Poly1305::new(&Key::from(proof)).compute_unpadded(text);
    // Who may time this has the file.
    if computed.as_slice() != tag {
        return Err(SecretKeyError::Password);
    }
    let mut text = text.to_vec();
    stream.apply_keystream(&mut text);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{SecretKeyError, open, unboxed};

    /// `crypto_secretbox` of NaCl's own tests (tests/secretbox.c): key, nonce, message, and the box without its zeros.
    #[test]
    fn a_box_of_nacl_is_opened_and_an_altered_one_is_not() {
        let hex = |text: &str| -> Vec<u8> {
            let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
            (0..text.len()).step_by(2).map(byte).collect()
        };
        let key = hex("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389");
        let nonce = hex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37");
        let message = hex(concat!(
            "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f4",
            "1db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52",
            "f0a089bc76897040e082f937763848645e0705"
        ));
        let mut boxed = hex(concat!(
            "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b",
            "4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da",
            "99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5"
        ));
        let (key, nonce) = (
            key.try_into().expect("32 bytes"),
            nonce.try_into().expect("24 bytes"),
        );
        assert_eq!(unboxed(&key, &nonce, &boxed).ok(), Some(message));
        boxed[40] ^= 1;
        let refused = unboxed(&key, &nonce, &boxed);
        assert!(matches!(refused, Err(SecretKeyError::Password)));
    }

    #[test]
    fn what_would_take_all_memory_is_refused() {
        for params in [
            r#"{"N":1073741824,"r":8,"p":1}"#,
            r#"{"N":65536,"r":4294967295,"p":1}"#,
            r#"{"N":65537,"r":8,"p":1}"#,
            r#"{"N":0,"r":8,"p":1}"#,
            r#"{"N":2,"r":8,"p":99}"#,
        ] {
            let text = format!(
                r#"{{"kdf":{{"name":"scrypt","params":{params},"salt":""}},"cipher":{{"name":"nacl/secretbox","nonce":""}},"ciphertext":""}}"#
            );
            let refused = open(text.as_bytes(), "x");
            assert!(
                matches!(refused, Err(SecretKeyError::Encryption)),
                "{params}"
            );
        }
    }
}

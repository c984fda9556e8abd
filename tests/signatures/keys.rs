//! Texts of public keys at the limits of what is read.

use oci_artifacts::signature::{KeyError, PublicKey, Verdict};
use yaml_tree::bytes::BASE64;

use super::{NAME, Signed};
use crate::support::cosign::{Key, payload};

/// A DER element.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut bytes = vec![tag];
    match u8::try_from(length) {
        Ok(short @ 0..=0x7f) => bytes.push(short),
        Ok(long) => bytes.extend([0x81, long]),
        Err(_) => bytes.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    bytes.extend_from_slice(content);
    bytes
}

/// The PEM of an RSA key with a modulus of that many bits (RFC 8017, A.1.1; RFC 5280, 4.1).
fn rsa(bits: usize) -> String {
    let mut modulus = vec![0xff; bits.div_ceil(8)];
    modulus[0] = (0xffu16 >> (modulus.len() * 8 - bits)) as u8;
    if modulus[0] & 0x80 != 0 {
        modulus.insert(0, 0);
    }
    let numbers = [element(2, &modulus), element(2, &[1, 0, 1])].concat();
    let key = [&[0][..], &element(0x30, &numbers)].concat();
    let identifier = [
        &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1][..],
        &[5, 0],
    ];
    let whole = [element(0x30, &identifier.concat()), element(3, &key)].concat();
    pem(&element(0x30, &whole))
}

fn pem(der: &[u8]) -> String {
    let body = BASE64.encode(der);
    format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
}

#[test]
fn rsa_keys_have_from_2048_to_8192_bits() {
    for (bits, is_read) in [
        (1024, false),
        (2047, false),
        (2048, true),
        (8192, true),
        (8193, false),
    ] {
        match PublicKey::read(&rsa(bits)) {
            Err(KeyError::RsaLength) => assert!(!is_read, "{bits}"),
            other => assert!(is_read && other.is_ok(), "{bits}: {other:?}"),
        }
    }
}

#[test]
fn one_key_is_read_whatever_is_around_it_up_to_a_length() {
    let key = Key::new();
    let (pem, public) = (key.pem(), key.public());
    let read = |text: String| PublicKey::read(&text);
    let padded = |length: usize| format!("{pem}{}", " ".repeat(length - pem.len()));
    let rows = [
        (
            "text before and after",
            format!("# ours\n{pem}# end\n"),
            Ok(public.clone()),
        ),
        (
            "indented",
            pem.replace('\n', "\r\n    "),
            Ok(public.clone()),
        ),
        ("the longest text", padded(16 << 10), Ok(public.clone())),
        (
            "a longer text",
            padded((16 << 10) + 1),
            Err(KeyError::NotAKey),
        ),
        (
            "a second key",
            format!("{pem}{pem}"),
            Err(KeyError::Several),
        ),
        (
            "a certificate behind it",
            format!("{pem}-----BEGIN CERTIFICATE-----\n"),
            Err(KeyError::Several),
        ),
        (
            "a private key beside it",
            format!("{pem}-----BEGIN EC PRIVATE KEY-----\n"),
            Err(KeyError::Private),
        ),
        (
            "no end",
            pem.replace("-----END", "-----"),
            Err(KeyError::Malformed),
        ),
        (
            "a certificate",
            pem.replace("PUBLIC KEY", "CERTIFICATE"),
            Err(KeyError::NotAKey),
        ),
    ];
    for (name, text, expected) in rows {
        assert_eq!(read(text), expected, "{name}");
    }
    assert_eq!(
        key.public().fingerprint(),
        &key.fingerprint(),
        "the sha256 of the key's DER"
    );
    assert_ne!(Key::new().public(), public);
}

/// Only keys of elliptic curves sign in DER.
#[test]
fn a_signature_of_an_edwards_key_need_not_be_der() {
    let pem = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";
    let key = PublicKey::read(pem).expect("a key");
    let mut signed = Signed::new();
    let layer = signed.payload(&payload(&signed.image, NAME), &BASE64.encode(&[1; 64]));
    signed.at_tag(vec![layer]);
    assert_eq!(signed.verdict(&key), Verdict::WrongKey);
}

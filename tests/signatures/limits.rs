//! The limits of what is read of signatures and keys: what just fits is taken, one more is not.

use std::fs;

use oci_artifacts::signature::{Form, KeyError, PublicKey, SecretKeyError, SigningKey, Verdict};
use oci_artifacts::{Digest, FailureKind};
use serde_json::Value;
use yaml_tree::bytes::BASE64;

use super::super::support::Metalmark;
use super::{
    BUNDLE, IN_TOTO, Key, NAME, SIGN, Signed, Signs, bundle, encoded, form, payload, statement,
};

/// A text that is that long, with spaces behind it.
fn padded(text: &str, length: usize) -> String {
    format!("{text}{}", " ".repeat(length - text.len()))
}

#[test]
fn a_payload_and_a_bundle_are_as_long_as_is_stated() {
    const LONGEST: usize = 256 << 10;
    let signer = Key::new();
    let key = signer.public();
    let of_payload = |length: usize| {
        let mut signed = Signed::new();
        let layer = signed.simple(&signer, &padded(&payload(&signed.image, NAME), length));
        signed.at_tag(vec![layer]);
        signed.verdict(&key)
    };
    assert_eq!(form(&of_payload(LONGEST)), Some(Form::Tag));
    let more = LONGEST + 1;
    let reason = format!("its payload has {more} bytes");
    assert_eq!(of_payload(more), Verdict::Malformed(reason));
    let of_bundle = |length: usize| {
        let mut signed = Signed::new();
        let text = statement(&signed.image, SIGN);
        let layer = signed.bundle(&text, signer.sign(&encoded(IN_TOTO, &text)));
        let digest = layer["digest"].as_str().expect("a digest");
        let digest = Digest::parse(digest).expect("a digest");
        let bytes = fs::read_to_string(signed.layout.file(&digest)).expect("a blob");
        let layer = signed
            .layout
            .blob(BUNDLE, padded(&bytes, length).as_bytes());
        signed.referring(vec![layer]);
        signed.verdict(&key)
    };
    assert_eq!(form(&of_bundle(LONGEST)), Some(Form::Bundle));
    assert_eq!(of_bundle(more), Verdict::NotASignature);
}

#[test]
fn as_many_payloads_and_referrers_are_read_as_is_stated() {
    const MOST: usize = 256;
    let (signer, stranger) = (Key::new(), Key::new());
    let key = signer.public();
    let image = Signed::new().image;
    let text = payload(&image, NAME);
    let mine = BASE64.encode(&signer.sign(text.as_bytes()));
    let other = stranger.sign(text.as_bytes());
    // The good one is the last; of the others, each is another.
    let layers = |signed: &Signed, count: usize| -> Vec<Value> {
        let other = |number: usize| {
            let bytes = [&other[..], &number.to_be_bytes()].concat();
            signed.payload(&text, &BASE64.encode(&bytes))
        };
        let mine = signed.payload(&text, &mine);
        (1..count).map(other).chain([mine]).collect()
    };
    let payloads = |count| {
        let mut signed = Signed::new();
        let layers = layers(&signed, count);
        signed.at_tag(layers);
        signed.verdict(&key)
    };
    assert_eq!(form(&payloads(MOST)), Some(Form::Tag));
    assert_eq!(payloads(MOST + 1), Verdict::WrongKey);
    let referrers = |count| {
        let mut signed = Signed::new();
        for layer in layers(&signed, count) {
            signed.referring(vec![layer]);
        }
        signed.check(&key)
    };
    assert_eq!(referrers(MOST).as_ref().map(form), Ok(Some(Form::Referrer)));
    let refused = referrers(MOST + 1).expect_err("one more is refused");
    assert_eq!(refused.kind, FailureKind::TooLarge);
    let words = "257 artifacts refer to it, and 256 are read";
    assert!(refused.message.contains(words), "{refused}");
}

#[test]
fn as_many_signatures_of_an_envelope_are_tried_as_is_stated() {
    let signer = Key::new();
    let key = signer.public();
    let tried = |before: usize| {
        let mut signed = Signed::new();
        let text = statement(&signed.image, SIGN);
        let mine = signer.sign(&encoded(IN_TOTO, &text));
        let other = std::iter::repeat_n(b"none".to_vec(), before);
        let signatures: Vec<Vec<u8>> = other.chain([mine]).collect();
        let layer = signed.stored(&bundle((IN_TOTO, &text), &signatures, None));
        signed.referring(vec![layer]);
        signed.verdict(&key)
    };
    assert_eq!(form(&tried(15)), Some(Form::Bundle));
    assert_eq!(tried(16), Verdict::WrongKey);
}

#[test]
fn a_key_is_as_long_as_is_stated() {
    const LONGEST: usize = 16 << 10;
    let pair = rcgen::KeyPair::generate().expect("a key");
    let (public, secret) = (pair.public_key_pem(), pair.serialize_pem());
    assert!(PublicKey::read(&padded(&public, LONGEST)).is_ok());
    let more = PublicKey::read(&padded(&public, LONGEST + 1));
    assert_eq!(more.map(drop), Err(KeyError::NotAKey));
    assert!(SigningKey::read(&padded(&secret, LONGEST)).is_ok());
    let more = SigningKey::read(&padded(&secret, LONGEST + 1));
    assert_eq!(more.map(drop), Err(SecretKeyError::NotAKey));
}

/// A pipe without end in a key's place.
#[test]
fn a_key_without_end_is_not_read_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("in")).expect("created");
    fs::write(folder.path().join("in/a.yaml"), "a: b\n").expect("written");
    let line = "bundle push in oci://127.0.0.1:9/a/b:1 --sign /dev/stdin";
    let run = Metalmark::within(folder.path()).args(line.split(' '));
    // Far more than is read and a pipe takes.
    let (outcome, is_read) = run.run_fed(4 << 20);
    assert!(outcome.stderr.contains("cannot sign"), "{}", outcome.stderr);
    assert!(!is_read);
}

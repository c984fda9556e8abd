//! Properties over signatures that the real cosign made: no altered byte verifies, no bytes at all make it panic.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::Value;
use yaml_tree::bytes::BASE64;

use super::bundle::Bundle;
use super::key::{KeyError, PublicKey};
use super::verdict::{Claim, Flaw, Form, Verdict, decide};
use super::{Question, payload};
use crate::{Digest, Reference};

/// The manifest that all fixtures sign.
const IMAGE: &str = "sha256:9277abd0a5e89fd9590cf3de3244e5bf71b9ebcddbaa6b05eba281d1a6dbe5df";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/registry")
}

fn key() -> PublicKey {
    let text = fs::read_to_string(fixtures().join("cosign.pub")).expect("a key");
    PublicKey::read(&text).expect("a key")
}

fn image() -> Digest {
    Digest::parse(IMAGE).expect("a digest")
}

/// The first layer of the first manifest of a fixture that has one of that type: its descriptor and bytes.
fn layer(fixture: &str, media_type: &str) -> (Value, Vec<u8>) {
    let blobs = fixtures().join(fixture).join("blobs/sha256");
    let read = |digest: &str| {
        let hex = digest.strip_prefix("sha256:").expect("sha256");
        fs::read(blobs.join(hex)).expect("a blob")
    };
    let json = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).expect("JSON");
    let index = json(fs::read(fixtures().join(fixture).join("index.json")).expect("an index"));
    for entry in index["manifests"].as_array().expect("entries") {
        let manifest = json(read(entry["digest"].as_str().expect("a digest")));
        let layer = manifest["layers"][0].clone();
        if layer["mediaType"] == media_type {
            let bytes = read(layer["digest"].as_str().expect("a digest"));
            return (layer, bytes);
        }
    }
    panic!("{fixture} has a layer of type {media_type}");
}

fn signed() -> (Vec<u8>, String) {
    let (layer, bytes) = layer("cosign-v3-tag", payload::MEDIA_TYPE);
    let signature = layer["annotations"][crate::evidence::ANNOTATION].as_str();
    (bytes, signature.expect("a signature").to_owned())
}

fn is_good(claim: &Claim) -> bool {
    matches!(claim, Claim::Good(_))
}

#[test]
fn no_flipped_bit_of_a_payload_or_of_its_signature_verifies() {
    let (key, image) = (key(), image());
    let (bytes, signature) = signed();
    assert!(is_good(&payload::claim(&key, &image, &bytes, &signature)));
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << bit;
            let claim = payload::claim(&key, &image, &altered, &signature);
            assert!(
                matches!(
                    claim,
                    Claim::Bad(Flaw::WrongKey) | Claim::Bad(Flaw::Altered)
                ),
                "byte {at}, bit {bit}: {claim:?}"
            );
        }
    }
    for at in 0..signature.len() {
        for bit in 0..7 {
            let mut altered = signature.clone().into_bytes();
            altered[at] ^= 1 << bit;
            let altered = String::from_utf8(altered).expect("ASCII");
            let claim = payload::claim(&key, &image, &bytes, &altered);
            assert!(!is_good(&claim), "byte {at}, bit {bit}: {claim:?}");
        }
    }
}

#[test]
fn no_flipped_bit_of_a_bundles_payload_or_signature_verifies() {
    let (key, image) = (key(), image());
    let (_, bytes) = layer(
        "cosign-v3-bundle",
        "application/vnd.dev.sigstore.bundle.v0.3+json",
    );
    let claim = |bytes: &[u8]| Bundle::read(bytes).map(|bundle| bundle.claim(&key, &image, None));
    assert!(claim(&bytes).is_ok_and(|claim| is_good(&claim)));
    let text = String::from_utf8(bytes.clone()).expect("UTF-8");
    for field in ["\"payload\":\"", "\"sig\":\"", "\"payloadType\":\""] {
        let start = text.find(field).expect("the field") + field.len();
        let end = start + text[start..].find('"').expect("its end");
        for at in start..end {
            for bit in 0..7 {
                let mut altered = bytes.clone();
                altered[at] ^= 1 << bit;
                let claim = claim(&altered);
                assert!(
                    !claim.as_ref().is_ok_and(is_good),
                    "byte {at}, bit {bit}: {claim:?}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, text: String, at in any::<usize>()) {
        let (key, image) = (key(), image());
        let claim = payload::claim(&key, &image, &bytes, &text);
        assert!(!is_good(&claim));
        if let Ok(bundle) = Bundle::read(&bytes) {
            assert!(!is_good(&bundle.claim(&key, &image, Some(&bytes))));
        }
        let pem = |der: &[u8]| {
            let body = BASE64.encode(der);
            PublicKey::read(&format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----"))
        };
        assert!(pem(&bytes).is_err() && PublicKey::read(&text).is_err());
        // A real bundle, cut anywhere.
        let (_, whole) = layer("cosign-v3-bundle", "application/vnd.dev.sigstore.bundle.v0.3+json");
        assert!(Bundle::read(&whole[..at % whole.len()]).is_err());
    }
}

#[test]
fn what_is_no_public_key_is_reported_and_never_quoted() {
    let read = |text: &str| PublicKey::read(text).expect_err("no key");
    let pub_key = fs::read_to_string(fixtures().join("cosign.pub")).expect("a key");
    assert_eq!(read(""), KeyError::NotAKey);
    assert_eq!(read(&"x".repeat(20_000)), KeyError::NotAKey);
    let private = "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nc2VjcmV0\n";
    assert_eq!(read(private), KeyError::Private);
    assert!(!read(private).to_string().contains("c2VjcmV0"));
    assert_eq!(read(&pub_key.repeat(2)), KeyError::Several);
    assert_eq!(read(&pub_key.replace("MFkw", "MFkx")), KeyError::Malformed);
    assert_eq!(
        read(&pub_key.replace("AEsdu", "AEsdv")),
        KeyError::Malformed
    );
    // As values files hold it: indented, with carriage returns.
    let indented = pub_key.replace('\n', "\r\n      ");
    assert_eq!(PublicKey::read(&indented), Ok(key()));
}

#[test]
fn any_good_claim_is_enough_and_otherwise_the_most_specific_counts() {
    let reference = |text| Reference::parse(text).expect("a reference");
    let question = Question {
        of: reference("r.example.org/mirror/noble:1"),
        signed_as: Some(reference("o.example.org/os/noble:1")),
        digest: image(),
        key: key(),
    };
    let judge = |claims: &[Claim]| {
        let claims = claims.iter().map(|claim| (Form::Tag, claim.clone()));
        decide(claims, &question).verdict
    };
    let good = |identity: &str| Claim::Good(Some(identity.to_owned()));
    assert_eq!(judge(&[]), Verdict::Missing);
    assert_eq!(
        judge(&[Claim::Bad(Flaw::Attestation)]),
        Verdict::NotASignature
    );
    assert_eq!(
        judge(&[Claim::Bad(Flaw::WrongKey), Claim::Bad(Flaw::Attestation)]),
        Verdict::WrongKey
    );
    assert_eq!(
        judge(&[Claim::Bad(Flaw::Altered), Claim::Bad(Flaw::WrongKey)]),
        Verdict::PayloadAltered
    );
    let other = Claim::Bad(Flaw::OtherDigest("sha256:0".to_owned()));
    assert_eq!(
        judge(&[Claim::Bad(Flaw::Altered), other]),
        Verdict::OtherDigest("sha256:0".to_owned())
    );
    let digest = image();
    let jammy = good("o.example.org/os/jammy");
    for (identity, is_ours) in [
        ("R.example.org:443/mirror/noble", true),
        ("o.example.org/os/noble:1", true),
        (&format!("o.example.org/os/noble:1@{digest}"), true),
        ("o.example.org/os/noble:2", false),
        (
            &format!("o.example.org/os/noble@{}", Digest::compute(b"2")),
            false,
        ),
        ("o.example.org/staging/noble", false),
        ("localhost:5000/noble", false),
        ("noble:1", false),
    ] {
        let verdict = judge(&[jammy.clone(), Claim::Bad(Flaw::WrongKey), good(identity)]);
        let is_good = matches!(verdict, Verdict::Good(_));
        assert_eq!(is_good, is_ours, "{identity}: {verdict:?}");
    }
    let verdict = judge(&[Claim::Bad(Flaw::WrongKey), jammy]);
    assert!(matches!(verdict, Verdict::OtherImage(_)), "{verdict:?}");
}

//! Signatures that the real cosign made, as fixtures/registry has them: good under its key, refused under another one and where
//! a byte differs.

use std::fs;
use std::path::{Path, PathBuf};

use oci_artifacts::layout::Layout;
use oci_artifacts::signature::{self, Form, PublicKey, Question, Verdict};
use oci_artifacts::{Digest, Failure, FailureKind, Reference, Store};

use super::form;
use crate::support::cosign::Key;
use crate::support::{copy_of, repository};

const FIXTURE: &str =
    "registry.example.org/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12";

/// What cosign made, with the form that it is stored in.
const FIXTURES: &[(&str, Form)] = &[
    ("cosign-v2-tag", Form::Tag),
    ("cosign-v2-referrer", Form::Referrer),
    ("cosign-v3-tag", Form::Tag),
    ("cosign-v3-referrer", Form::Referrer),
    ("cosign-v3-bundle", Form::Bundle),
];

/// Where it was signed, as its payload says; a bundle says no place.
const SIGNED: [(&str, &str); 4] = [
    ("cosign-v2-tag", "cv2-tag"),
    ("cosign-v2-referrer", "cv2-ref"),
    ("cosign-v3-tag", "v3-tag"),
    ("cosign-v3-referrer", "v3-ref"),
];

fn check(
    store: &dyn Store,
    fixture: &str,
    digest: &Digest,
    key: &PublicKey,
) -> Result<Verdict, Failure> {
    let of = Reference::parse(FIXTURE).expect("a reference");
    let folder = SIGNED.iter().find(|(known, _)| *known == fixture);
    let prefix = folder.map(|(_, folder)| format!("localhost:5987/os/{folder}"));
    let prefix = prefix.map(|text| Reference::parse_prefix(&text).expect("a prefix"));
    let question = Question {
        signed_as: prefix.map(|it| of.with_prefix(&it, "ubuntu-noble-plain-rke2-1-31-8")),
        of,
        digest: digest.clone(),
        key: key.clone(),
    };
    signature::check_one(store, question)
}

fn fixtures() -> PathBuf {
    repository().join("fixtures/registry")
}

fn fixture(name: &str) -> (Layout, Digest) {
    let layout = Layout::open(&fixtures(), name).expect("a layout");
    let wanted = [Reference::parse(FIXTURE).expect("a reference")];
    let image = layout.manifests(&wanted).remove(0).expect("an image");
    (layout, image.digest)
}

fn fixture_key() -> PublicKey {
    let text = fs::read_to_string(fixtures().join("cosign.pub")).expect("a key");
    PublicKey::read(&text).expect("a key")
}

#[test]
fn signatures_of_the_real_cosign_verify() {
    for (name, stored) in FIXTURES {
        let (layout, image) = fixture(name);
        let verdict = check(&layout, name, &image, &fixture_key()).expect("asked");
        assert_eq!(form(&verdict), Some(*stored), "{name}: {verdict:?}");
        // The same signatures prove nothing of another image.
        let other = Digest::compute(b"other");
        let verdict = check(&layout, name, &other, &fixture_key());
        assert_eq!(verdict, Ok(Verdict::Missing), "{name}");
    }
    let (layout, image) = fixture("cosign-v3-attestation");
    let verdict = check(&layout, "cosign-v3-attestation", &image, &fixture_key());
    assert_eq!(verdict, Ok(Verdict::NotASignature));
}

#[test]
fn signatures_of_the_real_cosign_are_refused_under_another_key() {
    let stranger = Key::new().public();
    for (name, _) in FIXTURES {
        let (layout, image) = fixture(name);
        let verdict = check(&layout, name, &image, &stranger);
        assert_eq!(verdict, Ok(Verdict::WrongKey), "{name}");
    }
}

#[test]
fn altered_copies_of_what_the_real_cosign_signed_are_refused() {
    for (name, _) in FIXTURES {
        let scratch = copy_of(&fixtures().join(name));
        let (_, image) = fixture(name);
        let blob = signature_blob(scratch.path());
        let mut bytes = fs::read(&blob).expect("a blob");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&blob, bytes).expect("written");
        let layout = Layout::open(scratch.path(), ".").expect("a layout");
        let failure = check(&layout, name, &image, &fixture_key()).expect_err("altered");
        assert_eq!(failure.kind, FailureKind::Corrupt, "{name}");
    }
}

/// The blob that holds the payload or the bundle.
fn signature_blob(layout: &Path) -> PathBuf {
    let blobs = walkdir::WalkDir::new(layout.join("blobs")).into_iter();
    let holds = |path: &Path| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.contains("\"critical\"") || text.contains("dsseEnvelope")
    };
    let mut files = blobs.map(|entry| entry.expect("readable").into_path());
    files
        .find(|path| path.is_file() && holds(path))
        .expect("a signature")
}

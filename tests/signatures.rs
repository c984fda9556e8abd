//! Signatures are verified as the real cosign makes them, and as openssl makes them; each way to be wrong is told apart.

mod limits;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use metalmark::layout::Layout;
use metalmark::model::bytes::BASE64;
use metalmark::oci::{Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store};
use metalmark::signature::{self, Form, KeyError, PublicKey, Verdict};
use serde_json::{Value, json};

use super::programs;
use super::support::layout::{LayoutWriter, MANIFEST};
use super::support::repository;

const NAME: &str = "registry.example.org/os/noble";
const FIXTURE: &str =
    "registry.example.org/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12";
const SIMPLE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const ANNOTATION: &str = "dev.cosignproject.cosign/signature";
const SIGN: &str = "https://sigstore.dev/cosign/sign/v1";

/// A key of openssl's, in a scratch folder.
struct Signer {
    openssl: PathBuf,
    folder: tempfile::TempDir,
    /// `-sha256`, or nothing for keys that hash by themselves.
    digest: Option<&'static str>,
}

impl Signer {
    fn new(arguments: &[&str], digest: Option<&'static str>) -> Option<Self> {
        let signer = Self {
            openssl: programs::find("openssl")?,
            folder: tempfile::tempdir().expect("a scratch folder"),
            digest,
        };
        signer.run(&[&["genpkey", "-out", "key"], arguments].concat());
        Some(signer)
    }

    fn p256() -> Option<Self> {
        let curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];
        Self::new(&curve, Some("-sha256"))
    }

    fn public(&self) -> Result<PublicKey, KeyError> {
        let pem = self.run(&["pkey", "-in", "key", "-pubout"]);
        PublicKey::read(&String::from_utf8(pem).expect("PEM"))
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        fs::write(self.folder.path().join("message"), message).expect("written");
        match self.digest {
            Some(digest) => self.run(&["dgst", digest, "-sign", "key", "message"]),
            None => self.run(&[
                "pkeyutl", "-sign", "-rawin", "-inkey", "key", "-in", "message",
            ]),
        }
    }

    fn run(&self, arguments: &[&str]) -> Vec<u8> {
        run(Command::new(&self.openssl)
            .current_dir(self.folder.path())
            .args(arguments))
    }
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    output.stdout
}

/// A layout with one image, and what is said of it.
struct Signed {
    scratch: tempfile::TempDir,
    layout: LayoutWriter,
    image: Digest,
}

impl Signed {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let mut layout = LayoutWriter::new(&scratch.path().join("l"));
        let image = layout.image(Some(&format!("{NAME}:1")), &[("a", "b")]);
        Self {
            scratch,
            layout,
            image,
        }
    }

    /// Attaches a signature image at the tag.
    fn at_tag(&mut self, layers: Vec<Value>) {
        let name = format!("{NAME}:sha256-{}.sig", self.image.hex());
        self.layout.manifest(Some(&name), json!({"layers": layers}));
    }

    /// Attaches layers as a referrer.
    fn referring(&mut self, layers: Vec<Value>) {
        let subject = self.layout.describe(&self.image, MANIFEST);
        self.layout
            .manifest(None, json!({"layers": layers, "subject": subject}));
    }

    fn payload(&self, payload: &str, signature: &str) -> Value {
        let mut layer = self.layout.blob(SIMPLE, payload.as_bytes());
        layer["annotations"] = json!({ANNOTATION: signature});
        layer
    }

    fn simple(&self, signer: &Signer, payload: &str) -> Value {
        self.payload(payload, &BASE64.encode(&signer.sign(payload.as_bytes())))
    }

    fn bundle(&self, statement: &str, signature: &[u8]) -> Value {
        let envelope = json!({
            "payload": BASE64.encode(statement.as_bytes()),
            "payloadType": "application/vnd.in-toto+json",
            "signatures": [{"sig": BASE64.encode(signature)}],
        });
        let bundle = json!({"mediaType": BUNDLE, "dsseEnvelope": envelope});
        self.layout.blob(BUNDLE, bundle.to_string().as_bytes())
    }

    fn verdict(&self, key: &PublicKey) -> Verdict {
        self.check(key).expect("asked")
    }

    fn check(&self, key: &PublicKey) -> Result<Verdict, Failure> {
        let layout = Layout::open(self.scratch.path(), "l").expect("a layout");
        check(&layout, &format!("{NAME}:1"), &self.image, key)
    }
}

fn check(
    store: &dyn Store,
    name: &str,
    image: &Digest,
    key: &PublicKey,
) -> Result<Verdict, Failure> {
    let reference = Reference::parse(name).expect("a reference");
    signature::check(store, &[(reference, image.clone(), key.clone())]).remove(0)
}

fn payload(digest: &Digest, identity: &str) -> String {
    json!({
        "critical": {
            "identity": {"docker-reference": identity},
            "image": {"docker-manifest-digest": digest.as_str()},
            "type": "cosign container image signature",
        },
        "optional": null,
    })
    .to_string()
}

fn statement(digest: &Digest, predicate: &str) -> String {
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"digest": {"sha256": digest.hex()}}],
        "predicateType": predicate,
        "predicate": {},
    })
    .to_string()
}

/// What DSSE signs.
fn encoded(statement: &str) -> Vec<u8> {
    let kind = "application/vnd.in-toto+json";
    format!(
        "DSSEv1 {} {kind} {} {statement}",
        kind.len(),
        statement.len()
    )
    .into_bytes()
}

fn form(verdict: &Verdict) -> Option<Form> {
    match verdict {
        Verdict::Good(signature) => Some(signature.form),
        _ => None,
    }
}

#[test]
fn every_sort_of_key_that_cosign_takes_verifies_in_each_form() {
    let curve = |name| vec!["-algorithm", "EC", "-pkeyopt", name];
    let bits = |name| vec!["-algorithm", "RSA", "-pkeyopt", name];
    let keys = [
        (curve("ec_paramgen_curve:P-256"), Some("-sha256")),
        (curve("ec_paramgen_curve:P-384"), Some("-sha256")),
        (curve("ec_paramgen_curve:P-384"), Some("-sha384")),
        (bits("rsa_keygen_bits:2048"), Some("-sha256")),
        (vec!["-algorithm", "ED25519"], None),
    ];
    for (arguments, digest) in keys {
        let Some(signer) = Signer::new(&arguments, digest) else {
            return;
        };
        let key = signer.public().expect("a key");
        let der = signer.run(&["pkey", "-in", "key", "-pubout", "-outform", "DER"]);
        assert_eq!(*key.fingerprint(), Digest::of(&der));

        let mut signed = Signed::new();
        let text = payload(&signed.image, NAME);
        let layer = signed.simple(&signer, &text);
        signed.at_tag(vec![layer]);
        assert_eq!(
            form(&signed.verdict(&key)),
            Some(Form::Tag),
            "{arguments:?}"
        );

        let mut signed = Signed::new();
        let layer = signed.simple(&signer, &text);
        signed.referring(vec![layer]);
        assert_eq!(
            form(&signed.verdict(&key)),
            Some(Form::Referrer),
            "{arguments:?}"
        );

        let mut signed = Signed::new();
        let text = statement(&signed.image, SIGN);
        let bundle = signed.bundle(&text, &signer.sign(&encoded(&text)));
        signed.referring(vec![bundle]);
        assert_eq!(
            form(&signed.verdict(&key)),
            Some(Form::Bundle),
            "{arguments:?}"
        );

        let mut signed = Signed::new();
        let manifest = fs::read(signed.layout.file(&signed.image)).expect("a manifest");
        let signature = BASE64.encode(&signer.sign(&manifest));
        let bundle = json!({"messageSignature": {"signature": signature}}).to_string();
        let bundle = signed.layout.blob(BUNDLE, bundle.as_bytes());
        signed.referring(vec![bundle]);
        assert_eq!(
            form(&signed.verdict(&key)),
            Some(Form::Bundle),
            "{arguments:?}"
        );
    }
}

#[test]
fn keys_that_are_too_weak_or_of_another_sort_are_refused() {
    let Some(short) = Signer::new(
        &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
        None,
    ) else {
        return;
    };
    assert_eq!(short.public(), Err(KeyError::RsaLength));
    let curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"];
    let other = Signer::new(&curve, None).expect("openssl");
    assert_eq!(other.public(), Err(KeyError::Unsupported));
}

#[test]
fn each_way_to_be_wrong_is_told_apart_at_the_tag() {
    let (Some(signer), Some(stranger)) = (Signer::p256(), Signer::p256()) else {
        return;
    };
    let key = signer.public().expect("a key");
    let verdict = |layers: &dyn Fn(&Signed) -> Vec<Value>| {
        let mut signed = Signed::new();
        let layers = layers(&signed);
        signed.at_tag(layers);
        signed.verdict(&key)
    };
    let other = Digest::of(b"other");
    let good = |signed: &Signed| signed.simple(&signer, &payload(&signed.image, NAME));
    let strange = |signed: &Signed| signed.simple(&stranger, &payload(&signed.image, NAME));
    let altered = |signed: &Signed| {
        let mine = good(signed)["annotations"][ANNOTATION].clone();
        signed.payload(&payload(&other, NAME), mine.as_str().expect("text"))
    };

    assert_eq!(Signed::new().verdict(&key), Verdict::Missing);
    assert_eq!(verdict(&|_| Vec::new()), Verdict::Missing);
    assert_eq!(verdict(&|it| vec![strange(it)]), Verdict::WrongKey);
    assert_eq!(verdict(&|it| vec![altered(it)]), Verdict::PayloadAltered);
    assert_eq!(
        verdict(&|it| vec![it.simple(&signer, &payload(&other, NAME))]),
        Verdict::OtherDigest(other.to_string())
    );
    let all = verdict(&|it| vec![strange(it), altered(it), good(it)]);
    assert_eq!(form(&all), Some(Form::Tag), "any good layer is enough");

    let other_type =
        |it: &Signed| payload(&it.image, NAME).replace("cosign container", "atomic container");
    let malformed: [&dyn Fn(&Signed) -> Value; 5] = [
        &|it| it.simple(&signer, &other_type(it)),
        &|it| it.simple(&signer, "{}"),
        &|it| it.payload(&payload(&it.image, NAME), "!"),
        &|it| it.layout.blob(SIMPLE, payload(&it.image, NAME).as_bytes()),
        &|it| it.simple(&signer, &"x".repeat(300_000)),
    ];
    for layer in malformed {
        let verdict = verdict(&|it| vec![layer(it)]);
        assert!(matches!(verdict, Verdict::Malformed(_)), "{verdict:?}");
    }

    let elsewhere =
        verdict(&|it| vec![it.simple(&signer, &payload(&it.image, "r.example.org/os/jammy"))]);
    let Verdict::OtherRepository(signature) = elsewhere else {
        panic!("{elsewhere:?}");
    };
    assert_eq!(
        signature.identity.as_deref(),
        Some("r.example.org/os/jammy")
    );
    assert_eq!(signature.fingerprint, *key.fingerprint());
    let copied =
        verdict(&|it| vec![it.simple(&signer, &payload(&it.image, "r.example.org/a/noble"))]);
    assert_eq!(
        form(&copied),
        Some(Form::Tag),
        "a copy keeps the image's name"
    );
}

#[test]
fn each_way_to_be_wrong_is_told_apart_in_a_bundle() {
    let (Some(signer), Some(stranger)) = (Signer::p256(), Signer::p256()) else {
        return;
    };
    let key = signer.public().expect("a key");
    let verdict = |bundle: &dyn Fn(&Signed) -> Value| {
        let mut signed = Signed::new();
        let layer = bundle(&signed);
        signed.referring(vec![layer]);
        signed.verdict(&key)
    };
    let other = Digest::of(b"other");
    let made = |it: &Signed, by: &Signer, text: &str| it.bundle(text, &by.sign(&encoded(text)));

    let strange = verdict(&|it| made(it, &stranger, &statement(&it.image, SIGN)));
    assert_eq!(strange, Verdict::WrongKey);
    let altered = verdict(&|it| {
        let signature = signer.sign(&encoded(&statement(&it.image, SIGN)));
        it.bundle(&statement(&other, SIGN), &signature)
    });
    assert_eq!(altered, Verdict::PayloadAltered);
    let elsewhere = verdict(&|it| made(it, &signer, &statement(&other, SIGN)));
    assert_eq!(elsewhere, Verdict::OtherDigest(other.to_string()));
    for by in [&signer, &stranger] {
        let attested = verdict(&|it| {
            made(
                it,
                by,
                &statement(&it.image, "https://slsa.dev/provenance/v1"),
            )
        });
        assert_eq!(attested, Verdict::NotASignature);
    }
    let malformed = verdict(&|it| it.layout.blob(BUNDLE, b"{}"));
    assert!(matches!(malformed, Verdict::Malformed(_)), "{malformed:?}");
    let malformed = verdict(&|it| made(it, &signer, "{}"));
    assert!(matches!(malformed, Verdict::Malformed(_)), "{malformed:?}");
    let long = verdict(&|it| it.layout.blob(BUNDLE, &[b' '; 300_000]));
    assert_eq!(long, Verdict::NotASignature);
}

#[test]
fn a_referrer_proves_what_a_strangers_signature_at_the_tag_does_not() {
    let (Some(signer), Some(stranger)) = (Signer::p256(), Signer::p256()) else {
        return;
    };
    let mut signed = Signed::new();
    let text = payload(&signed.image, NAME);
    let (mine, other) = (
        signed.simple(&signer, &text),
        signed.simple(&stranger, &text),
    );
    signed.at_tag(vec![other]);
    signed.referring(vec![mine]);
    let key = signer.public().expect("a key");
    assert_eq!(form(&signed.verdict(&key)), Some(Form::Referrer));
}

/// What cosign made, with the form that it is stored in.
const FIXTURES: &[(&str, Form)] = &[
    ("cosign-v2-tag", Form::Tag),
    ("cosign-v2-referrer", Form::Referrer),
    ("cosign-v3-tag", Form::Tag),
    ("cosign-v3-referrer", Form::Referrer),
    ("cosign-v3-bundle", Form::Bundle),
];

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
        let verdict = check(&layout, FIXTURE, &image, &fixture_key()).expect("asked");
        assert_eq!(form(&verdict), Some(*stored), "{name}: {verdict:?}");
        // The same signatures prove nothing of another image.
        let other = Digest::of(b"other");
        let verdict = check(&layout, FIXTURE, &other, &fixture_key());
        assert_eq!(verdict, Ok(Verdict::Missing), "{name}");
    }
    let (layout, image) = fixture("cosign-v3-attestation");
    let verdict = check(&layout, FIXTURE, &image, &fixture_key());
    assert_eq!(verdict, Ok(Verdict::NotASignature));
}

#[test]
fn signatures_of_the_real_cosign_are_refused_under_another_key() {
    let Some(stranger) = Signer::p256() else {
        return;
    };
    for (name, _) in FIXTURES {
        let (layout, image) = fixture(name);
        let verdict = check(&layout, FIXTURE, &image, &stranger.public().expect("a key"));
        assert_eq!(verdict, Ok(Verdict::WrongKey), "{name}");
    }
}

#[test]
fn altered_copies_of_what_the_real_cosign_signed_are_refused() {
    for (name, _) in FIXTURES {
        let scratch = super::support::copy_of(&fixtures().join(name));
        let (_, image) = fixture(name);
        let blob = signature_blob(scratch.path());
        let mut bytes = fs::read(&blob).expect("a blob");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&blob, bytes).expect("written");
        let layout = Layout::open(scratch.path(), ".").expect("a layout");
        let failure = check(&layout, FIXTURE, &image, &fixture_key()).expect_err("altered");
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

/// Answers nothing, for a reason.
struct Silent(FailureKind);

impl Silent {
    fn failures<T>(&self, count: usize) -> Vec<Result<T, Failure>> {
        let failure = || Failure::new("it", self.0, "silence");
        (0..count).map(|_| Err(failure())).collect()
    }
}

impl Store for Silent {
    fn manifests(&self, wanted: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        self.failures(wanted.len())
    }

    fn blobs(&self, wanted: &[(Reference, Descriptor)], _: u64) -> Vec<Result<Vec<u8>, Failure>> {
        self.failures(wanted.len())
    }

    fn sizes(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>> {
        self.failures(wanted.len())
    }

    fn referrers(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>> {
        self.failures(wanted.len())
    }

    fn tags(&self, _: &Reference) -> Result<Vec<String>, Failure> {
        self.failures(1).remove(0)
    }

    fn repositories(&self, _: &Reference) -> Result<Vec<String>, Failure> {
        self.failures(1).remove(0)
    }
}

#[test]
fn who_cannot_be_asked_is_not_without_a_signature() {
    let image = Digest::of(b"");
    for kind in [
        FailureKind::Unreachable,
        FailureKind::Denied,
        FailureKind::Corrupt,
    ] {
        let answer = check(&Silent(kind), NAME, &image, &fixture_key());
        assert_eq!(answer.expect_err("a failure").kind, kind);
    }
    let answer = check(&Silent(FailureKind::NotFound), NAME, &image, &fixture_key());
    assert_eq!(answer, Ok(Verdict::Missing));
}

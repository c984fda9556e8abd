//! Signatures verify as cosign and openssl make them; each way to be wrong has its own verdict.

mod bundles;
mod fixtures;
mod gathered;
mod keyless;
mod keys;

mod limits;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use oci_artifacts::layout::Layout;
use oci_artifacts::signature::{self, Form, KeyError, PublicKey, Question, Verdict};
use oci_artifacts::{Digest, Failure, Reference, Store};
use serde_json::{Value, json};
use yaml_tree::bytes::BASE64;

use super::programs;
use super::support::cosign::{
    ANNOTATION, BUNDLE, IN_TOTO, Key, SIGN, SIMPLE, Signs, bundle, encoded, payload, statement,
};
use super::support::layout::{LayoutWriter, MANIFEST};

const NAME: &str = "registry.example.org/os/noble";

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

    fn public(&self) -> Result<PublicKey, KeyError> {
        let pem = self.run(&["pkey", "-in", "key", "-pubout"]);
        PublicKey::read(&String::from_utf8(pem).expect("PEM"))
    }

    fn run(&self, arguments: &[&str]) -> Vec<u8> {
        run(Command::new(&self.openssl)
            .current_dir(self.folder.path())
            .args(arguments))
    }
}

impl Signs for Signer {
    fn sign(&self, message: &[u8]) -> Vec<u8> {
        fs::write(self.folder.path().join("message"), message).expect("written");
        match self.digest {
            Some(digest) => self.run(&["dgst", digest, "-sign", "key", "message"]),
            None => self.run(&[
                "pkeyutl", "-sign", "-rawin", "-inkey", "key", "-in", "message",
            ]),
        }
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

    fn simple(&self, signer: &dyn Signs, payload: &str) -> Value {
        self.payload(payload, &BASE64.encode(&signer.sign(payload.as_bytes())))
    }

    fn bundle(&self, statement: &str, signature: Vec<u8>) -> Value {
        self.stored(&bundle((IN_TOTO, statement), &[signature], None))
    }

    /// The layer of a bundle.
    fn stored(&self, bundle: &Value) -> Value {
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
    let question = Question {
        of: reference,
        signed_as: None,
        digest: image.clone(),
        key: key.clone(),
    };
    signature::check_one(store, question)
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
        assert_eq!(*key.fingerprint(), Digest::compute(&der));

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
        let bundle = signed.bundle(&text, signer.sign(&encoded(IN_TOTO, &text)));
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
fn each_fault_of_a_signature_is_distinguished_at_the_tag() {
    let (signer, stranger) = (Key::new(), Key::new());
    let key = signer.public();
    let verdict = |layers: &dyn Fn(&Signed) -> Vec<Value>| {
        let mut signed = Signed::new();
        let layers = layers(&signed);
        signed.at_tag(layers);
        signed.verdict(&key)
    };
    let other = Digest::compute(b"other");
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
    let not_der = BASE64.encode(b"not DER");
    type Made<'m> = &'m dyn Fn(&Signed) -> Value;
    let malformed: [(&str, Made<'_>); 6] = [
        ("its payload is not of type `", &|it| {
            it.simple(&signer, &other_type(it))
        }),
        ("its payload cannot be read: ", &|it| {
            it.simple(&signer, "{}")
        }),
        ("its signature is not base64", &|it| {
            it.payload(&payload(&it.image, NAME), "!")
        }),
        ("its signature is not DER, ", &|it| {
            it.payload(&payload(&it.image, NAME), &not_der)
        }),
        ("its payload has no annotation `", &|it| {
            it.layout.blob(SIMPLE, payload(&it.image, NAME).as_bytes())
        }),
        ("its payload has 300000 bytes", &|it| {
            it.simple(&signer, &"x".repeat(300_000))
        }),
    ];
    for (why, layer) in malformed {
        match verdict(&|it| vec![layer(it)]) {
            Verdict::Malformed(reason) => assert!(reason.starts_with(why), "{reason}"),
            other => panic!("{why}: {other:?}"),
        }
    }

    // Of several under other names, the first one is reported.
    let under = |it: &Signed, name: &str| {
        it.simple(
            &signer,
            &payload(&it.image, &format!("r.example.org/os/{name}")),
        )
    };
    let elsewhere = verdict(&|it| vec![under(it, "jammy"), under(it, "focal")]);
    let Verdict::OtherImage(signature) = elsewhere else {
        panic!("{elsewhere:?}");
    };
    assert_eq!(
        signature.identity.as_deref(),
        Some("r.example.org/os/jammy")
    );
    assert_eq!(signature.fingerprint, *key.fingerprint());
    let copied =
        verdict(&|it| vec![it.simple(&signer, &payload(&it.image, "r.example.org/a/noble"))]);
    assert!(matches!(copied, Verdict::OtherImage(_)), "{copied:?}");
}

#[test]
fn each_fault_of_a_signature_is_distinguished_in_a_bundle() {
    let (signer, stranger) = (Key::new(), Key::new());
    let key = signer.public();
    let verdict = |bundle: &dyn Fn(&Signed) -> Value| {
        let mut signed = Signed::new();
        let layer = bundle(&signed);
        signed.referring(vec![layer]);
        signed.verdict(&key)
    };
    let other = Digest::compute(b"other");
    let made =
        |it: &Signed, by: &Key, text: &str| it.bundle(text, by.sign(&encoded(IN_TOTO, text)));

    let strange = verdict(&|it| made(it, &stranger, &statement(&it.image, SIGN)));
    assert_eq!(strange, Verdict::WrongKey);
    let altered = verdict(&|it| {
        let signature = signer.sign(&encoded(IN_TOTO, &statement(&it.image, SIGN)));
        it.bundle(&statement(&other, SIGN), signature)
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
    let (signer, stranger) = (Key::new(), Key::new());
    let mut signed = Signed::new();
    let text = payload(&signed.image, NAME);
    let (mine, other) = (
        signed.simple(&signer, &text),
        signed.simple(&stranger, &text),
    );
    signed.at_tag(vec![other]);
    signed.referring(vec![mine]);
    assert_eq!(
        form(&signed.verdict(&signer.public())),
        Some(Form::Referrer)
    );
}

//! What is signed here is verified here, in each form and under no other key; keys that cannot sign are reported.

use std::process::Command;

use metalmark::files::layout_sink;
use oci_artifacts::layout::Layout;
use oci_artifacts::registry::{Environment, Registries, RegistryOptions};
use oci_artifacts::signature::{
    self, Form, PublicKey, Question, SecretKeyError, SignatureForm, Signed, SigningKey, Verdict,
};
use oci_artifacts::{Artifact, Content, Reference, Sink, Store};
use serde_json::json;
use yaml_tree::bytes::BASE64;

use super::programs;
use super::support::artifact::{artifact, blob};
use super::support::cosign::{ANNOTATION, encoded};
use super::support::distribution::plain_http;
use super::support::registry::{Registry, Reply, Request};
use super::support::stage::project;

fn key() -> SigningKey {
    let pair = rcgen::KeyPair::generate().expect("a key");
    SigningKey::read(&pair.serialize_pem()).expect("a key")
}

fn image() -> Artifact {
    artifact(vec![blob("text/plain", b"content")], json!({}))
}

fn client(registry: &Registry) -> Registries {
    let mut options = RegistryOptions::new(plain_http(&[registry.host()]));
    options.environment = Environment::default();
    Registries::new(options)
}

fn verdict(store: &dyn Store, of: &Reference, image: &Artifact, key: &PublicKey) -> Verdict {
    let question = Question {
        of: of.clone(),
        signed_as: None,
        digest: image.descriptor.digest.clone(),
        key: key.clone(),
    };
    signature::check_one(store, question).expect("an answer")
}

fn form(verdict: &Verdict) -> Option<Form> {
    match verdict {
        Verdict::Good(signature) => Some(signature.form),
        _ => None,
    }
}

#[test]
fn a_registry_holds_the_signatures_of_two_keys_in_two_forms() {
    let (mine, other, nobody) = (key(), key(), key());
    for (form_wanted, found) in [
        (SignatureForm::Tag, Form::Tag),
        (SignatureForm::Bundle, Form::Bundle),
    ] {
        let registry = Registry::plain();
        let client = client(&registry);
        let image = image();
        let of = registry.reference("group/bundle:1");
        client.put(&of, &image).expect("put");
        let sign = |key: &SigningKey| {
            signature::sign(&client, &client, &of, &image.descriptor, key, form_wanted)
        };
        assert_eq!(sign(&mine), Ok(Signed::New));
        assert_eq!(sign(&other), Ok(Signed::New));
        assert_eq!(sign(&mine), Ok(Signed::Already));
        for key in [&mine, &other] {
            let verdict = verdict(&client, &of, &image, key.public());
            assert_eq!(form(&verdict), Some(found), "{verdict:?}");
        }
        assert_eq!(
            verdict(&client, &of, &image, nobody.public()),
            Verdict::WrongKey
        );
    }
}

/// Whatever signatures are there would be lost otherwise.
#[test]
fn nothing_is_signed_where_the_signatures_that_are_there_cannot_be_had() {
    for form in [SignatureForm::Tag, SignatureForm::Bundle] {
        let registry = Registry::plain();
        let client = client(&registry);
        let image = image();
        let of = registry.reference("group/bundle:1");
        client.put(&of, &image).expect("put");
        // Whoever looks for signatures, and whoever would add one, has no answer; a push has one.
        registry.hook(|request, before| {
            let is_asked = request.path.ends_with(".sig") && request.method == "GET";
            (is_asked && before < 2).then(|| Reply::new(501, ""))
        });
        let signed = signature::sign(&client, &client, &of, &image.descriptor, &key(), form);
        let pushed = |request: &Request| request.method == "PUT" && request.path.contains("sig");
        let count = registry.seen().iter().filter(|it| pushed(it)).count();
        match form {
            SignatureForm::Tag => assert_eq!((signed.is_err(), count), (true, 0)),
            SignatureForm::Bundle => {
                assert!(signed.is_ok(), "a bundle replaces nothing: {signed:?}")
            }
        }
    }
}

/// The bytes that were signed and the signature, as they are stored, are openssl's to verify.
#[test]
fn openssl_verifies_what_is_signed_here() {
    let Some(openssl) = programs::find("openssl") else {
        return;
    };
    let stage = project();
    let pair = rcgen::KeyPair::generate().expect("a key");
    let key = SigningKey::read(&pair.serialize_pem()).expect("a key");
    let stranger = rcgen::KeyPair::generate().expect("a key");
    let registry = Registry::plain();
    let client = client(&registry);
    let image = image();
    let of = registry.reference("group/bundle:1");
    client.put(&of, &image).expect("put");
    for form in [SignatureForm::Tag, SignatureForm::Bundle] {
        let signed = signature::sign(&client, &client, &of, &image.descriptor, &key, form);
        assert_eq!(signed, Ok(Signed::New));
    }
    let blob = |descriptor: &oci_artifacts::Descriptor| {
        let wanted = [(of.clone(), descriptor.clone())];
        client.blobs(&wanted, 1 << 20).remove(0).expect("a blob")
    };
    let layers = |manifest: oci_artifacts::Manifest| match manifest.content {
        Content::Image { layers, .. } => layers,
        Content::Index { .. } => Vec::new(),
    };
    let sig = of.with_tag(&format!("sha256-{}.sig", image.descriptor.digest.hex()));
    let listed = [(of.clone(), image.descriptor.digest.clone())];
    let referrer = client
        .referrers(&listed)
        .remove(0)
        .expect("a list")
        .remove(0);
    let wanted = [sig, of.with_digest(&referrer.digest)];
    let [tag, bundle]: [Vec<_>; 2] = client
        .manifests(&wanted)
        .into_iter()
        .map(|manifest| layers(manifest.expect("a manifest")))
        .collect::<Vec<_>>()
        .try_into()
        .expect("two");
    let bytes = |text: &str| BASE64.decode(text.as_bytes()).expect("base64");
    let payload = (blob(&tag[0]), bytes(&tag[0].annotations[ANNOTATION]));
    let bundle: serde_json::Value = serde_json::from_slice(&blob(&bundle[0])).expect("JSON");
    let envelope = &bundle["dsseEnvelope"];
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let statement = String::from_utf8(bytes(&text(&envelope["payload"]))).expect("text");
    let message = encoded(&text(&envelope["payloadType"]), &statement);
    let signature = bytes(&text(&envelope["signatures"][0]["sig"]));
    let verifies = |key: &rcgen::KeyPair, message: &[u8], signature: &[u8]| {
        let pem = key.public_key_pem();
        let files = [
            ("key", pem.as_bytes()),
            ("message", message),
            ("signature", signature),
        ];
        for (name, bytes) in files {
            stage.write(name, bytes);
        }
        let run = Command::new(&openssl)
            .current_dir(stage.path())
            .args("dgst -sha256 -verify key -signature signature message".split(' '))
            .output();
        run.expect("it starts").status.success()
    };
    for (message, signature) in [payload, (message, signature)] {
        assert!(verifies(&pair, &message, &signature));
        assert!(!verifies(&stranger, &message, &signature));
    }
}

#[test]
fn a_layout_holds_them_too() {
    let stage = project();
    let of = Reference::parse("r.example/group/bundle:1").expect("one");
    let (image, key) = (image(), key());
    let sink = layout_sink(stage.path(), "l").expect("a folder");
    sink.put(&of, &image).expect("put");
    for form_wanted in [SignatureForm::Bundle, SignatureForm::Tag] {
        let layout = Layout::open(stage.path(), "l").expect("a layout");
        let signed = signature::sign(&layout, &sink, &of, &image.descriptor, &key, form_wanted);
        assert_eq!(signed, Ok(Signed::New));
        let layout = Layout::open(stage.path(), "l").expect("a layout");
        assert!(form(&verdict(&layout, &of, &image, key.public())).is_some());
    }
}

#[test]
fn keys_are_read_as_openssl_writes_them() {
    let Some(openssl) = programs::find("openssl") else {
        return;
    };
    let stage = project();
    let run = |arguments: &str| {
        let output = Command::new(&openssl)
            .current_dir(stage.path())
            .args(arguments.split(' '))
            .output()
            .expect("it starts");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("PEM")
    };
    let read = |text: &str| SigningKey::read(text).map(|key| key.public().clone());
    run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key");
    let public = run("pkey -in key -pubout");
    let expected = PublicKey::read(&public).expect("a key");
    assert_eq!(read(&run("pkey -in key")), Ok(expected.clone()));
    assert_eq!(read(&run("ec -in key")), Ok(expected));
    assert_eq!(read(&public), Err(SecretKeyError::Public));
    let encrypted = run("pkcs8 -topk8 -in key -passout pass:x");
    assert_eq!(read(&encrypted), Err(SecretKeyError::Encrypted));
    let legacy = run("ec -in key -aes128 -passout pass:x");
    assert_eq!(read(&legacy), Err(SecretKeyError::Encrypted));
    for other in [
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384",
        "genpkey -algorithm RSA",
        "genpkey -algorithm ED25519",
    ] {
        assert_eq!(
            read(&run(other)),
            Err(SecretKeyError::Unsupported),
            "{other}"
        );
    }
    assert_eq!(read("no key"), Err(SecretKeyError::NotAKey));
    let cut = run("pkey -in key").replace("-----END", "");
    assert_eq!(read(&cut), Err(SecretKeyError::Malformed));
}

/// Keys of cosign and Sigstore, of which nothing but the name is read.
#[test]
fn keys_with_a_password_are_refused() {
    for name in [
        "ENCRYPTED SIGSTORE PRIVATE KEY",
        "ENCRYPTED COSIGN PRIVATE KEY",
    ] {
        let pem = format!("-----BEGIN {name}-----\ne30=\n-----END {name}-----\n");
        let refused = SigningKey::read(&pem).map(|_| ());
        assert_eq!(refused, Err(SecretKeyError::Encrypted), "{name}");
    }
}

#[test]
fn no_message_shows_a_key() {
    let pem = rcgen::KeyPair::generate().expect("a key").serialize_pem();
    let key = SigningKey::read(&pem).expect("a key");
    let reported = format!("{key:?}");
    assert!(reported.starts_with("SigningKey(sha256:"), "{reported}");
    let secret = pem.lines().nth(1).expect("a line");
    let refused = SigningKey::read(&pem.replace("PRIVATE", "SECRET"));
    assert!(!format!("{reported}{refused:?}").contains(secret));
}

//! What is signed here is verified here, in each form and under no other key; keys that do not sign are told.

use std::process::Command;

use metalmark::layout::{Layout, LayoutSink};
use metalmark::model::registries::{Host, RegistrySettings};
use metalmark::oci::{Artifact, Reference, Sink, Store};
use metalmark::registry::{Environment, Options, Registries};
use metalmark::signature::{
    self, Form, PublicKey, SecretKeyError, SignatureForm, Signed, SigningKey, Verdict,
};
use serde_json::json;

use super::programs;
use super::support::artifact::{artifact, blob};
use super::support::registry::Registry;

fn key() -> SigningKey {
    let pair = rcgen::KeyPair::generate().expect("a key");
    SigningKey::read(&pair.serialize_pem(), None).expect("a key")
}

fn image() -> Artifact {
    artifact(vec![blob("text/plain", b"content")], json!({}))
}

fn client(registry: &Registry) -> Registries {
    let host = Host {
        plain_http: true,
        ..Host::default()
    };
    let mut options = Options::new(RegistrySettings {
        hosts: [(registry.host().into(), host)].into(),
        ..RegistrySettings::default()
    });
    options.environment = Environment::default();
    Registries::new(options)
}

fn verdict(store: &dyn Store, of: &Reference, image: &Artifact, key: &PublicKey) -> Verdict {
    let wanted = [(of.clone(), image.descriptor.digest.clone(), key.clone())];
    signature::check(store, &wanted)
        .remove(0)
        .expect("an answer")
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
            signature::sign(&client, &client, (&of, &image.descriptor), key, form_wanted)
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

#[test]
fn a_layout_holds_them_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = Reference::parse("r.example/group/bundle:1").expect("one");
    let (image, key) = (image(), key());
    let sink = LayoutSink::new(folder.path(), "l");
    sink.put(&of, &image).expect("put");
    for form_wanted in [SignatureForm::Bundle, SignatureForm::Tag] {
        let layout = Layout::open(folder.path(), "l").expect("a layout");
        let signed = signature::sign(&layout, &sink, (&of, &image.descriptor), &key, form_wanted);
        assert_eq!(signed, Ok(Signed::New));
        let layout = Layout::open(folder.path(), "l").expect("a layout");
        assert!(form(&verdict(&layout, &of, &image, key.public())).is_some());
    }
}

#[test]
fn keys_are_read_as_openssl_writes_them() {
    let Some(openssl) = programs::find("openssl") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &str| {
        let output = Command::new(&openssl)
            .current_dir(folder.path())
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
    let read = |text: &str| SigningKey::read(text, None).map(|key| key.public().clone());
    run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key");
    let public = run("pkey -in key -pubout");
    let expected = PublicKey::read(&public).expect("a key");
    assert_eq!(read(&run("pkey -in key")), Ok(expected.clone()));
    assert_eq!(read(&run("ec -in key")), Ok(expected));
    assert_eq!(read(&public), Err(SecretKeyError::Public));
    let encrypted = run("pkcs8 -topk8 -in key -passout pass:x");
    assert_eq!(read(&encrypted), Err(SecretKeyError::Encryption));
    let legacy = run("ec -in key -aes128 -passout pass:x");
    assert_eq!(read(&legacy), Err(SecretKeyError::Encryption));
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

#[test]
fn no_message_shows_a_key() {
    let pem = rcgen::KeyPair::generate().expect("a key").serialize_pem();
    let key = SigningKey::read(&pem, None).expect("a key");
    let told = format!("{key:?}");
    assert!(told.starts_with("SigningKey(sha256:"), "{told}");
    let secret = pem.lines().nth(1).expect("a line");
    let refused = SigningKey::read(&pem.replace("PRIVATE", "SECRET"), None);
    assert!(!format!("{told}{refused:?}").contains(secret));
}

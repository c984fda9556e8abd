//! One row for each rule about bundles and payloads: types, signatures, hints, subjects, spellings of base64.

use oci_artifacts::Digest;
use oci_artifacts::signature::{Form, Verdict};
use serde_json::{Value, json};
use yaml_tree::bytes::BASE64;

use super::{NAME, Signed, form};
use crate::support::cosign::{
    ANNOTATION, IN_TOTO, Key, SIGN, Signs, bundle, encoded, payload, statement,
};

/// What a row expects.
#[derive(Debug)]
enum Expected {
    Good,
    /// Malformed, for a reason that has this text.
    Malformed(&'static str),
    /// The key signed it, for a repository of that name.
    MadeFor(&'static str),
    Exactly(Verdict),
}

use Expected::{Exactly, Good, MadeFor, Malformed};

impl Expected {
    fn is_met(&self, verdict: &Verdict) -> bool {
        match (self, verdict) {
            (Good, Verdict::Good(_)) => true,
            (Malformed(text), Verdict::Malformed(reason)) => reason.contains(text),
            (MadeFor(name), Verdict::OtherImage(signature)) => {
                signature.identity.as_deref() == Some(name)
            }
            (Exactly(expected), verdict) => expected == verdict,
            _ => false,
        }
    }
}

/// Texts of base64 with line ends, as tools that fold lines write them.
fn folded(text: &str, end: &str) -> String {
    let lines: Vec<&str> = text.as_bytes().chunks(20).map(as_text).collect();
    lines.join(end) + end
}

fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("ASCII")
}

/// Changes the text at a place of a bundle.
fn with(mut bundle: Value, place: &str, change: impl Fn(&str) -> String) -> Value {
    let text = bundle.pointer_mut(place).expect("a place");
    *text = change(text.as_str().expect("text")).into();
    bundle
}

const PAYLOAD: &str = "/dsseEnvelope/payload";
const SIG: &str = "/dsseEnvelope/signatures/0/sig";

#[test]
fn each_rule_of_a_bundle_decides() {
    let (mine, stranger) = (Key::new(), Key::new());
    let mut signed = Signed::new();
    let image = signed.image.clone();
    let other = Digest::compute(b"other");
    let ours = statement(&image, SIGN);
    let made = |by: &Key, kind: &str, text: &str, hint: Option<&str>| {
        bundle((kind, text), &[by.sign(&encoded(kind, text))], hint)
    };
    let plain = |text: &str| made(&mine, IN_TOTO, text, None);
    let of_type = |kind: &str| ours.replace("https://in-toto.io/Statement/v1", kind);
    let subjects = |subjects: Value| {
        let mut statement: Value = serde_json::from_str(&ours).expect("JSON");
        statement["subject"] = subjects;
        plain(&statement.to_string())
    };
    let (mine_hint, other_hint) = (mine.hint(), stranger.hint());
    let (of_ours, of_other) = (
        json!({"sha256": image.hex()}),
        json!({"sha256": other.hex()}),
    );
    let several = |before: usize| {
        let message = encoded(IN_TOTO, &ours);
        let mut signatures = vec![stranger.sign(&message); before];
        signatures.push(mine.sign(&message));
        bundle((IN_TOTO, &ours), &signatures, None)
    };
    let not_ours = statement(&other, SIGN);
    let wrong = || Exactly(Verdict::WrongKey);
    let altered = || Exactly(Verdict::PayloadAltered);
    let elsewhere = |digests: &[&Digest]| {
        let digests: Vec<&str> = digests.iter().map(|digest| digest.as_str()).collect();
        Exactly(Verdict::OtherDigest(digests.join(", ")))
    };
    let [second, third, fourth] = [b"2", b"3", b"4"].map(|bytes| Digest::compute(bytes));
    let of = |digest: &Digest| json!({"digest": {"sha256": digest.hex()}});

    let rows: Vec<(&str, Value, Expected)> = vec![
        (
            "as cosign makes it",
            made(&mine, IN_TOTO, &ours, Some(&mine_hint)),
            Good,
        ),
        // Types: the same key may sign other things.
        (
            "another payload type",
            made(&mine, "application/json", &ours, None),
            Malformed("in-toto+json"),
        ),
        (
            "another payload type, another key",
            made(&stranger, "application/json", &ours, None),
            altered(),
        ),
        (
            "another statement type",
            plain(&of_type("https://example.org/Statement/v1")),
            Malformed("in-toto's type"),
        ),
        (
            "the first statement type",
            plain(&of_type("https://in-toto.io/Statement/v0.1")),
            Good,
        ),
        (
            "another predicate",
            plain(&statement(&image, "https://slsa.dev/provenance/v1")),
            Exactly(Verdict::NotASignature),
        ),
        // Of several signatures, one good one is enough, among the first sixteen.
        ("the second signature", several(1), Good),
        ("the sixteenth signature", several(15), Good),
        ("the seventeenth signature", several(16), wrong()),
        ("no signature", bundle((IN_TOTO, &ours), &[], None), wrong()),
        // Why it is not good: by the key that it names, else by what it is about.
        (
            "another key, of ours",
            made(&stranger, IN_TOTO, &ours, None),
            wrong(),
        ),
        (
            "another key, of another image",
            made(&stranger, IN_TOTO, &not_ours, None),
            altered(),
        ),
        (
            "another key that names itself, of another image",
            made(&stranger, IN_TOTO, &not_ours, Some(&other_hint)),
            wrong(),
        ),
        (
            "another key that names ours",
            made(&stranger, IN_TOTO, &ours, Some(&mine_hint)),
            altered(),
        ),
        (
            "an empty name of a key is none",
            made(&stranger, IN_TOTO, &not_ours, Some("")),
            altered(),
        ),
        // Subjects.
        (
            "the second subject",
            subjects(json!([{"digest": of_other}, {"digest": of_ours}])),
            Good,
        ),
        ("no subject", subjects(json!([])), elsewhere(&[])),
        ("another digest", plain(&not_ours), elsewhere(&[&other])),
        (
            "another algorithm",
            subjects(json!([{"digest": {"sha1": image.hex()}}])),
            Exactly(Verdict::OtherDigest(format!("sha1:{}", image.hex()))),
        ),
        (
            "four other digests, three shown",
            subjects(json!([of(&other), of(&second), of(&third), of(&fourth)])),
            elsewhere(&[&other, &second, &third]),
        ),
        (
            "a subject of this name",
            subjects(json!([{"name": NAME, "digest": of_ours}])),
            Good,
        ),
        (
            "a subject without a name",
            subjects(json!([{"name": "", "digest": of_ours}])),
            Good,
        ),
        (
            "a subject of another name",
            subjects(json!([{"name": "r/os/jammy", "digest": of_ours}])),
            MadeFor("r/os/jammy"),
        ),
        // Base64: line ends do not count, everything else does.
        (
            "a folded signature",
            with(plain(&ours), SIG, |text| folded(text, "\n")),
            Good,
        ),
        (
            "a folded payload",
            with(plain(&ours), PAYLOAD, |text| folded(text, "\r\n")),
            Good,
        ),
        (
            "a signature that is not base64",
            with(plain(&ours), SIG, |_| "!".to_owned()),
            Malformed("not base64"),
        ),
        (
            "a payload that is not base64",
            with(plain(&ours), PAYLOAD, |_| "!".to_owned()),
            Malformed("not base64"),
        ),
        (
            "a signature with a space",
            with(plain(&ours), SIG, |text| format!(" {text}")),
            Malformed("not base64"),
        ),
        // Shapes.
        (
            "an envelope and a signature",
            {
                let mut both = plain(&ours);
                both["messageSignature"] = json!({"signature": ""});
                both
            },
            Malformed("neither one envelope nor one signature"),
        ),
        (
            "neither",
            json!({}),
            Malformed("neither one envelope nor one signature"),
        ),
        ("no JSON", json!([]), Malformed("cannot be read")),
        (
            "a statement that is none",
            plain("{}"),
            Malformed("its statement cannot be read"),
        ),
    ];
    let key = mine.public();
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(name, bundle, expected)| {
            signed = Signed::new();
            let layer = signed.stored(bundle);
            signed.referring(vec![layer]);
            let verdict = signed.verdict(&key);
            (!expected.is_met(&verdict)).then(|| format!("{name}: {verdict:?}, not {expected:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_signature_over_the_manifest_itself_counts_for_these_bytes_and_this_key() {
    let (mine, stranger) = (Key::new(), Key::new());
    let signed = || {
        let signed = Signed::new();
        let manifest = std::fs::read(signed.layout.file(&signed.image)).expect("a manifest");
        (signed, manifest)
    };
    let verdict = |by: &Key, hint: Option<&str>, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let (mut signed, manifest) = signed();
        let signature = BASE64.encode(&by.sign(&change(manifest)));
        let mut bundle = json!({"messageSignature": {"signature": signature}});
        if let Some(hint) = hint {
            bundle["verificationMaterial"] = json!({"publicKey": {"hint": hint}});
        }
        let layer = signed.stored(&bundle);
        signed.referring(vec![layer]);
        signed.verdict(&mine.public())
    };
    let same = |bytes| bytes;
    let other = |_| b"other".to_vec();
    assert_eq!(form(&verdict(&mine, None, &same)), Some(Form::Bundle));
    assert_eq!(verdict(&mine, None, &other), Verdict::WrongKey);
    let named = verdict(&mine, Some(&mine.hint()), &other);
    assert_eq!(named, Verdict::PayloadAltered);
    assert_eq!(verdict(&stranger, None, &same), Verdict::WrongKey);
}

#[test]
fn each_rule_of_a_payload_decides() {
    let (mine, stranger) = (Key::new(), Key::new());
    let image = Signed::new().image;
    let ours = payload(&image, NAME);
    let sign = |text: &str| BASE64.encode(&mine.sign(text.as_bytes()));
    let strange = |text: &str| BASE64.encode(&stranger.sign(text.as_bytes()));
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_str(&ours).expect("JSON");
        change(&mut value);
        value.to_string()
    };
    let nameless = changed(&|it| it["critical"]["identity"] = json!({}));
    let empty = payload(&image, "");
    let not_ours = payload(&Digest::compute(b"other"), NAME);
    let of_type = |name: &str| changed(&|it| it["critical"]["type"] = name.into());
    let (atomic, short) = (
        of_type("atomic container signature"),
        of_type("cosign container image"),
    );
    type Payloads<'a> = Vec<(&'a str, String)>;
    let rows: Vec<(&str, Payloads<'_>, Expected)> = vec![
        (
            "folded by line feeds",
            vec![(&ours, folded(&sign(&ours), "\n"))],
            Good,
        ),
        (
            "folded by carriage returns",
            vec![(&ours, folded(&sign(&ours), "\r\n"))],
            Good,
        ),
        (
            "a space",
            vec![(&ours, format!("{} ", sign(&ours)))],
            Malformed("not base64"),
        ),
        ("no repository", vec![(&nameless, sign(&nameless))], Good),
        ("an empty repository", vec![(&empty, sign(&empty))], Good),
        (
            "another type",
            vec![(&atomic, sign(&atomic))],
            Malformed("not of type"),
        ),
        (
            "the start of the type",
            vec![(&short, sign(&short))],
            Malformed("not of type"),
        ),
        (
            "no JSON",
            vec![("no JSON", sign("no JSON"))],
            Malformed("its payload cannot be read"),
        ),
        (
            "no JSON, another key",
            vec![("no JSON", strange("no JSON"))],
            Exactly(Verdict::PayloadAltered),
        ),
        (
            "another image, another key",
            vec![(&not_ours, strange(&not_ours))],
            Exactly(Verdict::PayloadAltered),
        ),
        // What says most counts, in any order.
        (
            "malformed, then another key",
            vec![("no JSON", sign("no JSON")), (&ours, strange(&ours))],
            Exactly(Verdict::WrongKey),
        ),
        (
            "another key, then malformed",
            vec![(&ours, strange(&ours)), ("no JSON", sign("no JSON"))],
            Exactly(Verdict::WrongKey),
        ),
        (
            "good, then another key",
            vec![(&ours, sign(&ours)), (&ours, strange(&ours))],
            Good,
        ),
    ];
    for (name, layers, expected) in rows {
        let mut signed = Signed::new();
        let layers = layers.iter().map(|(text, it)| signed.payload(text, it));
        let layers: Vec<Value> = layers.collect();
        assert!(
            layers
                .iter()
                .all(|layer| layer["annotations"][ANNOTATION].is_string())
        );
        signed.at_tag(layers);
        let verdict = signed.verdict(&mine.public());
        assert!(
            expected.is_met(&verdict),
            "{name}: {verdict:?}, not {expected:?}"
        );
    }
}

//! What is signed under a certificate is proven by the pinned root of its instance, its log and its time; each way to be wrong is
//! refused with its reason.

use oci_artifacts::evidence::Witness;
use oci_artifacts::signature::{
    Attested, Contents, Demand, Identity, Origin, Pattern, Policy, PublicKey, Refusal, Signer,
    Subject, TrustedRoot,
};
use oci_artifacts::{Digest, Reference};
use serde_json::{Value, json};
use snapbox::{IntoData, assert_data_eq, str};
use yaml_tree::bytes::BASE64;

use crate::support::cosign::{Key, SIGN, payload, signed_bundle};
use crate::support::sigstore::{GITLAB, JOB, NOON, Proof, Signing, Sigstore, statement};

/// What is signed here.
const MANIFEST: &str = r#"{"schemaVersion":2}"#;
const NAME: &str = "registry.example/os/noble";
const SLSA: &str = "https://slsa.dev/provenance/v1";
const SPDX: &str = "https://spdx.dev/Document/v2.3";
const SCAN: &str = "https://scan.example/v1";

fn image() -> Digest {
    Digest::compute(MANIFEST.as_bytes())
}

fn slsa() -> Value {
    json!({
        "buildDefinition": {
            "externalParameters": {"source": "https://gitlab.example/os/images.git"},
            "resolvedDependencies": [{"uri": "https://gitlab.example/os/images", "digest": {"gitCommit": "c0ffee"}}],
        },
        "runDetails": {"builder": {"id": "https://gitlab.example/os/images/-/runners/7"}},
    })
}

fn read(root: &Value) -> TrustedRoot {
    TrustedRoot::read(&root.to_string()).expect("a root")
}

fn identity(subject: &str, issuer: &str, root: &Value) -> Signer {
    Signer::Certified(Identity {
        subject: Pattern::new(subject),
        issuer: issuer.to_owned(),
        root: read(root),
    })
}

fn bundle(bundle: &Value) -> Witness {
    Witness::Bundle {
        bundle: bundle.to_string().into(),
    }
}

fn judge(
    signer: Signer,
    demands: Vec<Demand>,
    witnesses: &[Witness],
) -> Result<Attested, Vec<Refusal>> {
    let (of, digest) = (Reference::parse(&format!("{NAME}:1")), image());
    let subject = Subject {
        of: &of.expect("a reference"),
        signed_as: None,
        digest: &digest,
        manifest: MANIFEST,
    };
    Policy { signer, demands }.judge(&subject, witnesses)
}

/// Why one demand is not met; empty where it is.
fn refusal(signer: Signer, demand: Demand, witness: Witness) -> String {
    match judge(signer, vec![demand], &[witness]) {
        Ok(_) => String::new(),
        Err(refusals) => refusals[0].to_string(),
    }
}

fn provenance(builder: &str, source: &str, reference: &str) -> Demand {
    let pattern = |text: &str| Some(Pattern::new(text)).filter(|it| !it.text().is_empty());
    Demand::Provenance {
        builder: pattern(builder),
        source: pattern(source),
        reference: pattern(reference),
    }
}

#[test]
fn a_signature_and_provenance_count_however_their_time_is_proven() {
    let instance = Sigstore::new();
    let root = instance.root();
    let mut without_log = root.clone();
    without_log["tlogs"] = json!([]);
    for (proof, root) in [
        (Proof::Rekor1, &root),
        (Proof::Rekor2, &root),
        (Proof::Timestamp, &without_log),
    ] {
        let signing = Signing {
            proof,
            claims: &[(14, "refs/tags/0.4.12")],
            ..Signing::default()
        };
        let witnesses = [
            bundle(&instance.attest(&statement(&image(), SIGN, &json!({})), &signing)),
            bundle(&instance.attest(&statement(&image(), SLSA, &slsa()), &signing)),
        ];
        // cosign 3 names the image by its digest alone, and by its bytes where it signs them.
        let bytes = [bundle(&instance.sign_bytes(MANIFEST.as_bytes(), &signing))];
        let pattern = "https://gitlab.example/os/images//.gitlab-ci.yml@refs/tags/*";
        let signer = || identity(pattern, GITLAB, root);
        let signed = judge(signer(), vec![Demand::Signature], &bytes).expect("signed");
        assert_eq!(signed.used, [0]);
        let wanted = provenance(
            "https://gitlab.example/os/images/-/runners/*",
            "https://gitlab.example/os/images",
            "refs/tags/*",
        );
        let attested = judge(signer(), vec![wanted], &witnesses).expect("attested");
        let expected = Attested {
            signer: format!("{JOB} (issuer {GITLAB})"),
            origin: Origin {
                source: Some("https://gitlab.example/os/images".to_owned()),
                revision: Some("c0ffee".to_owned()),
                builder: Some("https://gitlab.example/os/images/-/runners/7".to_owned()),
            },
            used: vec![1],
        };
        assert_eq!(attested, expected);
    }
}

#[test]
fn a_certificate_says_where_a_signed_image_was_built_where_no_provenance_is_demanded() {
    let instance = Sigstore::new();
    let signing = Signing {
        claims: &[
            (9, "https://gitlab.example/os/ci//build.yml@refs/heads/main"),
            (12, "https://gitlab.example/os/images.git"),
            (13, "c0ffee"),
        ],
        ..Signing::default()
    };
    let witness = bundle(&instance.sign_bytes(MANIFEST.as_bytes(), &signing));
    let signer = identity(JOB, GITLAB, &instance.root());
    let attested = judge(signer, vec![Demand::Signature], &[witness]).expect("signed");
    let expected = Origin {
        source: Some("https://gitlab.example/os/images".to_owned()),
        revision: Some("c0ffee".to_owned()),
        builder: Some("https://gitlab.example/os/ci//build.yml@refs/heads/main".to_owned()),
    };
    assert_eq!(attested.origin, expected);
}

/// A hostile bundle, or a policy that it does not meet: its name, who has to have signed, what, and what was found.
struct Case(&'static str, Signer, Demand, Witness);

fn altered(mut value: Value, pointer: &str, to: Value) -> Value {
    *value.pointer_mut(pointer).expect("a field") = to;
    value
}

/// A field in base64 with another letter in its middle.
fn flipped(value: Value, pointer: &str) -> Value {
    let text = value
        .pointer(pointer)
        .and_then(Value::as_str)
        .expect("text");
    let mut bytes = BASE64.decode(text.as_bytes()).expect("base64");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let to = json!(BASE64.encode(&bytes));
    altered(value, pointer, to)
}

fn hostile() -> Vec<Case> {
    let (instance, stranger) = (Sigstore::new(), Sigstore::new());
    let root = instance.root();
    let job = || identity(JOB, GITLAB, &root);
    let usual = Signing::default();
    let with = |proof| Signing {
        proof,
        ..Signing::default()
    };
    let sign = statement(&image(), SIGN, &json!({}));
    let good = |signing: &Signing<'_>| instance.attest(&sign, signing);
    let says = |kind: &str, predicate: Value| {
        bundle(&instance.attest(&statement(&image(), kind, &predicate), &usual))
    };
    let other = Digest::compute(b"other");
    let entry = "/verificationMaterial/tlogEntries/0";
    let signed = |name, value: &Value| Case(name, job(), Demand::Signature, bundle(value));
    let mut without_stamper = root.clone();
    without_stamper["timestampAuthorities"] = json!([]);
    let mut earlier = root.clone();
    earlier["certificateAuthorities"][0]["validFor"] =
        json!({"start": "2020-01-01T00:00:00Z", "end": "2025-06-01T00:00:00Z"});
    let mut early_stamper = root.clone();
    early_stamper["timestampAuthorities"][0]["validFor"] =
        json!({"start": "2020-01-01T00:00:00Z", "end": "2025-06-01T00:00:00Z"});
    let scan = |path: &str, value: &str| Demand::Predicate {
        kind: SCAN.to_owned(),
        fields: vec![(path.to_owned(), Pattern::new(value))],
    };
    let simple = payload(&image(), NAME);
    let certified = |payload: &str, bundle: &Value| Witness::Certified {
        payload: payload.into(),
        bundle: bundle.to_string().into(),
    };
    let about_payload = Digest::compute(simple.as_bytes());
    let key = Key::new();
    let by_key = |key: &Key| Signer::Key(PublicKey::read(&key.pem()).expect("a key"));
    let keyed = |statement: &str| Witness::Bundle {
        bundle: signed_bundle(&key, statement).into(),
    };
    vec![
        signed("good", &good(&usual)),
        Case(
            "other identity",
            identity("https://gitlab.example/os/other//*", GITLAB, &root),
            Demand::Signature,
            bundle(&good(&usual)),
        ),
        Case(
            "other issuer",
            identity(JOB, "https://gitlab.com", &root),
            Demand::Signature,
            bundle(&good(&usual)),
        ),
        signed(
            "a person with the name of a job",
            &good(&Signing {
                subject: "job@gitlab.example",
                ..Signing::default()
            }),
        ),
        signed("another instance's", &stranger.attest(&sign, &usual)),
        signed("no time", &good(&with(Proof::None))),
        signed("only a timestamp", &good(&with(Proof::Timestamp))),
        signed(
            "logged after the certificate ended",
            &good(&Signing {
                at: NOON + 301,
                ..Signing::default()
            }),
        ),
        signed(
            "stamped after the certificate ended",
            &good(&Signing {
                at: NOON + 301,
                ..with(Proof::Rekor2)
            }),
        ),
        signed(
            "stamped before the certificate began",
            &good(&Signing {
                at: NOON - 301,
                ..with(Proof::Rekor2)
            }),
        ),
        Case(
            "stamped by an authority that is not in the root",
            identity(JOB, GITLAB, &without_stamper),
            Demand::Signature,
            bundle(&good(&with(Proof::Rekor2))),
        ),
        Case(
            "stamped after the authority's time",
            identity(JOB, GITLAB, &early_stamper),
            Demand::Signature,
            bundle(&good(&with(Proof::Rekor2))),
        ),
        Case(
            "certified after the authority's time",
            identity(JOB, GITLAB, &earlier),
            Demand::Signature,
            bundle(&good(&usual)),
        ),
        signed(
            "altered time",
            &altered(
                good(&usual),
                &format!("{entry}/integratedTime"),
                json!((NOON + 1).to_string()),
            ),
        ),
        signed(
            "altered entry",
            &altered(
                good(&usual),
                &format!("{entry}/canonicalizedBody"),
                good(&usual)
                    .pointer(&format!("{entry}/canonicalizedBody"))
                    .expect("it")
                    .clone(),
            ),
        ),
        signed(
            "altered proof",
            &flipped(
                good(&with(Proof::Rekor2)),
                &format!("{entry}/inclusionProof/hashes/0"),
            ),
        ),
        signed(
            "another entry",
            &altered(
                good(&usual),
                entry,
                good(&usual).pointer(entry).expect("it").clone(),
            ),
        ),
        signed(
            "another checkpoint",
            &altered(
                good(&usual),
                &format!("{entry}/inclusionProof/checkpoint"),
                stranger
                    .attest(&sign, &usual)
                    .pointer(&format!("{entry}/inclusionProof/checkpoint"))
                    .expect("it")
                    .clone(),
            ),
        ),
        signed(
            "nine entries",
            &altered(
                good(&usual),
                "/verificationMaterial/tlogEntries",
                json!(vec![good(&usual).pointer(entry); 9]),
            ),
        ),
        signed(
            "altered signature",
            &flipped(good(&usual), "/dsseEnvelope/signatures/0/sig"),
        ),
        signed(
            "altered statement",
            &flipped(good(&usual), "/dsseEnvelope/payload"),
        ),
        signed(
            "about another digest",
            &instance.attest(&statement(&other, SIGN, &json!({})), &usual),
        ),
        signed("over other bytes", &instance.sign_bytes(b"other", &usual)),
        signed(
            "another payload type",
            &instance.envelope(("application/json", &sign), &usual),
        ),
        signed(
            "no statement of in-toto's",
            &instance.attest(
                &sign.replace("in-toto.io/Statement", "example.org/Statement"),
                &usual,
            ),
        ),
        signed(
            "made for another image",
            &instance.attest(
                &sign.replace(
                    r#"{"digest""#,
                    r#"{"name":"registry.example/os/jammy","digest""#,
                ),
                &usual,
            ),
        ),
        Case(
            "no bundle",
            job(),
            Demand::Signature,
            Witness::Bundle {
                bundle: "{}".into(),
            },
        ),
        Case(
            "provenance alone",
            job(),
            Demand::Signature,
            says(SLSA, slsa()),
        ),
        Case(
            "signature alone",
            job(),
            provenance("", "", ""),
            bundle(&good(&usual)),
        ),
        Case(
            "another builder",
            job(),
            provenance("https://gitlab.example/os/images/-/runners/8", "", ""),
            says(SLSA, slsa()),
        ),
        Case(
            "another source",
            job(),
            provenance("", "https://gitlab.example/os/fork", ""),
            says(SLSA, slsa()),
        ),
        Case(
            "no ref",
            job(),
            provenance("", "", "refs/heads/main"),
            says(SLSA, slsa()),
        ),
        Case(
            "SBOM in the other form",
            job(),
            Demand::Contents(Contents::CycloneDx),
            says(SPDX, json!({})),
        ),
        Case(
            "SBOM",
            job(),
            Demand::Contents(Contents::Spdx),
            says(SPDX, json!({})),
        ),
        Case(
            "any SBOM",
            job(),
            Demand::Contents(Contents::Any),
            says("https://cyclonedx.org/bom/v1.6", json!({})),
        ),
        Case(
            "another predicate",
            job(),
            scan("result", "passed"),
            says("https://scan.example/v2", json!({"result": "passed"})),
        ),
        Case(
            "predicate",
            job(),
            scan("result", "passed"),
            says(SCAN, json!({"result": "passed"})),
        ),
        Case(
            "another field",
            job(),
            scan("result", "passed"),
            says(SCAN, json!({"result": "failed"})),
        ),
        Case(
            "no field",
            job(),
            scan("result", "passed"),
            says(SCAN, json!({})),
        ),
        Case(
            "cosign 2",
            job(),
            Demand::Signature,
            certified(&simple, &instance.sign_bytes(simple.as_bytes(), &usual)),
        ),
        Case(
            "cosign 2: another digest",
            job(),
            Demand::Signature,
            certified(
                &payload(&other, NAME),
                &instance.sign_bytes(payload(&other, NAME).as_bytes(), &usual),
            ),
        ),
        Case(
            "cosign 2: another image",
            job(),
            Demand::Signature,
            certified(
                &payload(&image(), "registry.example/os/jammy"),
                &instance.sign_bytes(
                    payload(&image(), "registry.example/os/jammy").as_bytes(),
                    &usual,
                ),
            ),
        ),
        Case(
            "cosign 2: another payload",
            job(),
            Demand::Signature,
            certified(&simple, &instance.sign_bytes(b"{}", &usual)),
        ),
        Case(
            "cosign 2: another sort of payload",
            job(),
            Demand::Signature,
            certified("{}", &instance.sign_bytes(b"{}", &usual)),
        ),
        Case(
            "cosign 2: an attestation about the payload",
            job(),
            Demand::Signature,
            certified(
                &simple,
                &instance.attest(&statement(&about_payload, SCAN, &json!({})), &usual),
            ),
        ),
        Case(
            "a key's, for a certificate",
            job(),
            Demand::Signature,
            keyed(&sign),
        ),
        Case(
            "a key's payload, for a certificate",
            job(),
            Demand::Signature,
            Witness::Tag {
                payload: simple.as_str().into(),
                signature: "".into(),
            },
        ),
        Case(
            "malformed",
            job(),
            Demand::Signature,
            Witness::Malformed {
                reason: "its payload is not UTF-8".into(),
            },
        ),
        Case(
            "a certificate's, for a key",
            by_key(&key),
            Demand::Signature,
            bundle(&good(&usual)),
        ),
        Case("a key's", by_key(&key), Demand::Signature, keyed(&sign)),
        Case(
            "a key's provenance",
            by_key(&key),
            provenance("", "https://gitlab.example/os/images", ""),
            keyed(&statement(&image(), SLSA, &slsa())),
        ),
        Case(
            "another key's",
            by_key(&Key::new()),
            provenance("", "", ""),
            keyed(&statement(&image(), SLSA, &slsa())),
        ),
        Case(
            "a key's about another digest",
            by_key(&key),
            provenance("", "", ""),
            keyed(&statement(&other, SLSA, &slsa())),
        ),
    ]
}

#[test]
fn each_hostile_bundle_is_refused_with_its_reason() {
    let mut table = String::new();
    for Case(name, signer, demand, witness) in hostile() {
        let refused = refusal(signer, demand, witness);
        let said = if refused.is_empty() {
            "counts"
        } else {
            &refused
        };
        table.push_str(&format!("{name}: {said}\n"));
    }
    // Keys, logs and digests are made anew each time.
    let is_random = |word: &str| {
        let word = word.trim_end_matches([',', ' ', '\n']);
        let is_part = |it: u8| it.is_ascii_alphanumeric() || b"+/=:".contains(&it);
        word.len() >= 44 && word.bytes().all(is_part)
    };
    let words = table.split_inclusive([' ', '\n']);
    let words = words.map(|word| match (is_random(word), word.ends_with('\n')) {
        (true, true) => "[RANDOM]\n",
        (true, false) => "[RANDOM] ",
        (false, _) => word,
    });
    let words: String = words.collect();
    assert_data_eq!(words, str![[r#"
good: counts
other identity: it has no signature that counts: it was signed by `https://gitlab.example/os/images//.gitlab-ci.yml@refs/tags/0.4.12` (issuer `https://gitlab.example`)
other issuer: it has no signature that counts: it was signed by `https://gitlab.example/os/images//.gitlab-ci.yml@refs/tags/0.4.12` (issuer `https://gitlab.example`)
a person with the name of a job: it has no signature that counts: it was signed by `job@gitlab.example` (issuer `https://gitlab.example`)
another instance's: it has no signature that counts: its log entry is of no log that the trusted root has for its time
no time: it has no signature that counts: its bundle lacks a part: application/vnd.dev.sigstore.bundle.v0.3+json bundle must have an inclusion proof
only a timestamp: it has no signature that counts: its bundle lacks a part: application/vnd.dev.sigstore.bundle.v0.3+json bundle must have an inclusion proof
logged after the certificate ended: it has no signature that counts: its certificate had expired when it was signed
stamped after the certificate ended: it has no signature that counts: its certificate had expired when it was signed
stamped before the certificate began: it has no signature that counts: its certificate was not valid yet when it was signed
stamped by an authority that is not in the root: it has no signature that counts: invalid RFC 3161 timestamp: TSA timestamp verification failed: no timestamp authorities configured in trusted root
stamped after the authority's time: it has no signature that counts: RFC 3161 timestamp 2026-01-01T00:05:00Z is outside the validity period of the authority that signed it
certified after the authority's time: it has no signature that counts: no trusted certificate authority is valid at 2026-01-01T00:05:00Z
altered time: it has no signature that counts: invalid inclusion promise: SET verification failed: Verification error: ECDSA_P256_SHA256 signature invalid
altered entry: it has no signature that counts: invalid inclusion promise: SET verification failed: Verification error: ECDSA_P256_SHA256 signature invalid
altered proof: it has no signature that counts: invalid inclusion proof: inclusion proof verification failed: root hash mismatch: expected [RANDOM] computed [RANDOM]
another entry: it has no signature that counts: log entry does not match the bundle: DSSE signature in bundle does not match any signature in Rekor entry (signature or verifier mismatch)
another checkpoint: it has no signature that counts: its bundle lacks a part: inclusion proof root hash does not match checkpoint root hash
nine entries: it has no signature that counts: it has more than 8 log entries or timestamps
altered signature: it has no signature that counts: invalid signature: DSSE signature verification failed: Verification error: ECDSA_P256_SHA256 signature invalid
altered statement: it has no signature that counts: invalid signature: DSSE signature verification failed: Verification error: ECDSA_P256_SHA256 signature invalid
about another digest: it has no signature that counts: it is about another digest
over other bytes: it has no signature that counts: it is about another digest
another payload type: it has no signature that counts: unsupported bundle: unsupported DSSE payload type "application/json": cannot bind artifact to attestation
no statement of in-toto's: it has no signature that counts: its statement is not of in-toto's type
made for another image: it has no signature that counts: it was made for `registry.example/os/jammy`
no bundle: it has no signature that counts: its bundle cannot be read: JSON error: missing field `verificationMaterial` at line 1 column 2
provenance alone: it has no signature
signature alone: it has no SLSA provenance
another builder: it has no SLSA provenance that counts: its `builder` is `https://gitlab.example/os/images/-/runners/7`, not `https://gitlab.example/os/images/-/runners/8`
another source: it has no SLSA provenance that counts: its `source` is `https://gitlab.example/os/images`, not `https://gitlab.example/os/fork`
no ref: it has no SLSA provenance that counts: it says no `ref`, and `refs/heads/main` is needed
SBOM in the other form: it has no SBOM in CycloneDX
SBOM: counts
any SBOM: counts
another predicate: it has no attestation of type `https://scan.example/v1`
predicate: counts
another field: it has no attestation of type `https://scan.example/v1` that counts: its `result` is `failed`, not `passed`
no field: it has no attestation of type `https://scan.example/v1` that counts: it says no `result`, and `passed` is needed
cosign 2: counts
cosign 2: another digest: it has no signature that counts: it is about another digest: [RANDOM]
cosign 2: another image: it has no signature that counts: it was made for `registry.example/os/jammy`
cosign 2: another payload: it has no signature that counts: it is about another digest
cosign 2: another sort of payload: it has no signature that counts: its payload cannot be read: missing field `critical` at line 1 column 2
cosign 2: an attestation about the payload: it has no signature that counts: its bundle holds no signature of its payload
a key's, for a certificate: it has no signature that counts: its bundle lacks a part: application/vnd.dev.sigstore.bundle.v0.3+json bundle must have an inclusion proof
a key's payload, for a certificate: it has no signature that counts: it is signed by a key, and under no certificate
malformed: it has no signature that counts: its payload is not UTF-8
a certificate's, for a key: it has no signature that counts: it is not signed by the key [RANDOM]
a key's: counts
a key's provenance: counts
another key's: it has no SLSA provenance that counts: it is not signed by the key [RANDOM]
a key's about another digest: it has no SLSA provenance that counts: it is about another digest: [RANDOM]

"#]].raw());
}

#[test]
fn a_root_that_could_prove_nothing_is_refused() {
    let root = Sigstore::new().root();
    let read = |root: &str| TrustedRoot::read(root).map(|_| ()).expect_err("refused");
    let without = |names: &[&str]| {
        let mut root = root.clone();
        for name in names {
            root[*name] = json!([]);
        }
        read(&root.to_string())
    };
    let no_authority = "it names no certificate authority";
    assert_eq!(without(&["certificateAuthorities"]), no_authority);
    let no_time = "it names neither a transparency log nor a timestamp authority: nothing would prove when something was signed";
    assert_eq!(without(&["tlogs", "timestampAuthorities"]), no_time);
    assert!(read("{}").contains("mediaType"));
}

#[test]
fn an_instance_without_a_certificate_log_needs_no_receipts() {
    let (instance, other) = (Sigstore::new(), Sigstore::new());
    let mut root = instance.root();
    let witness = || bundle(&instance.sign_bytes(MANIFEST.as_bytes(), &Signing::default()));
    root["ctlogs"] = other.root()["ctlogs"].clone();
    let refused = refusal(identity(JOB, GITLAB, &root), Demand::Signature, witness());
    assert!(
        refused.contains("invalid signed certificate timestamp"),
        "{refused}"
    );
    root["ctlogs"] = json!([]);
    let refused = refusal(identity(JOB, GITLAB, &root), Demand::Signature, witness());
    assert_eq!(refused, "");
}

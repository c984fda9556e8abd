//! A private instance of Sigstore in this process: an authority that certifies identities (Fulcio), its certificate log, a
//! transparency log (Rekor) and a timestamp authority, each with keys made here, and what they make for one signature.

use std::cell::Cell;
use std::time::Duration;

use oci_artifacts::{Digest, sha256};
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, PublicKeyData, SanType, SerialNumber, SigningKey,
};
use serde_json::{Value, json};
use yaml_tree::bytes::BASE64;

use super::cosign::{IN_TOTO, encoded};

/// The second at which everything is signed, if nothing else is said: 2026-01-01T00:05:00Z. Certificates are valid from five minutes
/// before until five after.
pub(crate) const NOON: i64 = 1_767_225_900;

/// The identity of a GitLab job.
pub(crate) const JOB: &str = "https://gitlab.example/os/images//.gitlab-ci.yml@refs/tags/0.4.12";
/// Who says so.
pub(crate) const GITLAB: &str = "https://gitlab.example";

/// The instance.
pub(crate) struct Sigstore {
    fulcio: Authority,
    stamper: Authority,
    ct_log: KeyPair,
    rekor: KeyPair,
}

/// An authority: its certificate, and who issues in its name.
struct Authority {
    root: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
    spki: Vec<u8>,
    /// The certificate that signs timestamps, and its key.
    leaf: Option<Box<(Vec<u8>, KeyPair)>>,
}

/// What proves the time of a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Rekor 1: a promise and an inclusion proof.
    Rekor1,
    /// Rekor 2: an inclusion proof, and a timestamp.
    Rekor2,
    /// A timestamp, and no log.
    Timestamp,
    /// Nothing.
    None,
}

/// Who signs, and when.
#[derive(Clone)]
pub(crate) struct Signing<'a> {
    pub(crate) subject: &'a str,
    pub(crate) issuer: &'a str,
    /// Seconds since 1970.
    pub(crate) at: i64,
    pub(crate) proof: Proof,
    /// Claims about a build, by the last number of their identifiers.
    pub(crate) claims: &'a [(u64, &'a str)],
}

impl Default for Signing<'_> {
    fn default() -> Self {
        Self {
            subject: JOB,
            issuer: GITLAB,
            at: NOON,
            proof: Proof::Rekor1,
            claims: &[],
        }
    }
}

thread_local!(static SERIAL: Cell<u64> = const { Cell::new(1) });

impl Sigstore {
    pub(crate) fn new() -> Self {
        let key = || KeyPair::generate().expect("a key");
        let mut stamper = Authority::new("timestamps");
        let leaf = stamper.issue_stamper();
        stamper.leaf = Some(Box::new(leaf));
        Self {
            fulcio: Authority::new("fulcio"),
            stamper,
            ct_log: key(),
            rekor: key(),
        }
    }

    /// Its `trusted_root.json`.
    pub(crate) fn root(&self) -> Value {
        let key = |key: &KeyPair| {
            json!({
                "baseUrl": "https://log.example",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": BASE64.encode(&key.subject_public_key_info()),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": {"start": "2025-01-01T00:00:00Z"},
                },
                "logId": {"keyId": BASE64.encode(&id(key))},
            })
        };
        let authority = |certificates: &[&[u8]]| {
            let raw = |der: &&[u8]| json!({"rawBytes": BASE64.encode(der)});
            json!({
                "subject": {"organization": "example", "commonName": "example"},
                "uri": "https://authority.example",
                "certChain": {"certificates": certificates.iter().map(raw).collect::<Vec<_>>()},
                "validFor": {"start": "2025-01-01T00:00:00Z"},
            })
        };
        let leaf = self.stamper.leaf.as_ref().expect("a stamper");
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [key(&self.rekor)],
            "ctlogs": [key(&self.ct_log)],
            "certificateAuthorities": [authority(&[&self.fulcio.root])],
            "timestampAuthorities": [authority(&[&leaf.0, &self.stamper.root])],
        })
    }

    /// The bundle of a statement.
    pub(crate) fn attest(&self, statement: &str, signing: &Signing<'_>) -> Value {
        self.envelope((IN_TOTO, statement), signing)
    }

    /// The bundle of an envelope around a payload of a type.
    pub(crate) fn envelope(&self, (kind, payload): (&str, &str), signing: &Signing<'_>) -> Value {
        let message = encoded(kind, payload);
        let signed = self.sign(&message, signing);
        let body = match signing.proof {
            Proof::Rekor2 => signed.hashed_2(&message),
            _ => signed.envelope_1(payload),
        };
        let mut bundle = self.bundle(&signed, &body, signing);
        bundle["dsseEnvelope"] = json!({
            "payload": BASE64.encode(payload.as_bytes()),
            "payloadType": kind,
            "signatures": [{"sig": signed.signature()}],
        });
        bundle
    }

    /// The bundle of a signature over bytes.
    pub(crate) fn sign_bytes(&self, bytes: &[u8], signing: &Signing<'_>) -> Value {
        let signed = self.sign(bytes, signing);
        let body = match signing.proof {
            Proof::Rekor2 => signed.hashed_2(bytes),
            _ => signed.hashed_1(bytes),
        };
        let mut bundle = self.bundle(&signed, &body, signing);
        bundle["messageSignature"] = json!({
            "messageDigest": {"algorithm": "SHA2_256", "digest": BASE64.encode(&sha256(bytes))},
            "signature": signed.signature(),
        });
        bundle
    }

    /// What cosign 2 writes beside cosign's payload: the signature, and the annotations of its layer.
    pub(crate) fn annotations(&self, payload: &[u8], signing: &Signing<'_>) -> Value {
        let signed = self.sign(payload, signing);
        let body = signed.hashed_1(payload);
        self.annotate(&signed, &signed.signature(), &body, signing)
    }

    fn annotate(
        &self,
        signed: &Signed,
        signature: &str,
        body: &Value,
        signing: &Signing<'_>,
    ) -> Value {
        let body = body.to_string();
        let set = self.promise(&body, signing.at, 1);
        json!({
            "dev.cosignproject.cosign/signature": signature,
            "dev.sigstore.cosign/certificate": pem(&signed.certificate),
            "dev.sigstore.cosign/chain": pem(&self.fulcio.root),
            "dev.sigstore.cosign/bundle": json!({
                "SignedEntryTimestamp": set,
                "Payload": {
                    "body": BASE64.encode(body.as_bytes()),
                    "integratedTime": signing.at,
                    "logIndex": 1,
                    "logID": hex(&id(&self.rekor)),
                },
            }).to_string(),
        })
    }

    /// What cosign 2 stores of a statement: the envelope, and the annotations of its layer.
    pub(crate) fn attest_2(&self, statement: &str, signing: &Signing<'_>) -> (Value, Value) {
        let signed = self.sign(&encoded(IN_TOTO, statement), signing);
        let envelope = json!({
            "payload": BASE64.encode(statement.as_bytes()),
            "payloadType": IN_TOTO,
            "signatures": [{"sig": signed.signature()}],
        });
        let body = signed.envelope_1(statement);
        (envelope, self.annotate(&signed, "", &body, signing))
    }

    fn sign(&self, message: &[u8], signing: &Signing<'_>) -> Signed {
        let key = KeyPair::generate().expect("a key");
        let certificate = self.certify(&key, signing);
        Signed {
            signature: key.sign(message).expect("signed"),
            certificate,
        }
    }

    fn bundle(&self, signed: &Signed, body: &Value, signing: &Signing<'_>) -> Value {
        let mut material = json!({"certificate": {"rawBytes": BASE64.encode(&signed.certificate)}});
        if matches!(signing.proof, Proof::Rekor1 | Proof::Rekor2) {
            material["tlogEntries"] = json!([self.entry(body, signing)]);
        }
        if matches!(signing.proof, Proof::Rekor2 | Proof::Timestamp) {
            let token = self.stamper.stamp(&signed.signature, signing.at);
            material["timestampVerificationData"] = json!({
                "rfc3161Timestamps": [{"signedTimestamp": BASE64.encode(&token)}],
            });
        }
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": material,
        })
    }

    /// A log of two entries, of which this is the second.
    fn entry(&self, body: &Value, signing: &Signing<'_>) -> Value {
        let text = body.to_string();
        let leaf = sha256(&[&[0], text.as_bytes()].concat());
        let other = sha256(b"\0other");
        let root = sha256(&[&[1], other.as_slice(), leaf.as_slice()].concat());
        let note = format!("log.example\n2\n{}\n", BASE64.encode(&root));
        let signature = self.rekor.sign(note.as_bytes()).expect("signed");
        let signature = BASE64.encode(&[&id(&self.rekor)[..4], &signature].concat());
        let mut entry = json!({
            "logIndex": "1",
            "logId": {"keyId": BASE64.encode(&id(&self.rekor))},
            "kindVersion": {"kind": body["kind"], "version": body["apiVersion"]},
            "inclusionProof": {
                "logIndex": "1",
                "treeSize": "2",
                "rootHash": BASE64.encode(&root),
                "hashes": [BASE64.encode(&other)],
                "checkpoint": {"envelope": format!("{note}\n\u{2014} log.example {signature}\n")},
            },
            "canonicalizedBody": BASE64.encode(text.as_bytes()),
        });
        if signing.proof == Proof::Rekor1 {
            entry["integratedTime"] = json!(signing.at.to_string());
            entry["inclusionPromise"] =
                json!({"signedEntryTimestamp": self.promise(&text, signing.at, 1)});
        }
        entry
    }

    fn promise(&self, body: &str, at: i64, index: i64) -> String {
        let body = BASE64.encode(body.as_bytes());
        let log = hex(&id(&self.rekor));
        let promised = format!(
            r#"{{"body":"{body}","integratedTime":{at},"logID":"{log}","logIndex":{index}}}"#
        );
        BASE64.encode(&self.rekor.sign(promised.as_bytes()).expect("signed"))
    }

    /// A certificate for a key, with the receipt of the certificate log.
    fn certify(&self, key: &KeyPair, signing: &Signing<'_>) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.serial_number = Some(next_serial());
        params.not_before = rcgen::date_time_ymd(2026, 1, 1);
        params.not_after = rcgen::date_time_ymd(2026, 1, 1) + Duration::from_secs(600);
        let subject = signing.subject.try_into().expect("ASCII");
        params.subject_alt_names = vec![if signing.subject.contains("://") {
            SanType::URI(subject)
        } else {
            SanType::Rfc822Name(subject)
        }];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        let claims = [(8, signing.issuer)];
        let claims = claims.iter().chain(signing.claims);
        params.custom_extensions = claims
            .map(|(number, text)| {
                let identifier = [1, 3, 6, 1, 4, 1, 57264, 1, *number];
                CustomExtension::from_oid_content(&identifier, der(0x0c, text.as_bytes()))
            })
            .collect();
        let sign = |params: &CertificateParams| {
            let signed = params.signed_by(key, &self.fulcio.issuer);
            signed.expect("a certificate").der().to_vec()
        };
        let bare = sign(&params);
        let receipt = self.receipt(first(content(&bare)), signing.at);
        let identifier = [1, 3, 6, 1, 4, 1, 11129, 2, 4, 2];
        let receipt = CustomExtension::from_oid_content(&identifier, der(4, &receipt));
        params.custom_extensions.push(receipt);
        sign(&params)
    }

    /// The list of one signed certificate timestamp (RFC 6962, 3.3) of what a certificate says without it.
    fn receipt(&self, bare: &[u8], at: i64) -> Vec<u8> {
        let time = (at as u64 * 1000).to_be_bytes();
        let mut signed = vec![0, 0];
        signed.extend(time);
        signed.extend([0, 1]);
        signed.extend(sha256(&self.fulcio.spki));
        signed.extend(&(bare.len() as u32).to_be_bytes()[1..]);
        signed.extend(bare);
        signed.extend([0, 0]);
        let signature = self.ct_log.sign(&signed).expect("signed");
        let mut receipt = vec![0];
        receipt.extend(id(&self.ct_log));
        receipt.extend(time);
        receipt.extend([0, 0, 4, 3]);
        receipt.extend(prefixed(&signature));
        prefixed(&prefixed(&receipt))
    }
}

/// A signature, and the certificate of the key that made it.
struct Signed {
    signature: Vec<u8>,
    certificate: Vec<u8>,
}

impl Signed {
    fn signature(&self) -> String {
        BASE64.encode(&self.signature)
    }

    fn pem(&self) -> String {
        BASE64.encode(pem(&self.certificate).as_bytes())
    }

    fn envelope_1(&self, payload: &str) -> Value {
        json!({
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": {"algorithm": "sha256", "value": hex(&sha256(b"any"))},
                "payloadHash": {"algorithm": "sha256", "value": hex(&sha256(payload.as_bytes()))},
                "signatures": [{"signature": self.signature(), "verifier": self.pem()}],
            },
        })
    }

    fn hashed_1(&self, bytes: &[u8]) -> Value {
        json!({
            "apiVersion": "0.0.1",
            "kind": "hashedrekord",
            "spec": {
                "data": {"hash": {"algorithm": "sha256", "value": hex(&sha256(bytes))}},
                "signature": {"content": self.signature(), "publicKey": {"content": self.pem()}},
            },
        })
    }

    fn hashed_2(&self, bytes: &[u8]) -> Value {
        json!({
            "apiVersion": "0.0.2",
            "kind": "hashedrekord",
            "spec": {"hashedRekordV002": {
                "data": {"algorithm": "SHA2_256", "digest": BASE64.encode(&sha256(bytes))},
                "signature": {
                    "content": self.signature(),
                    "verifier": {
                        "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                        "x509Certificate": {"rawBytes": BASE64.encode(&self.certificate)},
                    },
                },
            }},
        })
    }
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let spki = key.subject_public_key_info();
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_before = rcgen::date_time_ymd(2025, 1, 1);
        params.not_after = rcgen::date_time_ymd(2035, 1, 1);
        let root = params.self_signed(&key).expect("a certificate");
        Self {
            root: root.der().to_vec(),
            issuer: Issuer::new(params, key),
            spki,
            leaf: None,
        }
    }

    fn issue_stamper(&self) -> (Vec<u8>, KeyPair) {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, "stamper");
        params.serial_number = Some(next_serial());
        params.not_before = rcgen::date_time_ymd(2025, 1, 1);
        params.not_after = rcgen::date_time_ymd(2035, 1, 1);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::TimeStamping];
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.der().to_vec(), key)
    }

    /// The token of a signature at a second (RFC 3161, 2.4.2; RFC 5652, 5).
    fn stamp(&self, signature: &[u8], at: i64) -> Vec<u8> {
        let (certificate, key) = &**self.leaf.as_ref().expect("a stamper");
        let sequence = |parts: &[&[u8]]| der(0x30, &parts.concat());
        let set = |part: &[u8]| der(0x31, part);
        let sha256_id = sequence(&[&SHA256, &[5, 0]]);
        let imprint = sequence(&[&sha256_id, &der(4, &sha256(signature))]);
        let time = der(0x18, generalized(at).as_bytes());
        let info = sequence(&[
            &[2, 1, 1],
            &der(6, &[0x2a, 3, 4]),
            &imprint,
            &[2, 1, 1],
            &time,
        ]);
        let kind = sequence(&[&CONTENT_TYPE, &set(&TST_INFO)]);
        let digest = sequence(&[&MESSAGE_DIGEST, &set(&der(4, &sha256(&info)))]);
        let attributes = [kind, digest].concat();
        let signed = key.sign(&der(0x31, &attributes)).expect("signed");
        let body = content(first(content(certificate)));
        let [_, serial, _, issuer] = elements(body);
        let signer = sequence(&[
            &[2, 1, 1],
            &sequence(&[issuer, serial]),
            &sha256_id,
            &der(0xa0, &attributes),
            &sequence(&[&ECDSA_SHA256]),
            &der(4, &signed),
        ]);
        let held = sequence(&[&TST_INFO, &der(0xa0, &der(4, &info))]);
        let data = sequence(&[&[2, 1, 3], &set(&sha256_id), &held, &set(&signer)]);
        sequence(&[&SIGNED_DATA, &der(0xa0, &data)])
    }
}

// Object identifiers with tag and length (RFC 5652, RFC 3161, RFC 5758).
const SHA256: [u8; 11] = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];
const ECDSA_SHA256: [u8; 10] = [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const SIGNED_DATA: [u8; 11] = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2];
const CONTENT_TYPE: [u8; 11] = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 3];
const MESSAGE_DIGEST: [u8; 11] = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 4];
const TST_INFO: [u8; 13] = [6, 11, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 16, 1, 4];

/// A second of the last day of 2025, or of the first days of 2026, as certificates write it.
fn generalized(at: i64) -> String {
    let seconds = at - 1_767_225_600;
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let day = if days < 0 {
        20_251_231
    } else {
        20_260_101 + days
    };
    let (hours, minutes) = (rest / 3600, rest / 60 % 60);
    format!("{day}{hours:02}{minutes:02}{:02}Z", rest % 60)
}

fn next_serial() -> SerialNumber {
    SERIAL.with(|serial| {
        serial.set(serial.get() + 1);
        SerialNumber::from(serial.get())
    })
}

/// How logs are named: the sha256 of their keys.
fn id(key: &KeyPair) -> Vec<u8> {
    sha256(&key.subject_public_key_info()).to_vec()
}

fn pem(der: &[u8]) -> String {
    let body = BASE64.encode(der);
    format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes behind their length in two bytes.
fn prefixed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes(), bytes].concat()
}

/// An element of DER.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let head = match length {
        0..=0x7f => vec![tag, length as u8],
        0x80..=0xff => vec![tag, 0x81, length as u8],
        _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
    };
    [head, content.to_vec()].concat()
}

/// The lengths of the head and of the content of the element at the start.
fn lengths(der: &[u8]) -> (usize, usize) {
    match der[1] {
        0x81 => (3, usize::from(der[2])),
        0x82 => (4, usize::from(der[2]) << 8 | usize::from(der[3])),
        short => (2, usize::from(short)),
    }
}

/// The whole element at the start.
fn first(der: &[u8]) -> &[u8] {
    let (head, length) = lengths(der);
    &der[..head + length]
}

fn content(der: &[u8]) -> &[u8] {
    let (head, length) = lengths(der);
    &der[head..head + length]
}

/// The first four elements.
fn elements(mut der: &[u8]) -> [&[u8]; 4] {
    std::array::from_fn(|_| {
        let element = first(der);
        der = &der[element.len()..];
        element
    })
}

/// The statement of a predicate about a digest.
pub(crate) fn statement(digest: &Digest, kind: &str, predicate: &Value) -> String {
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"digest": {"sha256": digest.hex()}}],
        "predicateType": kind,
        "predicate": predicate,
    })
    .to_string()
}

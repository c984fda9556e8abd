//! A lock with the evidence of signed images, read and verified as every gate does it: on one core, so that time is CPU time.

use std::fs;
use std::time::{Duration, Instant};

use metalmark::catalog::sources;
use metalmark::files::Disk;
use oci_artifacts::signature::{self, PublicKey, Verdict};
use oci_artifacts::{Digest, Platform, Reference};
use rcgen::SigningKey;
use serde_json::json;
use yaml_tree::bytes::BASE64;

/// A project folder with a lock.
pub(crate) struct Locked {
    folder: tempfile::TempDir,
    key: PublicKey,
}

impl Locked {
    /// A lock of that many images, each with facts as Sylva's builder annotates them.
    pub(crate) fn new(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pair = rcgen::KeyPair::generate().unwrap();
        let key = PublicKey::read(&pair.public_key_pem()).unwrap();
        let mut lock = "version: 1\nimages:\n".to_owned();
        let mut evidence = String::new();
        for number in 0..count {
            let manifest = manifest(number);
            let digest = Digest::compute(manifest.as_bytes());
            let payload = json!({"critical": {
                "identity": {"docker-reference": format!("registry.example.org/os/image-{number}")},
                "image": {"docker-manifest-digest": digest.as_str()},
                "type": "cosign container image signature",
            }, "optional": null});
            let payload = payload.to_string();
            let signature = BASE64.encode(&pair.sign(payload.as_bytes()).unwrap());
            let witness = json!({"form": "tag", "payload": payload, "signature": signature});
            let line =
                json!({"digest": digest.as_str(), "manifest": manifest, "signatures": [witness]});
            evidence += &format!("{line}\n");
            lock += &format!(
                "\n- key: image-{number:04}\n  reference: oci://registry.example.org/os/image-{number}:0.4.12\n  digest: {digest}\n  facts:\n"
            );
            for name in 0..20 {
                lock += &format!("    fact-{name:02}: value-{number}-{name}\n");
            }
            lock += &format!(
                "  verified:\n    form: tag\n    key: {}\n",
                key.fingerprint()
            );
        }
        fs::write(folder.path().join("metalmark.lock"), lock).unwrap();
        fs::write(folder.path().join("metalmark.evidence"), evidence).unwrap();
        Self { folder, key }
    }

    pub(crate) fn kilobytes(&self) -> u64 {
        let file = self.folder.path().join("metalmark.evidence");
        fs::metadata(file).unwrap().len() / 1000
    }

    /// How long it takes to read the lock, to compare digests and facts, and to verify every signature.
    pub(crate) fn verified(&self) -> Duration {
        let root = self.folder.path();
        let started = Instant::now();
        let tree = Disk::new(root).unwrap();
        let paths = ["metalmark.lock".into()];
        let (platform, mut found) = (Platform::default(), Vec::new());
        let facts = sources::facts(root, &tree, &paths, &platform, &mut found).unwrap();
        assert!(found.is_empty(), "{}", found[0].message);
        for image in facts.lock.unwrap().images() {
            let evidence = image.evidence.as_ref().unwrap();
            let question = signature::Question {
                signed_as: None,
                of: Reference::parse(&image.reference.value).unwrap(),
                digest: image.digest.value.clone(),
                key: self.key.clone(),
            };
            let (verdict, _) =
                signature::recheck(&question, &evidence.manifest, &evidence.signatures);
            assert!(matches!(verdict, Verdict::Good(_)));
        }
        started.elapsed()
    }
}

fn manifest(number: usize) -> String {
    let annotations: serde_json::Map<_, _> = (0..20)
        .map(|name| {
            let key = format!("sylvaproject.org/diskimage/fact-{name:02}");
            (key, json!(format!("value-{number}-{name}")))
        })
        .collect();
    let digest = Digest::compute(b"{}");
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest.as_str(), "size": 2},
        "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": digest.as_str(), "size": 2}],
        "annotations": annotations,
    })
    .to_string()
}

//! What is said to be a signature: nothing proves an image that the key's holder never signed.

use std::io::Write;

use oci_artifacts::signature::{self, PublicKey, Question, Verdict};
use oci_artifacts::{Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store};

use super::memory::{find, repository};

/// The image that the fixtures' key did sign.
const SIGNED: &str = "sha256:9277abd0a5e89fd9590cf3de3244e5bf71b9ebcddbaa6b05eba281d1a6dbe5df";

/// By what name it was signed.
const NAME: &str = "oci://registry.example.org/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12";

/// Parts with a line `===` between two: the manifest at the signature's tag, the manifest of what refers to the image, then
/// the blobs.
pub(super) fn run(data: &[u8]) -> bool {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = PublicKey::read(text);
    }
    let store = Parts::of(data);
    let key = std::fs::read_to_string(repository().join("fixtures/registry/cosign.pub"));
    let key = PublicKey::read(&key.expect("the fixture")).expect("a key");
    let reference = Reference::parse(NAME).expect("a reference");
    let signed = Digest::parse(SIGNED).expect("a digest");
    let other = Digest::compute(b"an image that nobody signed");
    let questions = [signed, other].map(|digest| Question {
        signed_as: None,
        of: reference.clone(),
        digest,
        key: key.clone(),
    });
    let verdicts = signature::check(&store, &questions);
    let [signed, other] = &*verdicts else {
        panic!("two questions, {} answers", verdicts.len());
    };
    let is_proven =
        |verdict: &Result<Verdict, Failure>| verdict.as_ref().is_ok_and(Verdict::is_proven);
    assert!(!is_proven(other), "{other:?}");
    is_proven(signed)
}

/// A store that answers whatever it is asked with what it has. Content that is asked for by digest is proven, as every store
/// proves it.
struct Parts(Vec<Vec<u8>>);

impl Parts {
    fn of(mut data: &[u8]) -> Self {
        let mut parts = Vec::new();
        while let Some(end) = find(data, b"\n===\n") {
            parts.push(data[..end].to_vec());
            data = &data[end + 5..];
        }
        parts.push(data.to_vec());
        Self(parts)
    }

    fn manifest(&self, of: &Reference) -> Result<Manifest, Failure> {
        let nothing = || Failure::new(of, FailureKind::NotFound, "nothing");
        let at = usize::from(of.digest.is_some());
        let bytes = self.0.get(at).cloned().ok_or_else(nothing)?;
        let manifest = Manifest::read(bytes);
        let manifest =
            manifest.map_err(|error| Failure::new(of, FailureKind::Corrupt, error.to_string()))?;
        match &of.digest {
            Some(digest) if *digest != manifest.digest => Err(nothing()),
            _ => Ok(manifest),
        }
    }
}

impl Store for Parts {
    fn manifests(&self, wanted: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        wanted.iter().map(|of| self.manifest(of)).collect()
    }

    fn blobs(
        &self,
        wanted: &[(Reference, Descriptor)],
        limit: u64,
    ) -> Vec<Result<Vec<u8>, Failure>> {
        let mut blobs = self.0.iter().skip(2).cycle();
        let blob = |(of, _): &(Reference, Descriptor)| {
            let nothing = || Failure::new(of, FailureKind::NotFound, "nothing");
            let bytes = blobs.next().ok_or_else(nothing)?;
            (bytes.len() as u64 <= limit)
                .then(|| bytes.clone())
                .ok_or_else(nothing)
        };
        wanted.iter().map(blob).collect()
    }

    fn copy(
        &self,
        _: &Reference,
        _: &Descriptor,
        _: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        Ok(())
    }

    fn sizes(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>> {
        wanted.iter().map(|_| Ok(None)).collect()
    }

    fn referrers(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>> {
        let listed = self.0.get(1).map(|bytes| Descriptor {
            media_type: "application/vnd.oci.image.manifest.v1+json".to_owned(),
            digest: Digest::compute(bytes),
            size: bytes.len() as u64,
            annotations: Default::default(),
            architecture: None,
            os: None,
            artifact_type: None,
        });
        wanted
            .iter()
            .map(|_| Ok(listed.iter().cloned().collect()))
            .collect()
    }

    fn tags(&self, _: &Reference) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    fn repositories(&self, _: &Reference) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }
}
